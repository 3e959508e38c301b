/**
 * Reads the graph for the sweep for long cycles, and records the cycles that the sweep found
 * (docs/reference/lineage.md 5.3). The sweep itself is in `src/lineage`.
 */

import { createHash } from 'node:crypto'
import type { LineageName } from '../../core/lineage.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson } from '../database/names.ts'
import { afterUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { parseAgtype } from '../graph/graph.ts'
import { rowNumber } from '../graph/node-numbers.ts'
import type { Store } from '../store.ts'

/** A LINEAGE_OF edge by the numbers of its datasets. The numbers are valid within one reading only. */
interface EdgeNumbers {
  readonly source: number
  readonly target: number
}

interface SweepState {
  /** Whether there is an edge that no sweep has seen, or an open cycle that may no longer exist. */
  readonly due: boolean
  /** The number of edges and the newest id, as text. */
  readonly edges: string
}

/** Whether a sweep of the tenant's graph could find anything new. */
export async function sweepState(store: Store, tenant: TenantId): Promise<SweepState> {
  const [row] = await store.tenantQuery<{ edges: string; last: string | null; open: boolean }>(
    tenant,
    // The count as well as the newest id, because an edge with a lower id may be committed later. And which datasets are
    // names of which tables, because that closes cycles too.
    `select (select count(*) || ' ' || coalesce(max(l.id::text::int8), 0) from "LINEAGE_OF" l)
         || (select coalesce(' ' || sum(hashtext(n.table_key)), '') from lineage_name n) as edges,
       (select last_edge from lineage_sweep) as last,
       exists (select from lineage_cycle where resolved_at is null) as open`,
  )
  const edges = row?.edges ?? ''
  return { due: edges !== (row?.last ?? '0 0') || row?.open === true, edges }
}

const edgesPerFetch = 20_000

/**
 * Passes all LINEAGE_OF edges of one snapshot of the tenant's graph to `take`, in large batches. Of the names of one
 * table, one stands for all.
 */
export async function readLineageEdges(
  store: Store,
  tenant: TenantId,
  take: (edges: readonly EdgeNumbers[]) => void,
): Promise<void> {
  await store.tenantTransaction(
    tenant,
    async (tx) => {
      await tx.script(
        `declare edges no scroll cursor for
         with names as (select node, first_value(node) over (partition by table_key order by node) as one from lineage_name)
         select ${rowNumber('coalesce(s.one, l.start_id)')}::float8 as source, ${rowNumber('coalesce(t.one, l.end_id)')}::float8 as target
         from "LINEAGE_OF" l left join names s on s.node = l.start_id left join names t on t.node = l.end_id
         where coalesce(s.one, l.start_id) <> coalesce(t.one, l.end_id)`,
      )
      for (;;) {
        const edges = await tx.query<EdgeNumbers>(`fetch ${edgesPerFetch} from edges`, [], { prepare: false })
        take(edges)
        if (edges.length < edgesPerFetch) return
      }
    },
    { readOnly: true },
  )
}

/** The names of datasets by their numbers, in the given order, without deleted ones. */
export async function datasetNames(
  store: Store,
  tenant: TenantId,
  numbers: readonly number[],
): Promise<readonly LineageName[]> {
  const rows = await store.tenantQuery<{ properties: string | null }>(
    tenant,
    `select (select d.properties::text from "Dataset" d where d.id = ids.id) as properties
     from (select _graphid(label.id, n::int8) as id, place
       from jsonb_array_elements_text($1::text::jsonb) with ordinality list (n, place),
         (select id from ag_label where relation = '"Dataset"'::regclass) label) ids
     order by place`,
    [JSON.stringify(numbers)],
    { readOnly: true },
  )
  return rows.flatMap(({ properties }) => {
    if (properties === null) return []
    const { namespace, name } = parseAgtype(properties) as LineageName & Record<string, unknown>
    return [{ namespace, name }]
  })
}

interface LineageCycle {
  readonly id: string
  /** In the order of the edges; an edge leads from the last to the first. */
  readonly datasets: readonly LineageName[]
  readonly detectedAt: Date
  readonly lastSeenAt: Date
}

/** The key of a cycle, equal for every starting point. */
function cycleKey(datasets: readonly LineageName[]): string {
  const names = datasets.map(({ namespace, name }) => `${namespace}\u001f${name}`).sort()
  return createHash('sha256').update(names.join('\u001e')).digest('hex')
}

/**
 * Records the cycles that a sweep found and closes those that it no longer found.
 * @returns those that were not open before
 */
export async function recordSweep(
  store: Store,
  tenant: TenantId,
  { cycles, edges }: { cycles: readonly (readonly LineageName[])[]; edges: string },
): Promise<readonly LineageCycle[]> {
  const found = new Map(cycles.map((datasets) => [cycleKey(datasets), datasets]))
  const items = [...found].map(([key, datasets]) => ({ key, datasets }))
  return store.tenantTransaction(tenant, async (tx) => {
    await tx.query(
      `update lineage_cycle set resolved_at = now() where resolved_at is null
       and cycle_key not in (select item ->> 'key' from jsonb_array_elements($1::text::jsonb) item)`,
      [storableJson(items)],
    )
    const rows = await tx.query<CycleRow & { is_new: boolean }>(
      `insert into lineage_cycle as c (cycle_key, datasets)
       select item ->> 'key', item -> 'datasets' from jsonb_array_elements($1::text::jsonb) item
       on conflict (cycle_key) where resolved_at is null do update set last_seen_at = now()
       returning cycle_id, datasets, detected_at, last_seen_at, detected_at = last_seen_at as is_new`,
      [storableJson(items)],
    )
    await tx.query(
      `insert into lineage_sweep as s (last_edge) values ($1)
       on conflict (tenant_id) do update set last_edge = excluded.last_edge, swept_at = now()`,
      [edges],
    )
    return rows.filter((row) => row.is_new).map(toCycle)
  })
}

interface CycleRow {
  readonly cycle_id: string
  readonly datasets: readonly LineageName[]
  readonly detected_at: Date
  readonly last_seen_at: Date
}

function toCycle(row: CycleRow): LineageCycle {
  return {
    id: row.cycle_id,
    datasets: row.datasets,
    detectedAt: row.detected_at,
    lastSeenAt: row.last_seen_at,
  }
}

/** The open cycles, by id. */
export async function listLineageCycles(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<LineageCycle>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<CycleRow>(
    tenant,
    `select cycle_id, datasets, detected_at, last_seen_at from lineage_cycle
     where resolved_at is null and cycle_id > $1 order by cycle_id limit $2::int`,
    [afterUuid(page), limit + 1],
  )
  return toPage(rows.map(toCycle), limit, ({ id }) => id)
}

/**
 * Adds STORED_AS edges for datasets whose table was added to the graph after them.
 * @returns how many edges are new
 */
export async function linkLateTables(store: Store, tenant: TenantId): Promise<number> {
  const [row] = await store.tenantQuery<{ n: string }>(
    tenant,
    `select coalesce(sum(svc.link_datasets(table_id)), 0) as n from (
       select distinct d.properties::text::jsonb ->> 'table_id' as table_id from "Dataset" d
       where agtype_access_operator(variadic array[d.properties, '"table_id"'::agtype]) is not null
         and not exists (select from "STORED_AS" s where s.start_id = d.id)) late`,
  )
  return Number(row?.n)
}
