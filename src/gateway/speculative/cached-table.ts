/**
 * What a commit may begin on the table that the cache holds, while the upstream is still asked whether that is the
 * table: its intent is written and its verdict reached. Both are used only where the upstream says that it is.
 */

import type { Verdict } from '../../core/decision.ts'
import type { WriteGovernance } from '../../store/policy/policies.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from '../stages/change.ts'
import { applicable, bindingsOf, type SpeculativeVerdict } from '../stages/judge.ts'
import type { Outcome } from '../stages/loads.ts'
import { type Opening, openCommit, type TableCommit } from '../stages/open-commit.ts'

/**
 * Begins a commit as `openCommit` does, and where the cache holds its table, its intent and its verdict as well.
 * @throws Fault as `openCommit`
 */
export async function openOnCachedTable(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
): Promise<Opening> {
  const cached = parts.tables.get(commit.tenant, upstream.credential, commit.table)
  const opening = await openCommit(parts, upstream, commit)
  if (cached === undefined) return opening
  opening.intent.declare(cached.metadataLocation)
  const verdict = opening.loads.governance.then((loaded) => judgeCached(parts, commit, cached, loaded))
  return { ...opening, speculativeVerdict: verdictOn(cached, verdict) }
}

/** Gives a verdict to the commit if the table is still the one that the verdict was reached on. */
export function verdictOn(cached: CachedTable, verdict: Promise<Verdict | undefined>): SpeculativeVerdict {
  return async (base) => (base === cached ? await verdict : undefined)
}

/**
 * The verdict on the cached table. Undefined where there is nothing to evaluate, or evaluating gives no verdict: that
 * is left to be found once the table is known. Never rejects.
 */
export async function judgeCached(
  parts: GatewayParts,
  change: Change,
  cached: CachedTable,
  loaded: Outcome<WriteGovernance>,
): Promise<Verdict | undefined> {
  const policies = loaded.ok ? applicable(loaded.value.policies, change.request) : []
  if (policies.length === 0) return undefined
  try {
    const judge = async () => await parts.policies.judge(policies, bindingsOf(change, cached))
    const verdict = await change.stages.time('evaluate', judge)
    return verdict.kind === 'unavailable' ? undefined : verdict
  } catch {
    return undefined
  }
}
