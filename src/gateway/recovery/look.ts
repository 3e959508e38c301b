/** Collects the evidence for recovery and for lost replies: one table as the upstream and the audit show it now. */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { IntentHead } from '../../core/commit.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { auditedChain, auditedLocations } from '../../store/commit/audit.ts'
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
  /** Aborts the load and the wait. */
  readonly signal?: AbortSignal
  /** Milliseconds to wait for other commits in flight on the table. */
  readonly othersWaitMs: number
  /** Where the metadata log no longer reaches back to one of these bases, the audit since that time is read as well. */
  readonly reach?: { readonly bases: readonly string[]; readonly since: Date }
}

/**
 * Collects the evidence of one table. The audit is read last, after the load and the wait for other commits: then no
 * running process will still audit what the load shows.
 * @param mine commit ids of the intents that are being decided; all other intents on the table are others
 * @returns undefined if the table does not exist
 * @throws what the upstream or the store throws
 */
export async function lookAtTable(
  parts: Pick<GatewayParts, 'store'>,
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
  const earlier = await earlierFiles(parts, tenant, table, locations, options)
  const audited = await auditedLocations(parts.store, tenant, table, locations)
  return {
    ...loaded,
    evidence: {
      metadataLocation: result.metadataLocation,
      metadata: result.metadata,
      earlier,
      // All but the first are audited, because the audit shows what they replaced.
      audited: audited.union(new Set(earlier.slice(1))),
      othersInFlight,
    },
  }
}

/** The files before those of the metadata log, if one of the bases is not in it. */
async function earlierFiles(
  { store }: Pick<GatewayParts, 'store'>,
  tenant: TenantId,
  table: TableRef,
  locations: readonly string[],
  { reach }: LookOptions,
): Promise<readonly string[]> {
  const [oldest] = locations
  const isMissing = reach?.bases.some((base) => base !== '' && !locations.includes(base))
  if (!reach || !isMissing || oldest === undefined) return []
  return await auditedChain(store, tenant, table, oldest, reach.since)
}

const othersPollMs = 50

/** Whether the commits that are in flight on the table now are audited or withdrawn in time. */
async function othersFinished(
  { store }: Pick<GatewayParts, 'store'>,
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
 * Adds to an intent whether the table looks as if its commit was made, which only matters for one without a snapshot.
 * @param bodyOf loads its compressed body
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

/** Whether applying the updates again changes nothing but timestamps and logs. */
function effectsHold(intent: IntentHead, body: Uint8Array, metadata: JsonObject): boolean {
  try {
    const request = parseCommitRequest(Bun.zstdDecompressSync(body as Uint8Array<ArrayBuffer>))
    const again = applyUpdates(metadata, request.updates, { nowMs: intent.receivedAtMs, again: true })
    return [...again].every(([key, value]) => volatile.has(key) || Bun.deepEquals(value, metadata.get(key)))
  } catch {
    return false
  }
}

const volatile: ReadonlySet<JsonValue> = new Set(['last-updated-ms', 'metadata-log', 'snapshot-log'])
