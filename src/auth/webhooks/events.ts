/**
 * Reads deliveries of the identity provider (WorkOS events) and the billing provider (Stripe events). A Standard
 * Webhooks message has its id in a header and its kind in `type`.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from '../../base/json.ts'
import { isOrganizationId, parseTenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { Effect, ProviderEvent } from '../../store/session/provider-events.ts'

const textMax = 255

/**
 * Reads a verified delivery of the identity provider. Only ids of the person are stored.
 * @param messageId where the delivery's headers name the event
 * @throws Fault `bad_request` where it is not JSON or has no id or type
 */
export function readIdentityEvent(body: Uint8Array, messageId?: string): ProviderEvent {
  const event = objectOf(body)
  const type = messageId === undefined ? required(event, 'event') : required(event, 'type')
  const data = event.get('data')
  const about = isJsonObject(data) ? data : new Map<string, JsonValue>()
  const organizationId = type.startsWith('organization.') ? text(about, 'id') : text(about, 'organization_id')
  const userId = type.startsWith('user.') ? text(about, 'id') : text(about, 'user_id')
  const kept = {
    organization_id: organizationId ?? null,
    user_id: userId ?? null,
    data_id: text(about, 'id') ?? null,
  }
  return {
    provider: 'identity-provider',
    id: messageId ?? required(event, 'id'),
    type,
    organizationId:
      organizationId !== undefined && isOrganizationId(organizationId) ? organizationId : undefined,
    tenant: undefined,
    payload: JSON.stringify(kept),
    effect: effectOf(type, about, userId),
  }
}

/** Revokes sessions: after a membership change the user logs in again with the new roles; a former member loses all. */
function effectOf(type: string, about: JsonObject, userId: string | undefined): Effect | undefined {
  if (type === 'organization.deleted') return { kind: 'suspend-tenant' }
  if (type === 'session.revoked' || type === 'session.deleted') {
    const providerSid = text(about, 'id')
    return providerSid === undefined ? undefined : { kind: 'end-login', providerSid }
  }
  if (userId === undefined) return undefined
  if (type === 'user.deleted') return { kind: 'end-user', sub: userId }
  if (type === 'organization_membership.deleted') return { kind: 'end-member', sub: userId, all: true }
  if (type === 'organization_membership.updated')
    return { kind: 'end-member', sub: userId, all: text(about, 'status') !== 'active' }
  return undefined
}

/**
 * Reads a verified delivery of the billing provider, which is stored whole.
 * @param messageId where the delivery's headers name the event
 * @throws Fault `bad_request` where it is not JSON or has no id or type
 */
export function readBillingEvent(body: Uint8Array, messageId?: string): ProviderEvent {
  const event = objectOf(body)
  const metadata = member(member(member(event, 'data'), 'object'), 'metadata')
  return {
    provider: 'billing',
    id: messageId ?? required(event, 'id'),
    type: required(event, 'type'),
    organizationId: undefined,
    tenant: parseTenantId((isJsonObject(metadata) && text(metadata, 'tenant_id')) || ''),
    payload: stringifyJson(event).replaceAll('\\u0000', '\\ufffd'),
    effect: undefined,
  }
}

function objectOf(body: Uint8Array): JsonObject {
  const value = parseJson(body, { membersMax: limits.documentKeysMax })
  if (!isJsonObject(value)) throw new Fault('bad_request', 'The webhook body must be a JSON object.')
  return value
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) ? value.get(key) : undefined
}

function text(object: JsonObject, key: string): string | undefined {
  const value = object.get(key)
  return typeof value === 'string' && value !== '' && value.length <= textMax ? value : undefined
}

function required(object: JsonObject, key: string): string {
  const value = text(object, key)
  if (value === undefined) throw new Fault('bad_request', `The webhook body has no \`${key}\`.`)
  return value
}
