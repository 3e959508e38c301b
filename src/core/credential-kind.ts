/** Names the kinds of credentials that clients send, for metrics. Says nothing about how they are verified. */

export const credentialKinds = [
  'service_session',
  'browser_session',
  'access_token',
  'provider_token',
  'oauth_client',
  'scram',
  'exchanged_token',
  'logout_token',
] as const

/**
 * `oauth_client`: client id and secret at a token endpoint. `scram`: a proof on the PostgreSQL wire. `exchanged_token`:
 * a workload's token at the token endpoint. `logout_token`: of a back-channel logout.
 */
export type CredentialKind = (typeof credentialKinds)[number]

/** Told of each credential that is refused. */
export type OnRefused = (kind: CredentialKind) => void
