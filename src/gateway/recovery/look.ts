/** The evidence for recovery and for lost commits: one table as the upstream and the audit show it now. */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { IntentHead } from '../../core/commit.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { auditedLocations } from '../../store/commit/audit.ts'
import { intentsOnTable } from '../../store/commit/commit-intents.ts'
import { applyUpdates } from '../../wire/iceberg/apply-updates.ts'
import { parseCommitRequest } from '../../wire/iceberg/commit-request.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { StaleIntent, TableEvidence } from './decide.ts'
import { type LoadedNow, loadNow } from './load-now.ts'

export interface TableNow extends LoadedNow {
  readonly evidence: TableEvidence
}

export interface LookOptions {
  /** Ends the load early, and the wait. */
  readonly signal?: AbortSignal
  /** Milliseconds to wait for commits in flight on the table to end. */
  readonly othersWaitMs: number
}

/**
 * One table now. The load comes before the wait for others, and the audit after both: what the one shows and the
 * other does not, no living process will explain.
 * @param mine commit ids of the intents that are being decided; all others on the table are others
 * @returns undefined where the table does not exist
 * @throws what the upstream or the store throws
 */
export async function lookAtTable(
  parts: GatewayParts,
  catalog: Catalog,
  tenant: TenantId,
  table: TableRef,
  mine: ReadonlySet<string>,
  options: LookOptions,
): Promise<TableNow | undefined> {
  const loaded = await loadNow(catalog, table, options.signal)
  if (loaded === undefined) return undefined
  const { result } = loaded
  const othersInFlight = !(await othersFinished(parts, tenant, table, mine, options))
  const locations = historyOf(result).map((entry) => entry.metadataLocation)
  return {
    ...loaded,
    evidence: {
      metadataLocation: result.metadataLocation,
      metadata: result.metadata,
      audited: await auditedLocations(parts.store, tenant, table, locations),
      othersInFlight,
    },
  }
}

const othersPollMs = 50

/** Whether the commits that are in flight on the table now are audited or withdrawn within the time. */
async function othersFinished(
  { store }: GatewayParts,
  tenant: TenantId,
  table: TableRef,
  mine: ReadonlySet<string>,
  { signal, othersWaitMs }: LookOptions,
): Promise<boolean> {
  const open = async () => new Set(await intentsOnTable(store, tenant, table)).difference(mine)
  let waitedFor = await open()
  const deadlineMs = performance.now() + othersWaitMs
  while (waitedFor.size > 0 && performance.now() < deadlineMs && !signal?.aborted) {
    await Bun.sleep(othersPollMs)
    waitedFor = waitedFor.intersection(await open())
  }
  return waitedFor.size === 0
}

/**
 * An intent as it is decided: with whether the table is as the commit would have left it, which counts only for a
 * commit that adds no snapshot.
 * @param bodyOf its body, as it is kept
 * @throws what `bodyOf` throws
 */
export async function staleIntent(
  intent: IntentHead,
  metadata: JsonObject | undefined,
  bodyOf: () => Promise<Uint8Array>,
): Promise<StaleIntent> {
  if (metadata === undefined || intent.snapshotIds.length > 0) return { intent, effectsHold: false }
  return { intent, effectsHold: effectsHold(intent, await bodyOf(), metadata) }
}

/** Applying the same updates once more changes nothing but clocks and logs. */
function effectsHold(intent: IntentHead, body: Uint8Array, metadata: JsonObject): boolean {
  try {
    const request = parseCommitRequest(Bun.zstdDecompressSync(body as Uint8Array<ArrayBuffer>))
    const again = applyUpdates(metadata, request.updates, { nowMs: intent.receivedAtMs })
    return [...again].every(([key, value]) => volatile.has(key) || Bun.deepEquals(value, metadata.get(key)))
  } catch {
    return false
  }
}

const volatile: ReadonlySet<JsonValue> = new Set(['last-updated-ms', 'metadata-log', 'snapshot-log'])
