/**
 * Starts a commit speculatively on its cached table: writes its intent and judges it while the upstream confirms the
 * table. Intent and verdict are used only if the cached table was current, or the commit is pinned to it.
 */

import type { Verdict } from '../../core/decision.ts'
import { inEffect } from '../../core/policy.ts'
import type { WriteGovernance } from '../../store/policy/policies.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import { applicable, bindingsOf, exemptible } from '../stages/bindings.ts'
import type { Change } from '../stages/change.ts'
import type { SpeculativeVerdict } from '../stages/judge.ts'
import { knownTable } from '../stages/known-table.ts'
import type { Outcome } from '../stages/loads.ts'
import { type OpenedCommit, openCommit, type TableCommit } from '../stages/open-commit.ts'
import { mayBePinned } from './may-be-pinned.ts'

/**
 * Opens a commit as `openCommit` does. If its table is cached, also declares its intent and judges it.
 * @param pins whether the commit may be pinned to a table that is known
 * @throws Fault as `openCommit` does
 */
export async function openOnCachedTable(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  pins: boolean,
): Promise<OpenedCommit> {
  const { tenant, table } = commit
  const recent = pins ? await knownTable(parts, tenant, upstream, table) : undefined
  const known = recent && (await mayBePinned(parts, upstream, commit, recent)) ? recent : undefined
  const cached = known ?? parts.tables.get(tenant, upstream.credential, table)
  const opened = await openCommit(parts, upstream, commit, known)
  if (cached === undefined) return opened
  opened.intent.declare(cached.metadataLocation, known && 'pinned')
  const verdict = opened.loads.governance.then((loaded) => judgeCached(parts, commit, cached, loaded))
  return { ...opened, speculativeVerdict: verdictOn(cached, verdict) }
}

/** Gives the verdict only if the loaded table is the cached one that was judged. */
export function verdictOn(cached: CachedTable, verdict: Promise<Verdict | undefined>): SpeculativeVerdict {
  return async (base) => (base === cached ? await verdict : undefined)
}

/**
 * Judges a change on the cached table. Undefined if there is nothing to evaluate, or evaluating fails: then the change
 * is judged once its table has loaded. Never rejects.
 */
export async function judgeCached(
  parts: GatewayParts,
  change: Change,
  cached: CachedTable,
  loaded: Outcome<WriteGovernance>,
): Promise<Verdict | undefined> {
  const all = loaded.ok
    ? inEffect(loaded.value.policies, change.receivedAtMs, exemptible(change, cached))
    : []
  const policies = applicable(all, change.request)
  if (policies.length === 0) return undefined
  try {
    const judge = async () => await parts.policies.judge(change.tenant, policies, bindingsOf(change, cached))
    const verdict = await change.stages.time('evaluate', judge)
    return verdict.kind === 'unavailable' ? undefined : verdict
  } catch {
    return undefined
  }
}
