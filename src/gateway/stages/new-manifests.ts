/**
 * Ring 2 of docs/reference/territory.md 5, before the forward: reads the manifests that a commit brings, where the
 * tenant enforces that for this caller. Bounds of protected columns are refused as well (docs/reference/transform.md
 * 2.11). What cannot be read is no verdict. The check after the commit is
 * territory/audit-manifests.ts.
 */

import { Fault } from '../../base/fault.ts'
import type { JsonObject } from '../../base/json.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import { startDeadline } from '../../catalog/deadline.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { Verdict } from '../../core/decision.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import { appliesTo } from '../../core/seen-table.ts'
import { isOwn, isQuarantined, type TerritoryFound } from '../../core/territory-owner.ts'
import { limits } from '../../limits.ts'
import { KeptBound } from '../../storage/iceberg/manifest-bounds.ts'
import { toReadFailure } from '../../storage/read-failure.ts'
import { TerritoryFailure, territoryGuard } from '../../storage/territory-guard.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { tableUuidOf } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { addedSnapshots, readAddedManifests } from './added-manifests.ts'
import type { Change } from './change.ts'
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
  const applies = appliesTo(verified ? principal : 'anyone')
  return restricting.some((exemptRoles) => applies({ exemptRoles }))
}

/**
 * Judges the snapshots that a commit adds, where the tenant enforces that for its caller.
 * @param base the table's metadata; undefined if the commit creates it
 * @param prefixes where its files may lie once the commit was made
 * @param result the metadata after the commit; undefined where that cannot be said
 * @returns a refusal; undefined where nothing lies outside, or nothing was to be read
 */
export async function judgeManifests(
  parts: GatewayParts,
  upstream: Upstream,
  change: Change,
  base: JsonObject | undefined,
  {
    found,
    prefixes,
    result,
  }: {
    readonly found: TerritoryFound
    readonly prefixes: readonly string[]
    readonly result: () => JsonObject | undefined
  },
): Promise<Verdict | undefined> {
  if (addedSnapshots(change).length === 0 || !enforcesManifests(found, change.identified)) return undefined
  const startMs = performance.now()
  const observe = (outcome: 'inside' | 'outside' | 'failed') =>
    parts.metrics.manifestCheckSeconds.observe(
      { mode: 'enforce', outcome },
      (performance.now() - startMs) / 1_000,
    )
  // Not the client's signal: a client that leaves must not look like storage that fails.
  using deadline = startDeadline(limits.manifestFactsMs, undefined)
  try {
    const owner = ownerOf(upstream, change.table, base)
    const boundRules = await parts.boundRules(change.tenant, change.table, result())
    const isTrusted = (id: bigint) => !isQuarantined(found, owner, id)
    const guard = territoryGuard({ mode: 'enforce', version: found.version, prefixes })
    const asked = { base, isTrusted, guard, boundRules }
    await unlessAborted(readAddedManifests(parts, upstream, change, asked, deadline.signal), deadline.signal)
    observe('inside')
    return undefined
  } catch (thrown) {
    if (thrown instanceof KeptBound) {
      // Every file before it lies inside.
      observe('inside')
      return { kind: 'deny', reason: thrown.reason, policyId: '', outcomes: [] }
    }
    if (!(thrown instanceof TerritoryFailure)) {
      observe('failed')
      return unread(thrown)
    }
    observe('outside')
    return await denial(parts, upstream, change, base, thrown.file.location)
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
