/** When the cached tables of a catalog are read again, and when not. */

import { expect, test } from 'bun:test'
import type { Viewer } from '../../../../src/core/seen-table.ts'
import type { TenantId } from '../../../../src/core/tenant.ts'
import { limits } from '../../../../src/limits.ts'
import { scopeCache } from '../../../../src/server/pgwire/catalog/scope-cache.ts'
import type { ShadowTable } from '../../../../src/server/pgwire/catalog/shadow-table.ts'

const tenant = '6f0f4b1e-0000-4000-8000-00000000000a' as TenantId
const viewer = { tenant, catalog: 'main', principal: { sub: 'alice', roles: [] } }

/** A source whose mark and tables are the test's, with the loads that it was asked for. */
function sourceOf(state: { mark: string; names: readonly string[]; failures: number; tableCount?: number }) {
  const loads: string[] = []
  return {
    loads,
    mark: async () => ({ text: state.mark, tableCount: state.tableCount ?? state.names.length }),
    async tables(): Promise<readonly ShadowTable[]> {
      loads.push(state.mark)
      const { names } = state
      await Promise.resolve()
      if (state.failures-- > 0) throw new Error('The store does not answer.')
      return names.map((tableName) => ({ schemaName: 'sales', tableName, columns: [] }))
    },
  }
}

test('many who ask at once share one load, and those who ask after a change do not', async () => {
  const state = { mark: '1', names: ['orders'], failures: 0 }
  const source = sourceOf(state)
  const scopeFor = scopeCache(source, () => 0)
  const before = Array.from({ length: 100 }, () => scopeFor(viewer))
  await Promise.resolve()
  Object.assign(state, { mark: '2', names: ['orders', 'regions'] })
  const after = Array.from({ length: 100 }, () => scopeFor(viewer))
  expect(new Set((await Promise.all(before)).map(({ tableCount }) => tableCount))).toEqual(new Set([1]))
  expect(new Set((await Promise.all(after)).map(({ tableCount }) => tableCount))).toEqual(new Set([2]))
  expect(source.loads).toEqual(['1', '2'])
})

test('a load that fails is told to all who share it and to nobody after them', async () => {
  const source = sourceOf({ mark: '1', names: ['orders'], failures: 1 })
  const scopeFor = scopeCache(source, () => 0)
  const asked = await Promise.allSettled([scopeFor(viewer), scopeFor(viewer)])
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect((await scopeFor(viewer)).tableCount).toBe(1)
})

test('columns are read again after some seconds, and what is made of the same tables stays', async () => {
  let now = 0
  const source = sourceOf({ mark: '1', names: ['orders'], failures: 0 })
  const scopeFor = scopeCache(source, () => now)
  const first = await scopeFor(viewer)
  now = limits.catalogColumnsMs
  expect(await scopeFor(viewer)).toBe(first)
  expect(source.loads.length).toBe(2)
})

test('a catalog with too many tables is refused by their count, and its tables are never read', async () => {
  const state = { mark: '1', names: ['orders'], failures: 0, tableCount: limits.catalogTablesMax + 1 }
  const source = sourceOf(state)
  const scopeFor = scopeCache(source, () => 0)
  for (let statement = 0; statement < 20; statement++)
    expect(scopeFor(viewer)).rejects.toThrow(`more than ${limits.catalogTablesMax} tables`)
  expect(source.loads).toEqual([])
  state.tableCount = 1
  expect((await scopeFor(viewer)).tableCount).toBe(1)
})

test('all share one catalog, except readers whose roles show them more columns', async () => {
  const loads: Viewer[] = []
  const column = (name: string) => ({ name, type: 'text', notNull: false }) as const
  const source = {
    mark: async () => ({ text: '1', tableCount: 1 }),
    async tables(_: TenantId, seenBy: Viewer): Promise<readonly ShadowTable[]> {
      loads.push(seenBy)
      const columns = seenBy === 'anyone' ? [column('id')] : [column('id'), column('tags')]
      return [{ schemaName: 'sales', tableName: 'orders', columns, rolesThatShow: ['officer'] }]
    },
  }
  const scopeFor = scopeCache(source, () => 0)
  const asked = (...roles: readonly string[]) => scopeFor({ ...viewer, principal: { sub: 'otto', roles } })
  const shared = await asked()
  expect(await asked('clerk', 'steward')).toBe(shared)
  const own = await asked('clerk', 'officer')
  expect(own.create.join()).toContain('"tags"')
  expect(await asked('officer')).toBe(own)
  expect(shared.create.join()).not.toContain('"tags"')
  expect(loads).toEqual(['anyone', { roles: ['officer'] }])
})
