/**
 * Seals what the authorization server hands out: consents, codes, refresh and access tokens. Each holds the secret of
 * its browser session, sealed, and ends with that session. What one purpose or resource sealed, no other opens.
 */

import { type SecretsKeys, seal, unseal } from '../../store/database/sealing.ts'

/** What a client asked for. */
export interface AuthorizationRequest {
  readonly clientId: string
  readonly redirectUri: string
  /** PKCE, S256. */
  readonly challenge: string
  /** The client's own; undefined where it sent none. */
  readonly state: string | undefined
  readonly scopes: readonly string[]
}

/** A request to which a person has signed in, and not yet consented. */
interface Consent extends AuthorizationRequest {
  /** Of the browser session that the sign-in made. */
  readonly secret: string
  readonly expiresAtMs: number
}

export interface Grant {
  readonly secret: string
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly expiresAtMs: number
}

export type Code = Grant & Pick<AuthorizationRequest, 'redirectUri' | 'challenge'>

interface Contents {
  readonly consent: Consent
  readonly code: Code
  readonly refresh: Grant
  readonly access: Grant
}
type Purpose = keyof Contents

/** How access tokens begin. */
export const accessTokenPrefix = 'svcmcp_'

/** Seals a ticket for a resource: the address of `/mcp`. */
export function sealTicket<P extends Purpose>(
  store: SecretsKeys,
  purpose: P,
  resource: string,
  content: Contents[P],
): string {
  // Two tickets of the same content differ, so each can be used once.
  const bytes = seal(store.secretsKey, ['authorization', purpose, resource], JSON.stringify(content))
  return `${purpose === 'access' ? accessTokenPrefix : ''}${Buffer.from(bytes).toString('base64url')}`
}

/** The content of a ticket of this purpose and resource; undefined for anything else, and after it has expired. */
export function openTicket<P extends Purpose>(
  store: SecretsKeys,
  purpose: P,
  resource: string,
  ticket: string,
  nowMs: number,
): Contents[P] | undefined {
  const prefix = purpose === 'access' ? accessTokenPrefix : ''
  if (!ticket.startsWith(prefix) || ticket.length > ticketCharsMax) return undefined
  try {
    const bytes = Buffer.from(ticket.slice(prefix.length), 'base64url')
    const text = unseal(store, ['authorization', purpose, resource], bytes)
    const content = JSON.parse(text) as Contents[P]
    return content.expiresAtMs > nowMs ? content : undefined
  } catch {
    return undefined
  }
}

const ticketCharsMax = 8_192
