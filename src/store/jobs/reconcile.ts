/** Compares a tenant's graph with its audit log (docs/reference/operations.md 3.2). Also holds the lock of a job. */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Param } from '../database/session.ts'
import type { Store } from '../store.ts'

export type BreachKind =
  | 'edge_without_audit'
  | 'audit_without_edge'
  | 'edge_without_node'
  | 'edge_differs'
  | 'snapshot_without_audit'
  | 'audit_without_snapshot'

/** A difference that is open. It stays one row until a run no longer finds it. */
export interface Breach {
  readonly id: string
  readonly tenant: TenantId
  readonly kind: BreachKind
  /** Edge label and commit id, or metadata location. */
  readonly subject: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly detectedAt: Date
  /** Whether this run found it first. */
  readonly isNew: boolean
}

/** What one transaction reads. Other transactions run between two pages. */
const pageRows = 250
const pageBlocks = 16

type Drift = Pick<Breach, 'kind' | 'subject' | 'detail'>

/**
 * Compares the tenant's WriteEvent edges and snapshots with its audit log, both ways, page by page; then records
 * the differences and closes those that are gone.
 * @param signal ends the comparison between two pages; then nothing is recorded
 * @returns the breaches that are open now, oldest first
 */
export async function reconcileTenant(
  store: Store,
  tenant: TenantId,
  signal?: AbortSignal,
): Promise<readonly Breach[]> {
  const drift: Drift[] = []
  for await (const page of driftPages(store, tenant)) {
    signal?.throwIfAborted()
    drift.push(...page)
  }
  const rows = await store.tenantQuery<{
    readonly breach_id: string
    readonly tenant_id: TenantId
    readonly kind: BreachKind
    readonly subject: string
    readonly detail: Readonly<Record<string, unknown>>
    readonly detected_at: Date
    readonly is_new: boolean
  }>(
    tenant,
    `select breach_id, tenant_id, kind, subject, detail, detected_at, detected_at = last_seen_at as is_new
     from svc.record_drift($1::text::jsonb) order by detected_at, kind, subject`,
    [JSON.stringify(drift)],
  )
  return rows.map((row) => ({
    id: row.breach_id,
    tenant: row.tenant_id,
    kind: row.kind,
    subject: row.subject,
    detail: row.detail,
    detectedAt: row.detected_at,
    isNew: row.is_new,
  }))
}

async function* driftPages(store: Store, tenant: TenantId): AsyncGenerator<readonly Drift[]> {
  yield* pagesOf(store, tenant, 'svc.drift_of_audit($2::int, $1::text::bigint)', [pageRows])
  for (const label of ['INTENDED_WRITE', 'ACTUAL_WRITE', 'Snapshot'])
    yield* pagesOf(store, tenant, 'svc.drift_of_graph($3, $2::int, $1::text::bigint)', [pageBlocks, label])
}

async function* pagesOf(
  store: Store,
  tenant: TenantId,
  call: string,
  params: readonly Param[],
): AsyncGenerator<readonly Drift[]> {
  let after: string | null = null
  do {
    const [row]: readonly { drift: readonly Drift[]; after: string | null }[] = await store.tenantQuery(
      tenant,
      `select drift, after::text from ${call}`,
      [after, ...params],
      { readOnly: true },
    )
    if (row === undefined) throw new Fault('internal', 'Internal error.', { detail: 'a page gave no row' })
    yield row.drift
    after = row.after
  } while (after !== null)
}

const heldHere = new WeakMap<Store, Set<string>>()

/**
 * Runs `work` on one replica at a time. It does nothing where another replica holds the lock of this name.
 * @param work its signal aborts when the lock's connection is lost or stalls, because another replica may then begin
 * @param heartbeatMs milliseconds between two checks of the lock's connection, and the time limit of a check
 * @returns whether `work` ran
 */
export async function withReplicaLock(
  store: Store,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  heartbeatMs = 10_000,
): Promise<boolean> {
  const held = heldHere.get(store) ?? new Set()
  heldHere.set(store, held)
  if (held.has(name)) return false
  held.add(name)
  try {
    // The embedded database has one process and one connection, so the set above is the lock.
    if (store.backend === 'embedded') {
      await work(new AbortController().signal)
      return true
    }
    return await withSessionLock(store, name, work, heartbeatMs)
  } finally {
    held.delete(name)
  }
}

async function withSessionLock(
  store: Store,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  heartbeatMs: number,
): Promise<boolean> {
  const link = await store.openLink()
  const lost = new AbortController()
  const lose = () => {
    lost.abort(new Fault('unavailable', 'The replica lock was lost.'))
    // Also ends a statement that still waits for the lock.
    link.discard().catch(() => {})
  }
  let answered = true
  const heartbeat = setInterval(() => {
    if (link.dead || !answered) return lose()
    answered = false
    link.sql.unsafe('select 1').then(() => {
      answered = true
    }, lose)
  }, heartbeatMs)
  try {
    const [row] = await link.sql.unsafe<{ locked: boolean }[]>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
      [`covenant ${name}`],
    )
    if (!row?.locked) return false
    await work(lost.signal)
    return true
  } finally {
    clearInterval(heartbeat)
    await link.discard()
  }
}
