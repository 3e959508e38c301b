/**
 * Signatures of webhooks as Stripe and WorkOS write them: `t=<time>,v1=<hex>[,v1=<hex>…]`, an HMAC-SHA256 over
 * `<time>.<body>`. Several v1 stand for several secrets while one is rotated.
 */

import { createHmac } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import { sameSecret } from '../../base/same-secret.ts'
import type { Secret } from '../../base/secret.ts'
import { limits } from '../../limits.ts'

export interface SignatureRules {
  readonly secret: Secret | undefined
  /** Milliseconds of one unit of `t`: Stripe counts seconds, WorkOS milliseconds. */
  readonly unitMs: 1 | 1_000
}

const candidatesMax = 8

/**
 * Verifies one delivery. The work is one HMAC, whatever is sent.
 * @param header of the provider's signature header
 * @param nowMs milliseconds since the Unix epoch
 * @returns what was signed with, by which a replay is known
 * @throws Fault `bad_request` where the header is missing, `unauthenticated` where there is no secret or nothing
 *   holds, or where the time stamp lies further than `limits.webhookToleranceMs` from `nowMs`
 */
export function verifySignature(
  header: string | null,
  body: Uint8Array,
  { secret, unitMs }: SignatureRules,
  nowMs: number,
): Uint8Array {
  if (header === null || header === '')
    throw new Fault('bad_request', 'The webhook carries no signature header.')
  if (secret === undefined) throw new Fault('unauthenticated', 'No secret is configured for this webhook.')
  const pairs = header.split(',').map((pair) => pair.trim().split('=', 2))
  const time = pairs.find(([name]) => name === 't')?.[1] ?? ''
  const given = pairs.filter(([name]) => name === 'v1').map(([, value]) => value ?? '')
  const expected = createHmac('sha256', secret.reveal()).update(`${time}.`).update(body).digest()
  const matches = given.slice(0, candidatesMax).filter((hex) => sameSecret(Buffer.from(hex, 'hex'), expected))
  const signedAtMs = /^[0-9]{1,15}$/.test(time) ? Number(time) * unitMs : Number.NaN
  if (matches.length === 0 || !(Math.abs(nowMs - signedAtMs) <= limits.webhookToleranceMs))
    throw new Fault('unauthenticated', 'The webhook signature does not hold, or it is too old.')
  return expected
}
