/** Writes usage records of the read path, adds them up, and reads them in pages and as totals. */

import type { RawReadKind, RawReadProtection } from '../../core/raw-read.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { UsageOutcome, UsageRecord } from '../../core/usage.ts'
import { type Condition, given } from '../database/conditions.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterCount, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

/** A record's columns in the order of {@link usageParams} and, from the second on, of svc.record_usage. */
export const usageColumns = [
  'tenant_id',
  'query_id',
  'started_at',
  'principal_sub',
  'principal_source',
  'surface',
  'catalog',
  'engine',
  'contracts',
  'reads',
  'policies',
  'rows_out',
  'bytes_out',
  'bytes_scanned',
  'queue_ms',
  'plan_ms',
  'run_ms',
  'outcome',
  'sqlstate',
  'fingerprint',
  'tool',
  'client',
  'purpose',
] as const
export type UsageColumn = (typeof usageColumns)[number]

/**
 * Writes a record, which is durable when this resolves.
 * @param wasOpened whether `openUsage` recorded the query; its row is then removed
 * @throws Fault of the store: the record was not written, or that is unknown
 */
export async function recordUsage(
  store: Store,
  tenant: TenantId,
  usage: UsageRecord,
  wasOpened = false,
): Promise<void> {
  const [, ...values] = usageParams(tenant, usage)
  await store.tenantCall(tenant, 'record_usage', [...values, wasOpened])
}

/** A record's values for {@link usageColumns}. */
export function usageParams(tenant: TenantId, usage: UsageRecord): readonly (string | number | null)[] {
  return [
    tenant,
    usage.queryId,
    usage.startedAtMs,
    storableText(usage.principal),
    usage.principalSource,
    usage.surface,
    usage.catalog ?? null,
    usage.engine ?? null,
    storableJson(usage.contracts),
    storableJson(usage.reads),
    storableJson(usage.policies),
    usage.rowsOut,
    usage.bytesOut,
    usage.bytesScanned ?? null,
    usage.queueMs,
    usage.planMs,
    usage.runMs,
    usage.outcome,
    usage.sqlState ?? null,
    usage.fingerprint ?? null,
    usage.tool ?? null,
    usage.client === undefined ? null : storableText(usage.client),
    usage.statedPurpose === undefined ? null : storableText(usage.statedPurpose),
  ]
}

export interface UsageFilter {
  /** Subject of the principal. Undefined: the records of every principal. */
  readonly principal?: string | undefined
  readonly outcome?: UsageOutcome | undefined
  /** Queries that started at this instant or later. */
  readonly from?: Date | undefined
  /** Queries that started before this instant. */
  readonly to?: Date | undefined
}

export interface ListFilter extends UsageFilter {
  /** Queries that read this table, or name it and were refused. */
  readonly table?: TableRef | undefined
  /** At the top level of `table`. Raw reads are of all columns. */
  readonly column?: string | undefined
}

export interface ListedUsage extends Omit<UsageRecord, 'startedAtMs'> {
  readonly startedAt: Date
}

interface Row {
  readonly usage_seq: string
  readonly query_id: string
  readonly started_at: Date
  readonly principal_sub: string
  readonly principal_source: string
  readonly surface: string
  readonly catalog: string | null
  readonly engine: string | null
  readonly contracts: UsageRecord['contracts']
  readonly reads: UsageRecord['reads']
  readonly policies: UsageRecord['policies']
  readonly rows_out: string
  readonly bytes_out: string
  readonly bytes_scanned: string | null
  readonly queue_ms: number
  readonly plan_ms: number
  readonly run_ms: number
  readonly outcome: UsageOutcome
  readonly sqlstate: string | null
  readonly fingerprint: string | null
  readonly tool: string | null
  readonly client: string | null
  readonly purpose: string | null
  readonly session_id: string | null
  readonly given: RawReadKind | null
  readonly given_times: string | null
  readonly last_at: Date | null
  readonly protection: RawReadProtection | null
}

/** What a filter asks of `svc.query_usage u`, after the tenant. */
function conditionsOf({ principal, outcome, from, to }: UsageFilter): readonly Condition[] {
  const sub = principal === undefined ? undefined : storableText(principal)
  return [
    ['(md5(u.principal_sub) = md5(?::text) and u.principal_sub = ?::text)', sub, sub],
    // Written out, because the index of what was not completed serves no parameter of a kept plan.
    [`u.outcome ${outcome === 'completed' ? '=' : `<> 'completed' and u.outcome =`} ?::text`, outcome],
    ['u.started_at >= ?::timestamptz', from],
    ['u.started_at < ?::timestamptz', to],
  ]
}

/** Names are compared whole. */
function tableConditionsOf({ table, column }: ListFilter): readonly Condition[] {
  if (table === undefined) return []
  const names = [storableJson(table.namespace), storableText(table.name)]
  const isTable = "r -> 'namespace' = ?::text::jsonb and r ->> 'name' = ?::text"
  if (column === undefined)
    return [[`exists (select from jsonb_array_elements(u.reads) r where ${isTable})`, ...names]]
  return [
    [
      `exists (select from jsonb_array_elements(u.reads) r where ${isTable}
        and (u.given is not null or jsonb_exists(r -> 'columns', ?::text)))`,
      ...[...names, storableText(column)],
    ],
  ]
}

/**
 * The tenant's records, newest first.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listUsage(
  store: Store,
  tenant: TenantId,
  filter: ListFilter,
  page: PageRequest,
  signal?: AbortSignal,
): Promise<Page<ListedUsage>> {
  const limit = pageLimit(page)
  const { text, params } = given([tenant, limit + 1], ...conditionsOf(filter), ...tableConditionsOf(filter), [
    'u.usage_seq < ?::int8',
    afterCount(page),
  ])
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select u.* from svc.query_usage u where u.tenant_id = $1${text} order by u.usage_seq desc limit $2::int`,
    params,
    { readOnly: true, ...(signal && { signal }) },
  )
  const found = toPage(rows, limit, (row) => row.usage_seq)
  return { ...found, items: found.items.map(listed) }
}

/** One record; undefined where there is none of the id. */
export async function findUsage(
  store: Store,
  tenant: TenantId,
  queryId: string,
): Promise<ListedUsage | undefined> {
  if (!isUuid(queryId)) return undefined
  const [row] = await store.tenantQuery<Row>(
    tenant,
    'select * from svc.query_usage where tenant_id = $1 and query_id = $2',
    [tenant, queryId],
  )
  return row && listed(row)
}

function listed(row: Row): ListedUsage {
  return {
    queryId: row.query_id,
    startedAt: row.started_at,
    principal: row.principal_sub,
    principalSource: row.principal_source,
    surface: row.surface,
    catalog: row.catalog ?? undefined,
    engine: row.engine ?? undefined,
    contracts: row.contracts,
    reads: row.reads,
    policies: row.policies,
    rowsOut: Number(row.rows_out),
    bytesOut: Number(row.bytes_out),
    bytesScanned: row.bytes_scanned === null ? undefined : Number(row.bytes_scanned),
    queueMs: row.queue_ms,
    planMs: row.plan_ms,
    runMs: row.run_ms,
    outcome: row.outcome,
    sqlState: row.sqlstate ?? undefined,
    fingerprint: row.fingerprint ?? undefined,
    ...(row.tool !== null && { tool: row.tool }),
    ...(row.client !== null && { client: row.client }),
    ...(row.purpose !== null && { statedPurpose: row.purpose }),
    ...rawOf(row),
  }
}

function rawOf(row: Row): Pick<ListedUsage, 'raw'> {
  const { given, protection, session_id: sessionId } = row
  if (given === null || protection === null) return {}
  const times = { times: Number(row.given_times), lastAtMs: (row.last_at ?? row.started_at).getTime() }
  return { raw: { sessionId: sessionId ?? undefined, given, protection, ...times } }
}

/** What totals are grouped by. A query of several tables or contracts is in the group of each. */
export const usageGroups = ['principal', 'outcome', 'day', 'table', 'contract'] as const
export type UsageGroup = (typeof usageGroups)[number]

export interface UsageTotal {
  readonly key: string
  readonly queries: number
  readonly rowsOut: number
  readonly bytesOut: number
  readonly bytesScanned: number
  readonly runMs: number
}

/**
 * Totals of the records that match, by key.
 * @throws Fault `bad_request` for a page limit that is too large
 */
export async function totalUsage(
  store: Store,
  tenant: TenantId,
  filter: UsageFilter,
  by: UsageGroup,
  page: PageRequest,
): Promise<Page<UsageTotal>> {
  const limit = pageLimit(page)
  const { principal, outcome, from, to } = filter
  const rows = await store.tenantQuery<Readonly<Record<keyof UsageTotal, string>>>(
    tenant,
    `select key, queries, rows_out as "rowsOut", bytes_out as "bytesOut", bytes_scanned as "bytesScanned",
       run_ms as "runMs"
     from svc.total_usage($1, $2, $3, $4::timestamptz, $5::timestamptz, $6, $7::int)`,
    [
      by,
      principal === undefined ? null : storableText(principal),
      outcome ?? null,
      from ?? null,
      to ?? null,
      page.after ?? null,
      limit + 1,
    ],
    { readOnly: true },
  )
  const found = toPage(rows, limit, ({ key }) => key)
  return {
    ...found,
    items: found.items.map(({ key, queries, rowsOut, bytesOut, bytesScanned, runMs }) => ({
      key,
      queries: Number(queries),
      rowsOut: Number(rowsOut),
      bytesOut: Number(bytesOut),
      bytesScanned: Number(bytesScanned),
      runMs: Number(runMs),
    })),
  }
}

/** Records that one transaction adds to the totals. */
const rolledMax = 5_000

/**
 * Adds what is new of a tenant's records to the totals by hour and day. Totals are right without it, and read slowly.
 * @param signal ends it between two transactions; the next run goes on from there
 */
export async function rollUsage(store: Store, tenant: TenantId, signal?: AbortSignal): Promise<void> {
  let rolled: number
  do {
    signal?.throwIfAborted()
    const [row] = await store.tenantQuery<{ readonly rolled_now: number }>(
      tenant,
      'select rolled_now from svc.roll_usage($1::int)',
      [rolledMax],
    )
    rolled = row?.rolled_now ?? 0
  } while (rolled === rolledMax)
}
