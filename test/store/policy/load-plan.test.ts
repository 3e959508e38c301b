/** What a commit's load of policies reads among 10,000 tables and 1,000 policies: rows that it finds by an index. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { putPolicy } from '../../../src/store/policy/policies.ts'
import { namespaceIds } from '../../../src/store/policy/policy-scope.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

const tablesCount = 10_000
const policiesCount = 1_000
const columnsCount = 3
let store: TestStore
let tenant: TenantId

beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'large' })).id
  const node = (label: string, properties: string, count: number) =>
    store.tenantQuery(
      tenant,
      `insert into "${label}" (properties)
       select (jsonb_build_object('tenant_id', $1::text) || ${properties})::text::agtype from generate_series(1, ${count}) i`,
      [tenant],
    )
  const edge = (label: string, from: string, to: string, properties: string, count: number) =>
    store.tenantQuery(
      tenant,
      `insert into "${label}" (start_id, end_id, properties)
       select f.id, t.id, (jsonb_build_object('tenant_id', $1::text) || ${properties})::text::agtype
       from generate_series(1, ${count}) i
       join ${from} on true join ${to} on true`,
      [tenant],
    )
  const byId = (label: string, alias: string, id: string) =>
    `lateral (select n.id from "${label}" n
       where agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = to_jsonb(${id})::text::agtype) ${alias}`
  const table = `'ns' || i % 100 || chr(31) || 't' || i`
  await node(
    'Table',
    `jsonb_build_object('id', ${table}, 'namespace', jsonb_build_array('ns' || i % 100), 'name', 't' || i)`,
    tablesCount,
  )
  for (let column = 1; column <= columnsCount; column++) {
    const id = `${table} || chr(31) || ${column}`
    await node(
      'Column',
      `jsonb_build_object('id', ${id}, 'table_id', ${table}, 'field_id', '${column}')`,
      tablesCount,
    )
    await edge(
      'HAS_COLUMN',
      byId('Table', 'f', table),
      byId('Column', 't', id),
      `jsonb_build_object('id', ${id})`,
      tablesCount,
    )
  }
  await node('Namespace', `jsonb_build_object('id', 'ns' || i % 100, 'name', 'ns' || i % 100)`, 100)
  await node('Tag', `jsonb_build_object('id', 'tag' || i, 'name', 'tag' || i)`, 100)
  const policy = `jsonb_build_object('id', 'p' || i, 'kind', 'schema', 'mode', 'enforce', 'name', 'p', 'message', '', 'definition_cel', 'true')`
  await node('Policy', policy, policiesCount)
  // Of 1,000 policies each is on ten tables, a tenth of them on a namespace too, and a tenth on a tag that many columns have.
  for (let on = 0; on < 10; on++) {
    const id = `'ns' || (i * 10 + ${on}) % 100 || chr(31) || 't' || (i * 10 + ${on})`
    await edge(
      'SCHEMA_GOVERNS',
      byId('Policy', 'f', `'p' || i`),
      byId('Table', 't', id),
      `jsonb_build_object('id', 'p' || i || ${id})`,
      policiesCount - 1,
    )
  }
  await edge(
    'SCHEMA_GOVERNS',
    byId('Policy', 'f', `'p' || i`),
    byId('Namespace', 't', `'ns' || i % 100`),
    `jsonb_build_object('id', 'n' || i, 'namespace', jsonb_build_array('ns' || i % 100))`,
    100,
  )
  await edge(
    'SCHEMA_GOVERNS',
    byId('Policy', 'f', `'p' || i`),
    byId('Tag', 't', `'tag' || i`),
    `jsonb_build_object('id', 'g' || i, 'tag', 'tag' || i)`,
    100,
  )
  await edge(
    'TAGGED',
    byId('Column', 'f', `${table} || chr(31) || 1`),
    byId('Tag', 't', `'tag' || (i % 100 + 1)`),
    `jsonb_build_object('id', 'c' || i)`,
    tablesCount,
  )
  await putPolicy(
    store,
    tenant,
    { tag: 'tag1' },
    { id: 'told', kind: 'schema', mode: 'enforce', name: 'told', message: '', definitionCel: 'true' },
  )
})
afterAll(() => store[Symbol.asyncDispose]())

interface Read {
  readonly relname: string
  readonly whole: number
  readonly scans: number
  readonly found: number
}

test('is found by indexes alone, a few rows for each policy that governs the table', async () => {
  const [loaded, reads] = await store.tenantTransaction(tenant, async (tx) => {
    const seen = async () =>
      await tx.query<Read>(
        `select relname, seq_scan::int as whole, idx_scan::int as scans, coalesce(idx_tup_fetch, 0)::int as found
         from pg_stat_xact_user_tables where seq_scan > 0 or idx_scan > 0 order by relname`,
      )
    await tx.query('select svc.enter($1)', [tenant])
    // The server counts a session's earlier transactions of the last second as well.
    const before = new Map((await seen()).map((read) => [read.relname, read]))
    const [row] = await tx.query<{ governance: string }>(
      'select svc.write_governance($1, $2) as governance',
      ['ns17\u001ft17', JSON.stringify(namespaceIds(['ns17']))],
    )
    const own = (await seen()).map(({ relname, whole, scans, found }) => {
      const less = before.get(relname) ?? { whole: 0, scans: 0, found: 0 }
      return { relname, whole: whole - less.whole, scans: scans - less.scans, found: found - less.found }
    })
    return [
      JSON.parse(row?.governance ?? '[]') as readonly (readonly [string, { id: string }])[],
      own.filter(({ whole, scans }) => whole > 0 || scans > 0),
    ] as const
  })
  const policies = loaded.map(([, { id }]) => id).filter((id) => id !== '')
  // Its own, that of its namespace, and that of the tag of its first column.
  expect(policies.toSorted()).toEqual(['p1', 'p17', 'p18'])
  expect(reads.filter(({ whole }) => whole > 0).map(({ relname }) => relname)).toEqual([])
  expect(reads.map(({ relname }) => relname)).toContain('SCHEMA_GOVERNS')
  expect(reads.reduce((sum, { found }) => sum + found, 0)).toBeLessThan(100)
})
