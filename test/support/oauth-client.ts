/** A client of the authorization server: its metadata document, and the secret of its code exchange (PKCE). */

import { createHash, randomBytes } from 'node:crypto'

export const redirectUri = 'http://127.0.0.1:7777/done'
export const verifier = randomBytes(32).toString('base64url')
export const challenge = createHash('sha256').update(verifier).digest('base64url')

/** The Client ID Metadata Document at an address. */
export const clientDocument = (id: string, more: object = {}) => ({
  client_id: id,
  client_name: 'A <b>client</b>',
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: 'none',
  ...more,
})

/** Members of a request that are set otherwise, or left out. */
export type Changes = Readonly<Record<string, string | undefined>>

/** The path at which a client sends its person's browser to the authorization server. */
export function authorizePathOf(client: string, resource: string, change: Changes): string {
  const all = {
    response_type: 'code',
    client_id: client,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource,
    scope: 'mcp:read mcp:query',
    state: 'of-the-client',
    ...change,
  }
  const given = Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined)
  return `/oauth/authorize?${new URLSearchParams(given)}`
}
