/**
 * Answers requests that carry an Idempotency-Key (docs/reference/gateway.md 8.4). The key is claimed where the intent is
 * opened, in the same call, so a request that repeats another is found there, or here once it was refused for what the
 * other made. What an earlier request made is answered by repeated-answers.ts.
 */

import { Fault } from '../../base/fault.ts'
import { claimOf, type EarlierRequest, earlierRequestOf, type KeyedRequest } from '../../core/idempotency.ts'
import { keepRefusal } from '../../store/commit/idempotency-keys.ts'
import { faultOf } from '../base/faults.ts'
import { TransactionFault } from '../commit/judge-transaction.ts'
import { replayedHeader } from '../pipeline.ts'
import { answerMade } from './repeated-answers.ts'
import { jsonResponse, type SurfaceRequest } from './surface-request.ts'

/**
 * Refusals that stay: what was asked cannot be done on what was there. A missing permission or an upstream that is busy may
 * be gone when the request is repeated, and a denial is in the audit log.
 */
const finalStatuses: ReadonlySet<number> = new Set([400, 404, 409, 422])

/** Bytes of a refusal that are kept. A longer one is made again. */
const refusalBytesMax = 8 * 1024

/**
 * @param handle performs the operation
 * @param refuse words a failure as the surface does
 * @throws what `handle` throws; Fault `unprocessable` for the key of another request, `unavailable` while the first is in
 *   progress, `commit_unknown` where it cannot be answered again
 */
export async function answerKeyed(
  surface: SurfaceRequest,
  handle: (surface: SurfaceRequest) => Promise<Response>,
  refuse: (fault: Fault) => Response,
): Promise<Response> {
  const { keyed } = surface
  if (keyed === undefined) return await handle(surface)
  try {
    return await handle(surface)
  } catch (thrown) {
    const known = earlierRequestOf(thrown) ?? (await afterRefusal(surface, keyed, thrown, refuse))
    if (known === undefined) throw thrown
    const answer = await answerKnown(surface, known, refuse)
    answer.headers.set(replayedHeader, 'true')
    return answer
  }
}

/**
 * Looks up what the request repeats, whatever refuses it now: a client cleans up after a refusal. Keeps a refusal that stays.
 * @returns what is known of the first request, if this is not it
 */
async function afterRefusal(
  { parts, tenant, commitId }: SurfaceRequest,
  keyed: KeyedRequest,
  thrown: unknown,
  refuse: (fault: Fault) => Response,
): Promise<EarlierRequest | undefined> {
  const fault = thrown instanceof TransactionFault ? thrown.fault : faultOf(thrown)
  const answer = refuse(fault)
  // After these no client cleans up.
  if (answer.status >= 500) return undefined
  const body = await answer.text()
  const isKept = finalStatuses.has(answer.status) && Buffer.byteLength(body) <= refusalBytesMax
  try {
    const claim = claimOf(keyed, [commitId])
    const refusal = isKept ? { status: answer.status, body } : undefined
    return claim && (await keepRefusal(parts.store, tenant, claim, refusal))
  } catch (err) {
    // It may have been made by a request before this one, so it must not be told as refused.
    throw new Fault('unavailable', 'What became of this request could not be looked up. Repeat it.', {
      cause: err,
    })
  }
}

async function answerKnown(
  surface: SurfaceRequest,
  known: EarlierRequest,
  refuse: (fault: Fault) => Response,
): Promise<Response> {
  if (known.state === 'other')
    throw new Fault(
      'unprocessable',
      'This Idempotency-Key was sent with another request. Each request needs a key of its own.',
    )
  if (known.state === 'open')
    throw new Fault(
      'unavailable',
      'The request with this Idempotency-Key is in progress, or it is not known yet what it made. Repeat it.',
    )
  if (known.state === 'refused') return jsonResponse(known.refusal.status, known.refusal.body)
  const { decisions, tables } = known
  const ids = decisions.map(({ commitId }) => commitId).join(', ')
  const denied = decisions.find(({ decision }) => decision === 'REJECTED')
  if (denied !== undefined) {
    const { namespace, name, reason } = denied
    const table = tables > 1 ? `${[...namespace, name].join('.')}: ` : ''
    const answer = refuse(new Fault('policy_denied', `policy denied: ${table}${reason}`))
    answer.headers.set('x-svc-decision-id', denied.commitId)
    return answer
  }
  if (decisions.length < tables)
    throw new Fault(
      'commit_unknown',
      `The request with this Idempotency-Key made ${decisions.length} of ${tables} changes, and stopped there. Reload before you retry.`,
    )
  const answer = await answerMade(surface, decisions)
  answer.headers.set('x-svc-decision-id', ids)
  return answer
}
