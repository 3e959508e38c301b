/** Verifies webhook deliveries: time stamp, size and encoding here, the signature by its scheme (schemes.ts). */

import { Fault } from '../../base/fault.ts'
import type { Secret } from '../../base/secret.ts'
import { limits } from '../../limits.ts'
import type { Delivery, Scheme } from './schemes.ts'

/** Characters of a webhook's signature header: a time and a few signatures. */
const webhookSignatureCharsMax = 1_024

export interface Verified {
  /** Identifies the signed content, so that a replay of the same delivery is found. */
  readonly replayKey: string
  /** The id of the message, where the scheme carries it beside the body. */
  readonly messageId: string | undefined
}

/**
 * Verifies one delivery by the first scheme whose header it carries.
 * @param nowMs milliseconds since the Unix epoch
 * @throws Fault `bad_request` without a signature header, `unauthenticated` without a secret or a valid signature, or
 *   where the time stamp differs from `nowMs` by more than `limits.webhookToleranceMs`
 */
export function verifySignature(
  headers: Headers,
  bytes: Uint8Array,
  schemes: readonly Scheme[],
  secret: Secret | undefined,
  nowMs: number,
): Verified {
  const scheme = schemes.find(({ header }) => headers.get(header))
  if (scheme === undefined) throw new Fault('bad_request', 'The webhook carries no signature header.')
  if (secret === undefined || secret.reveal() === '')
    throw new Fault('unauthenticated', 'No secret is configured for this webhook.')
  const stamp = scheme.stampOf(headers)
  const body = exactText(bytes)
  const length = headers.get(scheme.header)?.length ?? 0
  if (stamp === undefined || body === undefined || length > webhookSignatureCharsMax) throw refused()
  // A time stamp of the future is as wrong as an old one: its delivery could be sent again for longer.
  if (Math.abs(nowMs - Number(stamp.time) * scheme.unitMs) > limits.webhookToleranceMs) throw refused()
  if (!holds(scheme, { headers, body }, secret)) throw refused()
  const { time, messageId } = stamp
  return { replayKey: [scheme.header, messageId ?? '', time, body].join('\n'), messageId }
}

function holds(scheme: Scheme, delivery: Delivery, secret: Secret): boolean {
  try {
    return scheme.verify(delivery, secret.reveal())
  } catch {
    return false
  }
}

const refused = () =>
  new Fault('unauthenticated', 'The webhook signature is invalid, or its time stamp is too old.')

/** Refuses bytes that are not UTF-8: signatures are of text, and the verified text must be what is read. */
function exactText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
