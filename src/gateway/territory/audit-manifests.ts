/**
 * Ring 2 of docs/reference/territory.md 5, after the commit: checks the manifests that commits brought. What lies outside
 * its table's territory is listed as a conflict and, where the tenant enforces, the snapshot is quarantined. What cannot
 * be read is tried again. A row for each commit waits in the store, so that the next process goes on.
 */

import type { Logger } from 'pino'
import type { ByteBudget } from '../../base/byte-budget.ts'
import { Fault } from '../../base/fault.ts'
import type { JsonObject } from '../../base/json.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import { CatalogError } from '../../catalog/catalog.ts'
import type { OpenCatalogs } from '../../catalog/open-catalog.ts'
import { type CatalogCredential, catalogOf } from '../../core/catalog.ts'
import { tableKey } from '../../core/table-ref.ts'
import { isQuarantined, type TerritoryFound, territoryOf } from '../../core/territory-owner.ts'
import { limits } from '../../limits.ts'
import { feedTerritory } from '../../storage/feed-territory.ts'
import { admitSnapshot, snapshotIdOf } from '../../storage/iceberg/new-manifests.ts'
import { snapshotReader } from '../../storage/iceberg/snapshot-difference.ts'
import { BoundFailure, ReadFailure, toReadFailure } from '../../storage/read-failure.ts'
import { noteOutside, type ReadOwner } from '../../storage/read-territory.ts'
import { storageRoots } from '../../storage/roots.ts'
import { openStorage, type Storage } from '../../storage/storage.ts'
import { type OutsideFile, territoryGuard } from '../../storage/territory-guard.ts'
import type { TableAccess } from '../../storage/vended-access.ts'
import { findCatalogCredentialById } from '../../store/catalog-credential/catalog-credentials.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import type { Store } from '../../store/store.ts'
import {
  countManifestChecks,
  dueManifestChecks,
  endManifestCheck,
  type FoundSnapshot,
  type ManifestCheck,
  otherChecks,
  retryManifestCheck,
} from '../../store/territory/manifest-checks.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { foldersOf } from '../../wire/iceberg/named-locations.ts'
import { parseLoadTableResult, snapshotsOf, tableUuidOf } from '../../wire/iceberg/table-metadata.ts'

export interface AuditParts {
  readonly store: Store
  readonly catalogs: OpenCatalogs
  readonly tableAccess: TableAccess
  readonly budget: ByteBudget
  readonly metrics: Metrics
  readonly log: Logger
}

/** No snapshot with more can be read by a query either. */
const bounds = {
  bytesMax: 1024 * 1024 * 1024,
  filesMax: limits.engineManifestsMax,
  entriesMax: 1_000_000,
  readsMax: limits.manifestFactsReadsMax,
} as const
const batch = 50
const retryMs = 10_000
const retryMsMax = 3_600_000
/** Tries of a check whose failure is not passing. */
const triesMax = 12
/** Milliseconds of one check, and of one run of the job. */
const checkMs = 60_000
const runMs = 5 * 60_000

/** Makes the checks that are due, until none is or the time for one run is over. */
export async function auditManifests(parts: AuditParts, signal: AbortSignal): Promise<void> {
  const untilMs = performance.now() + runMs
  for (let isMore = true; isMore && performance.now() < untilMs; ) {
    const due = await dueManifestChecks(parts.store, batch)
    for (const [first, ...others] of Map.groupBy(due, tableOf).values()) {
      signal.throwIfAborted()
      if (first !== undefined) await auditTable(parts, [first, ...others], signal)
    }
    isMore = due.length === batch
  }
  parts.metrics.manifestChecksPending.set(await countManifestChecks(parts.store))
}

type Checks = readonly [ManifestCheck, ...ManifestCheck[]]

const tableOf = ({ tenant, credentialId, catalog, table }: ManifestCheck) =>
  JSON.stringify([tenant, credentialId, catalog, tableKey(table)])

/** Makes the checks of one table, which is loaded once for all of them. */
async function auditTable(parts: AuditParts, checks: Checks, signal: AbortSignal): Promise<void> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(checkMs)])
  let opened: OpenTable | undefined
  try {
    opened = await unlessAborted(openTable(parts, checks, bounded), bounded)
  } catch (err) {
    for (const check of checks) await auditOne(parts, check, signal, () => Promise.reject(err))
    return
  }
  try {
    for (const check of checks)
      await auditOne(parts, check, signal, async (until) =>
        opened === undefined ? unchecked : await checkCommit(parts, check, opened, until),
      )
  } finally {
    await opened?.storage.close()
  }
}

async function auditOne(
  { store, metrics, log }: AuditParts,
  check: ManifestCheck,
  signal: AbortSignal,
  work: (until: AbortSignal) => Promise<Checked>,
): Promise<void> {
  const { tenant, commitId, table, tries } = check
  const startMs = performance.now()
  const observe = (outcome: 'inside' | 'outside' | 'failed') =>
    metrics.manifestCheckSeconds.observe({ mode: 'audit', outcome }, (performance.now() - startMs) / 1_000)
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(checkMs)])
  try {
    const { found, isEnforced } = await unlessAborted(work(bounded), bounded)
    const quarantined = await endManifestCheck(store, check, isEnforced ? found : [])
    observe(found.length === 0 ? 'inside' : 'outside')
    if (quarantined === 0) return
    metrics.snapshotsQuarantined.inc(quarantined)
    log.error(
      { tenant, table, commitId, quarantined },
      'snapshots were quarantined; a steward can release them',
    )
  } catch (err) {
    signal.throwIfAborted()
    observe('failed')
    const { reason, passing } = failureOf(err)
    log.warn({ err, tenant, table, commitId, tries }, 'the manifests of a commit could not be checked')
    if (!passing && tries + 1 >= triesMax) return void (await endManifestCheck(store, check, []))
    await retryManifestCheck(store, check, reason, Math.min(retryMs * 2 ** tries, retryMsMax))
  }
}

/** Whether a failure is passing. One that is not ends the check after some tries: no query can read the snapshot either. */
function failureOf(err: unknown): { readonly reason: string; readonly passing: boolean } {
  if (err instanceof ReadFailure) return err
  if (err instanceof Fault) return { reason: err.publicMessage, passing: true }
  if (err instanceof CatalogError) return { reason: 'the catalog does not load the table', passing: true }
  if (err instanceof DOMException) return { reason: 'the check took too long', passing: true }
  return toReadFailure(err, 'a manifest')
}

interface Checked {
  readonly found: readonly FoundSnapshot[]
  /** Whether what was found is to be quarantined. */
  readonly isEnforced: boolean
}

const unchecked: Checked = { found: [], isEnforced: false }

/** A table whose manifests may be read. */
interface OpenTable {
  readonly metadata: JsonObject
  readonly owner: ReadOwner
  readonly found: TerritoryFound
  readonly storage: Storage
  /** Snapshots that a check of this run found to be bad, which `found` does not say yet. */
  readonly bad: Set<bigint>
}

/**
 * @returns undefined where there is nothing to check: no query reads the table's snapshots either, or the tenant chose so
 * @throws ReadFailure, Fault, CatalogError where something cannot be read now
 */
async function openTable(
  parts: AuditParts,
  checks: Checks,
  signal: AbortSignal,
): Promise<OpenTable | undefined> {
  const { store } = parts
  const [first] = checks
  const { tenant, table, catalog } = first
  const credential = await findCatalogCredentialById(store, tenant, first.credentialId)
  if (credential === undefined || catalogOf(credential) !== catalog) return undefined
  const roots = storageRoots(credential.config)
  if (roots.length === 0) return undefined
  const metadata = await loadMetadata(parts, first, credential, signal)
  if (metadata === undefined) return undefined
  const owner = { catalog, credentialId: credential.id, roots, table, tableUuid: tableUuidOf(metadata) }
  const asked = (await loadWriteGovernance(store, tenant, table)).territory
  if (asked.manifests === 'off') return undefined
  const fed = await feedTerritory(store, tenant, { owner, folders: foldersOf(metadata) }, 'commit', asked)
  const again = checks.some(({ tries }) => tries > 0)
  const access = await parts.tableAccess(tenant, credential, table, again)
  return {
    metadata,
    owner,
    found: fed?.found ?? asked,
    storage: openStorage(access, parts.budget),
    bad: new Set(),
  }
}

/** @throws ReadFailure, Fault where something cannot be read now */
async function checkCommit(
  parts: AuditParts,
  check: ManifestCheck,
  { metadata, owner, found, storage, bad }: OpenTable,
  signal: AbortSignal,
): Promise<Checked> {
  const { isNew, trusted } = await sorted(parts.store, check, owner, found, metadata)
  for (const id of bad) trusted.delete(id)
  if (isNew.length === 0) return unchecked
  return await storage.during(async () => {
    const reader = snapshotReader(storage, bounds, signal, () => true)
    const outside: FoundSnapshot[] = []
    for (const snapshot of isNew) {
      const one = await checkSnapshot(parts, check.tenant, owner, found, reader, snapshot, trusted)
      if (one === undefined) trusted.set(snapshotIdOf(snapshot), snapshot)
      else outside.push(one)
    }
    for (const { snapshotId } of outside) bad.add(snapshotId)
    return { found: outside, isEnforced: found.mode === 'enforce' }
  })
}

/** @returns undefined for a table that is not there any more */
async function loadMetadata(
  { catalogs }: AuditParts,
  { tenant, table }: ManifestCheck,
  credential: CatalogCredential,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  try {
    const loaded = await catalogs.get(tenant, credential).loadTable(table, { signal })
    if (loaded.status === 'loaded') return parseLoadTableResult(loaded.body).metadata
  } catch (thrown) {
    if (thrown instanceof CatalogError && thrown.code === 'ErrTableNotFound') return undefined
    throw thrown
  }
  throw new Error('the upstream answered 304 to an unconditional load')
}

/** The snapshots to check, parents first, and those that their manifests may be compared with. */
async function sorted(
  store: Store,
  check: ManifestCheck,
  owner: ReadOwner,
  found: TerritoryFound,
  metadata: JsonObject,
): Promise<{ readonly isNew: readonly JsonObject[]; readonly trusted: Map<bigint, JsonObject> }> {
  const all = snapshotsOf(metadata).map((snapshot) => [snapshotIdOf(snapshot), snapshot] as const)
  const { snapshotIds } = check
  const isAsked = (id: bigint) => snapshotIds === undefined || snapshotIds.includes(id)
  const others = await otherChecks(store, check)
  const isPending = (id: bigint) => others.some((one) => one.snapshotIds?.includes(id) ?? true)
  return {
    isNew: all.filter(([id]) => isAsked(id)).map(([, snapshot]) => snapshot),
    trusted: new Map(
      all.filter(([id]) => !isAsked(id) && !isPending(id) && !isQuarantined(found, owner, id)),
    ),
  }
}

/** @returns why it is to be quarantined; undefined where all its files are the table's */
async function checkSnapshot(
  { store, log }: AuditParts,
  tenant: ManifestCheck['tenant'],
  owner: ReadOwner,
  found: TerritoryFound,
  reader: ReturnType<typeof snapshotReader>,
  snapshot: JsonObject,
  trusted: ReadonlyMap<bigint, JsonObject>,
): Promise<FoundSnapshot | undefined> {
  // Observed, so that every folder outside is listed; whether that has effects is the tenant's mode.
  const guard = territoryGuard({ ...territoryOf(found, owner), mode: 'observe' })
  const about = { snapshotId: snapshotIdOf(snapshot), tableUuid: owner.tableUuid }
  try {
    await admitSnapshot(reader, snapshot, trusted, guard)
  } catch (thrown) {
    if (!(thrown instanceof BoundFailure)) throw thrown
    log.warn(
      { tenant, ...about, table: owner.table, reason: thrown.reason },
      'a snapshot is too large to be checked',
    )
    return { ...about, cause: 'unchecked', detail: thrown.reason }
  }
  const [first] = guard.outside
  if (first === undefined) return undefined
  await noteOutside(store, tenant, owner, guard.outside, 'commit')
  return { ...about, cause: 'outside', detail: detailOf(first) }
}

const detailOf = ({ kind, location }: OutsideFile) => `${kind} ${location}`
