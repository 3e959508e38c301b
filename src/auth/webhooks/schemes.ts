/**
 * Verifies the signature formats of providers: the pairs `t=…,v1=…` of WorkOS and Stripe, and Standard Webhooks. Sizes,
 * ages and replays are checked in signature.ts (docs/adr/0028-pairs-of-webhook-signatures-are-verified-here.md).
 */

import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { sameSecret } from '../../base/same-secret.ts'

export interface Scheme {
  /** The header that carries the signature, in lower case. */
  readonly header: string
  /** Milliseconds of one unit of the time stamp. */
  readonly unitMs: 1 | 1_000
  /** Reads the headers that are signed with the body; undefined where they are not of this format. */
  readonly stampOf: (headers: Headers) => Stamp | undefined
  /** Whether the signature is valid. It may throw where it is not. */
  readonly verify: (delivery: Delivery, secret: string) => boolean
}

interface Stamp {
  /** The provider's time stamp, a decimal integer in the scheme's unit. */
  readonly time: string
  /** The id that all deliveries of one message share, where the headers carry it. */
  readonly messageId: string | undefined
}

export interface Delivery {
  readonly headers: Headers
  readonly body: string
}

/** One time stamp, and signatures of versions; during a rotation there is one `v1` for each secret. */
const workosForm = /^t=([1-9][0-9]{0,14}), ?v1=[0-9A-Za-z]+$/
const stripeForm = /^t=([1-9][0-9]{0,14})(?:,v[0-9]=[0-9A-Za-z]*)+$/
const timeForm = /^[1-9][0-9]{0,14}$/
const messageIdForm = /^[\x21-\x7e]{1,255}$/

/** A header of pairs whose `v1` is the HMAC-SHA-256 of `<time>.<body>` in lower-case hex. */
function pairs(header: string, unitMs: 1 | 1_000, form: RegExp): Scheme {
  const timeIn = (headers: Headers) => form.exec(headers.get(header) ?? '')?.[1]
  return {
    header,
    unitMs,
    stampOf(headers) {
      const time = timeIn(headers)
      return time === undefined ? undefined : { time, messageId: undefined }
    },
    verify({ headers, body }, secret) {
      const time = timeIn(headers)
      if (time === undefined) return false
      const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
      const signatures = (headers.get(header) ?? '').matchAll(/, ?v1=([0-9A-Za-z]*)/g)
      // Each is compared, so that the time taken does not tell which one matched.
      return [...signatures].map(([, signature = '']) => sameSecret(signature, expected)).includes(true)
    },
  }
}

/** `WorkOS-Signature: t=<milliseconds>, v1=<hex>` */
export const workos = pairs('workos-signature', 1, workosForm)

/** `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>…]` */
export const stripe = pairs('stripe-signature', 1_000, stripeForm)

/** Standard Webhooks: `webhook-id`, `webhook-timestamp` (seconds), `webhook-signature: v1,<base64>`. */
export const standard: Scheme = {
  header: 'webhook-signature',
  unitMs: 1_000,
  stampOf(headers) {
    const [time, messageId] = [headers.get('webhook-timestamp') ?? '', headers.get('webhook-id') ?? '']
    return timeForm.test(time) && messageIdForm.test(messageId) ? { time, messageId } : undefined
  },
  verify({ headers, body }, secret) {
    const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
    const given = Object.fromEntries(signed.map((name) => [name, headers.get(name) ?? '']))
    new Webhook(secret).verify(body, given, { jsonParse: false })
    return true
  },
}
