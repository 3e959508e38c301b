/**
 * Judges the changes of a multi-table commit (docs/reference/gateway.md 3.2): one gate for all tables, before anything
 * is forwarded. How they are forwarded is left to commit-transaction.ts and commit-atomically.ts.
 */

import { Fault } from '../../base/fault.ts'
import { inParallel } from '../../base/in-parallel.ts'
import { jsonObject, stringifyJson } from '../../base/json.ts'
import { timeOrderedId } from '../../base/time-ordered-id.ts'
import { claimOf, type KeyedRequest } from '../../core/idempotency.ts'
import { tableName } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import { closeIntent } from '../../store/commit/commit-intents.ts'
import type { TableChange } from '../../wire/iceberg/commit-request.ts'
import { locationsNamed } from '../../wire/iceberg/named-locations.ts'
import { bodyOfText } from '../base/body.ts'
import { faultOf } from '../base/faults.ts'
import { originOf } from '../base/origin.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Judged } from '../stages/change.ts'
import { judgeChange } from '../stages/judge.ts'
import { loadedBase, type Outcome, outcomeOf, startLoads } from '../stages/loads.ts'
import { pendingIntent, type TableCommit } from '../stages/open-commit.ts'
import { passVerdict } from './outcomes.ts'

/**
 * No Idempotency-Key is forwarded. Several requests would carry the same key, and the reply to an atomic transaction
 * does not show that it is repeated.
 */
export interface TransactionCommit
  extends Pick<
    TableCommit,
    'tenant' | 'identified' | 'receivedAtMs' | 'signal' | 'stages' | 'requestId' | 'origin'
  > {
  readonly changes: readonly TableChange[]
  /** Set where the request may be repeated by its Idempotency-Key. */
  readonly keyed: KeyedRequest | undefined
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

/** One allowed change. */
export interface Step {
  readonly commit: TableCommit
  readonly judged: Judged
}

/**
 * Judges all changes.
 * @returns one step for each change, in input order, if every one is allowed
 * @throws TransactionFault that names the table
 */
export async function judgeTransaction(
  parts: GatewayParts,
  upstream: Upstream,
  { changes, keyed, ...shared }: TransactionCommit,
): Promise<readonly Step[]> {
  const ids = changes.map(() => timeOrderedId())
  const claim = claimOf(keyed, ids)
  const commits = await Promise.all(
    changes.map(async ({ identifier, requirements, updates }, index): Promise<TableCommit> => {
      const { namespace, name } = identifier
      const text = stringifyJson(
        jsonObject({ identifier: jsonObject({ namespace, name }), requirements, updates }),
      )
      return {
        ...shared,
        idempotencyKey: undefined,
        claim,
        commitId: ids[index] ?? timeOrderedId(),
        table: identifier,
        body: await bodyOfText(text),
        request: { identifier, requirements, updates },
        origin: originOf(shared.origin, { updates }),
      }
    }),
  )
  const judged = await inParallel(commits, limits.transactionLoadsMax, (commit) =>
    outcomeOf(judge(parts, upstream, commit)),
  )
  try {
    return await passGate(parts, upstream, commits, judged)
  } catch (thrown) {
    await Promise.all(commits.map((commit) => giveBack(parts, commit)))
    throw thrown
  }
}

/** Gives back the territory that one table of a refused transaction took. Never throws: it is the table's then. */
async function giveBack(parts: GatewayParts, { tenant, commitId, request }: TableCommit): Promise<void> {
  if (locationsNamed(request.updates).every(({ use }) => use === 'file')) return
  await closeIntent(parts.store, tenant, commitId).catch((err: unknown) => {
    parts.log.warn({ err, commitId }, 'territory that a refused transaction took could not be given back')
  })
}

async function judge(parts: GatewayParts, upstream: Upstream, commit: TableCommit): Promise<Judged> {
  const loads = startLoads(parts, upstream, commit)
  return await judgeChange(parts, upstream, commit, await loadedBase(loads), loads)
}

/** Throws failed loads first, then missing verdicts, then denials, each in input order (docs/reference/gateway.md 3.2). */
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
  const stopping = (['unavailable', 'deny'] as const).flatMap((kind) =>
    steps.filter(({ judged }) => judged.verdict.kind === kind),
  )
  for (const { commit, judged } of stopping) {
    try {
      await passVerdict(parts, judged, await pendingIntent(parts, upstream, commit))
    } catch (thrown) {
      throw named(commit, faultOf(thrown))
    }
  }
  return steps
}

/** Adds the table to the fault's message, unless the policy engine is unavailable (docs/reference/errors.md 1.2). */
export function named(commit: TableCommit, fault: Fault, acceptedCount = 0): TransactionFault {
  const table = tableName(commit.table)
  const message =
    fault.kind === 'policy_denied'
      ? fault.publicMessage.replace('policy denied: ', `policy denied: ${table}: `)
      : fault.kind === 'policy_engine_unavailable'
        ? fault.publicMessage
        : `${table}: ${fault.publicMessage}`
  return new TransactionFault(renamed(fault, fault.kind, message), commit.commitId, acceptedCount)
}

/** The same fault with another kind and message. */
export function renamed(fault: Fault, kind: Fault['kind'], message: string): Fault {
  const { detail, type, refusal } = fault
  const isSame = kind === fault.kind
  return new Fault(kind, message, {
    cause: fault,
    ...(detail !== undefined && { detail }),
    ...(type !== undefined && isSame && { type }),
    ...(refusal !== undefined && isSame && { refusal }),
  })
}
