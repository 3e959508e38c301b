/** Sends a browser to the identity provider, and keeps in its cookie what the callback is checked against. */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { OnRefused } from '../../core/credential-kind.ts'
import { limits } from '../../limits.ts'
import type { Store } from '../../store/store.ts'
import type { FindClient } from '../authorization/clients.ts'
import { setCookie } from '../credentials.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { type LoginPurpose, sealLogin } from './login-state.ts'

export interface LoginParts {
  readonly store: Store
  /** Absent where no identity provider is configured. */
  readonly provider: IdentityProvider | undefined
  /** The service's address as browsers know it. */
  readonly publicUrl: () => URL
  readonly internalAdminOrgId: string | undefined
  readonly clock: Clock
  readonly onRefused: OnRefused
  /** Finds the clients for which a person may sign in. */
  readonly findClient: FindClient
}

export const loginCookie = '__Host-svc_login'

/** The identity provider. @throws Fault `not_found` where none is configured */
export function configured({ provider }: LoginParts): IdentityProvider {
  if (provider === undefined)
    throw new Fault('not_found', 'No identity provider is configured; use a service session.')
  return provider
}

/** Where the provider sends the browser back to. */
export function callbackUrl(parts: LoginParts): string {
  return new URL('/callback', parts.publicUrl()).href
}

/** The response that begins a login. @throws Fault `not_found`; `unavailable` where the provider does not reply */
export async function beginLogin(parts: LoginParts, purpose: LoginPurpose): Promise<Response> {
  const { url, checks } = await configured(parts).begin(callbackUrl(parts))
  const state = { ...checks, ...purpose, expiresAtMs: parts.clock.now() + limits.loginMs }
  const cookie = setCookie(loginCookie, sealLogin(parts.store.secretsKey, state), limits.loginMs)
  return redirect(url.href, [cookie])
}

/** A redirect that sets cookies. */
export function redirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 302, headers })
}
