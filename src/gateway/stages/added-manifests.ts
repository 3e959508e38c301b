/**
 * Reads the manifests that the snapshots of a commit bring, before the forward: for the territory of the table (ring 2),
 * and for bounds of columns that are to be protected. What is found is the caller's to refuse.
 */

import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { limits } from '../../limits.ts'
import type { BoundRules } from '../../storage/iceberg/manifest-bounds.ts'
import { admitSnapshot, snapshotIdOf } from '../../storage/iceberg/new-manifests.ts'
import { snapshotReader } from '../../storage/iceberg/snapshot-difference.ts'
import { openStorage } from '../../storage/storage.ts'
import type { TerritoryGuard } from '../../storage/territory-guard.ts'
import { snapshotsOf } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from './change.ts'

/** Bounds of what is read of the manifests of one commit before it is forwarded. */
export const manifestBounds = {
  bytesMax: limits.manifestFactsBytesMax,
  filesMax: limits.manifestFactsFilesMax,
  entriesMax: limits.manifestFactsEntriesMax,
  readsMax: limits.manifestFactsReadsMax,
} as const

interface AddedManifests {
  /** The table's metadata; undefined if the commit creates it. */
  readonly base: JsonObject | undefined
  /** Whether what a snapshot of the table lists needs no check. */
  readonly isTrusted: (snapshotId: bigint) => boolean
  readonly guard: Pick<TerritoryGuard, 'admit'>
  readonly boundRules: BoundRules
}

/** The snapshots that a commit adds. */
export function addedSnapshots({ request }: Pick<Change, 'request'>): readonly JsonObject[] {
  return request.updates
    .filter((update) => update.get('action') === 'add-snapshot')
    .map((update) => update.get('snapshot'))
    .filter(isJsonObject)
}

/** @throws what the guard throws; KeptBound; ReadFailure or Fault where something cannot be read */
export async function readAddedManifests(
  parts: Pick<GatewayParts, 'tableAccess' | 'budget'>,
  { credential }: Pick<Upstream, 'credential'>,
  change: Pick<Change, 'tenant' | 'table' | 'request'>,
  { base, isTrusted, guard, boundRules }: AddedManifests,
  signal: AbortSignal,
): Promise<void> {
  const trusted = new Map(
    (base === undefined ? [] : snapshotsOf(base))
      .map((snapshot) => [snapshotIdOf(snapshot), snapshot] as const)
      .filter(([id]) => isTrusted(id)),
  )
  const access = await parts.tableAccess(change.tenant, credential, change.table)
  const storage = openStorage(access, parts.budget)
  try {
    await storage.during(async () => {
      const reader = snapshotReader(storage, manifestBounds, signal, () => true)
      for (const snapshot of addedSnapshots(change)) {
        await admitSnapshot(reader, snapshot, trusted, { admit: guard.admit, boundRules })
        trusted.set(snapshotIdOf(snapshot), snapshot)
      }
    })
  } finally {
    await storage.close()
  }
}
