/**
 * /webhooks/identity-provider and /webhooks/billing (SPEC 5): the signature is verified before any toggle is
 * looked at, and a delivery counts once.
 */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Secret } from '../../base/secret.ts'
import { answerFaults } from '../../http/answer.ts'
import { readBody } from '../../http/read-body.ts'
import { limits } from '../../limits.ts'
import { type ProviderEvent, recordProviderEvent } from '../../store/provider-events.ts'
import type { Store } from '../../store/store.ts'
import { readBillingEvent, readIdentityEvent } from './events.ts'
import { billingDetail, identityDetail } from './open-api.ts'
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

/** The two routes. */
export function webhookRoutes(parts: WebhookParts) {
  const identity: Kind = {
    ...parts.identityProvider,
    schemes: [workos, standard],
    read: readIdentityEvent,
  }
  const billing: Kind = {
    ...parts.billing,
    schemes: [stripe, standard],
    read: readBillingEvent,
  }
  const raw = { parse: 'none' } as const
  return new Elysia({ name: 'provider-webhooks' })
    .post(
      '/webhooks/identity-provider',
      ({ request }) => answerFaults(parts.log, () => receive(parts, identity, request)),
      { ...raw, detail: identityDetail },
    )
    .post(
      '/webhooks/billing',
      ({ request }) => answerFaults(parts.log, () => receive(parts, billing, request)),
      { ...raw, detail: billingDetail },
    )
}

async function receive(parts: WebhookParts, kind: Kind, request: Request): Promise<Response> {
  const { bytes } = await readBody(request, limits.webhookBodyBytesMax)
  const { schemes, secret } = kind
  const verified = await verifySignature(request.headers, bytes, schemes, secret, parts.clock.now())
  if (!kind.enabled) throw new Fault('gone', 'This webhook is switched off.')
  const event = kind.read(bytes, verified.messageId)
  // A stamp may lie ahead of the clock by the tolerance and is believed for as long after it.
  const recorded = await recordProviderEvent(
    parts.store,
    event,
    verified.replayKey,
    3 * limits.webhookToleranceMs,
  )
  if (recorded === 'replayed') throw new Fault('conflict', 'This delivery was received before.')
  const { provider, id, type, effect } = event
  parts.log.info({ provider, eventId: id, type, recorded, effect: effect?.kind }, 'webhook')
  return Response.json({ received: recorded })
}
