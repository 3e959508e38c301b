/**
 * Checks the requirement that a ref must not exist yet, for upstreams that ignore it. Without this check, two writers
 * of a table's first snapshot would both be acknowledged, and one of the snapshots would be lost.
 */

import { Fault } from '../../base/fault.ts'
import type { JsonValue } from '../../base/json.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { findIntentBody, intentsOnTable, openIntentsOnTable } from '../../store/commit/commit-intents.ts'
import { checkRequirements } from '../../wire/iceberg/check-requirements.ts'
import { parseCommitRequest } from '../../wire/iceberg/commit-request.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from './change.ts'
import { loadCurrent, unlessAbsent } from './load-current.ts'

/**
 * Two such commits never both pass, because each has a durable intent before it looks for others. The one that looks
 * last sees the other's intent, or loads the table that the other made. Writers that bypass the gateway are not seen.
 * @throws Fault `conflict`, after which the client rebases; also what the load and the store throw
 */
export async function assertRefsAbsent(
  parts: GatewayParts,
  upstream: Upstream,
  { commitId, tenant, table, request, signal }: Change & { readonly commitId: string },
): Promise<void> {
  if (upstream.catalog.assertsAbsentRefs) return
  const absent = request.requirements.filter(
    (one) => one.get('type') === 'assert-ref-snapshot-id' && (one.get('snapshot-id') ?? null) === null,
  )
  if (absent.length === 0) return
  const others = (await intentsOnTable(parts.store, tenant, table)).filter((id) => id !== commitId)
  const refs = new Set(absent.map((one) => one.get('ref')))
  if (others.length > 0 && (await mayBeMaking(parts, tenant, table, commitId, refs)))
    throw new Fault(
      'conflict',
      'Requirement failed: another commit on the table is in progress. Refresh the table and retry.',
      {
        type: 'CommitFailedException',
      },
    )
  const base = await unlessAbsent(loadCurrent(parts, tenant, upstream, table, signal), true)
  if (base !== undefined) checkRequirements(base.metadata, absent)
}

/**
 * Whether another commit on the table is in progress, or one whose request has ended may still be made upstream and sets
 * one of these refs.
 */
async function mayBeMaking(
  { store }: GatewayParts,
  tenant: TenantId,
  table: TableRef,
  commitId: string,
  refs: ReadonlySet<JsonValue | undefined>,
): Promise<boolean> {
  const others = (await openIntentsOnTable(store, tenant, table)).filter(
    (one) => one.intent.commitId !== commitId,
  )
  for (const { intent, isLeased, hasEnded } of others) {
    if (isLeased) return true
    if (hasEnded) continue
    const body = await findIntentBody(store, tenant, intent.commitId)
    if (body !== undefined && setsAny(body, refs)) return true
  }
  return false
}

/** @param body compressed by zstd; one that cannot be read may set any ref */
function setsAny(body: Uint8Array, refs: ReadonlySet<JsonValue | undefined>): boolean {
  try {
    const { updates } = parseCommitRequest(Bun.zstdDecompressSync(body as Uint8Array<ArrayBuffer>))
    return updates.some(
      (update) => update.get('action') === 'set-snapshot-ref' && refs.has(update.get('ref-name')),
    )
  } catch {
    return true
  }
}
