/** Stores what check runs found, and lists runs with their results. Results only append. */

import {
  type CheckFinding,
  type CheckKind,
  type CheckOutcome,
  checkRun,
  type Severity,
  type StoredCheckRun,
} from '../../core/check-run.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { rowsOf } from '../database/rows.ts'
import type { Tx } from '../database/session.ts'
import { isReadable } from '../graph/readable.ts'
import type { Store } from '../store.ts'

/** Appends what a step found. */
export async function addResults(
  tx: Tx,
  tenant: TenantId,
  { runId, step, ms }: { readonly runId: string; readonly step: string; readonly ms: number | undefined },
  findings: readonly CheckFinding[],
): Promise<void> {
  const rows = findings.map((one) => ({
    ...{ check_key: one.key, element: one.element, metric: one.metric, severity: one.severity },
    ...{ outcome: one.outcome, value: one.value ?? null, unit: one.unit ?? '', engine: one.engine ?? null },
    ...{ expected: one.expected ?? null, field_ids: one.fieldIds, custom: one.custom },
    ...{
      reason: one.reason ?? '',
      detail: one.detail ?? null,
      ms: one.outcome === 'not_run' ? null : (ms ?? null),
    },
  }))
  await tx.query(
    `insert into svc.check_result (tenant_id, run_id, step, check_key, element, metric, severity, outcome, value, unit,
       expected, engine, ms, field_ids, custom, reason, detail)
     select $1, $2, $3, r.check_key, r.element, r.metric, r.severity, r.outcome, r.value, r.unit,
       r.expected, r.engine, r.ms, r.field_ids, r.custom, r.reason, r.detail
     from jsonb_to_recordset($4::text::jsonb) as r(check_key text, element text, metric text, severity text,
       outcome text, value text, unit text, expected jsonb, engine text, ms float8, field_ids jsonb, custom bool,
       reason text, detail jsonb)`,
    [tenant, runId, storableText(step), storableJson(rows)],
  )
}

const run = rowsOf(checkRun)

/** The columns of a check run. */
export const runColumns = run.columns
/** A run of a row of {@link runColumns}. */
export const runOf: (row: object) => StoredCheckRun = run.read
/** What a listing needs of a row besides. */
export interface RunRow {
  readonly sequence: string
}

interface CheckRunFilter extends PageRequest {
  readonly table?: TableRef | undefined
  readonly contract?: string | undefined
  readonly kind?: CheckKind | undefined
  /** Leaves out runs over tables that may not be read. Default: false. */
  readonly readableOnly?: boolean
}

/** The tenant's runs, newest first. @throws Fault `bad_request` for a bad page token */
export async function listCheckRuns(
  store: Store,
  tenant: TenantId,
  { table, contract, kind, readableOnly = false, ...page }: CheckRunFilter,
): Promise<Page<StoredCheckRun>> {
  const limit = pageLimit(page)
  const { text, params } = given(
    [tenant, limit + 1],
    ['table_id = ?::text', table && nodeId(tableKey(table))],
    ['contract_id = ?::text', contract === undefined ? undefined : storableText(contract)],
    // Written out, because the database's kept plan cannot know which kind is rare.
    [
      `kind = '${kind === 'quality' ? 'quality' : 'reconciliation'}' and ?::boolean`,
      kind === undefined ? undefined : true,
    ],
    ['run_seq < ?::int8', afterCount(page)],
  )
  const rows = await store.tenantQuery<RunRow>(
    tenant,
    `select ${runColumns} from svc.check_run
     where tenant_id = $1${text}${readableOnly ? ` and ${isReadable('table_id')}` : ''} order by run_seq desc limit $2::int`,
    params,
  )
  const found = toPage(rows, limit, ({ sequence }) => sequence)
  return { ...found, items: found.items.map(runOf) }
}

/** One run; undefined where the tenant has none of this id. */
export async function findCheckRun(
  store: Store,
  tenant: TenantId,
  runId: string,
): Promise<StoredCheckRun | undefined> {
  const rows = await store.tenantQuery<RunRow>(
    tenant,
    `select ${runColumns} from svc.check_run where tenant_id = $1 and run_id = $2`,
    [tenant, runId],
  )
  return rows.map(runOf)[0]
}

/** What the kind of a run needs besides; empty where the tenant has no such run. */
export async function findRunInput(
  store: Store,
  tenant: TenantId,
  runId: string,
): Promise<Readonly<Record<string, unknown>>> {
  const [row] = await store.tenantQuery<{ readonly input: Readonly<Record<string, unknown>> }>(
    tenant,
    'select input from svc.check_run where tenant_id = $1 and run_id = $2',
    [tenant, runId],
  )
  return row?.input ?? {}
}

export interface StoredCheckResult {
  readonly runId: string
  readonly key: string
  readonly element: string
  readonly metric: string
  readonly severity: Severity
  readonly outcome: CheckOutcome
  readonly value: string | undefined
  readonly unit: string
  readonly expected: { readonly operator: string; readonly threshold: unknown } | undefined
  readonly engine: string | undefined
  readonly ms: number | undefined
  readonly fieldIds: readonly number[]
  readonly custom: boolean
  readonly reason: string
  readonly detail: Readonly<Record<string, unknown>> | undefined
  readonly at: Date
}

export interface ResultRow {
  readonly run_id: string
  readonly check_key: string
  readonly element: string
  readonly metric: string
  readonly severity: Severity
  readonly outcome: CheckOutcome
  readonly value: string | null
  readonly unit: string
  readonly expected: StoredCheckResult['expected'] | null
  readonly engine: string | null
  readonly ms: number | null
  readonly field_ids: readonly number[]
  readonly custom: boolean
  readonly reason: string
  readonly detail: Readonly<Record<string, unknown>> | null
  readonly at: Date
}

/** The results of a run, in the order in which they were found. */
export async function resultsOfRun(
  store: Store,
  tenant: TenantId,
  runId: string,
): Promise<readonly StoredCheckResult[]> {
  return (await resultsOfRuns(store, tenant, [runId]))[0] ?? []
}

/** As {@link resultsOfRun}, of each of several runs, in their order, in one statement. */
export async function resultsOfRuns(
  store: Store,
  tenant: TenantId,
  runIds: readonly string[],
): Promise<readonly (readonly StoredCheckResult[])[]> {
  const rows = await store.tenantQuery<ResultRow>(
    tenant,
    `select run_id, check_key, element, metric, severity, outcome, value, unit, expected, engine, ms, field_ids, custom,
       reason, detail, at
     from svc.check_result
     where tenant_id = $1 and run_id in (select jsonb_array_elements_text($2::text::jsonb)::uuid) order by result_seq`,
    [tenant, JSON.stringify(runIds)],
  )
  const byRun = Map.groupBy(rows.map(resultOf), ({ runId }) => runId)
  return runIds.map((runId) => byRun.get(runId) ?? [])
}

/** A result as it is stored. */
export function resultOf({
  run_id: runId,
  check_key: key,
  field_ids: fieldIds,
  ...row
}: ResultRow): StoredCheckResult {
  return {
    ...{ runId, key, fieldIds, element: row.element, metric: row.metric, severity: row.severity },
    ...{ outcome: row.outcome, value: row.value ?? undefined, unit: row.unit, ms: row.ms ?? undefined },
    ...{ expected: row.expected ?? undefined, engine: row.engine ?? undefined, custom: row.custom },
    ...{ reason: row.reason, detail: row.detail ?? undefined, at: row.at },
  }
}
