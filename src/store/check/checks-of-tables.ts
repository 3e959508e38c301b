/** Lists check runs and results of one table or of several, in one statement. */

import type { CheckKind, StoredCheckRun } from '../../core/check-run.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { nodeId, storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'
import {
  type ResultRow,
  type RunRow,
  resultOf,
  runColumns,
  runOf,
  type StoredCheckResult,
} from './check-results.ts'

const idOf = (table: TableRef) => nodeId(tableKey(table))

/** The same page of the runs of each of several tables, in their order, newest first. @throws Fault as `listCheckRuns` */
export async function runsOfTables(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  { kind, ...page }: PageRequest & { readonly kind?: CheckKind | undefined },
): Promise<readonly Page<StoredCheckRun>[]> {
  const limit = pageLimit(page)
  const ids = tables.map(idOf)
  const { text, params } = given(
    [tenant, JSON.stringify(ids), limit + 1],
    ['kind = ?::text', kind],
    ['run_seq < ?::int8', afterCount(page)],
  )
  const rows = await store.tenantQuery<RunRow & { readonly table_id: string }>(
    tenant,
    `select r.* from (select distinct jsonb_array_elements_text($2::text::jsonb) as id) t, lateral (
       select table_id, ${runColumns} from svc.check_run
       where tenant_id = $1 and table_id = t.id${text}
       order by run_seq desc limit $3::int) r
     order by r.table_id, r.sequence::int8 desc`,
    params,
  )
  const byTable = Map.groupBy(rows, ({ table_id }) => table_id)
  return ids.map((id) => {
    const found = toPage(byTable.get(id) ?? [], limit, ({ sequence }) => sequence)
    return { ...found, items: found.items.map(runOf) }
  })
}

/** A result with the run that found it. */
export interface ListedResult {
  /** A page of results after this one begins here. */
  readonly sequence: string
  readonly run: StoredCheckRun
  readonly result: StoredCheckResult
}

interface ResultFilter extends PageRequest {
  readonly table: TableRef
  /** Key of one check. */
  readonly check?: string | undefined
}

/** The results of a table, newest first. @throws Fault `bad_request` for a bad page token */
export async function listResults(
  store: Store,
  tenant: TenantId,
  { table, ...page }: ResultFilter,
): Promise<Page<ListedResult>> {
  return (await resultsOfTables(store, tenant, [table], page))[0] ?? { items: [] }
}

interface ListedRow {
  readonly table_id: string
  readonly run: RunRow
  readonly result: ResultRow & { readonly result_seq: string }
}

/** The same page of each of several tables, in their order. @throws Fault as {@link listResults} */
export async function resultsOfTables(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  { check, ...page }: Omit<ResultFilter, 'table'>,
): Promise<readonly Page<ListedResult>[]> {
  const limit = pageLimit(page)
  const ids = tables.map(idOf)
  const { text, params } = given(
    [tenant, JSON.stringify(ids), limit + 1],
    ['c.check_key = ?::text', check === undefined ? undefined : storableText(check)],
    ['c.result_seq < ?::int8', afterCount(page)],
  )
  const rows = await store.tenantQuery<ListedRow>(
    tenant,
    `select t.id as table_id, x.run, x.result
     from (select distinct jsonb_array_elements_text($2::text::jsonb) as id) t, lateral (
     select to_jsonb(r) as run, to_jsonb(c) as result from (
       select c.result_seq::text, c.run_id, c.check_key, c.element, c.metric, c.severity, c.outcome, c.value, c.unit,
         c.expected, c.engine, c.ms, c.field_ids, c.custom, c.reason, c.detail, c.at
       from svc.check_result c
       join svc.check_run o on o.tenant_id = c.tenant_id and o.run_id = c.run_id
       where c.tenant_id = $1 and o.table_id = t.id${text}
       order by c.result_seq desc limit $3::int) c
     join lateral (
       select ${runColumns}
       from svc.check_run where tenant_id = $1 and run_id = c.run_id) r on true) x
     order by t.id, (x.result ->> 'result_seq')::int8 desc`,
    params,
  )
  const byTable = Map.groupBy(rows, ({ table_id }) => table_id)
  return ids.map((id) => {
    const found = toPage(byTable.get(id) ?? [], limit, ({ result }) => result.result_seq)
    return { ...found, items: found.items.map(listedOf) }
  })
}

/** A result with its run, from JSON. */
function listedOf({ run, result }: ListedRow): ListedResult {
  return {
    sequence: result.result_seq,
    run: runOf(run),
    result: resultOf({ ...result, at: new Date(result.at) }),
  }
}
