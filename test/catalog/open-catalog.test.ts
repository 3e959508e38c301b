import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import { assertNames, CatalogError } from '../../src/catalog/catalog.ts'
import { assertNoStubKinds, OpenCatalogs, openCatalog } from '../../src/catalog/open-catalog.ts'
import type { CatalogCredential } from '../../src/core/catalog.ts'
import type { CatalogKind } from '../../src/core/catalog-kinds.ts'
import { newTenantId } from '../../src/core/tenant.ts'
import { allowing } from '../support/address-rules.ts'

const options = { addressRules: allowing() }

function credentialOf(kind: CatalogKind, version = 1): CatalogCredential {
  const config = { warehouse: 'w' }
  return { id: 'c1', version, kind, nickname: 'lake', endpoint: 'https://c.example', config }
}

describe('capabilities', () => {
  test('are those of the specification', () => {
    const of = (kind: CatalogKind) => openCatalog(credentialOf(kind), options).capabilities()
    expect(of('alpha')).toEqual({
      live: true,
      branches: false,
      credentialVending: true,
      webhooks: true,
      atomicTransactions: false,
      namespaceDepthMax: 100,
    })
    expect(of('beta')).toEqual({
      live: true,
      branches: true,
      credentialVending: false,
      webhooks: false,
      atomicTransactions: true,
      namespaceDepthMax: 1,
    })
    expect(of('gamma').live).toBe(false)
    expect(of('delta').live).toBe(false)
  })

  test.each([
    ['alpha', 100, true],
    ['alpha', 101, false],
    ['beta', 1, true],
    ['beta', 2, false],
    ['alpha', 0, false],
    ['gamma', 1, false],
  ] as const)('a namespace on %s of depth %i is taken: %p', (kind, depth, taken) => {
    const run = () => assertNames(kind, new Array(depth).fill('n'), 't')
    if (taken) expect(run).not.toThrow()
    else expect(run).toThrow(Fault)
  })

  test.each(['t@branch', '..', '.', '', 'a b', 'a/b', 'a\u001fb', 'a%1Fb', 'ä'])(
    'refuses the name %p',
    (name) => {
      expect(() => assertNames('alpha', ['n'], name)).toThrow(Fault)
      expect(() => assertNames('alpha', [name], 't')).toThrow(Fault)
    },
  )
})

describe('stub kinds', () => {
  test.each(['gamma', 'delta'] as const)('%s refuses every operation with ErrAdapterStub', async (kind) => {
    const catalog = openCatalog(credentialOf(kind), options)
    const table = { namespace: ['n'], name: 't' }
    const calls = [
      () => catalog.listTables(['n']),
      () => catalog.getTable(table),
      () => catalog.loadTable(table),
      () => catalog.commitTable(table, new Uint8Array(0)),
      () => catalog.expireSnapshots(table, [1n]),
    ]
    for (const call of calls) {
      const thrown = await call().catch((error: unknown) => error)
      expect(thrown).toBeInstanceOf(CatalogError)
      expect(thrown).toMatchObject({ code: 'ErrAdapterStub' })
    }
  })

  test('are refused at start-up, by name', () => {
    expect(() => assertNoStubKinds(['alpha', 'beta', 'alpha'])).not.toThrow()
    expect(() => assertNoStubKinds(['alpha', 'gamma', 'delta', 'gamma'])).toThrow('gamma, delta')
  })
})

describe('OpenCatalogs', () => {
  const tenant = newTenantId()

  test('keeps one open catalog for a credential version', () => {
    const pool = new OpenCatalogs(options)
    const first = pool.get(tenant, credentialOf('alpha'))
    expect(pool.get(tenant, credentialOf('alpha'))).toBe(first)
    expect(pool.get(tenant, credentialOf('alpha', 2))).not.toBe(first)
    pool.close()
    expect(pool.get(tenant, credentialOf('alpha'))).not.toBe(first)
  })

  test('never gives one tenant the catalog of another, even under the same credential id', () => {
    const pool = new OpenCatalogs(options)
    expect(pool.get(newTenantId(), credentialOf('alpha'))).not.toBe(pool.get(tenant, credentialOf('alpha')))
  })

  test('is bounded', () => {
    const pool = new OpenCatalogs(options, 1)
    const first = pool.get(tenant, credentialOf('alpha'))
    pool.get(tenant, { ...credentialOf('alpha'), id: 'c2' })
    expect(pool.get(tenant, credentialOf('alpha'))).not.toBe(first)
  })

  test('a configuration that cannot be used is an error each time', () => {
    const pool = new OpenCatalogs(options)
    const broken = { ...credentialOf('alpha'), config: { credential: 'no pair' } }
    expect(() => pool.get(tenant, broken)).toThrow(Fault)
    expect(() => pool.get(tenant, broken)).toThrow(Fault)
  })
})
