/**
 * Judges a commit on a table that is known and was not loaded for it, and says by which requirements the catalog holds
 * the commit to what the verdict rests on. Only an allowance is used: before anything is denied, the table is loaded.
 *
 * Every reader of the base is either pinned or keeps a commit from being pinned: policies by their reads (pins.ts), the
 * duties of encryption by the updates, which pins.ts lists; territory and the manifests of ring 2 here.
 */

import { inEffect, type Policy } from '../../core/policy.ts'
import type { PolicyReads } from '../../policy/reads.ts'
import type { WriteGovernance } from '../../store/policy/policies.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import { applicable } from './bindings.ts'
import type { Judged } from './change.ts'
import { judgeChange } from './judge.ts'
import { enforcesManifests } from './new-manifests.ts'
import type { OpenedCommit, TableCommit } from './open-commit.ts'
import { type Pins, pinsOf } from './pins.ts'
import { isAtHome } from './territory.ts'

/** An allowance with the requirements under which it holds. */
export interface PinnedVerdict {
  readonly judged: Judged
  readonly pins: Pins
}

/**
 * Judges the commit on the known table. Never rejects, and changes nothing.
 * @returns undefined where the table must be loaded
 */
export async function judgePinned(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  known: CachedTable,
  { loads, speculativeVerdict }: Pick<OpenedCommit, 'loads' | 'speculativeVerdict'>,
): Promise<PinnedVerdict | undefined> {
  try {
    const governance = await loads.governance
    const pins = governance.ok && (await pinsOfCommit(parts, upstream, commit, known, governance.value))
    if (!pins) return undefined
    const judged = await judgeChange(parts, upstream, commit, known, loads, speculativeVerdict)
    return judged.verdict.kind === 'allow' ? { judged, pins } : undefined
  } catch {
    return undefined
  }
}

/** The requirements that hold a commit to a table; undefined where it must be loaded. */
export async function pinsOfCommit(
  parts: Pick<GatewayParts, 'policies'>,
  upstream: Pick<Upstream, 'credential' | 'catalog'>,
  commit: TableCommit,
  { metadata }: Pick<CachedTable, 'metadata'>,
  { policies, territory }: WriteGovernance,
): Promise<Pins | undefined> {
  const { identified } = commit
  if (!upstream.catalog.checksRequirements) return undefined
  if (enforcesManifests(territory, identified) || !isAtHome(upstream, commit, metadata, territory))
    return undefined
  const reads = await readsOfCommit(parts, commit, policies)
  return reads && pinsOf(reads, metadata, commit.request)
}

/** What all policies read by which a commit may be judged; undefined where one of them does not compile. */
export async function readsOfCommit(
  parts: Pick<GatewayParts, 'policies'>,
  { tenant, request, receivedAtMs }: Pick<TableCommit, 'tenant' | 'request' | 'receivedAtMs'>,
  policies: readonly Policy[],
): Promise<PolicyReads | undefined> {
  const all = inEffect(policies, receivedAtMs)
  // Versions that may cover the commit are judged by their own policies.
  const covering = all.flatMap(
    ({ derived }) => derived?.covering.flatMap((version) => version.policies) ?? [],
  )
  return await parts.policies.readsOf(tenant, applicable([...all, ...covering], request))
}
