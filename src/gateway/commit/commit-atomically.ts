/**
 * Performs a multi-table commit on a catalog that makes all of it or nothing (docs/reference/gateway.md 3.6): judges
 * every table first, then forwards the request as one. Its intent has a row for each table, so that other commits see
 * what is in flight on theirs, and each table is audited.
 */

import type { AcceptedChange } from '../../core/commit.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storageRoots } from '../../storage/roots.ts'
import type { CommitBody } from '../base/body.ts'
import { faultOf } from '../base/faults.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { PendingIntent } from '../base/pending-intent.ts'
import type { Upstream } from '../base/upstream.ts'
import { showsCommit } from '../recovery/after-refusal.ts'
import { findTransactionMade, type MadeCommits } from '../recovery/transaction-made.ts'
import { assertRefsAbsent } from '../stages/assert-refs-absent.ts'
import { pendingIntent } from '../stages/open-commit.ts'
import { warningsOf } from '../stages/verdicts.ts'
import { recordForwarded, replyOf } from './forward-table.ts'
import { judgeTransaction, type Step, type TransactionCommit, TransactionFault } from './judge-transaction.ts'
import { forwardDurable } from './outcomes.ts'
import { acceptedChange, recordApproval } from './record.ts'

interface AtomicTransaction extends TransactionCommit {
  /** The request's body, which is forwarded byte for byte. */
  readonly body: CommitBody
}

interface AtomicallyCommitted {
  /** In input order. */
  readonly commitIds: readonly string[]
  readonly warnings: readonly PolicyOutcome[]
}

interface OpenStep extends Step {
  readonly intent: PendingIntent
}

/**
 * Judges all changes and, if every one is allowed, forwards them together.
 * @throws TransactionFault. Nothing was made, unless its fault is `commit_unknown`
 */
export async function commitAtomically(
  parts: GatewayParts,
  upstream: Upstream,
  { body, ...transaction }: AtomicTransaction,
): Promise<AtomicallyCommitted> {
  const steps = await judgeTransaction(parts, upstream, transaction)
  const commitIds = steps.map(({ commit }) => commit.commitId)
  try {
    using turn = await turnOf(parts, upstream, transaction.tenant, steps)
    const opened = await openSteps(parts, upstream, steps, commitIds)
    const made = await forward(parts, upstream, transaction, body, opened)
    // All that the next transaction could hide was seen, so it need not wait for the audit.
    if ([...made.values()].filter(({ committed }) => committed).length === steps.length)
      turn?.[Symbol.dispose]()
    await recordAll(parts, upstream, opened, made)
  } catch (thrown) {
    throw new TransactionFault(faultOf(thrown), commitIds.join(', '), 0)
  }
  return { commitIds, warnings: steps.flatMap(({ judged }) => warningsOf(judged.verdict)) }
}

/** Where files cannot be read, only a load before the next transaction on the tables shows what this one wrote. */
async function turnOf(
  { sendTurns }: GatewayParts,
  { credential }: Upstream,
  tenant: TenantId,
  steps: readonly Step[],
): Promise<Disposable | undefined> {
  if (storageRoots(credential.config).length > 0) return undefined
  return await sendTurns.take(steps.map(({ commit }) => JSON.stringify([tenant, tableKey(commit.table)])))
}

/** Makes the intent durable. @throws Fault `conflict` for a ref that must not exist yet; `unavailable` */
async function openSteps(
  parts: GatewayParts,
  upstream: Upstream,
  steps: readonly Step[],
  commitIds: readonly string[],
): Promise<readonly OpenStep[]> {
  const opened = await Promise.all(
    steps.map(async ({ commit, judged }) => {
      const intent = await pendingIntent(parts, upstream, { ...commit, transaction: commitIds })
      return { commit, judged, intent }
    }),
  )
  try {
    for (const { intent, judged } of opened) intent.declare(judged.base?.metadataLocation ?? '')
    for (const { intent } of opened) await intent.durable()
    for (const { commit } of opened) await assertRefsAbsent(parts, upstream, commit)
    // Checking the refs may have taken so long that a lease has expired.
    for (const { intent } of opened) await intent.durable()
  } catch (error) {
    await withdrawAll(opened)
    throw error
  }
  return opened
}

async function withdrawAll(opened: readonly OpenStep[]): Promise<void> {
  for (const { intent } of opened) await intent.withdraw()
}

async function leaveAll(opened: readonly OpenStep[], answered: boolean): Promise<void> {
  for (const { intent } of opened) await intent.leave(answered)
}

/** Forwards the transaction. @returns what it made, as far as the tables show it */
async function forward(
  parts: GatewayParts,
  upstream: Upstream,
  { tenant, stages }: TransactionCommit,
  body: CommitBody,
  opened: readonly OpenStep[],
): Promise<MadeCommits> {
  const tables = opened.map(({ commit }) => commit.table)
  const commits = opened.map(({ intent, judged }) => ({ intent: intent.intent, base: judged.base }))
  const commitId = commits.map(({ intent }) => intent.commitId).join(', ')
  const resolved = await forwardDurable<MadeCommits | Accepted>(
    parts,
    {
      stages,
      withoutBase: { commitId },
      withdraw: () => withdrawAll(opened),
      leave: (answered) => leaveAll(opened, answered),
    },
    {
      // Without the client's signal, because a commit is completed even if the client disconnects.
      send: async () => {
        const files = await upstream.catalog.commitTables(tables, body.bytes)
        for (const step of opened) parts.unaudited.accepted(unplaced(step))
        return { files }
      },
      resolve: () => findTransactionMade(parts, upstream, tenant, commits, false),
      wasMade: () => showsCommit(parts, upstream, tenant, commits),
    },
  )
  if (!('files' in resolved)) return resolved
  const named = commits.map((commit, index) => ({ ...commit, file: resolved.files[index] }))
  return (await findTransactionMade(parts, upstream, tenant, named, true)) ?? new Map()
}

/** The upstream's reply: the files that it names, in input order. */
interface Accepted {
  readonly files: readonly (string | undefined)[]
}

/** The accepted commit of a table, before it is known which file it wrote. */
function unplaced({ intent, judged }: OpenStep): AcceptedChange {
  return acceptedChange(intent, judged, undefined, false)
}

/** Audits the commits in input order. Never throws: an audit that fails is repeated. */
async function recordAll(
  parts: GatewayParts,
  upstream: Upstream,
  opened: readonly OpenStep[],
  made: MadeCommits,
): Promise<void> {
  for (const step of opened) {
    const { commit, judged, intent } = step
    const resolved = made.get(commit.commitId)
    if (resolved === undefined) await recordApproval(parts, intent, unplaced(step))
    else await recordForwarded(parts, upstream, commit, intent, judged, await replyOf(resolved))
  }
}
