/**
 * Removes what a tenant has in the database: its rows in every table of svc that has a column tenant_id, as the database
 * lists them, then its schema, its graph and itself. Whether it may be removed is not decided here (removals.ts).
 */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { lockMigrations } from '../database/migrations.ts'
import { graphName, schemaName } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { beginTenantRemoval, type TenantRemoval } from './removals.ts'

/** Rows that one transaction removes. */
const pageRows = 5_000

/** Milliseconds for a statement of the last step, which counts and drops a schema and a graph of any size. */
const restMs = 1_800_000

/** Tables that go last, with the tenant: others rest on them, or a trigger writes them again. */
const lastTables = new Set(['governance_version', 'territory_state', 'tenant'])

/** The record of removals, which stays. */
const record = 'tenant_removal'

/**
 * Removes a tenant, or goes on where a removal was interrupted; for one that was removed, rows that came late.
 * @throws Fault `conflict` where a hold stands; `misconfigured` where a table cannot be emptied; the signal's reason
 */
export async function removeTenant(store: Store, removal: TenantRemoval, signal: AbortSignal): Promise<void> {
  const { tenant, removedAt } = removal
  if (removedAt === undefined) await beginTenantRemoval(store, removal)
  const tables = await store.ownerTransaction(tenant, tablesOfTenants)
  for (const table of tables) if (!lastTables.has(table)) await emptyTable(store, removal, table, signal)
  signal.throwIfAborted()
  if (removedAt === undefined)
    await store.ownerTransaction(tenant, (tx) => removeRest(tx, removal, tables), { statementMs: restMs })
}

/**
 * Every table of svc with rows of tenants, each before those that it refers to. A partition is a table of its own.
 * @throws Fault `misconfigured` where row-level security would hide rows from the owner, who would then leave them
 */
async function tablesOfTenants(tx: Tx): Promise<readonly string[]> {
  const tables = await tx.query<{
    readonly name: string
    readonly is_open: boolean
    readonly refers_to: readonly string[]
  }>(
    `select c.relname::text as name,
       not c.relforcerowsecurity or exists (select from pg_policy p where p.polrelid = c.oid and p.polpermissive
         and p.polcmd in ('*', 'd') and p.polroles && array[0::oid, 'svc_owner'::regrole::oid]) as is_open,
       array(select r.relname::text from pg_constraint k join pg_class r on r.oid = k.confrelid
         where k.conrelid = c.oid and k.contype = 'f' and r.oid <> c.oid) as refers_to
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'svc'::regnamespace and c.relkind = 'r' and a.attname = 'tenant_id' and not a.attisdropped
       and c.relname <> $1
     order by 1`,
    [record],
  )
  const closed = tables.filter(({ is_open }) => !is_open).map(({ name }) => name)
  if (closed.length > 0)
    throw new Fault(
      'misconfigured',
      `No row-level policy lets svc_owner remove a tenant's rows of: ${closed.join(', ')}.`,
    )
  const ordered: string[] = []
  while (ordered.length < tables.length) {
    const waiting = tables.filter(({ name }) => !ordered.includes(name))
    const free = waiting.filter(({ name }) => !waiting.some(({ refers_to }) => refers_to.includes(name)))
    if (free.length === 0) throw new Error('tables of svc refer to each other in a circle')
    ordered.push(...free.map(({ name }) => name))
  }
  return ordered
}

async function emptyTable(
  store: Store,
  removal: TenantRemoval,
  table: string,
  signal: AbortSignal,
): Promise<void> {
  let removed: number
  do {
    signal.throwIfAborted()
    removed = await store.ownerTransaction(removal.tenant, async (tx) => {
      const count = await removeRows(tx, removal.tenant, table, pageRows)
      await addCounts(tx, removal, { [table]: count })
      return count
    })
  } while (removed === pageRows)
}

/** Removes rows of the tenant from a table. @param most absent: all */
async function removeRows(tx: Tx, tenant: TenantId, table: string, most?: number): Promise<number> {
  const page = `and ctid = any (array(select ctid from svc."${table}" where tenant_id = $1 limit ${most}))`
  const [row] = await tx.query<{ readonly count: number }>(
    `with gone as (delete from svc."${table}" where tenant_id = $1 ${most === undefined ? '' : page} returning 1)
     select count(*)::int as count from gone`,
    [tenant],
  )
  return row?.count ?? 0
}

/** The last step, whole or not at all: schema, graph, what came meanwhile, and the tenant itself. */
async function removeRest(tx: Tx, removal: TenantRemoval, tables: readonly string[]): Promise<void> {
  const { tenant, id } = removal
  // A replica that starts would migrate what is half gone.
  await lockMigrations(tx)
  const counts: Record<string, number> = await ownCounts(tx, tenant)
  const [last] = await tx.query<{ readonly version: string }>(
    'select version + 1 as version from svc.governance_version where tenant_id = $1',
    [tenant],
  )
  await tx.script(`drop schema if exists ${schemaName(tenant)} cascade`)
  await tx.query(
    `select ag_catalog.drop_graph($1::name, true) where exists (select from ag_catalog.ag_graph where name = $1::name)`,
    [graphName(tenant)],
    { prepare: false },
  )
  for (const table of tables) if (!lastTables.has(table)) counts[table] = await removeRows(tx, tenant, table)
  // What triggers of the removed rows put off until the end of the transaction comes before the rows that they write.
  await tx.script('set constraints all immediate')
  for (const table of lastTables) counts[table] = await removeRows(tx, tenant, table)
  const migrations = await tx.query('delete from svc.migration where scope = $1 returning 1', [tenant])
  counts.migration = migrations.length
  await tx.query('update svc.month_partition set at_tenant = null where at_tenant = $1', [tenant])
  await addCounts(tx, removal, counts)
  await tx.query('set local role svc_admin')
  await tx.query('update svc.tenant_removal set removed_at = clock_timestamp() where removal_id = $1', [id])
  // Replicas forget what they hold of the tenant.
  await tx.query(`select pg_notify('svc_governance', format('%s %s', $1::text, $2::text))`, [
    tenant,
    last?.version ?? '1',
  ])
  await tx.query('set local role svc_owner')
}

/** Rows of the tenant's own schema, and nodes and edges of its graph. */
async function ownCounts(tx: Tx, tenant: TenantId): Promise<Record<string, number>> {
  const tables = await tx.query<{ readonly schema: string; readonly name: string }>(
    `select n.nspname::text as schema, c.relname::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and (n.nspname = $1 or (n.nspname = $2 and c.relname in ('_ag_label_vertex', '_ag_label_edge')))
     order by 1, 2`,
    [schemaName(tenant), graphName(tenant)],
  )
  const named: Readonly<Record<string, string>> = { _ag_label_vertex: 'nodes', _ag_label_edge: 'edges' }
  const counts: Record<string, number> = {}
  for (const { schema, name } of tables) {
    const [row] = await tx.query<{ readonly count: string }>(
      `select count(*) as count from "${schema}"."${name}"`,
      [],
      { prepare: false },
    )
    counts[named[name] ?? name] = Number(row?.count ?? 0)
  }
  return counts
}

/** Adds to the record how many rows went, in the transaction that removes them. */
async function addCounts(
  tx: Tx,
  { id }: TenantRemoval,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const some = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
  if (Object.keys(some).length === 0) return
  await tx.query('set local role svc_admin')
  await tx.query(
    `update svc.tenant_removal r set counts = r.counts || (select jsonb_object_agg(n.key,
       n.value::bigint + coalesce((r.counts ->> n.key)::bigint, 0)) from jsonb_each_text($2::text::jsonb) n)
     where removal_id = $1`,
    [id, JSON.stringify(some)],
  )
  await tx.query('set local role svc_owner')
}
