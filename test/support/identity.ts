/** Starts a service with an internal admin organization, and the sessions that identity tests use. */

import { WorkOS } from '@workos-inc/node'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import type { SessionScope } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { startTestService, type TestService, type TestServiceOptions } from './service.ts'
import { makeTenant } from './spare-tenants.ts'

export const internalOrg = 'org_internal'
export const identityWebhookSecret = `whsec_${btoa('identity_Zk4canaryQ9')}`
export const billingWebhookSecret = `whsec_${btoa('billing_Zk4canaryQ9')}`

export interface IdentityService extends TestService {
  /** Secret of a session of the internal admin organization. */
  readonly operator: string
}

export async function startIdentityService(options: TestServiceOptions = {}): Promise<IdentityService> {
  const service = await startTestService({
    ...options,
    env: {
      IDP_INTERNAL_ADMIN_ORG_ID: internalOrg,
      IDP_WEBHOOK_SECRET: identityWebhookSecret,
      BILLING_WEBHOOK_SECRET: billingWebhookSecret,
      ...options.env,
    },
  })
  const { id } = await makeTenant(service.store, { name: 'internal', organizationId: internalOrg })
  return Object.assign(service, { operator: await session(service, id, ['read', 'admin']) })
}

/** The id and secret of a new session. */
export async function openSession(
  { store }: Pick<TestService, 'store'>,
  tenant: TenantId,
  scopes: readonly SessionScope[],
  roles: readonly string[] = [],
  sub = 'someone',
): Promise<{ readonly id: string; readonly secret: string }> {
  return await createServiceSession(store, tenant, { name: sub, principal: { sub, roles }, scopes })
}

/** The secret of a new session. */
export async function session(...given: Parameters<typeof openSession>): Promise<string> {
  return (await openSession(...given)).secret
}

export interface CallOptions {
  readonly secret?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** One request; a body that is no string goes as JSON. */
export async function call(
  service: Pick<TestService, 'app'>,
  method: string,
  path: string,
  { secret, headers, body }: CallOptions = {},
): Promise<Response> {
  return await fetch(new URL(path, service.app.url), {
    method,
    redirect: 'manual',
    headers: { ...(secret !== undefined && { 'x-svc-session': secret }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** Status and body of the answer to a request in JSON; the body is `{}` where there is none. */
export async function ask(
  service: Pick<TestService, 'app'>,
  method: string,
  path: string,
  secret: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const headers = { 'content-type': 'application/json' }
  const response = await call(service, method, path, { secret, headers, body })
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text === '' ? '{}' : text) }
}

/** The signature headers that each provider's library writes, at a time in milliseconds. */
export const sign = {
  async workos(body: string, secret: string, atMs: number) {
    const v1 = await new WorkOS('unused').webhooks.computeSignature(atMs, body, secret)
    return { 'workos-signature': `t=${atMs}, v1=${v1}` }
  },
  async stripe(payload: string, secret: string, atMs: number) {
    const timestamp = Math.floor(atMs / 1_000)
    const options = { payload, secret, timestamp }
    return { 'stripe-signature': await Stripe.webhooks.generateTestHeaderStringAsync(options) }
  },
  async standard(body: string, secret: string, atMs: number, id = `msg_${crypto.randomUUID()}`) {
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(atMs / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, new Date(atMs), body),
    }
  },
} as const
