/**
 * Finds tables that contracts do not cover well: one statement for each kind, and one for all counts. It sees every table
 * of the tenant, so who may ask is the caller's to decide.
 */

import { type CoverageKind, coverageKinds, unreadDays } from '../../core/coverage.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

export interface UncoveredTable {
  readonly table: TableRef
  /** Undefined where it is under no active contract. */
  readonly contract: string | undefined
}

export interface CoverageCounts extends Readonly<Record<CoverageKind, number>> {
  /** Of which the kinds are parts: those of the store and of the last sweep of catalogs. */
  readonly tables: number
}

/**
 * `seen`: the tables of the graph with their active contracts, and those that the last sweep of a catalog listed. $1 is
 * the tenant, $2 the time in milliseconds. The sentinel's ids are ''.
 */
const seen = `
  governed as materialized (
    select e.end_id as node, k.p ->> 'id' as contract
    from "GOVERNS" e join (select id, properties::text::jsonb as p from "Contract") k on k.id = e.start_id
    where k.p ->> 'state' = 'active' and k.p ->> 'id' <> ''),
  graphed as materialized (
    select t.p ->> 'id' as id, t.p -> 'namespace' as namespace, t.p ->> 'name' as name, t.node, g.contract
    from (select id as node, properties::text::jsonb as p from "Table") t left join governed g on g.node = t.node
    where t.p ->> 'id' <> ''),
  seen as materialized (
    select id, namespace, name, node, contract from graphed
    union all
    select distinct on (l.table_id) l.table_id, l.namespace, l.table_name, null::ag_catalog.graphid, null
    from svc.territory l
    where l.tenant_id = $1 and l.kind <> 'derived' and l.released_at is null and l.dropped_at is null
      and not exists (select from graphed g where g.id = l.table_id))`

/** Columns on which a mask is, by itself or by a tag of the column or its table. */
const masked = `
  masked as materialized (
    select e.end_id as node from "MASKS" e
    union
    select tagged.start_id from "APPLIES_TO" a join "ColumnMask" m on m.id = a.start_id
      join "TAGGED" tagged on tagged.end_id = a.end_id)`

/** Tables with a finding that stands, and no mask on its column, a column around it, or the whole table by a tag. */
const unprotected = `
  ${masked},
  columns as materialized (
    select c.id as node, c.p ->> 'id' as id, c.p ->> 'table_id' as table_id, c.p ->> 'name' as name
    from (select id, properties::text::jsonb as p from "Column") c),
  unprotected as materialized (
    select distinct r.table_id
    from svc.detection_finding f join svc.detection_run r on r.tenant_id = f.tenant_id and r.run_id = f.run_id
      left join columns own on own.id = f.column_id
    where f.tenant_id = $1 and f.status in ('open', 'confirmed') and r.table_id is not null
      and not exists (select from columns c join masked m on m.node = c.node
        where c.table_id = r.table_id and (c.id = f.column_id or starts_with(own.name, c.name || '.')))
      and not exists (select from graphed g join masked m on m.node = g.node where g.id = r.table_id))`

/** Tables that a statement has read: one that ended, also before all of its rows were taken. Keys are names by dots. */
const read = `
  read as materialized (
    select u.key from (values ('completed'), ('cancelled')) o (outcome)
      cross join lateral svc.total_usage('table', null, o.outcome,
        to_timestamp($2::float8 / 1000) - interval '${unreadDays} days', null, null, null) u)`

/** The mode of each contract on a table: the strictest of the policies that follow from it, at the time. */
const shadowed = `
  shadowed as materialized (
    select p.node from (
      select e.end_id as node, case when k.p ->> 'mode' = 'shadow' and (k.p ->> 'enforce_from_ms')::float8 <= $2::float8
          then 'enforce' else k.p ->> 'mode' end as mode
      from (select start_id, end_id from "SCHEMA_GOVERNS" union all select start_id, end_id from "WRITE_GOVERNS"
          union all select start_id, end_id from "RETAINS") e
        join (select id, properties::text::jsonb as p from "Policy"
          union all select id, properties::text::jsonb from "RetentionPolicy") k on k.id = e.start_id
      where k.p -> 'derived' is not null) p
    group by p.node having bool_and(p.mode = 'shadow'))`

/** What each kind looks up, and its condition on a row `s` of `seen`. */
const kinds: Readonly<Record<CoverageKind, { readonly from?: string; readonly where: string }>> = {
  uncontracted: { where: 's.contract is null' },
  without_owner: {
    where: `s.contract is not null and not exists (select from svc.contract_version v
      where v.tenant_id = $1 and v.contract_id = s.contract and v.state in ('active', 'deprecated')
        and (v.model #> '{contacts,team}' is not null or jsonb_array_length(v.model #> '{contacts,people}') > 0))`,
  },
  unprotected_findings: { from: unprotected, where: 's.id in (select table_id from unprotected)' },
  in_shadow: { from: shadowed, where: 's.contract is not null and s.node in (select node from shadowed)' },
  unread: {
    from: read,
    where: `s.contract is not null and (select string_agg(level, '.' order by place)
        from jsonb_array_elements_text(s.namespace) with ordinality n (level, place)) || '.' || s.name
      not in (select key from read)`,
  },
}

/** The tables of one kind, by id. @throws Fault `bad_request` for a bad page */
export async function uncoveredTables(
  store: Store,
  tenant: TenantId,
  kind: CoverageKind,
  { nowMs, ...page }: PageRequest & { readonly nowMs: number },
): Promise<Page<UncoveredTable>> {
  const limit = pageLimit(page)
  const { from, where } = kinds[kind]
  const rows = await store.tenantQuery<{
    id: string
    namespace: readonly string[]
    name: string
    contract: string | null
  }>(
    tenant,
    `with ${[seen, from].filter((part) => part !== undefined).join(',')}
     select s.id, s.namespace, s.name, s.contract from seen s
     where $2::float8 is not null and s.id collate "C" > $3 and ${where} order by s.id collate "C" limit $4::int`,
    [tenant, nowMs, storableText(page.after ?? ''), limit + 1],
  )
  const { items, ...rest } = toPage(rows, limit, ({ id }) => id)
  return {
    ...rest,
    items: items.map(({ namespace, name, contract }) => ({
      table: { namespace, name },
      contract: contract ?? undefined,
    })),
  }
}

/** How many tables are of each kind. */
export async function coverageCounts(store: Store, tenant: TenantId, nowMs: number): Promise<CoverageCounts> {
  const parts = [seen, ...coverageKinds.flatMap((kind) => kinds[kind].from ?? [])]
  const counted = coverageKinds.map((kind) => `count(*) filter (where ${kinds[kind].where}) as ${kind}`)
  const [row] = await store.tenantQuery<Record<CoverageKind | 'tables', string>>(
    tenant,
    `with ${parts.join(',')} select count(*) as tables, ${counted.join(', ')} from seen s
     where $2::float8 is not null`,
    [tenant, nowMs],
  )
  const count = (of: CoverageKind | 'tables') => Number(row?.[of] ?? 0)
  return {
    tables: count('tables'),
    uncontracted: count('uncontracted'),
    without_owner: count('without_owner'),
    unprotected_findings: count('unprotected_findings'),
    in_shadow: count('in_shadow'),
    unread: count('unread'),
  }
}
