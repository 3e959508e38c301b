/**
 * Removes what is in no month or has a shorter life, page by page: runs of detection, lineage events, bodies, snapshots of
 * the graph. What settings and holds allow is looked up by the SQL functions.
 */

import type { HistoryKind } from '../../core/retention.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'

const functionOf = {
  'detection-runs': 'remove_detection_runs',
  lineage: 'remove_lineage_events',
  'lineage-bodies': 'remove_lineage_bodies',
  'commit-bodies': 'remove_commit_bodies',
  'graph-snapshots': 'remove_graph_snapshots',
} as const satisfies Partial<Record<HistoryKind, string>>
export type RemovedKind = keyof typeof functionOf
export const removedKinds = Object.keys(functionOf) as readonly RemovedKind[]

const pageRows = 500
/** Of one kind in one run, so that a run ends within minutes; the next goes on. */
const pagesMax = 400

/** Removes what is past its retention. @returns how much; what the pages of one run do not reach is left to the next */
export async function removeExpired(
  store: Store,
  tenant: TenantId,
  kind: RemovedKind,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0
  let after: string | null = null
  for (let page = 0; page < pagesMax; page++) {
    signal?.throwIfAborted()
    const rows: readonly { readonly removed: number; readonly next: string | null }[] =
      await store.tenantQuery(
        tenant,
        `select removed, next from svc.${functionOf[kind]}(${pageRows}, $1::text::bigint)`,
        [after],
      )
    removed += rows[0]?.removed ?? 0
    after = rows[0]?.next ?? null
    if (after === null) break
  }
  return removed
}
