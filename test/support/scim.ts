/** Requests of SCIM as identity providers send them, and tokens of a provider that a tenant trusts. */

import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { TenantId } from '../../src/core/tenant.ts'
import { ask, type IdentityService, openSession } from './identity.ts'

export const patchBody = (...operations: readonly unknown[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})
export const userBody = (userName: string, more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName,
  active: true,
  ...more,
})
export const groupBody = (displayName: string, members: readonly string[] = []) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
  displayName,
  members: members.map((value) => ({ value })),
})

export interface ScimAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  readonly body: any
}
export type Scim = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<ScimAnswer>

/** A client of a tenant's SCIM, with the secret as its bearer token, as Entra ID and Okta send it. */
export async function scimClient(
  service: Pick<IdentityService, 'app' | 'store'>,
  tenant: TenantId,
): Promise<Scim> {
  const { secret } = await openSession(service, tenant, ['scim'], ['owner'], 'provisioning')
  return async (method, path, body, headers = {}) => {
    const response = await fetch(new URL(`/scim/v2${path}`, service.app.url), {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/scim+json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
}

/** Trusts a new issuer in a tenant. @returns makes tokens of it */
export async function trustIssuer(
  service: Pick<IdentityService, 'app'>,
  owner: string,
  organization: string,
) {
  const { privateKey, publicKey } = await generateKeyPair('Ed25519', { extractable: true })
  const issuer = `https://${organization.replaceAll('_', '-')}.example`
  const answer = await ask(service, 'PUT', '/api/v1/token-issuers/own', owner, {
    ...{ issuer, audience: 'covenant' },
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k' }] },
  })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return (claims: object) =>
    new SignJWT({
      ...{ iss: issuer, aud: 'covenant', org_id: organization, exp: Math.floor(Date.now() / 1000) + 3_600 },
      ...claims,
    })
      .setProtectedHeader({ alg: 'Ed25519', kid: 'k' })
      .sign(privateKey)
}
