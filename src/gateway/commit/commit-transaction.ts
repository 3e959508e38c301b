/**
 * Performs a multi-table commit (docs/reference/gateway.md 3): judges every table first, then forwards one commit after
 * the other. It is not atomic: commits that were accepted before a failure stay, and are audited.
 */

import { Fault } from '../../base/fault.ts'
import { inParallel } from '../../base/in-parallel.ts'
import { jsonObject, stringifyJson } from '../../base/json.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import { tableName } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import type { TableChange } from '../../wire/iceberg/commit-request.ts'
import { currentSnapshotId } from '../../wire/iceberg/table-metadata.ts'
import { bodyOfText } from '../base/body.ts'
import { faultOf } from '../base/faults.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Judged } from '../stages/change.ts'
import { judgeChange } from '../stages/judge.ts'
import { loadedBase, type Outcome, outcomeOf, startLoads } from '../stages/loads.ts'
import { pendingIntent, type TableCommit } from '../stages/open-commit.ts'
import { warningsOf } from '../stages/verdicts.ts'
import { forwardTable } from './forward-table.ts'
import { passVerdict } from './outcomes.ts'

/** No Idempotency-Key is forwarded, because the upstream would see the same key on several requests. */
export interface TransactionCommit
  extends Pick<TableCommit, 'tenant' | 'identified' | 'receivedAtMs' | 'signal' | 'stages' | 'requestId'> {
  readonly changes: readonly TableChange[]
}

export interface TableResult {
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

/** A failed transaction: the table that failed, and how many commits on other tables stay. */
export class TransactionFault extends Error {
  override readonly name = 'TransactionFault'

  constructor(
    readonly fault: Fault,
    /** The decision on the table that failed. */
    readonly commitId: string,
    /** How many commits the upstream accepted before it. */
    readonly acceptedCount: number,
  ) {
    super(fault.publicMessage, { cause: fault })
  }
}

interface Step {
  readonly commit: TableCommit
  readonly judged: Judged
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
  const { changes, ...shared } = transaction
  const commits = await Promise.all(
    changes.map(async ({ identifier, requirements, updates }): Promise<TableCommit> => {
      const { namespace, name } = identifier
      const text = stringifyJson(
        jsonObject({ identifier: jsonObject({ namespace, name }), requirements, updates }),
      )
      return {
        ...shared,
        idempotencyKey: undefined,
        commitId: crypto.randomUUID(),
        table: identifier,
        body: await bodyOfText(text),
        request: { identifier, requirements, updates },
      }
    }),
  )
  const judged = await inParallel(commits, limits.transactionLoadsMax, (commit) =>
    outcomeOf(judge(parts, upstream, commit)),
  )
  const steps = await passGate(parts, upstream, commits, judged)

  const results: TableResult[] = []
  for (const { commit, judged } of steps) {
    try {
      const intent = await pendingIntent(parts, upstream, commit)
      intent.declare(judged.base?.metadataLocation ?? '')
      await intent.durable()
      const { result, resolved } = await forwardTable(parts, upstream, commit, intent, judged)
      results.push({
        commitId: commit.commitId,
        newSnapshotId: resolved ? resolved.snapshot?.snapshotId : currentSnapshotId(result.metadata),
        newMetadataLocation: resolved?.metadataLocation ?? result.metadataLocation,
      })
    } catch (thrown) {
      throw failed(commit, faultOf(thrown), results.length)
    }
  }
  return { results, warnings: steps.flatMap(({ judged }) => warningsOf(judged.verdict)) }
}

async function judge(parts: GatewayParts, upstream: Upstream, commit: TableCommit): Promise<Judged> {
  const loads = startLoads(parts, upstream, commit)
  return await judgeChange(parts, upstream, commit, await loadedBase(loads), loads)
}

/** Throws failed loads first, then failed verdicts, both in input order (docs/reference/gateway.md 3.2). */
async function passGate(
  parts: GatewayParts,
  upstream: Upstream,
  commits: readonly TableCommit[],
  judged: readonly Outcome<Judged>[],
): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const [index, commit] of commits.entries()) {
    const one = judged[index]
    if (one === undefined) throw new Error('a table of the transaction was not judged')
    if (!one.ok) throw named(commit, faultOf(one.thrown))
    steps.push({ commit, judged: one.value })
  }
  for (const { commit, judged } of steps) {
    if (judged.verdict.kind === 'allow') continue
    try {
      await passVerdict(parts, judged, await pendingIntent(parts, upstream, commit))
    } catch (thrown) {
      throw named(commit, faultOf(thrown))
    }
  }
  return steps
}

/** Adds the table to the fault's message, unless the policy engine is unavailable (docs/reference/errors.md 1.2). */
function named(commit: TableCommit, fault: Fault, acceptedCount = 0): TransactionFault {
  const table = tableName(commit.table)
  const message =
    fault.kind === 'policy_denied'
      ? fault.publicMessage.replace('policy denied: ', `policy denied: ${table}: `)
      : fault.kind === 'policy_engine_unavailable'
        ? fault.publicMessage
        : `${table}: ${fault.publicMessage}`
  return new TransactionFault(renamed(fault, fault.kind, message), commit.commitId, acceptedCount)
}

/** After an accepted commit, a failure is 409 for a conflict and otherwise 502 (docs/reference/gateway.md 3.4). */
function failed(commit: TableCommit, fault: Fault, acceptedCount: number): TransactionFault {
  const one = named(commit, fault, acceptedCount)
  if (acceptedCount === 0) return one
  const message = `${one.fault.publicMessage} Commits on ${acceptedCount} table(s) before it stay.`
  const kind = fault.kind === 'conflict' || fault.kind === 'commit_unknown' ? fault.kind : 'upstream_failed'
  return new TransactionFault(renamed(fault, kind, message), commit.commitId, acceptedCount)
}

function renamed(fault: Fault, kind: Fault['kind'], message: string): Fault {
  const { detail, type } = fault
  return new Fault(kind, message, {
    cause: fault,
    ...(detail !== undefined && { detail }),
    ...(type !== undefined && kind === fault.kind && { type }),
  })
}
