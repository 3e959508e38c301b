/**
 * Serves `{catalog-uri}/v1/oauth/tokens`: OAuth2 client credentials (RFC 6749, 4.4) for engines, whose client is a
 * service session: its id and its secret. Workloads exchange tokens of their own there (RFC 8693). Responses have OAuth's form, errors too (RFC 6749, 5.2).
 */

import { sameSecret } from '../base/same-secret.ts'
import { type Session, type SessionScope, sessionScopes } from '../core/session.ts'
import { hasCatalogCredential } from '../store/catalog-credential/catalog-credentials.ts'
import { findServiceSession } from '../store/session/sessions.ts'
import type { Store } from '../store/store.ts'
import type { AccessTokens } from './access-token.ts'
import { claimsToBeOurs } from './bearer.ts'
import type { ExchangeToken } from './workload/exchange.ts'

/** An HTTP response; `body` is JSON. */
interface TokenResponse {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Responds to one token request.
 * @param form the form-encoded body
 * @param prefix the {prefix} of the catalog URI; the client's tenant must own it
 * @param authorization the header, where the client authenticates with it (RFC 6749, 2.3.1)
 * @throws Fault where the store fails
 */
export type IssueToken = (
  form: URLSearchParams,
  prefix: string,
  authorization: string | null,
  requestId?: string,
) => Promise<TokenResponse>

const tokenType = 'urn:ietf:params:oauth:token-type:access_token'
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** The token endpoint over a store. */
export function oauthTokenIssuer(store: Store, tokens: AccessTokens, exchange: ExchangeToken): IssueToken {
  const answer = async (form: URLSearchParams, session: Session): Promise<TokenResponse> => {
    const scopes = grantedScopes(form.get('scope'), session)
    if (scopes.length === 0)
      return refuse(400, 'invalid_scope', 'The session of this client has none of the requested scopes.')
    const { token, expiresInSeconds } = await tokens.issue(session, scopes)
    return respond(200, {
      access_token: token,
      token_type: 'bearer',
      expires_in: expiresInSeconds,
      issued_token_type: tokenType,
      scope: scopes.join(' '),
    })
  }
  return async (form, prefix, authorization, requestId) => {
    const repeated = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1)
    if (repeated !== undefined) return refuse(400, 'invalid_request', 'A parameter is given more than once.')
    const grant = form.get('grant_type')
    if (grant === null) return refuse(400, 'invalid_request', 'The parameter grant_type is missing.')
    if (grant === exchangeGrant) {
      if (claimsToBeOurs(form.get('subject_token') ?? ''))
        return refuse(
          400,
          'unsupported_grant_type',
          'A token of this service is not exchanged; request a new one as you requested the first.',
        )
      const mayHave = (scopes: readonly SessionScope[]) =>
        grantedScopes(form.get('scope'), { scopes }).length > 0
      const exchanged = await exchange(form, prefix, mayHave, requestId)
      if ('error' in exchanged) return refuse(400, exchanged.error, exchanged.description)
      return await answer(form, exchanged)
    }
    if (grant !== 'client_credentials')
      return refuse(400, 'unsupported_grant_type', 'Use grant_type=client_credentials.')

    const client = clientOf(form, authorization)
    if (client === undefined)
      return refuse(400, 'invalid_request', 'Give client_id and client_secret once, in the form or by Basic.')
    const session = await findServiceSession(store, client.secret)
    const valid = session !== undefined && (client.id === '' || sameSecret(client.id, session.sessionId))
    if (!valid || !(await hasCatalogCredential(store, session.tenant, prefix)))
      return refuse(401, 'invalid_client', 'The client is unknown, or has no catalog of this prefix.')
    return await answer(form, session)
  }
}

/** Undefined without a secret, or where form and header both give one. */
function clientOf(
  form: URLSearchParams,
  authorization: string | null,
): { readonly id: string; readonly secret: string } | undefined {
  const secret = form.get('client_secret')
  const basic = authorization === null ? null : /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)
  if (basic === null) return secret === null ? undefined : { id: form.get('client_id') ?? '', secret }
  const [id, ...rest] = Buffer.from(basic[1] ?? '', 'base64')
    .toString('utf8')
    .split(':')
  if (secret !== null || id === undefined || rest.length === 0) return undefined
  return { id: formDecoded(id), secret: formDecoded(rest.join(':')) }
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/**
 * The requested scopes that the session holds. Iceberg clients request scopes of other catalogs (`catalog`,
 * `PRINCIPAL_ROLE:ALL`). A request of only those gets every scope of the session but `admin`.
 */
function grantedScopes(requested: string | null, session: Pick<Session, 'scopes'>): readonly SessionScope[] {
  const names = (requested ?? '').split(' ')
  const ours = sessionScopes.filter((scope) => names.includes(scope))
  const wanted = ours.length > 0 ? ours : sessionScopes.filter((scope) => scope !== 'admin')
  return wanted.filter((scope) => session.scopes.includes(scope))
}

function refuse(status: number, error: string, description: string): TokenResponse {
  return respond(status, { error, error_description: description })
}

function respond(status: number, body: object): TokenResponse {
  const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="covenant"' } : {}
  return { status, body: JSON.stringify(body), headers: { 'cache-control': 'no-store', ...challenge } }
}
