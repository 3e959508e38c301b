/**
 * Ring 2 of docs/reference/territory.md 5, before the forward: reads the manifests that a commit brings, where the
 * tenant enforces that for this caller. What cannot be read is no verdict. The check after the commit is
 * territory/audit-manifests.ts.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import { startDeadline } from '../../catalog/deadline.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { Verdict } from '../../core/decision.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import { isOwn, isQuarantined, type TerritoryFound } from '../../core/territory-owner.ts'
import { limits } from '../../limits.ts'
import { admitSnapshot, snapshotIdOf } from '../../storage/new-manifests.ts'
import { toReadFailure } from '../../storage/read-failure.ts'
import { snapshotReader } from '../../storage/snapshot-difference.ts'
import { openStorage } from '../../storage/storage.ts'
import { TerritoryFailure, territoryGuard } from '../../storage/territory-guard.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { snapshotsOf, tableUuidOf } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from './change.ts'
import { manifestBounds } from './manifest-facts.ts'
import { askedPrefixes, fileDenial } from './territory.ts'
import { policiesUnavailable } from './verdicts.ts'

/**
 * Whether manifests are read before the forward: for every caller, or for one whom some filter or mask of the tenant
 * restricts. Roles that were not verified exempt from none.
 */
export function enforcesManifests(
  { mode, manifests, restricting }: TerritoryFound,
  { principal, verified }: IdentifiedPrincipal,
): boolean {
  if (mode !== 'enforce' || manifests === 'off') return false
  if (manifests === 'enforce' || restricting === undefined) return true
  const roles = verified ? principal.roles : []
  return restricting.some((exempt) => !exempt.some((role) => roles.includes(role)))
}

/**
 * Judges the snapshots that a commit adds, where the tenant enforces that for its caller.
 * @param base the table's metadata; undefined if the commit creates it
 * @param prefixes where its files may lie once the commit was made
 * @returns a refusal; undefined where nothing lies outside, or nothing was to be read
 */
export async function judgeManifests(
  parts: GatewayParts,
  upstream: Upstream,
  change: Change,
  base: JsonObject | undefined,
  { found, prefixes }: { readonly found: TerritoryFound; readonly prefixes: readonly string[] },
): Promise<Verdict | undefined> {
  const added = change.request.updates.filter((update) => update.get('action') === 'add-snapshot')
  if (added.length === 0 || !enforcesManifests(found, change.identified)) return undefined
  const startMs = performance.now()
  const observe = (outcome: 'inside' | 'outside' | 'failed') =>
    parts.metrics.manifestCheckMs.observe({ mode: 'enforce', outcome }, performance.now() - startMs)
  // Not the client's signal: a client that leaves must not look like storage that fails.
  using deadline = startDeadline(limits.manifestFactsMs, undefined)
  try {
    const snapshots = added.map((update) => update.get('snapshot')).filter(isJsonObject)
    const reading = readSnapshots(
      parts,
      upstream,
      change,
      { base, found, prefixes, snapshots },
      deadline.signal,
    )
    await unlessAborted(reading, deadline.signal)
    observe('inside')
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof TerritoryFailure)) {
      observe('failed')
      return unread(thrown)
    }
    observe('outside')
    return await denial(parts, upstream, change, base, thrown.file.location)
  }
}

interface Asked {
  readonly base: JsonObject | undefined
  readonly found: TerritoryFound
  readonly prefixes: readonly string[]
  readonly snapshots: readonly JsonObject[]
}

/** @throws TerritoryFailure for the first file outside; ReadFailure or Fault where something cannot be read */
async function readSnapshots(
  parts: GatewayParts,
  upstream: Upstream,
  { tenant, table }: Change,
  { base, found, prefixes, snapshots }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const owner = ownerOf(upstream, table, base)
  const trusted = new Map(
    (base === undefined ? [] : snapshotsOf(base))
      .map((snapshot) => [snapshotIdOf(snapshot), snapshot] as const)
      .filter(([id]) => !isQuarantined(found, owner, id)),
  )
  const guard = territoryGuard({ mode: 'enforce', version: found.version, prefixes })
  const storage = openStorage(await parts.tableAccess(tenant, upstream.credential, table), parts.budget)
  try {
    await storage.during(async () => {
      const reader = snapshotReader(storage, manifestBounds, signal, () => true)
      for (const snapshot of snapshots) {
        await admitSnapshot(reader, snapshot, trusted, guard)
        trusted.set(snapshotIdOf(snapshot), snapshot)
      }
    })
  } finally {
    await storage.close()
  }
}

const ownerOf = ({ credential }: Upstream, table: Change['table'], base: JsonObject | undefined) => ({
  catalog: catalogOf(credential),
  table,
  tableUuid: base && tableUuidOf(base),
})

/** The denial in the words of ring 1. Whose the file is, is told to stewards only. */
async function denial(
  parts: GatewayParts,
  upstream: Upstream,
  { tenant, table }: Change,
  base: JsonObject | undefined,
  location: string,
): Promise<Verdict> {
  try {
    const asked = askedPrefixes([{ use: 'file', text: location }])
    const { territory } = await loadWriteGovernance(parts.store, tenant, table, asked)
    const owner = ownerOf(upstream, table, base)
    return fileDenial(
      table,
      location,
      territory.rows.filter((row) => !isOwn(row, owner)),
    )
  } catch (thrown) {
    return policiesUnavailable(parts, table, thrown)
  }
}

function unread(thrown: unknown): Verdict {
  const isLate = thrown instanceof DOMException && thrown.name === 'TimeoutError'
  const why = isLate
    ? `they could not be read within ${limits.manifestFactsMs} ms`
    : thrown instanceof Fault
      ? thrown.publicMessage
      : toReadFailure(thrown, 'a manifest').reason
  const detail = `the manifests of the commit could not be checked: ${why}`
  return { kind: 'unavailable', error: 'ErrManifestRead', detail, outcomes: [] }
}
