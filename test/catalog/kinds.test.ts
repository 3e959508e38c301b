/** A catalog kind is one descriptor and one adapter. Other lists of kinds follow from these, or are compared here. */

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { catalogCommands } from '../../src/admin/catalog-commands.ts'
import { Fault } from '../../src/base/fault.ts'
import { CatalogError } from '../../src/catalog/catalog.ts'
import { assertNoStubKinds, openCatalog } from '../../src/catalog/open-catalog.ts'
import type { CatalogCredential } from '../../src/core/catalog.ts'
import {
  type CatalogKind,
  catalogKindDescriptors,
  catalogKinds,
  isLiveCatalogKind,
  liveCatalogKinds,
} from '../../src/core/catalog-kinds.ts'
import { checkCatalogSettings } from '../../src/engine/check-credential.ts'
import { allowing } from '../support/address-rules.ts'
import { readProject } from '../tidy/source-files.ts'

const credentialOf = (kind: CatalogKind, config: Record<string, unknown>): CatalogCredential => ({
  id: 'c1',
  version: 1,
  kind,
  nickname: 'lake',
  endpoint: 'https://c.example',
  config,
})

function refusal(kind: CatalogKind, config: Record<string, unknown>): string | undefined {
  try {
    checkCatalogSettings(credentialOf(kind, config))
    return undefined
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.publicMessage
    throw thrown
  }
}

describe.each(catalogKinds)('the kind %s', (kind) => {
  const { capabilities } = catalogKindDescriptors[kind]
  const open = () => openCatalog(credentialOf(kind, { warehouse: 'w' }), { addressRules: allowing() })

  test('opens an adapter of its own, with the capabilities of its descriptor', () => {
    const catalog = open()
    expect([catalog.kind, catalog.capabilities()]).toEqual([kind, capabilities])
    catalog.close()
  })

  test('refuses every request as a stub exactly where its descriptor is not live', async () => {
    // A depth that no kind takes: a live adapter refuses it itself, before anything is sent.
    const thrown = await open()
      .listTables(new Array(101).fill('n'))
      .catch((error: unknown) => error)
    expect(thrown instanceof CatalogError ? thrown.code : 'live').toBe(
      capabilities.live ? 'live' : 'ErrAdapterStub',
    )
  })

  test('is admitted at start-up exactly where its descriptor is live', () => {
    const check = () => assertNoStubKinds([kind])
    if (capabilities.live) expect(check).not.toThrow()
    else expect(check).toThrow(`${kind}: use ${liveCatalogKinds.join(' or ')}.`)
  })

  test('takes a branch as its descriptor says', () => {
    const ofBranch = refusal(kind, { warehouse: 'w', branch: 'main' })
    expect(ofBranch?.includes(`A catalog of kind ${kind} has no branches.`) ?? false).toBe(
      !capabilities.branches,
    )
  })

  test('is offered by the administration command exactly where its descriptor is live', () => {
    const usage = catalogCommands.find(({ words }) => words === 'catalog put')?.usage ?? ''
    const offered = / --kind (\S+)/.exec(usage)?.[1]?.split('|') ?? []
    expect(offered.includes(kind)).toBe(capabilities.live)
  })
})

test('start-up refuses a kind that only a later version has', () => {
  expect(() => assertNoStubKinds(['epsilon' as CatalogKind])).toThrow('epsilon')
  expect(isLiveCatalogKind('epsilon' as CatalogKind)).toBe(false)
})

test('the store takes exactly the kinds that have a descriptor', () => {
  const folder = 'migrations'
  const constraints = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .flatMap((name) => [
      ...readFileSync(`${folder}/${name}`, 'utf8').matchAll(/check \(catalog_kind in \(([^)]*)\)\)/g),
    ])
  expect(constraints.map(([, kinds = '']) => kinds.replaceAll("'", '').split(', '))).toEqual([
    [...catalogKinds],
  ])
})

test('no file of the service names a kind but its descriptor, its adapter and what is its alone', () => {
  const named = new RegExp(`'(?:${catalogKinds.join('|')})'|\\bopen(?:Alpha|Beta)\\b`)
  const files = readProject('.').filter(({ path, text }) => path.startsWith('src/') && named.test(text))
  expect(files.map(({ path }) => path)).toEqual([
    // The example of a request.
    'src/auth/administration/admin-operations.ts',
    'src/catalog/alpha.ts',
    'src/catalog/beta.ts',
    'src/catalog/open-catalog.ts',
    // Its path and its headers carry the kind's name.
    'src/detection/alpha-webhook.ts',
    // SQL's function of that name.
    'src/query/compile/functions/more.ts',
    // 'alpha' is Swagger UI's word for an order.
    'src/server/api-viewer.ts',
  ])
})
