/**
 * Handles changes that are denied, could not be judged, are refused by the upstream, or whose reply is lost. All kinds
 * of commits and changes share it. record.ts records accepted changes.
 */

import { Fault, type FaultKind } from '../../base/fault.ts'
import { CatalogError } from '../../catalog/catalog.ts'
import type { Verdict } from '../../core/decision.ts'
import { enforcedSince } from '../../core/policy.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { PendingIntent } from '../base/pending-intent.ts'
import { mayBeRepeat } from '../recovery/after-refusal.ts'
import type { Judged } from '../stages/change.ts'
import { noteUnjudged, recordRejection } from './record.ts'

/**
 * Returns for an allowed change, and throws for every other.
 * @param intent declared or not; it is removed if the change is not allowed
 * @param base the metadata location that the change would have replaced, '' for none
 * @throws RepeatedRequest if another request has its Idempotency-Key; Fault `policy_denied` once the denial is audited;
 *   `policy_engine_unavailable`; `unavailable` if the denial could not be audited
 */
export async function passVerdict(
  parts: GatewayParts,
  judged: Judged,
  intent: PendingIntent,
  base = judged.base?.metadataLocation ?? '',
): Promise<void> {
  const { verdict } = judged
  if (verdict.kind === 'deny') return await deny(parts, judged, intent, base, verdict)
  if (verdict.kind === 'unavailable') {
    await intent.assertNew(base)
    return await refuseUnjudged(parts, judged.table, intent, verdict)
  }
}

async function deny(
  parts: GatewayParts,
  judged: Judged,
  intent: PendingIntent,
  base: string,
  { reason: given, policyId }: Extract<Verdict, { kind: 'deny' }>,
): Promise<never> {
  // The audit removes the intent, which must not be written after it.
  await intent.assertNew(base)
  const rejected = { ...intent.on(base), table: judged.table }
  const said = await brokenReason(parts, intent, judged, given)
  const deciding = judged.policies.find(({ id }) => id === policyId)
  const reason = `${said}${deciding === undefined ? '' : enforcedSince(deciding)}`
  await intent.stages.time('record', () => recordRejection(parts, intent.tenant, rejected, judged, reason))
  throw new Fault('policy_denied', `policy denied: ${reason}`)
}

/** The reason of a denial. Where a contract denies, it says what breaks, and a version is proposed. Never throws. */
async function brokenReason(
  parts: GatewayParts,
  { tenant, withoutBase }: PendingIntent,
  { breaks }: Judged,
  given: string,
): Promise<string> {
  if (breaks === undefined) return given
  try {
    return await parts.contracts.propose(breaks, { tenant, intent: withoutBase })
  } catch (err) {
    const { commitId } = withoutBase
    parts.log.error({ err, commitId, contract: breaks.contract }, 'no version could be proposed for a commit')
    return given
  }
}

async function refuseUnjudged(
  parts: GatewayParts,
  table: TableRef,
  intent: PendingIntent,
  verdict: Extract<Verdict, { kind: 'unavailable' }>,
): Promise<never> {
  parts.metrics.commitRejected.inc({ reason: 'policy_engine_unavailable' })
  await Promise.all([intent.withdraw(), noteUnjudged(parts, table, intent, verdict)])
  throw new Fault('policy_engine_unavailable', 'policy-engine-unavailable', { detail: verdict.error })
}

/** What a forward needs of the intent, or of all intents that it covers. */
type ForwardedIntent = Pick<PendingIntent, 'stages' | 'withdraw' | 'leave'> & {
  readonly withoutBase: Pick<PendingIntent['withoutBase'], 'commitId'>
}

/** How a judged change is forwarded, and how a lost reply is resolved. */
interface Forward<T> {
  readonly send: () => Promise<T>
  /** Never rejects; undefined if it is unknown whether the change was made. */
  readonly resolve: () => Promise<T | undefined>
  /** Whether a refused change was made all the same. Never rejects. */
  readonly wasMade: () => Promise<boolean | undefined>
}

/**
 * Forwards a change whose intent is durable, and resolves a lost reply.
 * @throws what `send` throws. The intent is withdrawn if the upstream certainly did not take the change, and stays for
 *   recovery if that is unknown
 */
export async function forwardDurable<T>(
  parts: GatewayParts,
  intent: ForwardedIntent,
  { send, resolve, wasMade }: Forward<T>,
): Promise<T> {
  parts.passCrashPoint('commit-not-forwarded')
  const reply = await intent.stages.time('forward', async () => {
    try {
      return await send()
    } catch (error) {
      const isRefused = surelyNotCommitted(error)
      const made = isRefused && mayBeRepeat(error) ? await wasMade() : false
      if (isRefused && made === false) {
        await intent.withdraw()
        throw error
      }
      parts.passCrashPoint('answer-lost')
      const resolved = await resolve()
      if (resolved !== undefined) return resolved
      await intent.leave(hasAnswered(error))
      const { commitId } = intent.withoutBase
      parts.log.error({ err: error, commitId }, 'commit state unknown; its intent stays for recovery')
      throw isRefused ? unknownDespite(error, made) : error
    }
  })
  parts.passCrashPoint('commit-forwarded')
  return reply
}

/**
 * The Fault of a refused change that may have been made by an earlier sending.
 * @param made whether the catalog shows it, though not by which commit it was made; undefined: it could not be looked at
 */
function unknownDespite(cause: unknown, made: boolean | undefined): Fault {
  const shown = made ? 'but shows what it would have made' : 'and could not be looked at afterwards'
  return new Fault(
    'commit_unknown',
    `The upstream catalog refused the change, ${shown}: it may have been sent twice. It may or may not have been made.`,
    { cause, type: 'CommitStateUnknownException' },
  )
}

/** Kinds of Fault by which an adapter reports that nothing was sent, or that the upstream refused. */
const notCommitted: ReadonlySet<FaultKind> = new Set([
  'upstream_failed',
  'upstream_forbidden',
  'bad_request',
  'misconfigured',
  'not_acceptable',
  'not_found',
  'conflict',
  'unprocessable',
  'not_implemented',
  'overloaded',
])

/** Whether a failed forward proves that the upstream's state did not change. False if in doubt. */
function surelyNotCommitted(error: unknown): boolean {
  return error instanceof CatalogError || (error instanceof Fault && notCommitted.has(error.kind))
}

/**
 * Whether an unknown outcome is the upstream's own answer: then it works on the change no longer. Other statuses than 500
 * are also those of something before it, which may still have forwarded the request.
 */
function hasAnswered(error: unknown): boolean {
  const reply = error instanceof Fault ? error.cause : undefined
  const status = typeof reply === 'object' && reply !== null && 'status' in reply ? reply.status : undefined
  return status === 500
}
