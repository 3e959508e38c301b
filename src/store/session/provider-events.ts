/** Records events of identity and billing providers once each, and applies their effect on sessions and tenants. */

import { type Actor, providerActor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableText } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { endWhere } from './end-where.ts'
import { useOnce } from './used-once.ts'

export type Provider = 'identity-provider' | 'billing'

/** What an event revokes or suspends, at once on every replica. */
export type Effect =
  | { readonly kind: 'suspend-tenant' }
  /** A member of the event's organization: revokes browser sessions, and service sessions too where `all`. */
  | { readonly kind: 'end-member'; readonly sub: string; readonly all: boolean }
  /** A deleted user: revokes every session of that subject in every tenant. */
  | { readonly kind: 'end-user'; readonly sub: string }
  | { readonly kind: 'end-login'; readonly providerSid: string }

export interface ProviderEvent {
  readonly provider: Provider
  /** The provider's id of the event, equal in every delivery. */
  readonly id: string
  readonly type: string
  readonly organizationId: string | undefined
  readonly tenant: TenantId | undefined
  /** JSON text to store. */
  readonly payload: string
  readonly effect: Effect | undefined
}

/** `replayed`: this delivery was received before. `known`: another delivery of this event was. */
type Recorded = 'recorded' | 'known' | 'replayed'

/**
 * Records an event and applies its effect, all or nothing, once.
 * @param delivery the signed text; a redelivery has another time stamp and so another text
 * @param requestId of the delivery, for the administration log
 * @param keptMs milliseconds for which a delivery is remembered: at least as long as its time stamp is accepted
 */
export async function recordProviderEvent(
  store: Store,
  event: ProviderEvent,
  delivery: string,
  keptMs: number,
  requestId: string = crypto.randomUUID(),
): Promise<Recorded> {
  const by = providerActor(event.provider, requestId)
  return await store.adminTransaction(async (tx) => {
    if (!(await useOnce(tx, `webhook ${event.provider}`, delivery, keptMs))) return 'replayed'
    const [inserted] = await tx.query<{ readonly tenant_id: TenantId | null }>(
      `insert into svc.provider_event (provider, event_id, event_type, tenant_id, payload)
       values ($1, $2, $3, (select tenant_id from svc.tenant where organization_id = $4 or tenant_id = $5),
         $6::text::jsonb)
       on conflict do nothing returning tenant_id`,
      [
        event.provider,
        storableText(event.id),
        storableText(event.type),
        event.organizationId ?? null,
        event.tenant ?? null,
        event.payload,
      ],
    )
    if (inserted === undefined) return 'known'
    if (event.effect !== undefined) await apply(tx, event.effect, inserted.tenant_id, by)
    return 'recorded'
  })
}

async function apply(tx: Tx, effect: Effect, tenant: TenantId | null, by: Actor): Promise<void> {
  if (effect.kind === 'end-login') {
    await endWhere(tx, by, 'browser', 'provider_sid = $1', [effect.providerSid])
  } else if (effect.kind === 'end-user') {
    await endWhere(tx, by, 'browser', 'principal_sub = $1', [effect.sub])
    await endWhere(tx, by, 'service', 'principal_sub = $1', [effect.sub])
  } else if (tenant !== null && effect.kind === 'suspend-tenant') {
    await tx.query(`update svc.tenant set state = 'suspended' where tenant_id = $1`, [tenant])
    await recordAdministration(tx, by, { action: 'suspend-tenant', subject: { tenant } }, tenant)
  } else if (tenant !== null && effect.kind === 'end-member') {
    const member = 'principal_sub = $1 and tenant_id = $2'
    await endWhere(tx, by, 'browser', member, [effect.sub, tenant])
    if (effect.all) await endWhere(tx, by, 'service', member, [effect.sub, tenant])
  }
}
