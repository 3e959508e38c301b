/** Compares a tenant's graph with its audit log (docs/reference/operations.md 3.2). Also holds the lock of a job. */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Param } from '../database/session.ts'
import type { Store } from '../store.ts'

type BreachKind =
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
const pageRows = 200
const pageBlocks = 12
/** How many numbers of a label count as new to a store that begins with a history. */
const newNumbersMax = 1_000_000

/** A run of the comparison. */
interface Reconciled {
  /** The breaches that are open now, oldest first. */
  readonly breaches: readonly Breach[]
  /** What share of the history was compared within the last seven days, 0 to 1, as the run found it. */
  readonly coverage: number
}

/**
 * Compares the tenant's WriteEvent edges and snapshots with its audit log, both ways, page by page: what is new, what
 * drifted before, and as much of the whole history as is due of a round of six days. Each page records the
 * differences that it finds; breaches that are gone are closed at the end.
 * @param signal ends the comparison between two pages; the next run goes on from there
 */
export async function reconcileTenant(
  store: Store,
  tenant: TenantId,
  signal?: AbortSignal,
): Promise<Reconciled> {
  const { has_work, has_breaches, coverage } = await one<{
    readonly has_work: boolean
    readonly has_breaches: boolean
    readonly coverage: number
  }>(store, tenant, 'select * from svc.begin_comparison($1::bigint)', [newNumbersMax])
  const found = new Set<string>()
  if (has_work)
    for (const walk of ['audit', 'INTENDED_WRITE', 'ACTUAL_WRITE', 'Snapshot'])
      for await (const ids of comparedPages(store, tenant, walk)) {
        signal?.throwIfAborted()
        for (const id of ids) found.add(id)
      }
  if (!has_breaches && found.size === 0) return { breaches: [], coverage }
  for await (const ids of recheckedPages(store, tenant)) {
    signal?.throwIfAborted()
    for (const id of ids) found.add(id)
  }
  return { breaches: await openBreaches(store, tenant, found), coverage }
}

/** The ids of the new breaches of each page. */
async function* comparedPages(
  store: Store,
  tenant: TenantId,
  walk: string,
): AsyncGenerator<readonly string[]> {
  for (;;) {
    const { done, found } = await one<{ readonly done: boolean; readonly found: readonly string[] }>(
      store,
      tenant,
      'select done, to_json(new_ones) as found from svc.compare_page($1, $2::int, $3::int)',
      [walk, pageRows, pageBlocks],
    )
    if (done) return
    yield found
  }
}

async function* recheckedPages(store: Store, tenant: TenantId): AsyncGenerator<readonly string[]> {
  let after: string | null = null
  do {
    const page: { readonly after: string | null; readonly found: readonly string[] } = await one(
      store,
      tenant,
      'select after, to_json(new_ones) as found from svc.recheck_breaches($1::int, $2::uuid)',
      [pageRows, after],
    )
    yield page.found
    after = page.after
  } while (after !== null)
}

async function openBreaches(
  store: Store,
  tenant: TenantId,
  found: ReadonlySet<string>,
): Promise<readonly Breach[]> {
  const rows = await store.tenantQuery<{
    readonly breach_id: string
    readonly kind: BreachKind
    readonly subject: string
    readonly detail: Readonly<Record<string, unknown>>
    readonly detected_at: Date
  }>(
    tenant,
    `select breach_id, kind, subject, detail, detected_at from svc.breach
     where tenant_id = $1 and resolved_at is null order by detected_at, kind, subject`,
    [tenant],
  )
  return rows.map((row) => ({
    id: row.breach_id,
    tenant,
    kind: row.kind,
    subject: row.subject,
    detail: row.detail,
    detectedAt: row.detected_at,
    isNew: found.has(row.breach_id),
  }))
}

async function one<Row extends object>(
  store: Store,
  tenant: TenantId,
  text: string,
  params: readonly Param[],
): Promise<Row> {
  const [row] = await store.tenantQuery<Row>(tenant, text, params)
  if (row === undefined) throw new Fault('internal', 'Internal error.', { detail: 'a page gave no row' })
  return row
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
