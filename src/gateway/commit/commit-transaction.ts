/**
 * Performs a multi-table commit (docs/reference/gateway.md 3): judges every table first, then forwards one commit after
 * the other. It is not atomic: commits that were accepted before a failure stay, and are audited.
 */

import type { Fault } from '../../base/fault.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import { currentSnapshotId } from '../../wire/iceberg/table-metadata.ts'
import { faultOf } from '../base/faults.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { pendingIntent, type TableCommit } from '../stages/open-commit.ts'
import { warningsOf } from '../stages/verdicts.ts'
import { forwardTable } from './forward-table.ts'
import {
  judgeTransaction,
  named,
  renamed,
  type TransactionCommit,
  TransactionFault,
} from './judge-transaction.ts'

interface TableResult {
  readonly commitId: string
  /** Undefined if the table has no current snapshot, or a reply was lost and it is unknown. */
  readonly newSnapshotId: bigint | undefined
  readonly newMetadataLocation: string
}

export interface TransactionCommitted {
  /** In input order. */
  readonly results: readonly TableResult[]
  readonly warnings: readonly PolicyOutcome[]
}

/**
 * Judges all changes and, if every one is allowed, forwards them in input order.
 * @throws TransactionFault that names the table
 */
export async function commitTransaction(
  parts: GatewayParts,
  upstream: Upstream,
  transaction: TransactionCommit,
): Promise<TransactionCommitted> {
  const steps = await judgeTransaction(parts, upstream, transaction)
  const results: TableResult[] = []
  for (const { commit, judged } of steps) {
    try {
      const intent = await pendingIntent(parts, upstream, commit)
      intent.declare(judged.base?.metadataLocation ?? '')
      await intent.durable()
      const { result, resolved } = await forwardTable(parts, upstream, commit, intent, judged)
      results.push({
        commitId: commit.commitId,
        newSnapshotId: resolved
          ? resolved.committed?.snapshot?.snapshotId
          : currentSnapshotId(result.metadata),
        newMetadataLocation: resolved?.committed?.metadataLocation ?? result.metadataLocation,
      })
    } catch (thrown) {
      throw failed(commit, faultOf(thrown), results.length)
    }
  }
  return { results, warnings: steps.flatMap(({ judged }) => warningsOf(judged.verdict)) }
}

/** After an accepted commit, a failure is 409 for a conflict and otherwise 502 (docs/reference/gateway.md 3.4). */
function failed(commit: TableCommit, fault: Fault, acceptedCount: number): TransactionFault {
  const one = named(commit, fault, acceptedCount)
  if (acceptedCount === 0) return one
  const message = `${one.fault.publicMessage} Commits on ${acceptedCount} table(s) before it stay.`
  const kind = fault.kind === 'conflict' || fault.kind === 'commit_unknown' ? fault.kind : 'upstream_failed'
  return new TransactionFault(renamed(fault, kind, message), commit.commitId, acceptedCount)
}
