/**
 * Logs a person in at an OpenID Connect issuer by the device authorization grant (RFC 8628), and gets later tokens by
 * the refresh token. It stores nothing, and no message repeats a token.
 */

import * as oidc from 'openid-client'
import { Fault } from '../../base/fault.ts'
import { parseKeySetUrl } from '../../config-values.ts'
import { UsageError } from '../exit-status.ts'
import type { ProfileLogin } from './profile-file.ts'

interface Wanted {
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  readonly sends: ProfileLogin['sends']
}

/** What the person has to open, and the code to compare. */
interface Prompt {
  readonly address: string
  readonly code: string
}

/** Seconds for one request to the issuer. */
const requestSeconds = 30

/**
 * Logs in. It waits until the person has agreed.
 * @throws UsageError for an issuer without the grant; Fault where it refuses, cannot be reached, or time is up
 */
export async function logInByDevice(
  { issuer, clientId, scope, sends }: Wanted,
  tell: (prompt: Prompt) => void,
  signal: AbortSignal | undefined,
): Promise<ProfileLogin> {
  const config = await configOf(issuer, clientId)
  if (config.serverMetadata().device_authorization_endpoint === undefined)
    throw new UsageError('The issuer has no device authorization grant; use --session alone')
  const tokens = await asking(async () => {
    const device = await oidc.initiateDeviceAuthorization(config, { scope })
    tell({ address: device.verification_uri_complete ?? device.verification_uri, code: device.user_code })
    return await oidc.pollDeviceAuthorizationGrant(config, device, undefined, signal && { signal })
  }, signal)
  return loginOf({ issuer, client_id: clientId, scope, sends }, tokens, undefined)
}

/** The same login with a token that holds. @throws Fault where the issuer gives none */
export async function refreshLogin(login: ProfileLogin, signal?: AbortSignal): Promise<ProfileLogin> {
  const { refresh_token: refreshToken, issuer, client_id: clientId } = login
  if (refreshToken === undefined) throw new Fault('unauthenticated', 'The login has expired. Log in again.')
  const config = await configOf(issuer, clientId)
  const tokens = await asking(() => oidc.refreshTokenGrant(config, refreshToken), signal)
  return loginOf(login, tokens, refreshToken)
}

async function configOf(issuer: string, clientId: string): Promise<oidc.Configuration> {
  const parsed = parseKeySetUrl(issuer)
  if (parsed === undefined)
    throw new UsageError('--issuer must be an https:// URL (http:// on loopback only)')
  const url = new URL(parsed)
  const execute = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
  return await asking(
    () => oidc.discovery(url, clientId, undefined, oidc.None(), { execute, timeout: requestSeconds }),
    undefined,
  )
}

type Tokens = Awaited<ReturnType<typeof oidc.refreshTokenGrant>>

function loginOf(
  base: Pick<ProfileLogin, 'issuer' | 'client_id' | 'scope' | 'sends'>,
  tokens: Tokens,
  refreshToken: string | undefined,
): ProfileLogin {
  const { issuer, client_id, scope, sends } = base
  const token = sends === 'id' ? tokens.id_token : tokens.access_token
  if (token === undefined)
    throw new Fault(
      'unauthenticated',
      'The issuer gave no ID token; ask for the scope openid, or use --token access.',
    )
  const claims = sends === 'id' ? tokens.claims() : undefined
  const expiresAt = claims === undefined ? Date.now() + (tokens.expiresIn() ?? 60) * 1000 : claims.exp * 1000
  const next = tokens.refresh_token ?? refreshToken
  return {
    issuer,
    client_id,
    scope,
    sends,
    token,
    expires_at: expiresAt,
    ...(next && { refresh_token: next }),
  }
}

/** A failure as one that may be printed: what the issuer says by a code, and no text of its own. */
async function asking<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await ask()
  } catch (thrown) {
    signal?.throwIfAborted()
    if (thrown instanceof UsageError || thrown instanceof Fault) throw thrown
    if (thrown instanceof oidc.ResponseBodyError) {
      const code = /^[a-z_]{1,60}$/.test(thrown.error) ? thrown.error : 'an error'
      throw new Fault('unauthenticated', `The issuer refused the login: ${code}. Log in again.`)
    }
    throw new Fault('unavailable', 'The issuer cannot be reached, or does not answer as OpenID Connect says.')
  }
}
