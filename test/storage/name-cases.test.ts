/** How often a catalog is asked whether it folds names, where it holds nothing that tells. */

import { expect, test } from 'bun:test'
import type { Catalog } from '../../src/catalog/catalog.ts'
import type { OpenCatalogs } from '../../src/catalog/open-catalog.ts'
import type { CatalogCredential } from '../../src/core/catalog.ts'
import { newTenantId } from '../../src/core/tenant.ts'
import { NameCases } from '../../src/storage/name-cases.ts'
import type { Store } from '../../src/store/store.ts'

const [tenant, foreign] = [newTenantId(), newTenantId()]
const credential = (version: number): CatalogCredential => ({
  ...{ id: '11111111-1111-4111-8111-111111111111', nickname: 'main', kind: 'alpha', version },
  ...{ endpoint: 'https://catalog.example', config: {}, secretConfig: {} },
})

/** Catalogs without namespaces, which count how often they are asked. */
function emptyCatalogs() {
  let asked = 0
  const catalog = {
    forward: async () => {
      asked++
      return { status: 200, headers: {}, body: new TextEncoder().encode('{"namespaces":[]}') }
    },
  } as unknown as Catalog
  return { catalogs: { get: () => catalog } as unknown as OpenCatalogs, asked: () => asked }
}

test('a catalog that cannot tell is asked again a minute later, or after its credential has changed', async () => {
  const { catalogs, asked } = emptyCatalogs()
  const clock = { nowMs: 0, now: () => clock.nowMs }
  // Each request makes its own.
  const settle = (of = tenant, version = 1) =>
    new NameCases({} as Store, catalogs, clock).settle(of, credential(version))
  for (let tries = 0; tries < 3; tries++) await settle()
  expect(asked()).toBe(1)
  await settle(foreign)
  expect(asked()).toBe(2)
  await settle(tenant, 2)
  expect(asked()).toBe(3)
  clock.nowMs = 59_999
  await settle()
  expect(asked()).toBe(3)
  clock.nowMs = 60_000
  await settle()
  expect(asked()).toBe(4)
})
