/**
 * The multi-table commit of SPEC 4.2: every table's verdict before any forward, then one forward after the
 * other. There is no transaction across tables: what was accepted before a failure stays, and is audited.
 */

import { Fault } from '../base/fault.ts'
import { inParallel } from '../base/in-parallel.ts'
import { jsonObject, stringifyJson } from '../base/json.ts'
import type { PolicyOutcome } from '../core/decision.ts'
import { tableName } from '../core/table-ref.ts'
import { bodyOf } from '../http/read-body.ts'
import { limits } from '../limits.ts'
import type { TableChange } from '../wire/iceberg/commit-request.ts'
import { currentSnapshotId } from '../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from './parts.ts'
import { faultOf } from './render-error.ts'
import { forwardCommit, intentOf, type TableCommit } from './stages/forward-commit.ts'
import { DeclaredIntent } from './stages/intent.ts'
import {
  assertAllowed,
  type Judged,
  judgeChange,
  type Settled,
  settle,
  startLoads,
  warningsOf,
} from './stages/judge.ts'
import type { Upstream } from './stages/open-upstream.ts'
import { recordRejection } from './stages/record.ts'

/** Without an Idempotency-Key: upstream it would name several requests. */
export interface TransactionCommit
  extends Pick<TableCommit, 'tenant' | 'identified' | 'receivedAtMs' | 'signal' | 'stages'> {
  readonly changes: readonly TableChange[]
}

export interface TableResult {
  readonly commitId: string
  /** Undefined where the table has no current snapshot, or a lost answer leaves open which it was. */
  readonly newSnapshotId: bigint | undefined
  readonly newMetadataLocation: string
}

export interface TransactionCommitted {
  /** In input order. */
  readonly results: readonly TableResult[]
  readonly warnings: readonly PolicyOutcome[]
}

/** A failure of a transaction: which table's, and whether commits on other tables stay. */
export class TransactionFault extends Error {
  override readonly name = 'TransactionFault'

  constructor(
    readonly fault: Fault,
    /** The decision on the table that failed. */
    readonly commitId: string,
    /** How many commits the upstream had accepted before. */
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
 * Judges all changes and, if every one is allowed, forwards them in their order.
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
        body: await bodyOf(Buffer.from(text)),
        request: { identifier, requirements, updates },
      }
    }),
  )
  const judged = await inParallel(commits, limits.transactionLoadsMax, (commit) =>
    settle(judgeChange(parts, commit, startLoads(parts, upstream, commit), () => {})),
  )
  const steps = await passGate(parts, upstream, commits, judged)

  const results: TableResult[] = []
  for (const { commit, judged } of steps) {
    try {
      const declared = new DeclaredIntent(
        parts,
        commit.tenant,
        await intentOf(upstream, commit),
        commit.stages,
      )
      declared.declare(judged.base?.metadataLocation ?? '')
      await declared.durable()
      const { result, settled } = await forwardCommit(parts, upstream, commit, declared, judged)
      results.push({
        commitId: commit.commitId,
        newSnapshotId: settled ? settled.snapshot?.snapshotId : currentSnapshotId(result.metadata),
        newMetadataLocation: settled?.metadataLocation ?? result.metadataLocation,
      })
    } catch (thrown) {
      throw failed(commit, faultOf(thrown), results.length)
    }
  }
  return { results, warnings: steps.flatMap(({ judged }) => warningsOf(judged.verdict)) }
}

/** What failed to load comes first, then the verdicts, both in input order: SPEC 4.1's order of steps. */
async function passGate(
  parts: GatewayParts,
  upstream: Upstream,
  commits: readonly TableCommit[],
  judged: readonly Settled<Judged>[],
): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const [index, commit] of commits.entries()) {
    const one = judged[index]
    if (one === undefined) throw new Error('a table of the transaction was not judged')
    if (!one.ok) throw named(commit, faultOf(one.thrown))
    steps.push({ commit, judged: one.value })
  }
  for (const { commit, judged } of steps) {
    const { verdict } = judged
    if (verdict.kind === 'allow') continue
    try {
      if (verdict.kind === 'deny') {
        const baseMetadataLocation = judged.base?.metadataLocation ?? ''
        const intent = { ...(await intentOf(upstream, commit)), baseMetadataLocation }
        await commit.stages.time('record', () =>
          recordRejection(parts, commit.tenant, intent, judged, verdict.reason),
        )
      } else parts.metrics.commitRejected.inc({ reason: 'policy_engine_unavailable' })
      assertAllowed(verdict)
    } catch (thrown) {
      throw named(commit, faultOf(thrown))
    }
  }
  return steps
}

/** The fault with the table in its message; SPEC 7 fixes the text of an unavailable policy engine. */
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

/** Once a commit was accepted, what follows is 409 for a conflict and else 502 (SPEC 4.2). */
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
