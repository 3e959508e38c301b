/** Finds who read a table or a column in a time, from the usage records of all surfaces. */

import type { RawReadKind } from '../../core/raw-read.ts'
import type { SawOfTable } from '../../core/table-reads.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson, storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

interface TableReadsFilter {
  readonly table: TableRef
  /** At the top level. Undefined: any. */
  readonly column?: string | undefined
  readonly from: Date
  readonly to: Date
  readonly saw?: SawOfTable | undefined
}

/** Reads by one principal, on one surface and of one kind, which saw the same. */
export interface TableReads {
  readonly principal: string
  readonly surface: string
  /** Of the surface `iceberg`: the session and what it was given. */
  readonly session?: { readonly id: string; readonly name: string | null; readonly roles: readonly string[] }
  readonly given?: RawReadKind
  readonly saw: SawOfTable
  readonly reads: number
  readonly firstAt: Date
  readonly lastAt: Date
}

interface Row {
  readonly key: string
  readonly principal: string
  readonly surface: string
  readonly session_id: string | null
  readonly session_name: string | null
  readonly roles: readonly string[] | null
  readonly given: RawReadKind | null
  readonly saw: SawOfTable
  readonly reads: string
  readonly first_at: Date
  readonly last_at: Date
}

/** Names are compared whole. A raw read is of all columns. A record of a minute counts where its last read is in time. */
const readsText = `
  with seen as (
    select u.principal_sub as principal, u.surface, u.session_id, u.given, coalesce(u.given_times, 1) as times,
      u.started_at, coalesce(u.last_at, u.started_at) as last_at,
      case when u.protection = 'told' then 'told'
        when u.given is not null then 'whole'
        when exists (select from jsonb_array_elements(u.policies) p
          where p ->> 'kind' = 'column_mask' and p #> '{table,namespace}' = $2::text::jsonb and p #>> '{table,name}' = $3
            and ($4::text is null or p ->> 'column' = $4 or starts_with(p ->> 'column', $4 || '.'))) then 'masked'
        when exists (select from jsonb_array_elements(u.policies) p
          where p ->> 'kind' = 'row_filter' and p #> '{table,namespace}' = $2::text::jsonb and p #>> '{table,name}' = $3)
          then 'filtered'
        else 'whole' end as saw
    from svc.query_usage u
    where u.tenant_id = $1 and u.outcome <> 'refused'
      and u.started_at >= $5::timestamptz - interval '1 minute' and u.started_at < $6::timestamptz
      and coalesce(u.last_at, u.started_at) >= $5::timestamptz
      and exists (select from jsonb_array_elements(u.reads) r
        where r -> 'namespace' = $2::text::jsonb and r ->> 'name' = $3
          and ($4::text is null or u.given is not null or jsonb_exists(r -> 'columns', $4)))),
  added as (
    select jsonb_build_array(s.principal, s.surface, s.session_id, s.given, s.saw)::text as key, s.principal, s.surface,
      s.session_id, s.given, s.saw, sum(s.times) as reads, min(s.started_at) as first_at, max(s.last_at) as last_at
    from seen s where $7::text is null or s.saw = $7
    group by s.principal, s.surface, s.session_id, s.given, s.saw)
  select a.*, n.name as session_name, n.principal_roles as roles
  from added a left join svc.service_session n on n.tenant_id = $1 and n.session_id = a.session_id
  where $8::text is null or a.key collate "C" > $8
  order by a.key collate "C" limit $9::int`

/** Who read it, a page at a time. @throws Fault `bad_request` for a page limit that is too large */
export async function listTableReads(
  store: Store,
  tenant: TenantId,
  { table, column, from, to, saw }: TableReadsFilter,
  page: PageRequest,
): Promise<Page<TableReads>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    readsText,
    [
      tenant,
      storableJson(table.namespace),
      storableText(table.name),
      column === undefined ? null : storableText(column),
      from,
      to,
      saw ?? null,
      page.after === undefined ? null : storableText(page.after),
      limit + 1,
    ],
    { readOnly: true },
  )
  const found = toPage(rows, limit, ({ key }) => key)
  return { ...found, items: found.items.map(toReads) }
}

function toReads(row: Row): TableReads {
  const { principal, surface, session_id: id, session_name: name, roles, given, saw } = row
  return {
    ...{ principal, surface, saw },
    ...(id !== null && { session: { id, name, roles: roles ?? [] } }),
    ...(given !== null && { given }),
    ...{ reads: Number(row.reads), firstAt: row.first_at, lastAt: row.last_at },
  }
}
