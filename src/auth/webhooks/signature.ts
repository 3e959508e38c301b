/** Whether a webhook delivery is its provider's: the signature by the provider's library, and what those leave open. */

import { Fault } from '../../base/fault.ts'
import type { Secret } from '../../base/secret.ts'
import { limits } from '../../limits.ts'
import type { Scheme } from './schemes.ts'

export interface Verified {
  /** By which the same delivery is known when it comes again: what was signed. */
  readonly replayKey: string
  /** The id of the message, where the scheme carries it beside the body. */
  readonly messageId: string | undefined
}

/**
 * Verifies one delivery by the first scheme whose header it carries.
 * @param nowMs milliseconds since the Unix epoch
 * @throws Fault `bad_request` where there is no signature header, `unauthenticated` where there is no secret or
 *   nothing holds, or where the time stamp lies further than `limits.webhookToleranceMs` from `nowMs`
 */
export async function verifySignature(
  headers: Headers,
  bytes: Uint8Array,
  schemes: readonly Scheme[],
  secret: Secret | undefined,
  nowMs: number,
): Promise<Verified> {
  const scheme = schemes.find(({ header }) => headers.get(header))
  if (scheme === undefined) throw new Fault('bad_request', 'The webhook carries no signature header.')
  if (secret === undefined) throw new Fault('unauthenticated', 'No secret is configured for this webhook.')
  const stamp = scheme.stampOf(headers)
  const body = exactText(bytes)
  const length = headers.get(scheme.header)?.length ?? 0
  if (stamp === undefined || body === undefined || length > limits.webhookSignatureCharsMax) throw refused()
  // The libraries leave stamps of the future open, and each has a clock of its own.
  if (Math.abs(nowMs - Number(stamp.time) * scheme.unitMs) > limits.webhookToleranceMs) throw refused()
  const verify = await scheme.load()
  const holds = await verify({ headers, body, nowMs }, secret.reveal()).catch(() => false)
  if (holds !== true) throw refused()
  const { time, messageId } = stamp
  return { replayKey: [scheme.header, messageId ?? '', time, body].join('\n'), messageId }
}

const refused = () => new Fault('unauthenticated', 'The webhook signature does not hold, or it is too old.')

/** The libraries sign text: bytes that no text stands for are refused, so that what is verified is what is read. */
function exactText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
