/** How often a catalog is asked whether it folds names, where it holds nothing that tells. */

import { expect, setSystemTime, test } from 'bun:test'
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
  let nowMs = 0
  // Each request makes its own.
  const settle = (of = tenant, version = 1) =>
    new NameCases({} as Store, catalogs, () => nowMs).settle(of, credential(version))
  for (let tries = 0; tries < 3; tries++) await settle()
  expect(asked()).toBe(1)
  await settle(foreign)
  expect(asked()).toBe(2)
  await settle(tenant, 2)
  expect(asked()).toBe(3)
  nowMs = 59_999
  await settle()
  expect(asked()).toBe(3)
  nowMs = 60_000
  await settle()
  expect(asked()).toBe(4)
})

test.each([-3_600_000, 3_600_000])(
  'a machine whose time is set %p ms on asks no sooner and no later',
  async (byMs) => {
    const { catalogs, asked } = emptyCatalogs()
    const settle = () => new NameCases({} as Store, catalogs).settle(tenant, credential(1))
    try {
      await settle()
      setSystemTime(new Date(Date.now() + byMs))
      await settle()
      expect(asked()).toBe(1)
    } finally {
      setSystemTime()
    }
  },
)
