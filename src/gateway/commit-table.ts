/**
 * The single-table commit of SPEC 4.1, from the body on: the fourteen steps in their order of outcome.
 * Steps overlap where no outcome depends on it; nothing is forwarded before the verdict is in and the intent
 * is durable; and once the upstream accepted, the answer is its answer, whatever fails here afterwards.
 */

import { afterSending } from '../base/turn.ts'
import type { CommittedResponse } from '../catalog/catalog.ts'
import type { PolicyOutcome } from '../core/decision.ts'
import { assertIdentifierMatches, snapshotIdsAdded } from '../wire/iceberg/commit-request.ts'
import type { GatewayParts } from './parts.ts'
import { forwardCommit, intentOf, type TableCommit } from './stages/forward-commit.ts'
import type { Opening } from './stages/head-start.ts'
import { DeclaredIntent } from './stages/intent.ts'
import { assertAllowed, type Judged, judgeChange, startLoads, warningsOf } from './stages/judge.ts'
import type { Upstream } from './stages/open-upstream.ts'
import { recordRejection } from './stages/record.ts'

export interface TableCommitted {
  readonly response: CommittedResponse
  /** Outcomes of `warn` policies that were not true. */
  readonly warnings: readonly PolicyOutcome[]
}

/**
 * Judges one commit and, if it is allowed, forwards it and audits it.
 * @param opening what of it has been begun
 * @throws Fault by SPEC 7; CatalogError for the four sentinels
 */
export async function commitTable(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  opening?: Opening,
): Promise<TableCommitted> {
  const { loads, declared } = opening ?? (await openCommit(parts, upstream, commit))
  let judged: Judged
  try {
    judged = await judgeChange(parts, commit, loads, (base) => declared.declare(base))
    if (judged.verdict.kind === 'allow') await declared.durable()
  } catch (error) {
    await declared.withdraw()
    throw error
  }
  const { verdict } = judged
  if (verdict.kind === 'deny') {
    // The verdict removes the intent, which must not arrive after it.
    await declared.settled()
    await commit.stages.time('record', () =>
      recordRejection(parts, commit.tenant, declared.intent, judged, verdict.reason),
    )
  }
  if (verdict.kind === 'unavailable') {
    parts.metrics.commitRejected.inc({ reason: 'policy_engine_unavailable' })
    await declared.withdraw()
  }
  assertAllowed(verdict)
  const response = await forwardCommit(parts, upstream, commit, declared, judged)
  return { response, warnings: warningsOf(verdict) }
}

async function openCommit(parts: GatewayParts, upstream: Upstream, commit: TableCommit): Promise<Opening> {
  assertIdentifierMatches(commit.request, commit.table)
  // What is wrong with the body itself comes before anything is asked for.
  snapshotIdsAdded(commit.request)
  const loads = startLoads(parts, upstream, commit)
  // Both questions are sent before this thread turns to the intent.
  await afterSending()
  return { loads, declared: await declareEarly(parts, upstream, commit) }
}

/** Where the cache foretells the base, the intent is written while the table loads. */
async function declareEarly(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
): Promise<DeclaredIntent> {
  const declared = new DeclaredIntent(parts, commit.tenant, await intentOf(upstream, commit), commit.stages)
  const foretold = parts.tables.get(commit.tenant, upstream.credential, commit.table)
  if (foretold !== undefined) declared.declare(foretold.metadataLocation)
  return declared
}
