/** Looks up the session that a secret or an access token stands for now. */

import type { Session, SessionScope } from '../core/session.ts'
import type { SessionKey } from '../store/commit/begin-commit.ts'
import { isUuid } from '../store/database/page.ts'
import { findBrowserSession } from '../store/session/browser-sessions.ts'
import { browserSecretPrefix, isSessionSecret } from '../store/session/session-secret.ts'
import { findServiceSession, findServiceSessionById, serviceSecretDigest } from '../store/session/sessions.ts'
import type { Store } from '../store/store.ts'
import type { AccessTokens } from './access-token.ts'
import { claimsToBeOurs } from './bearer.ts'
import type { FindSession } from './guard.ts'

/** The look-up over a store. Revocation, expiry and suspension take effect on the next request. */
export function sessionFinder(store: Store, tokens: AccessTokens): FindSession {
  return async (credential, prefix) => {
    if (isSessionSecret(browserSecretPrefix, credential)) return await findBrowserSession(store, credential)
    if (claimsToBeOurs(credential)) return await findByToken(store, tokens, credential, prefix)
    return await findServiceSession(store, credential, prefix)
  }
}

/**
 * Reads the key by which a credential's service session is looked up. `scopes` limits the session's scopes where the
 * credential has fewer. Does not check that the session exists or is valid.
 * @returns undefined for another kind of credential, or an invalid one
 */
export type ReadSessionKey = (
  credential: string,
) => Promise<
  { readonly session: SessionKey; readonly scopes: readonly SessionScope[] | undefined } | undefined
>

/** The reader over a store. */
export function sessionKeyReader(store: Store, tokens: AccessTokens): ReadSessionKey {
  return async (credential) => {
    if (isSessionSecret(browserSecretPrefix, credential)) return undefined
    if (claimsToBeOurs(credential)) {
      const claims = await tokens.verify(credential)
      return claims && isUuid(claims.sessionId)
        ? { session: { digest: null, id: claims.sessionId }, scopes: claims.scopes }
        : undefined
    }
    const digest = serviceSecretDigest(store, credential)
    return digest && { session: { digest, id: null }, scopes: undefined }
  }
}

/** Limits the session's scopes to those that the token was issued with. */
async function findByToken(
  store: Store,
  tokens: AccessTokens,
  token: string,
  prefix: string | undefined,
): Promise<Session | undefined> {
  const claims = await tokens.verify(token)
  const session = claims && (await findServiceSessionById(store, claims.sessionId, prefix))
  return session && { ...session, scopes: session.scopes.filter((scope) => claims?.scopes.includes(scope)) }
}
