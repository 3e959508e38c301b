/**
 * Performs a single-table commit after its body was read: steps 8 to 14 of docs/reference/gateway.md 2.1. Nothing is
 * forwarded before the commit is allowed and its intent is durable. Once the upstream has accepted, the client receives
 * its reply, whatever fails afterwards.
 */

import type { PolicyOutcome } from '../../core/decision.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Judged } from '../stages/change.ts'
import { judgeChange } from '../stages/judge.ts'
import { loadedBase } from '../stages/loads.ts'
import { type OpenedCommit, openCommit, type TableCommit } from '../stages/open-commit.ts'
import { warningsOf } from '../stages/verdicts.ts'
import { type Forwarded, forwardTable } from './forward-table.ts'
import { passVerdict } from './outcomes.ts'

export interface TableCommitted {
  readonly response: Forwarded
  /** The outcomes of `warn` policies that were not true. */
  readonly warnings: readonly PolicyOutcome[]
}

/**
 * Judges one commit and, if it is allowed, forwards it and audits it.
 * @param opened the commit as its speculative start opened it; otherwise it is opened here
 * @throws Fault by docs/reference/errors.md 2.1; CatalogError for the four sentinels
 */
export async function commitTable(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  opened?: OpenedCommit,
): Promise<TableCommitted> {
  const { loads, intent, speculativeVerdict } = opened ?? (await openCommit(parts, upstream, commit))
  let judged: Judged
  try {
    const base = await loadedBase(loads)
    // Written while the policies load and are evaluated.
    intent.declare(base?.metadataLocation ?? '')
    judged = await judgeChange(parts, upstream, commit, base, loads, speculativeVerdict)
    if (judged.verdict.kind === 'allow') await intent.durable()
  } catch (error) {
    await intent.withdraw()
    throw error
  }
  await passVerdict(parts, judged, intent)
  const response = await forwardTable(parts, upstream, commit, intent, judged)
  return { response, warnings: warningsOf(judged.verdict) }
}
