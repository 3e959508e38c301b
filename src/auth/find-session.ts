/** One credential, one look-up: which session a secret or an access token stands for right now. */

import type { Session } from '../core/session.ts'
import { findBrowserSession } from '../store/browser-sessions.ts'
import { browserSecretPrefix, isSessionSecret } from '../store/session-secret.ts'
import { findServiceSession, findServiceSessionById } from '../store/sessions.ts'
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

/** A token's scopes are those it was issued with, as far as its session still has them. */
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
