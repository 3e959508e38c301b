/** A service with an internal admin organization, and the sessions that identity tests act as. */

import { createHmac } from 'node:crypto'
import type { SessionScope } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { createServiceSession } from '../../src/store/sessions.ts'
import { createTenant } from '../../src/store/tenants.ts'
import { startTestService, type TestService, type TestServiceOptions } from './service.ts'

export const internalOrg = 'org_internal'
export const identityWebhookSecret = 'whs_identity_Zk4canaryQ9'
export const billingWebhookSecret = 'whs_billing_Zk4canaryQ9'

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
  const { id } = await createTenant(service.store, { name: 'internal', organizationId: internalOrg })
  return Object.assign(service, { operator: await session(service, id, ['read', 'admin']) })
}

/** The secret of a new session. */
export async function session(
  service: TestService,
  tenant: TenantId,
  scopes: readonly SessionScope[],
  roles: readonly string[] = [],
  sub = 'someone',
): Promise<string> {
  const { secret } = await createServiceSession(service.store, tenant, {
    name: sub,
    principal: { sub, roles },
    scopes,
  })
  return secret
}

export interface CallOptions {
  readonly secret?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** One request; a body that is no string goes as JSON. */
export async function call(
  service: TestService,
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

/** A signature header as Stripe (seconds) and WorkOS (milliseconds) write it. */
export function signed(body: string, secret: string, time: number): string {
  const v1 = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  return `t=${time}, v1=${v1}`
}
