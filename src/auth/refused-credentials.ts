/**
 * Tells of each credential that was refused, by its kind. Changes no decision, and passes on no part of a credential.
 * A request without a credential is not counted, nor is one that could not be checked.
 */

import { Fault } from '../base/fault.ts'
import type { CredentialKind, OnRefused } from '../core/credential-kind.ts'
import { browserSecretPrefix, isSessionSecret } from '../store/session/session-secret.ts'
import { bearerToken, claimsToBeOurs, type ReadBearer } from './bearer.ts'
import type { FindSession } from './guard.ts'
import type { IssueToken } from './oauth-token.ts'
import type { CredentialReader } from './read-credential.ts'

/** The look-up of sessions, which tells of secrets and tokens for which there is none. */
export function tellingFinder(find: FindSession, onRefused: OnRefused): FindSession {
  return async (credential, prefix) => {
    const session = await find(credential, prefix)
    if (session === undefined) onRefused(kindOf(credential))
    return session
  }
}

/** The reader of bearers, which tells of those that do not verify. */
export function tellingBearerReader(read: ReadBearer, onRefused: OnRefused): ReadBearer {
  return async (authorization, session) => {
    try {
      return await read(authorization, session)
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.kind === 'unauthenticated')
        onRefused(claimsToBeOurs(bearerToken(authorization) ?? '') ? 'access_token' : 'provider_token')
      throw thrown
    }
  }
}

/** The token endpoint, which tells of clients that do not authenticate. */
export function tellingIssuer(issue: IssueToken, onRefused: OnRefused): IssueToken {
  return async (form, prefix, authorization, requestId) => {
    const response = await issue(form, prefix, authorization, requestId)
    if (response.status === 401) onRefused('oauth_client')
    return response
  }
}

/** The reader of long-lived connections' credentials, which tells of those that are invalid. */
export function tellingReader(reader: CredentialReader, onRefused: OnRefused): CredentialReader {
  return {
    ...reader,
    async bySecret(secret) {
      const credential = await reader.bySecret(secret)
      if (credential === undefined) onRefused(kindOf(secret))
      return credential
    },
  }
}

function kindOf(credential: string): CredentialKind {
  if (isSessionSecret(browserSecretPrefix, credential)) return 'browser_session'
  if (claimsToBeOurs(credential)) return 'access_token'
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential) ? 'provider_token' : 'service_session'
}
