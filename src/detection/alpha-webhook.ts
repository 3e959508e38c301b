/**
 * Handles POST /v1/webhooks/alpha (docs/reference/detection.md 2.1), step by step. The HMAC authenticates the request;
 * until it is verified, the tenant is only a claim.
 */

import { createHmac } from 'node:crypto'
import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../base/json.ts'
import { sameSecret } from '../base/same-secret.ts'
import { metadataLocationBytesMax } from '../core/detection.ts'
import type { TableRef } from '../core/table-ref.ts'
import { parseTenantId, type TenantId } from '../core/tenant.ts'
import { readBody } from '../http/read-body.ts'
import { limits } from '../limits.ts'
import { findWebhookSecrets, type WebhookSecret } from '../store/catalog-credential/catalog-credentials.ts'
import { isUuid } from '../store/database/page.ts'
import type { Store } from '../store/store.ts'
import type { HitQueue } from './hit-queue.ts'

export interface AlphaWebhookParts {
  readonly store: Store
  readonly queue: HitQueue
  readonly enabled: boolean
}

const jsonDepthMax = 32

/**
 * Queues the hit that a signed callback reports. Resolves once it is durable.
 * @throws Fault `gone`, `bad_request`, `unauthenticated` or `unavailable`: the first that applies in the order of
 * docs/reference/detection.md 2.1
 */
export async function receiveAlphaWebhook(parts: AlphaWebhookParts, request: Request): Promise<void> {
  if (!parts.enabled)
    throw new Fault('gone', 'The webhook is switched off in the configuration of this service.')
  const { bytes } = await readCapped(request)
  const signature = request.headers.get('x-alpha-signature')
  if (signature === null || signature === '')
    throw new Fault('bad_request', 'The header X-Alpha-Signature is missing.')
  const body = parseBody(bytes)
  const tenantId = claimedTenant(body, request.headers.get('x-alpha-tenant'))
  if (!isUuid(tenantId.toLowerCase())) throw new Fault('bad_request', 'The tenant id is not a UUID.')
  const metadataLocation = body.get('metadata_location')
  if (typeof metadataLocation !== 'string' || metadataLocation === '')
    throw new Fault('bad_request', 'The field metadata_location is missing.')
  if (Buffer.byteLength(metadataLocation) > metadataLocationBytesMax || metadataLocation.includes('\0'))
    throw new Fault('bad_request', `The metadata_location has more than ${metadataLocationBytesMax} bytes.`)

  // A UUID of another version is well-formed, but no tenant has it.
  const tenant = parseTenantId(tenantId)
  const secrets = tenant === undefined ? [] : await lookUp(parts.store, tenant)
  assertNotCancelled(request)
  const matches = matchingCredentials(secrets, bytes, signature)
  if (tenant === undefined || matches.length === 0)
    throw new Fault(
      'unauthenticated',
      'No secret is configured for the tenant, or the signature does not match.',
    )
  assertNotCancelled(request)
  // A secret that several catalogs share identifies none of them. The storage root identifies the catalog then.
  const credentialId = matches.length === 1 ? matches[0] : undefined
  try {
    await parts.queue.push(tenant, [
      { tenant, source: 'catalog-webhook', metadataLocation, credentialId, advisory: advisoryTable(body) },
    ])
  } catch (cause) {
    throw new Fault('unavailable', 'The event could not be queued. Retry.', { cause })
  }
}

async function readCapped(request: Request) {
  try {
    return await readBody(request, limits.webhookBodyBytesMax)
  } catch (thrown) {
    // This endpoint answers 400 to a body that is too large, where the gateway answers 413.
    if (thrown instanceof Fault && thrown.kind === 'payload_too_large')
      throw new Fault('bad_request', thrown.publicMessage)
    throw thrown
  }
}

function parseBody(bytes: Uint8Array): JsonObject {
  const body = parseJson(bytes, { depthMax: jsonDepthMax, membersMax: limits.documentKeysMax })
  if (!isJsonObject(body)) throw new Fault('bad_request', 'The body is not a JSON object.')
  return body
}

/** The body, the header or both may name the tenant; both must name the same. */
function claimedTenant(body: JsonObject, header: string | null): string {
  const own = body.get('tenant_id')
  if (own !== undefined && own !== null && typeof own !== 'string')
    throw new Fault('bad_request', 'The field tenant_id is not a string.')
  const named = header?.trim() || undefined
  const told = own || undefined
  if (named !== undefined && told !== undefined && named.toLowerCase() !== told.toLowerCase())
    throw new Fault('bad_request', 'The tenant of the body and that of the header X-Alpha-Tenant differ.')
  const tenant = told ?? named
  if (tenant === undefined) throw new Fault('bad_request', 'The tenant id is missing.')
  return tenant
}

async function lookUp(store: Store, tenant: TenantId): Promise<readonly WebhookSecret[]> {
  try {
    return await findWebhookSecrets(store, tenant, 'alpha')
  } catch (cause) {
    throw new Fault('unavailable', 'The credentials could not be looked up. Retry.', { cause })
  }
}

/** The credentials whose secret signed the body. Tries every one, so that the time does not reveal the match. */
function matchingCredentials(
  secrets: readonly WebhookSecret[],
  bytes: Uint8Array,
  signature: string,
): readonly string[] {
  const wellFormed = /^[0-9a-f]{64}$/i.test(signature)
  const given = wellFormed ? Buffer.from(signature, 'hex') : Buffer.alloc(32)
  const matches: string[] = []
  for (const { credentialId, secret } of secrets) {
    const same = sameSecret(createHmac('sha256', secret).update(bytes).digest(), given)
    if (same && wellFormed) matches.push(credentialId)
  }
  return matches
}

function advisoryTable(body: JsonObject): TableRef | undefined {
  const namespace = levels(body.get('namespace'))
  const name = body.get('table_name')
  return namespace === undefined || typeof name !== 'string' || name === '' ? undefined : { namespace, name }
}

function levels(value: JsonValue | undefined): readonly string[] | undefined {
  if (typeof value === 'string' && value !== '') return value.split(value.includes('\u001f') ? '\u001f' : '.')
  if (Array.isArray(value) && value.length > 0 && value.every((level) => typeof level === 'string'))
    return value
  return undefined
}

function assertNotCancelled(request: Request): void {
  if (request.signal.aborted) throw new Fault('unavailable', 'The request was cancelled.')
}
