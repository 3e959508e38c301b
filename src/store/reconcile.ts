/** The hourly comparison of graph and relational projection (SPEC 6, breach), and its election. */

import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Store } from './store.ts'

export const breachKinds = [
  'edge_without_audit',
  'audit_without_edge',
  'edge_without_node',
  'edge_differs',
  'snapshot_without_audit',
  'audit_without_snapshot',
] as const
export type BreachKind = (typeof breachKinds)[number]

/** A drift that is open: it stays one row until a run no longer finds it. */
export interface Breach {
  readonly id: string
  readonly tenant: TenantId
  readonly kind: BreachKind
  /** The edge label and commit id, or the metadata location. */
  readonly subject: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly detectedAt: Date
  /** True where this run found it first. */
  readonly isNew: boolean
}

/** Milliseconds: it reads the whole audit log. */
const reconcileMs = 300_000

/**
 * Compares the tenant's WriteEvent edges and snapshots with its audit log, both ways; records what
 * drifts and closes what no longer does.
 * @returns the breaches that are open now, oldest first
 */
export async function reconcileTenant(store: Store, tenant: TenantId): Promise<readonly Breach[]> {
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
     from svc.reconcile() order by detected_at, kind, subject`,
    [],
    { statementMs: reconcileMs },
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

const heldHere = new WeakMap<Store, Set<string>>()

/** How often the holder makes sure that it still is. */
const heartbeatMs = 10_000

/**
 * Runs `work` on one replica at a time: where another holds the lock of this name, nothing runs.
 * @param work its signal aborts when the lock's session is lost, since another replica may then begin
 * @returns whether `work` ran
 */
export async function withReplicaLock(
  store: Store,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const held = heldHere.get(store) ?? new Set()
  heldHere.set(store, held)
  if (held.has(name)) return false
  held.add(name)
  try {
    // The embedded database has one process and one session: the set above is the lock.
    if (store.engine === 'embedded') {
      await work(new AbortController().signal)
      return true
    }
    return await withSessionLock(store, name, work)
  } finally {
    held.delete(name)
  }
}

async function withSessionLock(
  store: Store,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const link = await store.openLink()
  const lost = new AbortController()
  const lose = () => lost.abort(new Fault('unavailable', 'The replica lock was lost.'))
  const heartbeat = setInterval(() => {
    if (link.dead) lose()
    else link.sql.unsafe('select 1').then(() => {}, lose)
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
