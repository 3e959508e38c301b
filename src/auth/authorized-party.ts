/**
 * Checks for which client a token was issued: the claim `azp` (OpenID Connect Core 1.0, 3.1.3.7), or `client_id` of access
 * tokens (RFC 9068, 2.2). Verifies nothing else.
 */

import type { JWTPayload } from 'jose'

interface Recipients {
  /** What the claim `aud` must hold; of an ID token it is the client. */
  readonly audience: string
  /** The clients whose tokens are taken; undefined: any, but for ID tokens. */
  readonly authorizedParties?: readonly string[] | undefined
}

/** @throws Error where the token was issued for a client that is not to be trusted with it */
export function assertAuthorizedParty(claims: JWTPayload, recipients: Recipients): void {
  const { audience, authorizedParties } = recipients
  const { azp, client_id: client, aud } = claims
  if (authorizedParties !== undefined) {
    if (azp !== undefined && client !== undefined && azp !== client)
      throw new Error('the token names two clients')
    const party = azp ?? client
    if (typeof party !== 'string' || !authorizedParties.includes(party))
      throw new Error('the token was issued for a client that is not listed')
    return
  }
  if (!isIdToken(claims)) return
  const isOthers = azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== audience
  if (isOthers) throw new Error('the ID token was issued for another client')
}

/** Keycloak names the use of its tokens; else only ID tokens have these members. */
function isIdToken({ typ, nonce, at_hash: hash }: JWTPayload): boolean {
  return typ === undefined ? nonce !== undefined || hash !== undefined : typ === 'ID'
}
