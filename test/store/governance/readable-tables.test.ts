/** The list of a tenant's readable tables, with a foreign tenant that has tables of the same names. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { ChangeContext } from '../../../src/contract/change.ts'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { putReadSettings } from '../../../src/store/contract/read-settings.ts'
import { listReadableTables, readableTablesMark } from '../../../src/store/governance/readable-tables.ts'
import { deleteEdge, upsertEdge } from '../../../src/store/graph/graph.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

const tables = ['alpha', 'beta', 'gamma'].map((name) => ({ namespace: ['sales', 'eu'], name }))
const [alpha, beta] = tables as [(typeof tables)[0], (typeof tables)[0], (typeof tables)[0]]
let store: TestStore
let home: TenantId
let foreign: TenantId
let on: ChangeContext

beforeAll(async () => {
  store = await openTestStore()
  home = (await createTenant(store, { name: 'home' })).id
  foreign = (await createTenant(store, { name: 'foreign' })).id
  on = { store, tenant: home, actor: actorOf('stella'), checkPolicies }
  const types = { id: 'long', email: 'string', home: 'struct', 'home.city': 'string' }
  for (const table of tables) {
    await commitColumns(store, home, table, types)
    await commitColumns(store, foreign, table, { secret: 'string' })
    await putContract({ ...on, tenant: foreign }, table, { id: 'theirs', version: 1 })
  }
})
afterAll(() => store[Symbol.asyncDispose]())

const names = async () => (await listReadableTables(store, home, 'anyone')).items.map(({ ref }) => ref.name)

test('a table is listed once it is under an active contract, and no longer when that ends', async () => {
  expect(await names()).toEqual([])
  for (const table of tables) await putContract(on, table, { id: table.name, version: 1 })
  expect(await names()).toEqual(['alpha', 'beta', 'gamma'])
  await deleteContract(on, beta)
  expect(await names()).toEqual(['alpha', 'gamma'])
  await putContract(on, beta, { id: 'beta', version: 1 })
})

test('its columns are those that a statement can name, and say whether any mask is on them', async () => {
  await putMask(on, { table: alpha, column: 'email' }, { id: 'm', action: 'show-last-4', exemptRoles: [] })
  const [first] = (await listReadableTables(store, home, 'anyone')).items
  const plain = { required: false, nestedIds: [], masks: [], tags: [], masked: false }
  const city = { fieldId: 4, name: 'city', type: 'string', required: false }
  const masks = [{ policyId: 'm', action: 'show-last-4', origin: { kind: 'column' } }] as const
  expect(first).toEqual({
    ...{ ref: alpha, contract: { id: 'alpha', version: 1 }, rowFilters: [] },
    columns: [
      { ...plain, fieldId: 1, name: 'id', type: 'long' },
      { ...plain, fieldId: 2, name: 'email', type: 'string', masked: true, masks },
      { ...plain, fieldId: 3, name: 'home', type: { type: 'struct', fields: [city] }, nestedIds: [4] },
    ],
    ...{ rolesThatShow: [], pinnedSnapshotId: undefined },
  })
})

test('a row filter of a tag masks no column', async () => {
  const masked = async () => (await listReadableTables(store, home, 'anyone')).items[0]?.columns[0]?.masked
  await putTag(on, alpha, 'id', 'own')
  await putRowFilter(on, { tag: 'own' }, { id: 'f', expression: 'this_column > 0', exemptRoles: [] })
  expect(await masked()).toBe(false)
  await putMask(on, { tag: 'own' }, { id: 'm', action: 'sha-256-global', exemptRoles: [] })
  expect(await masked()).toBe(true)
})

test('pages follow each other to the last table', async () => {
  const first = await listReadableTables(store, home, 'anyone', { limit: 2 })
  expect(first.items.map(({ ref }) => ref.name)).toEqual(['alpha', 'beta'])
  const second = await listReadableTables(store, home, 'anyone', { limit: 2, after: String(first.next) })
  expect(second.items.map(({ ref }) => ref.name)).toEqual(['gamma'])
  expect(second.next).toBeUndefined()
})

test('the mark changes with the set of tables, a contract, a pin and columns, not with what a foreign tenant does', async () => {
  const mark = await readableTablesMark(store, home)
  const change = { table: alpha, actor: actorOf('stella'), atMs: 0 }
  const pin = { snapshotId: 1n, schemaId: 0n, catalog: 'main' }
  await putContract({ ...on, tenant: foreign }, alpha, { id: 'theirs', version: 2 })
  await pinTable(store, foreign, change, pin)
  await commitColumns(store, foreign, alpha, { other: 'string' }, 1_700_000_000_001)
  expect(await readableTablesMark(store, home)).toEqual(mark)
  await putContract(on, alpha, { id: 'alpha', version: 2 })
  const versioned = await readableTablesMark(store, home)
  expect(versioned).not.toEqual(mark)
  await putContract(on, alpha, { id: 'alpha', version: 2, schema: { description: 'of the same version' } })
  const declared = await readableTablesMark(store, home)
  expect(declared).not.toEqual(versioned)
  await pinTable(store, home, change, pin)
  const pinned = await readableTablesMark(store, home)
  expect(pinned).not.toEqual(declared)
  await unpinTable(store, home, change)
  const unpinned = await readableTablesMark(store, home)
  expect(unpinned).not.toEqual(pinned)
  const types = { id: 'long', email: 'string', home: 'struct', 'home.city': 'string', new: 'string' }
  await commitColumns(store, home, alpha, types, 1_700_000_000_001)
  expect(await readableTablesMark(store, home)).not.toEqual(unpinned)
  await deleteContract(on, alpha)
  expect(await readableTablesMark(store, home)).not.toEqual(versioned)
})

test('tables without a contract are listed only where the tenant itself reads them, without one that was never committed to', async () => {
  const mark = await readableTablesMark(store, home)
  await putReadSettings(store, foreign, actorOf('stella'), { uncontracted: 'readable' })
  expect(await names()).toEqual(['beta', 'gamma'])
  expect(await readableTablesMark(store, home)).toEqual(mark)
  await putRowFilter(
    on,
    { table: { namespace: ['sales', 'eu'], name: 'never' } },
    { id: 'f', expression: 'false', exemptRoles: [] },
  )
  await putReadSettings(store, home, actorOf('stella'), { uncontracted: 'readable' })
  const [first, second] = (await listReadableTables(store, home, 'anyone')).items
  expect(await names()).toEqual(['alpha', 'beta', 'gamma'])
  expect(first).toMatchObject({
    ref: alpha,
    columns: [{ name: 'id' }, { name: 'email' }, { name: 'home' }, { name: 'new' }],
  })
  expect(first?.contract).toBeUndefined()
  expect(second?.contract).toEqual({ id: 'beta', version: 1 })
  expect(await readableTablesMark(store, home)).not.toEqual(mark)
  await putReadSettings(store, home, actorOf('stella'), { uncontracted: 'to_writers' })
  expect(await names()).toEqual(['beta', 'gamma'])
  expect(await readableTablesMark(store, home)).toEqual(mark)
})

test('no listing and no mark without the sentinel of the tenant', async () => {
  await putReadSettings(store, home, actorOf('stella'), { uncontracted: 'readable' })
  const remove = () => store.tenantTransaction(home, (tx) => deleteEdge(tx, 'GOVERNS', ''))
  expect(await remove()).toBe(true)
  const kinds = await Promise.all(
    [listReadableTables(store, home, 'anyone'), readableTablesMark(store, home)].map((promise) =>
      promise.then(
        () => 'an answer',
        (fault) => fault.kind,
      ),
    ),
  )
  expect(kinds).toEqual(['unavailable', 'unavailable'])
  await store.tenantTransaction(home, (tx) =>
    upsertEdge(tx, home, {
      label: 'GOVERNS',
      id: '',
      from: { label: 'Contract', id: '' },
      to: { label: 'Table', id: '' },
      properties: { sentinel: true },
    }),
  )
  expect((await listReadableTables(store, home, 'anyone')).items.length).toBe(3)
})
