/**
 * Verifies the signature formats of providers, each with its provider's own library. A library is loaded by the first
 * delivery that needs it, because it brings a whole API client
 * (docs/adr/0006-webhook-signatures-are-verified-by-their-libraries.md).
 */

import { limits } from '../../limits.ts'

export interface Scheme {
  /** The header that carries the signature, in lower case. */
  readonly header: string
  /** Milliseconds of one unit of the time stamp. */
  readonly unitMs: 1 | 1_000
  /** Reads the headers that are signed with the body; undefined where they are not of this format. */
  readonly stampOf: (headers: Headers) => Stamp | undefined
  /** Loads the library. */
  readonly load: () => Promise<Verify>
}

/** Checks a signature. It throws, or returns anything but true, where the signature is invalid. */
export type Verify = (delivery: Delivery, secret: string) => Promise<boolean | undefined>

export interface Stamp {
  /** The provider's time stamp, a decimal integer in the scheme's unit. */
  readonly time: string
  /** The id that all deliveries of one message share, where the headers carry it. */
  readonly messageId: string | undefined
}

export interface Delivery {
  readonly headers: Headers
  readonly body: string
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number
}

const toleranceS = limits.webhookToleranceMs / 1_000
/** Strict, so that the library cannot read another time stamp or another scheme than was checked here. */
const workosForm = /^t=([1-9][0-9]{0,14}), ?v1=[0-9A-Za-z]+$/
const stripeForm = /^t=([1-9][0-9]{0,14})(?:,v[0-9]=[0-9A-Za-z]*)+$/
const timeForm = /^[1-9][0-9]{0,14}$/
const messageIdForm = /^[\x21-\x7e]{1,255}$/

function stampOfPairs(header: string, form: RegExp): Scheme['stampOf'] {
  return (headers) => {
    const time = form.exec(headers.get(header) ?? '')?.[1]
    return time === undefined ? undefined : { time, messageId: undefined }
  }
}

/** `WorkOS-Signature: t=<milliseconds>, v1=<hex>` */
export const workos: Scheme = {
  header: 'workos-signature',
  unitMs: 1,
  stampOf: stampOfPairs('workos-signature', workosForm),
  async load() {
    const { WorkOS } = await import('@workos-inc/node')
    // Only the verifier of this client is used. The given keys stop it from reading keys from the environment.
    const { webhooks } = new WorkOS({ apiKey: 'unused', clientId: 'unused' })
    // The caller checks the age of a delivery with its own clock.
    const tolerance = Number.MAX_SAFE_INTEGER
    return async ({ headers, body: payload }, secret) => {
      const sigHeader = headers.get('workos-signature') ?? ''
      return await webhooks.verifyHeader({ payload, sigHeader, secret, tolerance })
    }
  },
}

/** `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>…]`; during a rotation there is one v1 for each secret. */
export const stripe: Scheme = {
  header: 'stripe-signature',
  unitMs: 1_000,
  stampOf: stampOfPairs('stripe-signature', stripeForm),
  async load() {
    const { Stripe } = await import('stripe')
    const { signature } = Stripe.webhooks
    return async ({ headers, body, nowMs }, secret) => {
      const header = headers.get('stripe-signature') ?? ''
      return await signature?.verifyHeaderAsync(body, header, secret, toleranceS, undefined, nowMs)
    }
  },
}

/** Standard Webhooks: `webhook-id`, `webhook-timestamp` (seconds), `webhook-signature: v1,<base64>`. */
export const standard: Scheme = {
  header: 'webhook-signature',
  unitMs: 1_000,
  stampOf(headers) {
    const [time, messageId] = [headers.get('webhook-timestamp') ?? '', headers.get('webhook-id') ?? '']
    return timeForm.test(time) && messageIdForm.test(messageId) ? { time, messageId } : undefined
  },
  async load() {
    const { Webhook } = await import('standardwebhooks')
    const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
    return async ({ headers, body }, secret) => {
      const given = Object.fromEntries(signed.map((name) => [name, headers.get(name) ?? '']))
      new Webhook(secret).verify(body, given, { jsonParse: false })
      return true
    }
  },
}
