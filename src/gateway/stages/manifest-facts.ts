/**
 * Reads what a commit does to the files of its table, for policies that ask (docs/reference/policies.md 3.3). Nothing
 * that the commit says of itself counts: snapshots are compared by the manifests in storage.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import { startDeadline } from '../../catalog/deadline.ts'
import { type CatalogCredential, catalogOf } from '../../core/catalog.ts'
import type { Territory } from '../../core/territory.ts'
import { territoryOf } from '../../core/territory-owner.ts'
import { limits } from '../../limits.ts'
import {
  type AskedFacts,
  type ManifestFacts,
  noManifestFacts,
  type ReadManifestFacts,
} from '../../policy/manifest-facts.ts'
import { whereaboutsIn } from '../../storage/canonical-path.ts'
import { KeptBound } from '../../storage/iceberg/manifest-bounds.ts'
import { type SnapshotDifference, snapshotReader } from '../../storage/iceberg/snapshot-difference.ts'
import { claimOf, placeLocation } from '../../storage/place-locations.ts'
import { ReadFailure, toReadFailure } from '../../storage/read-failure.ts'
import { storageRoots } from '../../storage/roots.ts'
import { openStorage } from '../../storage/storage.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { proofProperty } from '../../transform/plan-proof.ts'
import { foldersOf } from '../../wire/iceberg/named-locations.ts'
import { type RefMove, refMoves, type SnapshotStep } from '../../wire/iceberg/ref-moves.ts'
import { tableUuidOf } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { manifestBounds, readAddedManifests } from './added-manifests.ts'
import type { Change } from './change.ts'

type FactParts = Pick<GatewayParts, 'store' | 'tableAccess' | 'budget'>

/** Facts that are known without a look at storage. */
export const knownFacts =
  (facts: ManifestFacts): ReadManifestFacts =>
  async () =>
    facts

/**
 * What reads the facts of a commit, once a policy asks.
 * @param base the metadata before the commit; undefined where it creates the table
 * @param result the metadata after the commit
 */
export function manifestFactsOf(
  parts: GatewayParts,
  upstream: Upstream,
  change: Pick<Change, 'tenant' | 'table' | 'request' | 'receivedAtMs'>,
  base: JsonObject | undefined,
  result: () => JsonObject,
): ReadManifestFacts {
  return async (asked) => {
    const startMs = performance.now()
    const [manifests, transform] = await Promise.all([
      readCommitFacts(parts, upstream, change, base, result, asked),
      readTransformFact(parts, upstream, change, base, result),
    ])
    const problem = manifests.problem ?? transform.problem
    const facts = {
      values: { ...manifests.values, ...transform.values },
      ...(manifests.nullCounts && { nullCounts: manifests.nullCounts }),
      ...(problem !== undefined && { problem }),
    }
    const outcome = facts.problem === undefined ? 'read' : 'failed'
    parts.metrics.manifestFactsSeconds.observe({ outcome }, (performance.now() - startMs) / 1_000)
    return facts
  }
}

/** The facts of a commit, as {@link manifestFactsOf} reads them. It never rejects. */
export async function readCommitFacts(
  parts: FactParts,
  upstream: Pick<Upstream, 'credential'>,
  change: Pick<Change, 'tenant' | 'table'>,
  base: JsonObject | undefined,
  result: () => JsonObject,
  asked: AskedFacts,
): Promise<ManifestFacts> {
  try {
    const moves = refMoves(base, result(), limits.manifestFactsStepsMax)
    if (moves.steps.length === 0) {
      // A snapshot that no branch has yet was written, too.
      const { transform_current: _, ...values } = noManifestFacts.values
      return { values: { ...values, ...(moves.leaves && { is_rollback: true }) } }
    }
    return await readFacts(parts, upstream, change, moves, result(), asked)
  } catch (thrown) {
    return { values: {}, problem: problemOf(thrown) }
  }
}

/**
 * Whether every snapshot that a commit adds shows a present plan of its table, and keeps no bounds that the plan forbids.
 * Bounds are not looked at where the catalog registers no storage.
 */
async function readTransformFact(
  parts: Pick<GatewayParts, 'transformCurrent' | 'boundRules' | 'tableAccess' | 'budget'>,
  upstream: Pick<Upstream, 'credential'>,
  change: Pick<Change, 'tenant' | 'table' | 'request' | 'receivedAtMs'>,
  base: JsonObject | undefined,
  result: () => JsonObject,
): Promise<ManifestFacts> {
  const { tenant, table, request, receivedAtMs } = change
  const known = (value: boolean): ManifestFacts => ({ values: { transform_current: value } })
  try {
    const proofs = request.updates
      .filter((update) => update.get('action') === 'add-snapshot')
      .map((update) => proofOf(update.get('snapshot')))
    if (proofs.length === 0) return known(true)
    if (proofs.includes(undefined)) return known(false)
    if (!(await parts.transformCurrent(tenant, table, result(), proofs as string[], receivedAtMs)))
      return known(false)
    if (storageRoots(upstream.credential.config).length === 0) return known(true)
    const boundRules = await parts.boundRules(tenant, table, result())
    if (boundRules.size === 0) return known(true)
    using deadline = startDeadline(limits.manifestFactsMs, undefined)
    const guard = { admit: () => {} }
    const asked = { base, isTrusted: () => true, guard, boundRules }
    await unlessAborted(readAddedManifests(parts, upstream, change, asked, deadline.signal), deadline.signal)
    return known(true)
  } catch (thrown) {
    if (thrown instanceof KeptBound) return known(false)
    return { values: {}, problem: problemOf(thrown) }
  }
}

function proofOf(snapshot: JsonValue | undefined): string | undefined {
  const summary = isJsonObject(snapshot) ? snapshot.get('summary') : undefined
  const proof = isJsonObject(summary) ? summary.get(proofProperty) : undefined
  return typeof proof === 'string' ? proof : undefined
}

async function readFacts(
  parts: FactParts,
  { credential }: Pick<Upstream, 'credential'>,
  { tenant, table }: Pick<Change, 'tenant' | 'table'>,
  { steps, leaves }: RefMove,
  result: JsonObject,
  asked: AskedFacts,
): Promise<ManifestFacts> {
  // Not the client's signal: a client that leaves must not look like a broken policy.
  using deadline = startDeadline(limits.manifestFactsMs, undefined)
  const read = async () => {
    const storage = openStorage(await parts.tableAccess(tenant, credential, table), parts.budget)
    try {
      const whereabouts = whereaboutsIn(await territoryAfter(parts, credential, { tenant, table }, result))
      const isInside = (location: string) => whereabouts(location) === 'inside'
      const reader = snapshotReader(storage, manifestBounds, deadline.signal, isInside)
      return await storage.during(async () => {
        const differences: SnapshotDifference[] = []
        for (const step of steps)
          differences.push(await reader.compare(listOf(step.before), listOf(step.after), asked))
        return differences
      })
    } finally {
      await storage.close()
    }
  }
  try {
    return factsOf(await unlessAborted(read(), deadline.signal), leaves)
  } catch (thrown) {
    // That a branch left its snapshot is certain without a look at its files.
    return { values: leaves ? { is_rollback: true } : {}, problem: problemOf(thrown) }
  }
}

/**
 * Where the files of the table may lie once the commit was made. Where territory is enforced, the folders that the commit
 * itself sets are among them: ring 1 has admitted them, but takes them only after the policies.
 */
async function territoryAfter(
  parts: FactParts,
  credential: CatalogCredential,
  { tenant, table }: Pick<Change, 'tenant' | 'table'>,
  result: JsonObject,
): Promise<Pick<Territory, 'prefixes'>> {
  const tableUuid = tableUuidOf(result)
  const roots = storageRoots(credential.config)
  const { territory: found } = await loadWriteGovernance(parts.store, tenant, table)
  const { mode, prefixes } = territoryOf(found, { catalog: catalogOf(credential), table, tableUuid })
  if (mode === 'observe') return { prefixes }
  const set = foldersOf(result).map((named) => claimOf(placeLocation(named), table, tableUuid, roots))
  return {
    prefixes: [...prefixes, ...set.flatMap((claim) => (typeof claim === 'string' ? [] : claim.prefix))],
  }
}

function factsOf(differences: readonly SnapshotDifference[], leaves: boolean): ManifestFacts {
  const sum = (count: (one: SnapshotDifference) => number) =>
    BigInt(differences.reduce((total, one) => total + count(one), 0))
  const partitions = touchedIn(differences)
  return {
    values: {
      added_files: sum(({ addedFiles }) => addedFiles),
      added_rows: sum(({ addedRows }) => addedRows),
      added_bytes: sum(({ addedBytes }) => addedBytes),
      added_delete_files: sum(({ addedDeleteFiles }) => addedDeleteFiles),
      deleted_files: sum(({ deletedFiles }) => deletedFiles),
      outside_files: sum(({ outsideFiles }) => outsideFiles),
      ...(partitions !== undefined && { touched_partitions: BigInt(partitions.size) }),
      is_rollback: leaves || differences.some(({ losesFiles }) => losesFiles),
    },
    nullCounts: nullCountsOf(differences),
    ...(partitions === undefined && { problem: 'a file of the commit deletes by value in all partitions' }),
  }
}

/** The partitions that any step touches; undefined where one does not say. */
function touchedIn(differences: readonly SnapshotDifference[]): ReadonlySet<string> | undefined {
  const found = new Set<string>()
  for (const { touchedPartitions } of differences) {
    if (touchedPartitions === undefined) return undefined
    for (const partition of touchedPartitions) found.add(partition)
  }
  return found
}

/** Of the columns that every added data file with rows counts, over all steps. */
function nullCountsOf(differences: readonly SnapshotDifference[]): ReadonlyMap<number, bigint> {
  const adding = differences.filter(({ addedRows }) => addedRows > 0)
  const ids = [...(adding[0]?.addedNulls.keys() ?? [])]
  const counted = ids.filter((id) => adding.every(({ addedNulls }) => addedNulls.has(id)))
  const sumOf = (id: number) => adding.reduce((sum, one) => sum + BigInt(one.addedNulls.get(id) ?? 0), 0n)
  return new Map(counted.map((id) => [id, sumOf(id)]))
}

function listOf(snapshot: SnapshotStep['before']): string | undefined {
  if (snapshot === undefined) return undefined
  const list = snapshot.get('manifest-list')
  if (snapshot.has('key-id'))
    throw new ReadFailure('the manifest list is encrypted, and its key is not known')
  if (typeof list !== 'string') throw new ReadFailure('a snapshot names no manifest list')
  return list
}

function problemOf(thrown: unknown): string {
  const isLate = thrown instanceof DOMException && thrown.name === 'TimeoutError'
  if (isLate) return `the manifests could not be read within ${limits.manifestFactsMs} ms`
  return thrown instanceof Fault ? thrown.publicMessage : toReadFailure(thrown, 'a manifest').reason
}
