/** Assembles authentication: sessions, principals, access tokens. Routes and listeners decide what a caller may do. */

import type { Logger } from 'pino'
import { AccessTokens } from '../auth/access-token.ts'
import {
  ownBearerReader,
  tokenVerifier,
  unverifiedBearerReader,
  type VerifyToken,
  verifyingBearerReader,
} from '../auth/bearer.ts'
import { CachedOwners } from '../auth/cached-owners.ts'
import { type ReadSessionKey, sessionFinder, sessionKeyReader } from '../auth/find-session.ts'
import type { FindSession } from '../auth/guard.ts'
import { IdentityProvider } from '../auth/login/identity-provider.ts'
import { missingClaimsTeller, tellingVerifier } from '../auth/missing-claims.ts'
import { type IssueToken, oauthTokenIssuer } from '../auth/oauth-token.ts'
import { provisionedIdentity } from '../auth/people.ts'
import { type IdentifyPrincipal, principalChain } from '../auth/principal-chain.ts'
import { tellingBearerReader, tellingFinder, tellingIssuer } from '../auth/refused-credentials.ts'
import { issuerBearerReader, TokenIssuers } from '../auth/token-issuers.ts'
import { tokenExchanger } from '../auth/workload/exchange.ts'
import { issuerKeys } from '../auth/workload/issuer-keys.ts'
import { blockList } from '../base/cidr.ts'
import type { Clock } from '../base/clock.ts'
import { addressRules } from '../catalog/address.ts'
import type { Config } from '../config.ts'
import type { OnRefused } from '../core/credential-kind.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** The functions by which routes identify their caller. */
export interface Auth {
  readonly findSession: FindSession
  readonly readSessionKey: ReadSessionKey
  readonly identify: IdentifyPrincipal
  /** Serves {catalog-uri}/v1/oauth/tokens. */
  readonly issueToken: IssueToken
}

interface AssembledAuth {
  readonly auth: Auth
  readonly tokens: AccessTokens
  /** Undefined where no identity provider's keys are configured. */
  readonly verifyToken: VerifyToken | undefined
  /** The issuers that tenants trust. */
  readonly issuers: TokenIssuers
  readonly owners: CachedOwners
}

interface AuthParts {
  readonly store: Store
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'certificatesUnreadable' | 'claimsMissing' | 'credentialsRefused'>
  readonly log: Logger
}

/** Assembles authentication over a store; reads nothing yet. */
export function assembleAuth(config: Config, { store, clock, metrics, log }: AuthParts): AssembledAuth {
  const tokens = new AccessTokens(store, clock)
  const tell = missingClaimsTeller({ clock, metrics, log })
  const verifyToken =
    config.jwt &&
    tellingVerifier(tokenVerifier({ ...config.jwt, url: config.jwt.jwksUrl }), tell, {
      names: config.idp.claims,
      issuer: config.jwt.issuer,
    })
  const foreignBearer = verifyToken
    ? verifyingBearerReader(verifyToken, config.idp.claims)
    : unverifiedBearerReader(config.idp.claims)
  const onRefused: OnRefused = (kind) => metrics.credentialsRefused.inc({ kind })
  const findKeys = issuerKeys({ addressRules: addressRules(config.upstreamAllow), clock })
  const issuers = new TokenIssuers({ store, findKeys, tell })
  const otherBearer = issuerBearerReader(issuers, foreignBearer, verifyToken !== undefined)
  const exchange = tokenExchanger({ store, findKeys, clock, log, onRefused })
  const owners = new CachedOwners()
  const auth = {
    findSession: owners.telling(tellingFinder(sessionFinder(store, tokens), onRefused)),
    readSessionKey: sessionKeyReader(store, tokens),
    identify: provisionedIdentity(
      store,
      principalChain({
        trustedProxies: blockList(config.trustedProxies),
        readBearer: tellingBearerReader(ownBearerReader(tokens, otherBearer), onRefused),
        onUnreadableCertificate: unreadableCertificates({ clock, metrics, log }),
        refusesUnreadableCertificates: config.clientCertificateStrict,
        demo: config.demo,
      }),
    ),
    issueToken: tellingIssuer(oauthTokenIssuer(store, tokens, exchange), onRefused),
  }
  return { auth, tokens, verifyToken, issuers, owners }
}

/** Counts them all, and warns once a minute at most: a proxy that is set up wrongly sends them with every request. */
function unreadableCertificates({ clock, metrics, log }: Omit<AuthParts, 'store'>): () => void {
  let warnedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    metrics.certificatesUnreadable.inc()
    if (clock.now() - warnedAtMs < 60_000) return
    warnedAtMs = clock.now()
    log.warn('a trusted proxy forwards client certificates without a URI or DNS name, so they name nobody')
  }
}

/** Undefined where nobody can log in by a browser. */
export function identityProvider(
  { idp }: Config,
  parts: Omit<AuthParts, 'store'>,
): IdentityProvider | undefined {
  const { issuerUrl, clientId, apiKey, claims } = idp
  if (issuerUrl === undefined || clientId === undefined) return undefined
  const tell = missingClaimsTeller(parts)
  return new IdentityProvider({ issuerUrl, clientId, clientSecret: apiKey, claims, tell })
}
