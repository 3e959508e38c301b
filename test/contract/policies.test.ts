/** Contracts, filters, masks and tags in the graph, with a foreign tenant that has a table of the same name. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../src/base/fault.ts'
import type { ChangeContext } from '../../src/contract/change.ts'
import { deleteContract } from '../../src/contract/delete-contract.ts'
import { deleteMask } from '../../src/contract/delete-mask.ts'
import { deleteRowFilter } from '../../src/contract/delete-row-filter.ts'
import { deleteTag } from '../../src/contract/delete-tag.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putRowFilter } from '../../src/contract/put-row-filter.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import type { Column } from '../../src/core/commit.ts'
import type { Governance, StoredColumn } from '../../src/core/governance.ts'
import type { GovernedTable } from '../../src/core/governed-table.ts'
import type { Principal } from '../../src/core/principal.ts'
import { currentSchema, seenTable } from '../../src/core/seen-table.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { compileQuery } from '../../src/query/compile/compile.ts'
import { renderSql } from '../../src/query/compile/emit/render.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { pinTable } from '../../src/store/contract/pins.ts'
import { decideFinding, listFindings } from '../../src/store/detection/findings.ts'
import { loadGovernance, loadGovernances, readGovernances } from '../../src/store/governance/governance.ts'
import { readGovernanceRows } from '../../src/store/governance/governance-rows.ts'
import { isMaskedFor } from '../../src/store/governance/protections.ts'
import { deleteEdge, upsertEdge } from '../../src/store/graph/graph.ts'
import type { Store } from '../../src/store/store.ts'
import { actorOf } from '../support/actor.ts'
import { approvedOf, committedOf, intentOf } from '../support/commits.ts'
import { recordFinding } from '../support/detection-rows.ts'
import { failingStore } from '../support/failing-store.ts'
import { commitColumns } from '../support/governed.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

const people = { namespace: ['hr', 'eu'], name: 'people' }
const types = { id: 'long', email: 'string', home: 'struct', 'home.city': 'string', tags: 'list' }
const analyst = { sub: 'ada', roles: ['analyst'] }
const officer = { sub: 'eve', roles: ['officer'] }
let store: TestStore
let home: TenantId
let foreign: TenantId
let on: ChangeContext

beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
  for (const tenant of [home, foreign]) await commitColumns(store, tenant, people, types)
  on = { store, tenant: home, actor: actorOf('stella'), checkPolicies }
})
afterAll(() => store[Symbol.asyncDispose]())

async function loadGovernedTable(on: Store, tenant: TenantId, table: TableRef, principal: Principal) {
  const governance = await loadGovernance(on, tenant, table)
  return governance && seenTable(governance, currentSchema(governance), principal)
}
const load = (principal = analyst) => loadGovernedTable(store, home, people, principal)
const masked = (principal = analyst, tenant = home) => isMaskedFor(store, tenant, people, principal)
const faultOf = (promise: Promise<unknown>): Promise<Fault | undefined> =>
  promise.then(
    () => undefined,
    (fault) => fault as Fault,
  )

test('a table has the columns of its last commit, without what is nested in others, and no contract', async () => {
  const table = await load()
  expect(table?.columns.map(({ name, type }) => [name, type])).toEqual([
    ['id', 'long'],
    ['email', 'string'],
    ['home', { type: 'struct', fields: [{ fieldId: 4, name: 'city', type: 'string', required: false }] }],
    ['tags', { type: 'list', element: { type: 'struct' } }],
  ])
  expect(table).toMatchObject({ schemaName: 'hr.eu', tableName: 'people', rowFilters: [] })
  expect(table?.contract).toBeUndefined()
  expect(await loadGovernedTable(store, home, { namespace: ['hr'], name: 'people' }, analyst)).toBeUndefined()
})

test('a contract replaces the one before and ends', async () => {
  await putContract(on, people, { id: 'c1', version: 1 })
  await putContract(on, people, { id: 'c2', version: 7 })
  expect((await load())?.contract).toEqual({ id: 'c2', version: 7 })
  expect((await loadGovernedTable(store, foreign, people, analyst))?.contract).toBeUndefined()
  expect([await deleteContract(on, people), await deleteContract(on, people)]).toEqual([true, false])
  expect((await load())?.contract).toBeUndefined()
  expect((await faultOf(putContract(on, people, { id: 'c', version: 0 })))?.kind).toBe('bad_request')
})

test('filters and masks apply to all but exempt roles, and to no other tenant', async () => {
  const exemptRoles = ['officer']
  await putRowFilter(on, { table: people }, { id: 'f', expression: 'id > 10', exemptRoles })
  await putMask(on, { table: people, column: 'email' }, { id: 'm', action: 'mask-alphanum', exemptRoles })
  const table = await load()
  expect(table?.rowFilters).toEqual([
    { policyId: 'f', expression: 'id > 10', origin: { kind: 'table' }, names: { id: 1 } },
  ])
  expect(table?.columns[1]?.masks).toEqual([
    { policyId: 'm', action: 'mask-alphanum', origin: { kind: 'column' } },
  ])
  const exempt = await load(officer)
  expect([exempt?.rowFilters, exempt?.columns[1]?.masks]).toEqual([[], []])
  expect([await masked(), await masked(officer), await masked(analyst, foreign)]).toEqual([
    true,
    false,
    false,
  ])
  expect(JSON.stringify(await loadGovernance(store, foreign, people))).not.toContain('mask-alphanum')

  // In place of the one before, with nothing left of it.
  const target = { table: people, column: 'email' }
  await putMask(on, target, { id: 'm', action: 'apply-expression', expression: "'x'", exemptRoles: [] })
  await putMask(on, target, { id: 'm', action: 'show-last-4', exemptRoles: [] })
  expect((await load(officer))?.columns[1]?.masks).toEqual([
    { policyId: 'm', action: 'show-last-4', origin: { kind: 'column' } },
  ])
  const removed = [await deleteRowFilter(on, { table: people }, 'f'), await deleteMask(on, target, 'm')]
  expect([...removed, await deleteRowFilter(on, { table: people }, 'f'), await masked()]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('a mask on a tag applies wherever the tag is, and no further', async () => {
  const other = { namespace: ['hr'], name: 'other' }
  await commitColumns(store, home, other, { a: 'string', b: 'string' })
  await putMask(on, { tag: 'pii' }, { id: 'p', action: 'replace-with-null', exemptRoles: [] })
  await putTag(on, people, 'email', 'pii')
  await putTag(on, other, 'b', 'pii')
  const mask = { policyId: 'p', action: 'replace-with-null', origin: { kind: 'tag', tag: 'pii' } }
  expect((await load())?.columns[1]?.masks).toMatchObject([mask])
  const columns = (await loadGovernedTable(store, home, other, analyst))?.columns
  expect(columns?.map(({ masks }) => masks.length)).toEqual([0, 1])
  expect([await deleteTag(on, other, 'b', 'pii'), await deleteTag(on, other, 'b', 'pii')]).toEqual([
    true,
    false,
  ])
  expect(await isMaskedFor(store, home, other, analyst)).toBe(false)
  expect([await deleteMask(on, { tag: 'pii' }, 'p'), await masked()]).toEqual([true, false])
  await deleteTag(on, people, 'email', 'pii')
})

test('a tag that a column has twice masks it once, and until the last is gone', async () => {
  await putMask(on, { tag: 'sensitive.email' }, { id: 'p', action: 'mask-alphanum', exemptRoles: [] })
  await putTag(on, people, 'email', 'sensitive.email')
  const id =
    (await loadGovernance(store, home, people))?.columns.find(({ name }) => name === 'email')?.id ?? ''
  const [from, to] = [
    { label: 'Column', id },
    { label: 'Tag', id: 'sensitive.email' },
  ] as const
  await store.tenantTransaction(home, (tx) =>
    upsertEdge(tx, home, { label: 'TAGGED', id: 'of a finding', from, to }),
  )
  expect((await load())?.columns[1]?.masks).toHaveLength(1)
  expect((await loadGovernance(store, home, people))?.columns[1]?.tags).toEqual(['sensitive.email'])
  await deleteTag(on, people, 'email', 'sensitive.email')
  expect(await masked()).toBe(true)
  await store.tenantTransaction(home, (tx) => deleteEdge(tx, 'TAGGED', 'of a finding'))
  expect(await masked()).toBe(false)
})

test('what cannot be applied is not saved', async () => {
  const refused = async (promise: Promise<unknown>) => (await faultOf(promise))?.kind
  const mask = (action: string, expression?: string) => ({ id: 'm', action, expression, exemptRoles: [] })
  const email = { table: people, column: 'email' }
  expect([
    await refused(
      putRowFilter(on, { table: people }, { id: 'f', expression: 'nothing = 1', exemptRoles: [] }),
    ),
    await refused(
      putRowFilter(on, { table: people }, { id: 'f', expression: '(select 1) = 1', exemptRoles: [] }),
    ),
    await refused(putMask(on, { table: people, column: 'id' }, mask('mask-alphanum'))),
    await refused(putMask(on, email, mask('blur'))),
    await refused(putMask(on, email, mask('apply-expression'))),
    await refused(putMask(on, { table: people, column: 'none' }, mask('mask-alphanum'))),
    await refused(putMask(on, { tag: '' }, mask('mask-alphanum'))),
  ]).toEqual([
    'unprocessable',
    'unprocessable',
    'unprocessable',
    'bad_request',
    'bad_request',
    'not_found',
    'bad_request',
  ])
  // A tag's mask that does not fit: neither by tagging nor by masking what is tagged.
  await putMask(on, { tag: 'text' }, mask('mask-alphanum'))
  expect(await refused(putTag(on, people, 'id', 'text'))).toBe('unprocessable')
  await putTag(on, people, 'id', 'key')
  expect(await refused(putMask(on, { tag: 'key' }, mask('show-last-4')))).toBe('unprocessable')
  // Two of which neither is the stricter.
  await putMask(on, email, mask('show-first-4'))
  expect(await refused(putMask(on, email, { ...mask('show-last-4'), id: 'n' }))).toBe('unprocessable')
  await deleteMask(on, email, 'm')
  expect(await masked()).toBe(false)
})

test('a mask outlives its column: files of older snapshots still hold the values', async () => {
  const old = { namespace: ['hr'], name: 'old' }
  const pay = { table: old, column: 'pay' }
  await commitColumns(store, home, old, { id: 'long', pay: 'long' })
  await putMask(on, pay, { id: 'm', action: 'replace-with-null', exemptRoles: [] })
  await commitColumns(store, home, old, { id: 'long' }, 1_700_000_000_001)
  const table = await loadGovernedTable(store, home, old, analyst)
  expect(table?.columns.map(({ name }) => name)).toEqual(['id'])
  expect(await isMaskedFor(store, home, old, analyst)).toBe(true)
  expect([await deleteMask(on, pay, 'm'), await isMaskedFor(store, home, old, analyst)]).toEqual([
    true,
    false,
  ])
})

test('several tables are loaded at once, each with what is its own', async () => {
  const one: TableRef = { namespace: ['many'], name: 'one' }
  const two: TableRef = { namespace: ['many'], name: 'two' }
  for (const table of [one, two]) await commitColumns(store, home, table, { id: 'long', email: 'string' })
  await putContract(on, one, { id: 'one', version: 1 })
  await putRowFilter(on, { table: two }, { id: 'f', expression: 'id > 2', exemptRoles: [] })
  await putMask(on, { table: one, column: 'email' }, { id: 'm', action: 'mask-alphanum', exemptRoles: [] })
  await pinTable(
    store,
    home,
    { table: two, actor: actorOf('stella'), atMs: 0 },
    { snapshotId: 7n, schemaId: 0n, catalog: 'main' },
  )
  const missing = { namespace: ['many'], name: 'none' }
  const loaded = await loadGovernances(store, home, [one, missing, two])
  expect(
    [...loaded.values()].map(({ ref, contract, pin, rowFilters, columns }) => [
      ref.name,
      contract?.id,
      pin?.snapshotId,
      rowFilters.map(({ policyId }) => policyId),
      columns.flatMap(({ masks }) => masks.map(({ policyId }) => policyId)),
    ]),
  ).toEqual([
    ['one', 'one', undefined, [], ['m']],
    ['two', undefined, 7n, ['f'], []],
  ])
  expect((await loadGovernances(store, foreign, [one, two])).size).toBe(0)
})

test('a filter of a tag filters every table that has it, and keeps their files from being given out', async () => {
  const tagged: TableRef = { namespace: ['many'], name: 'tagged' }
  const untagged: TableRef = { namespace: ['many'], name: 'untagged' }
  for (const table of [tagged, untagged])
    await commitColumns(store, home, table, { id: 'long', owner: 'string' })
  await putRowFilter(
    on,
    { tag: 'owner' },
    { id: 'own', expression: 'this_column = current_principal()', exemptRoles: ['officer'] },
  )
  await putTag(on, tagged, 'owner', 'owner')
  const governed = await loadGovernedTable(store, home, tagged, analyst)
  expect(governed?.rowFilters).toEqual([
    {
      policyId: 'own',
      expression: 'this_column = current_principal()',
      origin: { kind: 'tag', tag: 'owner' },
      fieldId: 2,
    },
  ])
  const masked = (table: TableRef, principal = analyst) => isMaskedFor(store, home, table, principal)
  expect([await masked(tagged), await masked(tagged, officer), await masked(untagged)]).toEqual([
    true,
    false,
    false,
  ])
  expect(await deleteRowFilter(on, { tag: 'owner' }, 'own')).toBe(true)
  expect(await masked(tagged)).toBe(false)
})

test('a change that cannot be recorded is not made', async () => {
  const blind = { ...on, store: failingStore(store, /insert into svc\.contract_change/) }
  const before = await loadGovernance(store, home, people)
  const filter = { id: 'unrecorded', expression: 'id > 0', exemptRoles: [] }
  expect((await faultOf(putRowFilter(blind, { table: people }, filter)))?.kind).toBe('unavailable')
  await putContract(on, people, { id: 'kept', version: 1 })
  expect((await faultOf(deleteContract(blind, people)))?.kind).toBe('unavailable')
  const pin = { snapshotId: 1n, schemaId: 0n, catalog: 'main' }
  const change = { table: people, actor: actorOf('stella'), atMs: 0 }
  expect((await faultOf(pinTable(blind.store, home, change, pin)))?.kind).toBe('unavailable')
  const after = await loadGovernance(store, home, people)
  expect(after).toEqual({ ...before, contract: { id: 'kept', version: 1 } } as never)
  await deleteContract(on, people)
})

test('a filter means the columns that it named when it was saved, whatever columns have their names since', async () => {
  const table = { namespace: ['many'], name: 'swapped' }
  await commitColumns(store, home, table, { id: 'long', region: 'string', note: 'string' })
  await putRowFilter(on, { table }, { id: 'eu', expression: "Region = 'eu'", exemptRoles: [] })
  const mask = { id: 'm', action: 'apply-expression', expression: 'upper(note)', exemptRoles: [] }
  await putMask(on, { table, column: 'region' }, mask)
  // A writer swaps the names.
  await commitColumns(store, home, table, { id: 'long', note: 'string', region: 'string' }, 1_800_000_000_000)
  const governed = await loadGovernedTable(store, home, table, analyst)
  expect(governed?.rowFilters).toMatchObject([{ names: { region: 2 } }])
  expect(governed?.columns.map(({ name, masks }) => [name, masks[0]?.names])).toEqual([
    ['id', undefined],
    ['note', { note: 3 }],
    ['region', undefined],
  ])
  const sql = renderSql(
    compileQuery({
      text: 'SELECT note FROM many.swapped',
      principal: analyst,
      tables: [{ ...(governed as GovernedTable), readableWithoutContract: true }],
      searchPath: [],
    }).emit('duckdb'),
    'duckdb',
  )
  expect(sql).toContain(`"note" = 'eu'`)
  expect(sql).toContain('upper(_b."region")')
})

test('a filter stays with a column that was dropped: the table is refused until a steward decides', async () => {
  const table = { namespace: ['many'], name: 'shrunk' }
  await commitColumns(store, home, table, { id: 'long', region: 'string' })
  const target = { table, column: 'region' }
  await putRowFilter(on, target, { id: 'eu', expression: "this_column = 'eu'", exemptRoles: [] })
  await commitColumns(store, home, table, { id: 'long' }, 1_800_000_000_000)
  const governed = await loadGovernedTable(store, home, table, analyst)
  expect(governed?.rowFilters).toMatchObject([{ policyId: 'eu', fieldId: 2 }])
  expect(governed && checkPolicies(governed)).toHaveLength(1)
  expect(await isMaskedFor(store, home, table, analyst)).toBe(true)
  expect(await deleteRowFilter(on, target, 'eu')).toBe(true)
  expect((await loadGovernedTable(store, home, table, analyst))?.rowFilters).toEqual([])
})

test('a mask goes to the column that has its name now, also after a finding about a dropped one was decided', async () => {
  const table = { namespace: ['many'], name: 'refilled' }
  const commitEmail = (fieldId: bigint, receivedAtMs: number) => {
    const [id, email] = committedOf().columns as [Column, Column]
    const committed = committedOf({ columns: [id, { ...email, fieldId }] })
    return recordVerdict(store, home, approvedOf(intentOf({ table, receivedAtMs }), committed))
  }
  await commitEmail(2n, 1)
  await recordFinding(store, home, table, { fieldId: 2n, columnName: 'email' })
  await commitEmail(3n, 2)
  // Of a snapshot from before the gateway.
  await recordFinding(store, home, table, { fieldId: 4n, columnName: 'email' })
  const [, found] = (await listFindings(store, home, { table })).items
  const decision = { decision: 'confirm', reason: '', actor: actorOf('stella') } as const
  const decided = await store.tenantTransaction(home, (tx) =>
    decideFinding(tx, home, found?.id ?? '', decision),
  )
  expect(decided?.status).toBe('confirmed')
  await putMask(on, { table, column: 'email' }, { id: 'm', action: 'mask-alphanum', exemptRoles: [] })
  const governed = await loadGovernedTable(store, home, table, analyst)
  expect(governed?.columns.map(({ fieldId, masks }) => [fieldId, masks.length])).toEqual([
    [1, 0],
    [3, 1],
  ])
  // What the finding says of older snapshots stays.
  const columns = (await loadGovernance(store, home, table))?.columns
  for (const fieldId of [2, 4])
    expect(columns?.find((column) => column.fieldId === fieldId)).toMatchObject({
      current: false,
      tags: ['sensitive.email'],
    })
})

test.each([
  ...['GOVERNS', 'FILTERS', 'HAS_COLUMN', 'MASKS', 'TAGGED', 'APPLIES_TO'].map(
    (label) => `delete from "${label}"`,
  ),
  ...['FILTERS', 'APPLIES_TO'].map(
    (label) =>
      `delete from "${label}" where properties::text like '%"id": "column"%' or properties::text like '%"id": "filter"%'`,
  ),
  'alter table "PINS" disable trigger all; delete from "PINS"',
])('without the tenant’s sentinel nothing is said: %s', async (text) => {
  const undone = new Error('undone')
  const work = store.ownerTransaction(home, async (tx) => {
    await tx.script(text)
    const fault = await faultOf(readGovernances((load, params) => tx.query(load, params), [people]))
    expect(fault?.kind).toBe('unavailable')
    throw undone
  })
  expect(await work.catch((thrown) => thrown)).toBe(undone)
  expect((await loadGovernances(store, home, [people])).size).toBe(1)
})

test.each(['mask', 'filter', 'tag', 'contract'])(
  'a %s that is about nothing refuses: it is not left out',
  (kind) => {
    const text = (about: string) => `["table","","1",{"id":"t"}],["${kind}","${about}","9",{}]`
    expect(readGovernanceRows(text('1'))).toHaveLength(2)
    expect(() => readGovernanceRows(text('2'))).toThrow('could not be loaded')
  },
)

test('without the tenant’s sentinel no table is said to be free of masks', async () => {
  const tenant = (await makeTenant(store, { name: 'blind' })).id
  await commitColumns(store, tenant, people, types)
  await store.ownerTransaction(tenant, (tx) => tx.query('delete from "APPLIES_TO"'))
  const faults = [
    await faultOf(loadGovernedTable(store, tenant, people, analyst)),
    await faultOf(isMaskedFor(store, tenant, people, analyst)),
  ]
  expect(faults.map((fault) => fault?.kind)).toEqual(['unavailable', 'unavailable'])
})

describe('of a snapshot', () => {
  const stored = (fieldId: number, name: string, change: Partial<StoredColumn> = {}): StoredColumn => ({
    ...{
      id: `c${fieldId}`,
      fieldId,
      name,
      type: 'string',
      required: false,
      current: true,
      tags: [],
      masks: [],
    },
    ...change,
  })
  const served = (fieldId: number, name: string, nestedIds: readonly number[] = []) => ({
    ...{ fieldId, name, type: 'string', required: false, nestedIds },
  })
  const governing = (...columns: StoredColumn[]): Governance => ({
    ...{
      ref: people,
      contract: undefined,
      pin: undefined,
      readableWithoutContract: false,
      rowFilters: [],
      tags: [],
    },
    columns,
  })

  test('a column is left out that the graph does not know, or inside which something is masked or unknown', () => {
    const exemptRoles = ['officer']
    const mask = { policyId: 'm', action: 'mask-alphanum', exemptRoles, origin: { kind: 'column' } } as const
    const governance = governing(
      stored(1, 'tags'),
      stored(2, 'tags.element', { masks: [mask] }),
      stored(3, 'phones'),
      stored(4, 'phones.element'),
      stored(5, 'odd'),
    )
    const schema = [
      served(1, 'tags', [2]),
      served(3, 'phones', [4]),
      served(5, 'odd', [4, 6]),
      served(7, 'new'),
    ]
    const names = (principal: typeof analyst) =>
      seenTable(governance, schema, principal).columns.map(({ name }) => name)
    expect(names(analyst)).toEqual(['phones'])
    expect(names(officer)).toEqual(['tags', 'phones'])
  })

  test('a dropped column goes by its last name, unless another column has had that', () => {
    const dropped = { current: false }
    const governance = governing(
      stored(1, 'mail', dropped),
      stored(2, 'email', dropped),
      stored(3, 'email'),
      stored(4, 'phone', dropped),
      stored(5, 'phone', dropped),
    )
    const schema = [1, 2, 3, 4, 5].map((fieldId) => served(fieldId, `of_then_${fieldId}`))
    const columns = seenTable(governance, schema, analyst).columns
    expect(columns.map(({ policyName }) => policyName)).toEqual(['mail', null, 'email', null, null])
  })
})
