/**
 * Fills a tenant's tables and graph: each row that is there is written 100,000 times more, with other keys and older.
 * It needs a superuser of a server's database, because no trigger and no foreign key may hold it up.
 */

import postgres from 'postgres'
import type { TenantId } from '../../src/core/tenant.ts'
import { graphName, schemaName } from '../../src/store/database/names.ts'

/** Columns of the copies that are neither as in the row nor as their type varies: SQL over `t`, the row, and `i`. */
type Columns = Readonly<Record<string, string>>

const older = (column: string) => `t.${column} - i * interval '20 ms'`
const snapshotOf = `'s3://lake/' || i`
const runOf = `md5('run_id' || i)::uuid`

const oneOf = (values: readonly string[]) =>
  `(array[${values.map((value) => `'${value}'`).join(', ')}])[1 + i % ${values.length}]`

/** Tables that grow with use. What is copied is over: nothing of it waits for a job. */
export const largeTables: Readonly<Record<string, Columns>> = {
  administration_log: { action: oneOf(['put-policy', 'create-session', 'revoke-session', 'put-catalog']) },
  audit_log: {
    ...{ policies: 'null', policy_set: 'sha256(int8send(i % 97))' },
    ...{ decision: `'APPROVED'`, reason: `''`, metadata_location: snapshotOf },
  },
  browser_session: { revoked_at: 'null' },
  check_result: { run_id: runOf },
  check_run: {
    ...{ state: `'passed'`, due_at: older('due_at'), started_at: 't.requested_at', reported_at: 'now()' },
    ...{ finished_at: 't.requested_at', lease_id: 'null', lease_until: 'null', once_key: 'null' },
  },
  contract_change: {},
  contract_move: {},
  detection_attempt: { finished_at: 'coalesce(t.finished_at, t.started_at)' },
  detection_decision: { finding_id: `md5('finding_id' || i)::uuid` },
  detection_evidence: {},
  detection_finding: { class: oneOf(['us_ssn', 'credit_card', 'phone']) },
  detection_run: {
    ...{
      snapshot_metadata_location: snapshotOf,
      state: `'done'`,
      finished_at: 'now()',
      lease_id: 'null',
      lease_until: 'null',
    },
    ...{ alert_due: 'null', due_at: older('due_at') },
  },
  event: {},
  policy_history: {},
  query_usage: {},
  read_lineage: {},
  service_session: {},
  snapshot_quarantine: { released_at: 'now()', released_by: `'{}'`, release_reason: `'over'` },
  staged_check: {},
  tag_change: {},
  territory: { table_id: `t.table_id || ' ' || i`, prefix: `t.prefix || i || '/'` },
  transform_subject_key: {
    ref: `substr(md5('r' || i), 1, 22)`,
    sid: `substr(md5('s' || i), 1, 22)`,
    wrapped: `'\\x00'`,
    shredded_at: 'null',
  },
  usage_total: {},
  vended_credential: {},
  webhook_attempt: { sequence: 't.sequence + i' },
  webhook_delivery: {
    sequence: 't.sequence + i',
    state: `'delivered'`,
    ended_at: 'now()',
    due_at: older('due_at'),
  },
}

/** Tables of a tenant's own schema that grow with use. */
const largeOwnTables: Readonly<Record<string, Columns>> = {
  lineage_inbox: { state: `'merged'`, refusal: 'null' },
  lineage_event: { state: `'merged'`, refusal: 'null' },
}

/** Labels that grow with use. */
const largeVertices = ['Table', 'Column', 'Snapshot', 'Dataset', 'Job', 'Classification', 'PinEvent'] as const
const largeEdges = [
  ...['IN_NAMESPACE', 'HAS_COLUMN', 'INTENDED_WRITE', 'ACTUAL_WRITE', 'LINEAGE_OF'],
  ...['PRODUCED_BY', 'CLASSIFIED_AS', 'PINS'],
] as const

/** Columns with so many values among the copies, in every table that has them; text unless it is a uuid. */
const valuesOf: Readonly<Record<string, number>> = {
  ...{
    table_id: 997,
    table_name: 997,
    column_name: 97,
    contract_id: 97,
    policy_id: 97,
    tag_id: 97,
    job_name: 97,
  },
  ...{
    committer: 97,
    principal: 97,
    principal_sub: 97,
    actor_sub: 97,
    session_id: 997,
    request_id: 1_000_000,
  },
}

/** Columns of keys that are as in the row, because a table has few values of them or all copies belong together. */
const kept = new Set([
  ...['tenant_id', 'kind', 'table_id', 'contract_id', 'attempt', 'number', 'state', 'provider'],
  ...['facet', 'grain', 'outcome', 'scope', 'subscription_id'],
])

interface Column {
  readonly name: string
  readonly type: string
  readonly unique: boolean
}

export interface LargeStore {
  /** Object ids of the filled relations and their indexes, with their names. */
  readonly relations: ReadonlyMap<string, string>
  /** Filled relations with fewer rows than were wanted. */
  readonly empty: readonly string[]
}

/**
 * Fills the tables and the graph of a tenant, and gathers statistics.
 * @param databaseUrl as a superuser
 * @param count rows of each relation
 */
export async function enlargeStore(
  databaseUrl: string,
  tenant: TenantId,
  count: number,
): Promise<LargeStore> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(`set session_replication_role = replica; set app.tenant_id = '${tenant}';
      set search_path = ag_catalog, pg_catalog`)
    const names = [
      ...Object.entries(largeTables).map(([name, set]) => [`svc.${name}`, set] as const),
      ...Object.entries(largeOwnTables).map(([name, set]) => [`${schemaName(tenant)}.${name}`, set] as const),
    ]
    for (const [table, set] of names) await copyRows(sql, table, set, tenant, count)
    const graph = graphName(tenant)
    for (const label of largeVertices) await copyVertices(sql, graph, label, count)
    for (const label of largeEdges) await copyEdges(sql, graph, label, count)
    const filled = [
      ...names.map(([table]) => table),
      ...[...largeVertices, ...largeEdges].map((label) => `${graph}."${label}"`),
    ]
    await sql.unsafe('analyze')
    const relations = await sql<{ oid: string; name: string; empty: boolean }[]>`
      with filled as (select t.name, p.relid::oid as oid from unnest(${filled}::text[]) t (name),
        lateral (select relid from pg_partition_tree(t.name::regclass) union select t.name::regclass) p),
      rows as (select name, sum(greatest(reltuples, 0)) as count from filled join pg_class c using (oid) group by name)
      select r.oid::text, f.name, rows.count < ${count} as empty from filled f join rows using (name),
        lateral (select f.oid union all select indexrelid from pg_index where indrelid = f.oid) r (oid)`
    return {
      relations: new Map(relations.map(({ oid, name }) => [oid, name])),
      empty: [...new Set(relations.filter(({ empty }) => empty).map(({ name }) => name))],
    }
  } finally {
    await sql.end()
  }
}

async function copyRows(
  sql: postgres.Sql,
  table: string,
  set: Columns,
  tenant: TenantId,
  count: number,
): Promise<void> {
  const columns = await sql<Column[]>`
    select attname as name, format_type(atttypid, null) as type,
      exists (select from pg_index where indrelid = attrelid and indisunique and attnum = any (indkey)) as unique
    from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`
  const values = columns.map((column) => set[column.name] ?? copiedValue(column))
  const own = columns.some(({ name }) => name === 'tenant_id') ? `where tenant_id = '${tenant}'` : ''
  await sql.unsafe(`insert into ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')}) overriding system value
    select ${values.join(', ')} from (select * from ${table} ${own} order by ctid desc limit 1) t,
      generate_series(1, ${count}) i`)
}

function copiedValue({ name, type, unique }: Column): string {
  const values = valuesOf[name]
  if (values !== undefined && (type === 'text' || (type === 'uuid' && !unique)))
    return type === 'text' ? `t."${name}" || ' ' || i % ${values}` : `md5('${name}' || i % ${values})::uuid`
  if (type === 'timestamp with time zone')
    return /until|expires|due/.test(name) ? `t."${name}"` : older(`"${name}"`)
  if (!unique || kept.has(name)) return `t."${name}"`
  if (type === 'uuid') return `md5('${name}' || i)::uuid`
  if (type === 'bigint' || type === 'integer') return `t."${name}" - 200000 - i`
  if (type === 'bytea') return 'sha256(int8send(i))'
  if (type === 'text') return `t."${name}" || ' ' || i`
  return `t."${name}"`
}

/** The properties of `t` with another id: that of what the node or edge stands for, in its table. */
function propertiesOf(label: string): string {
  const id =
    label === 'Snapshot'
      ? snapshotOf
      : /^(INTENDED|ACTUAL)_WRITE$/.test(label)
        ? `md5('commit_id' || i)::uuid::text`
        : `(t.properties::text::jsonb ->> 'id') || ' ' || i`
  // What nodes are found by besides.
  const keys = ['snapshot_key', 'table_id', 'name'].map(
    (key) => `case when t.properties::text::jsonb ? '${key}'
      then jsonb_build_object('${key}', (t.properties::text::jsonb ->> '${key}') || ' ' || i) else '{}' end`,
  )
  return `(t.properties::text::jsonb || jsonb_build_object('id', ${id}) || ${keys.join(' || ')})::text::ag_catalog.agtype`
}

async function copyVertices(sql: postgres.Sql, graph: string, label: string, count: number): Promise<void> {
  await sql.unsafe(`insert into ${graph}."${label}" (properties) select ${propertiesOf(label)}
    from (select * from ${graph}."${label}" limit 1) t, generate_series(1, ${count}) i`)
}

/** An edge goes from a copy to a copy where both ends were copied, else from or to the one node that was there. */
async function copyEdges(sql: postgres.Sql, graph: string, label: string, count: number): Promise<void> {
  const edge = `${graph}."${label}"`
  const [ends] = await sql.unsafe<{ from: string; to: string }[]>(`
    select (select tableoid::regclass::text from ${graph}._ag_label_vertex v where v.id = e.start_id) as from,
      (select tableoid::regclass::text from ${graph}._ag_label_vertex v where v.id = e.end_id) as to
    from ${edge} e limit 1`)
  if (ends === undefined) return
  const end = (column: string, name: string) => {
    const isCopied = largeVertices.some((vertex) => name.endsWith(`."${vertex}"`))
    const shift = column === 'end_id' && ends.from === ends.to ? 1 : 0
    return isCopied
      ? `(select id, ${count} + 1 - ${shift} - row_number() over (order by id desc) as i from ${name})`
      : `(select t.${column} as id, i from (select * from ${edge} limit 1) t, generate_series(1, ${count}) i)`
  }
  await sql.unsafe(`insert into ${edge} (start_id, end_id, properties)
    select s.id, e.id, ${propertiesOf(label)} from (select properties from ${edge} limit 1) t,
      ${end('start_id', ends.from)} s join ${end('end_id', ends.to)} e using (i) where i > 0`)
}
