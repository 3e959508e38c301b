/** Writes an event as CloudEvents 1.0 JSON, the body of a webhook (docs/webhooks.md). */

import type { TenantEvent } from '../core/event.ts'
import type { TenantId } from '../core/tenant.ts'

export const cloudEventMedia = 'application/cloudevents+json; charset=utf-8'

/** The id of an event, equal in every delivery of it; also its `webhook-id`. */
export function eventId(tenant: TenantId, sequence: bigint): string {
  return `evt_${tenant}_${sequence}`
}

/**
 * The body of an event.
 * @param source the public address of this service
 */
export function cloudEvent(tenant: TenantId, event: TenantEvent, source: URL): string {
  return JSON.stringify({
    specversion: '1.0',
    id: eventId(tenant, event.sequence),
    source: new URL(`/tenants/${tenant}`, source).href,
    type: event.type,
    subject: event.subject,
    time: event.occurredAt.toISOString(),
    // The CloudEvents extension `sequence`: its texts sort as the numbers do.
    sequence: String(event.sequence).padStart(20, '0'),
    datacontenttype: 'application/json',
    data: withWholeLink(event.data, source),
  })
}

/** The page of a decision is stored as a path of this service; who gets a message is elsewhere. */
function withWholeLink(data: TenantEvent['data'], source: URL): TenantEvent['data'] {
  const { decision_page: page } = data
  return typeof page === 'string' ? { ...data, decision_page: new URL(page, source).href } : data
}
