/** Assembles authentication: sessions, principals, access tokens. Routes and listeners decide what a caller may do. */

import { AccessTokens } from '../auth/access-token.ts'
import {
  ownBearerReader,
  readUnverifiedBearer,
  tokenVerifier,
  type VerifyToken,
  verifyingBearerReader,
} from '../auth/bearer.ts'
import { type ReadSessionKey, sessionFinder, sessionKeyReader } from '../auth/find-session.ts'
import type { FindSession } from '../auth/guard.ts'
import { type IssueToken, oauthTokenIssuer } from '../auth/oauth-token.ts'
import { type IdentifyPrincipal, principalChain } from '../auth/principal-chain.ts'
import { blockList } from '../base/cidr.ts'
import type { Clock } from '../base/clock.ts'
import type { Config } from '../config.ts'
import type { Store } from '../store/store.ts'

/** The functions by which routes identify their caller. */
export interface Auth {
  readonly findSession: FindSession
  readonly readSessionKey: ReadSessionKey
  readonly identify: IdentifyPrincipal
  /** Serves {catalog-uri}/v1/oauth/tokens. */
  readonly issueToken: IssueToken
}

export interface AssembledAuth {
  readonly auth: Auth
  readonly tokens: AccessTokens
  /** Undefined where no identity provider's keys are configured. */
  readonly verifyToken: VerifyToken | undefined
}

/** Assembles authentication over a store; reads nothing yet. */
export function assembleAuth(config: Config, store: Store, clock: Clock): AssembledAuth {
  const tokens = new AccessTokens(store, clock)
  const verifyToken = config.jwt && tokenVerifier({ ...config.jwt, url: config.jwt.jwksUrl })
  const foreignBearer = verifyToken
    ? verifyingBearerReader(verifyToken, config.idp.organizationClaim)
    : readUnverifiedBearer
  const auth = {
    findSession: sessionFinder(store, tokens),
    readSessionKey: sessionKeyReader(store, tokens),
    identify: principalChain({
      trustedProxies: blockList(config.trustedProxies),
      readBearer: ownBearerReader(tokens, foreignBearer),
      demo: config.demo,
    }),
    issueToken: oauthTokenIssuer(store, tokens),
  }
  return { auth, tokens, verifyToken }
}
