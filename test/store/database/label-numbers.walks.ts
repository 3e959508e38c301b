/** The numbers of a graph's rows: one sequence for most labels, also in a graph that had one for each. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type postgres from 'postgres'
import { newTenantId } from '../../../src/core/tenant.ts'
import { embeddedBackend } from '../../../src/store/database/embedded.ts'
import { migrate } from '../../../src/store/database/migrations.ts'
import { edgeLabels, graphName, schemaName, vertexLabels } from '../../../src/store/database/names.ts'
import { migrationCopies } from '../../support/migration-files.ts'

setDefaultTimeout(300_000)

const walked = ['INTENDED_WRITE', 'ACTUAL_WRITE', 'Snapshot']
const labels = [...vertexLabels, ...edgeLabels]
const tenant = newTenantId()
const graph = graphName(tenant)
const quiet = () => {}
const files = migrationCopies()
const folder = mkdtempSync(join(tmpdir(), 'covenant-label-numbers-'))
let sql: postgres.Sql
let before: ReadonlyMap<string, bigint>
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  const engine = await embeddedBackend({ dataDirectory: join(folder, 'database'), statementMs: 300_000 })
  stack.defer(() => engine.close())
  const link = await engine.open('connecting')
  stack.defer(() => link.close())
  sql = link.sql
  const former = files.copy()
  for (const file of readdirSync(new URL('tenant/', former)))
    if (file >= '1580') rmSync(new URL(`tenant/${file}`, former))
  await migrate(sql, 'apply', quiet, former)
  await sql`insert into svc.tenant (tenant_id, name) values (${tenant}, 'acme')`
  await migrate(sql, 'apply', quiet, former)
  // Of one label far more than of the others.
  for (let round = 0; round < 50; round++) await add('Column', `former-${round}`)
  before = await newest()
  await migrate(sql, 'apply', quiet)
})
afterAll(async () => {
  await stack.disposeAsync()
  files[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Adds a row of the label as a request does. */
async function add(label: string, id: string): Promise<void> {
  const ends = (edgeLabels as readonly string[]).includes(label)
    ? ['start_id, end_id, ', `'1', '1', `]
    : ['', '']
  const properties = JSON.stringify({ id, tenant_id: tenant })
  await sql
    .unsafe(`begin; set local role svc_tenant; set local app.tenant_id = '${tenant}';
      set local search_path = ${schemaName(tenant)}, ${graph}, svc, ag_catalog, pg_catalog;
      insert into "${label}" (${ends[0]}properties) values (${ends[1]}'${properties}');
      commit`)
    .simple()
}

/** The greatest number of each label that has rows. */
async function newest(): Promise<ReadonlyMap<string, bigint>> {
  const found = new Map<string, bigint>()
  for (const label of labels) {
    // A label that came later is in no former graph.
    const [is] = await sql.unsafe<{ there: boolean }[]>(
      `select to_regclass('${graph}."${label}"') is not null as there`,
    )
    if (is?.there !== true) continue
    const [row] = await sql.unsafe<{ number: string | null }[]>(
      `select max(id::text::bigint & 281474976710655) as number from ${graph}."${label}"`,
    )
    if (row?.number) found.set(label, BigInt(row.number))
  }
  return found
}

test('a graph has a sequence for the labels whose rows are walked by number, and one for all others', async () => {
  const rows = await sql.unsafe<{ name: string }[]>(
    `select relname as name from pg_class where relkind = 'S' and relnamespace = '${graph}'::regnamespace`,
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual(
    ['_label_id_seq', 'label_number', ...walked.map((label) => `${label}_id_seq`)].toSorted(),
  )
})

test('a row that is added later has a number that no row of its label had, and its own label in its id', async () => {
  for (const label of labels) await add(label, `later-${label}`)
  const after = await newest()
  expect([...after.keys()].toSorted()).toEqual([...labels].toSorted())
  for (const [label, number] of before)
    expect([label, (after.get(label) ?? 0n) > number]).toEqual([label, true])
  const strangers = await sql.unsafe(
    `select l.name from ag_catalog.ag_label l join ag_catalog.ag_graph g on g.graphid = l.graph
       cross join lateral (select v.id, v.tableoid from ${graph}._ag_label_vertex v
         union all select e.id, e.tableoid from ${graph}._ag_label_edge e) r
     where g.name = '${graph}' and r.tableoid = l.relation and r.id::text::bigint >> 48 <> l.id`,
  )
  expect([...strangers]).toEqual([])
})

test('Cypher creates nodes and edges of every label, as an administrator may by hand', async () => {
  await sql
    .unsafe(`set search_path = ag_catalog, public; set app.tenant_id = '${tenant}'; load 'age'`)
    .simple()
  const properties = (id: string) => `{id: '${id}', tenant_id: '${tenant}'}`
  for (const label of edgeLabels)
    await sql
      .unsafe(`select * from cypher('${graph}', $$ create (:Job ${properties(`${label}-from`)})-[:${label}
        ${properties(`cypher-${label}`)}]->(:Dataset ${properties(`${label}-to`)}) $$) as (done agtype)`)
      .simple()
  for (const label of vertexLabels)
    await sql
      .unsafe(
        `select * from cypher('${graph}', $$ create (:${label} ${properties(`cypher-${label}`)}) $$) as (done agtype)`,
      )
      .simple()
  const [row] = await sql.unsafe<{ count: string }[]>(
    `select count(*) as count from cypher('${graph}', $$ match (n:Job)-[]->(:Dataset) return n $$) as (n agtype)`,
  )
  expect(Number(row?.count)).toBe(edgeLabels.length)
})
