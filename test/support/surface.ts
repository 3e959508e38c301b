/** Sends requests to the Iceberg client surface of a test service. */

import { UnsecuredJWT } from 'jose'
import type { Policy, PolicyKind, PolicyScope } from '../../src/core/policy.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { prefix, type TestService, type TestTenant } from './service.ts'

export interface SendOptions {
  readonly tenant?: TestTenant
  readonly roles?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends to `/v1/iceberg/main/v1{path}` as the owner, with an unsigned bearer of the subject `spark`. */
export async function send(
  service: TestService,
  method: string,
  path: string,
  body?: unknown,
  { tenant = service.owner, roles = [], headers = {} }: SendOptions = {},
): Promise<Response> {
  return await fetch(new URL(`/v1/iceberg/${prefix}/v1${path}`, service.app.url), {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: {
      'content-type': 'application/json',
      'x-svc-session': tenant.secret,
      authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark', roles }).encode()}`,
      ...headers,
    },
  })
}

/** The message of an ErrorModel answer. */
export async function messageOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { message: string; code: number } }
  if (error.code !== response.status) throw new Error(`the ErrorModel says ${error.code}`)
  return error.message
}

/** Attaches an enforced policy to a table, namespace or tag. */
export async function govern(
  service: TestService,
  scope: PolicyScope,
  id: string,
  kind: PolicyKind,
  definitionCel: string,
  more: Partial<Policy> & { readonly tenant?: TestTenant } = {},
): Promise<void> {
  const { tenant = service.owner, ...policy } = more
  await putPolicy(service.store, tenant.tenant, scope, {
    id,
    kind,
    mode: 'enforce',
    name: id,
    message: '',
    definitionCel,
    ...policy,
  })
}
