/**
 * Declares /webhooks/identity-provider and /webhooks/billing (docs/reference/identity.md 8). The signature is verified
 * before the on/off setting is checked, and each delivery takes effect once.
 */

import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Secret } from '../../base/secret.ts'
import { aboutRequest } from '../../http/about-request.ts'
import { operationsOf } from '../../http/declare.ts'
import { readBody } from '../../http/read-body.ts'
import { anyObject, maybe, object, oneOf } from '../../http/schemas.ts'
import { limits } from '../../limits.ts'
import { type ProviderEvent, recordProviderEvent } from '../../store/session/provider-events.ts'
import type { Store } from '../../store/store.ts'
import { readBillingEvent, readIdentityEvent } from './events.ts'
import { type Scheme, standard, stripe, workos } from './schemes.ts'
import { verifySignature } from './signature.ts'

export interface WebhookParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly identityProvider: { readonly secret: Secret | undefined; readonly enabled: boolean }
  readonly billing: { readonly secret: Secret | undefined; readonly enabled: boolean }
}

interface Kind {
  readonly secret: Secret | undefined
  readonly enabled: boolean
  readonly schemes: readonly Scheme[]
  readonly read: (body: Uint8Array, messageId: string | undefined) => ProviderEvent
}

const operation = operationsOf<WebhookParts>()
const standardHeaders = {
  'webhook-id': { description: 'of Standard Webhooks' },
  'webhook-timestamp': { description: 'of Standard Webhooks' },
  'webhook-signature': { description: 'of Standard Webhooks: `v1,<base64>`' },
}
const common = {
  tag: 'webhooks',
  description: 'Signed by the provider’s own scheme, or by Standard Webhooks; one of the two is required.',
  method: 'POST',
  access: { open: 'signature' },
  input: object({ data: maybe(anyObject) }, { additionalProperties: true }),
  output: object({ received: oneOf(['recorded', 'known']) }),
  faults: {
    bad_request: 'There is no signature header, or the event is malformed.',
    unauthenticated: 'No secret is configured, or the signature is invalid.',
    conflict: 'This delivery was already received.',
    gone: 'The webhook is switched off.',
    payload_too_large: 'The body is too large.',
  },
} as const

export const webhookOperations = [
  operation({
    ...common,
    name: 'receive_identity_event',
    summary: 'Events of the identity provider',
    path: '/webhooks/identity-provider',
    gives: { nothing: 'own input' },
    headers: { 'WorkOS-Signature': { description: '`t=<ms>, v1=<hex>`' }, ...standardHeaders },
    respond: ({ parts, request }) =>
      receive(
        parts,
        { ...parts.identityProvider, schemes: [workos, standard], read: readIdentityEvent },
        request,
      ),
  }),
  operation({
    ...common,
    name: 'receive_billing_event',
    summary: 'Events of the billing provider',
    path: '/webhooks/billing',
    gives: { nothing: 'own input' },
    headers: { 'Stripe-Signature': { description: '`t=<s>,v1=<hex>`' }, ...standardHeaders },
    respond: ({ parts, request }) =>
      receive(parts, { ...parts.billing, schemes: [stripe, standard], read: readBillingEvent }, request),
  }),
]

async function receive(parts: WebhookParts, kind: Kind, request: Request): Promise<Response> {
  const { bytes } = await readBody(request, limits.webhookBodyBytesMax)
  const { schemes, secret } = kind
  const verified = verifySignature(request.headers, bytes, schemes, secret, parts.clock.now())
  if (!kind.enabled) throw new Fault('gone', 'This webhook is switched off.')
  const event = kind.read(bytes, verified.messageId)
  // A time stamp may be early by the tolerance and is accepted for as long after it, so replays are remembered longer.
  const recorded = await recordProviderEvent(
    parts.store,
    event,
    verified.replayKey,
    3 * limits.webhookToleranceMs,
    aboutRequest(request).id,
  )
  if (recorded === 'replayed') throw new Fault('conflict', 'This delivery was already received.')
  const { provider, id, type, effect } = event
  parts.log.info({ provider, eventId: id, type, recorded, effect: effect?.kind }, 'webhook')
  return Response.json({ received: recorded })
}
