/**
 * The partitions of history by month (docs/retention.md): makes them ahead of time, lists, detaches and verifies them.
 * What a month's settings and holds allow is decided by the SQL functions.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { parseTenantId, type TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'

/**
 * Makes the partitions of a month and the next three that are missing.
 * @param at a time in that month; undefined: the database's
 * @returns how many it made
 */
export async function keepMonths(store: Store, at?: Date): Promise<number> {
  const [row] = await store.adminQuery<{ readonly made: number }>(
    'select svc.keep_months(coalesce($1::text::timestamptz, now())) as made',
    [at?.toISOString() ?? null],
  )
  return row?.made ?? 0
}

export interface Month {
  /** Of its table in the schema svc. */
  readonly name: string
  readonly kind: 'audit' | 'usage'
  /** Undefined where it holds all that was there before partitions. */
  readonly starts: Date | undefined
  readonly ends: Date
  /** Set once it is detached, and kept when its table is dropped. */
  readonly detached:
    | {
        readonly at: Date
        readonly by: Actor
        readonly rows: number
        readonly sha256: string
        /** Of the month of its kind that was detached before. */
        readonly previousSha256: string | undefined
        /** Whether the operator has dropped its table. */
        readonly isDropped: boolean
      }
    | undefined
}

interface Row {
  readonly name: string
  readonly parent: 'audit_log' | 'query_usage'
  readonly starts: Date | null
  readonly ends: Date
  readonly detached_at: Date | null
  readonly detached_by: Actor | null
  readonly row_count: string | null
  readonly sha256: string | null
  readonly previous_sha256: string | null
  readonly is_dropped: boolean
}

/** Every month, of each kind from the oldest on. */
export async function listMonths(store: Store): Promise<readonly Month[]> {
  const rows = await store.adminQuery<Row>(
    `select name, parent, nullif(starts, '-infinity') as starts, ends, detached_at, detached_by, row_count, sha256,
       previous_sha256, to_regclass(format('svc.%I', name)) is null as is_dropped
     from svc.month_partition p order by parent, p.starts`,
  )
  return rows.map((row) => ({
    name: row.name,
    kind: row.parent === 'audit_log' ? 'audit' : 'usage',
    starts: row.starts ?? undefined,
    ends: row.ends,
    detached:
      row.detached_at === null || row.detached_by === null
        ? undefined
        : {
            at: row.detached_at,
            by: row.detached_by,
            rows: Number(row.row_count),
            sha256: row.sha256 ?? '',
            previousSha256: row.previous_sha256 ?? undefined,
            isDropped: row.is_dropped,
          },
  }))
}

/** What a tenant has in a month, and what keeps it there. */
interface MonthTenant {
  readonly tenant: TenantId
  readonly rows: number
  /** Undefined: for good. */
  readonly keepDays: number | undefined
  /** Whether the month is past that. */
  readonly isExpired: boolean
  /** Legal holds that stand on what the tenant has in it. */
  readonly holds: number
}

interface TenantRow {
  readonly tenant_id: string
  readonly row_count: string | number
  readonly keep_days: number | null
  readonly is_expired: boolean
  readonly holds: number
  /** Of what keeps a month: whether rows are not in the tree that proves the audit. */
  readonly is_unproven?: boolean
}

function toMonthTenant(row: TenantRow): MonthTenant {
  const tenant = parseTenantId(row.tenant_id)
  if (tenant === undefined) throw new Fault('internal', 'Internal error.', { detail: 'a tenant id' })
  return {
    tenant,
    rows: Number(row.row_count),
    keepDays: row.keep_days ?? undefined,
    isExpired: row.is_expired,
    holds: row.holds,
  }
}

/** Counting and hashing a month reads all of it. */
const statementMs = 600_000
const pageRows = 1_000
/** One call is done within seconds, so that its caller can show how far it is. */
const callMs = 5_000

/** The tenants with rows in a month that is attached. */
export async function monthTenants(store: Store, name: string): Promise<readonly MonthTenant[]> {
  const rows = await store.adminQuery<TenantRow>('select * from svc.month_tenants($1)', [name], {
    statementMs,
  })
  return rows.map(toMonthTenant)
}

/** How far detaching a month is. */
interface Detaching {
  /** `hash`: rows are counted and hashed; `remove`: their edges leave the graph; `detach`: only the last step is left. */
  readonly step: 'hash' | 'remove' | 'detach' | 'detached'
  /** Of the step. */
  readonly rows: number
}

interface StepRow {
  readonly step: Detaching['step'] | 'blocked' | 'changed' | 'not-oldest' | 'not-over'
  readonly rows_done: string | null
  readonly blocked: readonly TenantRow[] | null
  readonly tenants?: readonly TenantRow[] | null
}

/**
 * Takes detaching a month further, for some seconds, from where the last call ended.
 * @throws Fault `conflict` where a setting or hold keeps the month, it is not over, or an earlier one is attached
 */
export async function detachMonth(store: Store, name: string, by: Actor): Promise<Detaching> {
  const endsMs = performance.now() + callMs
  let at: Detaching = { step: 'hash', rows: 0 }
  do {
    const [row] = await store.adminQuery<StepRow>(
      'select * from svc.detach_page($1, $2::text::jsonb, $3::int)',
      [name, storableJson(by), pageRows],
      { statementMs },
    )
    at = stepOf(row)
    if (at.step === 'detach') return await finishDetaching(store, name, by)
  } while (at.step !== 'detached' && performance.now() < endsMs)
  return at
}

async function finishDetaching(store: Store, name: string, by: Actor): Promise<Detaching> {
  return await store.adminTransaction(
    async (tx) => {
      const [row] = await tx.query<StepRow>('select *, null as rows_done from svc.detach_month($1)', [name])
      if (row?.step === 'changed') return { step: 'hash' as const, rows: 0 }
      const at = stepOf(row)
      const tenants = (row?.tenants ?? []).map(toMonthTenant)
      for (const { tenant, rows } of tenants)
        await recordAdministration(
          tx,
          by,
          { action: 'detach-month', subject: { month: name }, value: { rows } },
          tenant,
        )
      return { ...at, rows: tenants.reduce((sum, { rows }) => sum + rows, 0) }
    },
    { statementMs },
  )
}

function stepOf(row: StepRow | undefined): Detaching {
  if (row === undefined) throw new Error('a function gave no row')
  const { step } = row
  switch (step) {
    case 'not-oldest':
      throw new Fault('conflict', 'An earlier month of this kind is attached: detach that first.')
    case 'not-over':
      throw new Fault('conflict', 'This month is not over.')
    case 'blocked':
      throw new Fault('conflict', `This month is kept: ${(row.blocked ?? []).map(reasonOf).join('; ')}.`)
    case 'changed':
      throw new Error('a page does not end a month')
    default:
      return { step, rows: Number(row.rows_done ?? 0) }
  }
}

function reasonOf({
  tenant_id,
  row_count,
  keep_days,
  holds,
  is_expired,
  is_unproven: isUnproven,
}: TenantRow): string {
  if (holds === 0 && is_expired && isUnproven === true)
    return `tenant ${tenant_id} has rows that are not in the tree of its audit yet`
  if (holds === 0 && is_expired) return `tenant ${tenant_id} is being removed`
  const why = holds > 0 ? `${holds} legal hold${holds === 1 ? '' : 's'}` : 'its retention'
  const days = holds > 0 ? '' : ` of ${keep_days === null ? 'good' : `${keep_days} days`}`
  return `tenant ${tenant_id} has ${row_count} rows under ${why}${days}`
}

/** Where the verification of a month goes on. */
export interface Verifying {
  readonly tenant: string
  readonly number: string
  /** Hex. */
  readonly running: string
  readonly rows: number
}

const hex = /^(?:[0-9a-f]{64})?$/

/**
 * Hashes a detached month again, for some seconds.
 * @param from what the last call returned; undefined: the beginning
 * @returns where the next call begins; undefined once the whole month equals its record
 * @throws Fault `conflict` where it is not
 */
export async function verifyMonth(
  store: Store,
  month: Month,
  from: Verifying | undefined,
): Promise<Verifying | undefined> {
  const { detached, name } = month
  if (detached === undefined) throw new Fault('conflict', 'This month is not detached.')
  if (detached.isDropped) throw new Fault('conflict', 'The table of this month was dropped.')
  const endsMs = performance.now() + callMs
  let at: Verifying = from ?? {
    tenant: '00000000-0000-0000-0000-000000000000',
    number: '0',
    running: detached.previousSha256 ?? '',
    rows: 0,
  }
  if (!hex.test(at.running)) throw new Fault('bad_request', 'The page token is not valid.')
  do {
    const [row] = await store.adminQuery<{
      readonly tenant: string | null
      readonly number: string
      readonly running: string
      readonly row_count: string
    }>(
      `select tenant, number, encode(running, 'hex') as running, row_count
       from svc.hash_page($1, $2::int, $3::uuid, $4::int8, decode($5, 'hex'))`,
      [name, pageRows, at.tenant, at.number, at.running],
      { statementMs },
    )
    if (row === undefined) throw new Error('a function gave no row')
    if (row.tenant === null || Number(row.row_count) === 0) {
      if (at.running !== detached.sha256 || at.rows !== detached.rows)
        throw new Fault('conflict', `The month differs from what was recorded: it has ${at.rows} rows.`)
      return undefined
    }
    at = {
      tenant: row.tenant,
      number: row.number,
      running: row.running,
      rows: at.rows + Number(row.row_count),
    }
  } while (performance.now() < endsMs)
  return at
}
