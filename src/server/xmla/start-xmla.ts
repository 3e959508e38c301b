/** Assembles the XMLA listener over a store: credentials, sessions, answers. */

import type { BlockList } from 'node:net'
import type { Logger } from 'pino'
import type { AccessTokens } from '../../auth/access-token.ts'
import type { VerifyToken } from '../../auth/bearer.ts'
import type { ClaimNames } from '../../auth/claims.ts'
import { credentialReader } from '../../auth/read-credential.ts'
import { tellingReader } from '../../auth/refused-credentials.ts'
import type { TokenIssuers } from '../../auth/token-issuers.ts'
import { contains } from '../../base/cidr.ts'
import type { Clock } from '../../base/clock.ts'
import type { Licensed } from '../../license/licensed.ts'
import type { QueryService } from '../../query/query-service.ts'
import type { MdxEvaluator } from '../../semantics/mdx/evaluator.ts'
import { hasCatalogCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import type { Store } from '../../store/store.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { ConnectionSlots } from '../pgwire/connection-slots.ts'
import { LoginThrottle } from '../pgwire/login-throttle.ts'
import { answerRequest } from './answer-request.ts'
import { AtWork } from './at-work.ts'
import { type XmlaBounds, xmlaBounds } from './bounds.ts'
import { listenXmla, type XmlaListenOptions, type XmlaServer } from './listen.ts'
import { xmlaMeter } from './meter.ts'
import { serveConnection } from './serve-connection.ts'
import { XmlaSessions } from './sessions.ts'

interface XmlaOptions extends XmlaListenOptions {
  /** Whether secrets may come from other machines without TLS. */
  readonly allowPlaintext: boolean
  readonly store: Store
  readonly tokens: AccessTokens
  readonly verifyToken: VerifyToken | undefined
  readonly issuers?: TokenIssuers
  readonly claims: ClaimNames
  /** Trusted proxies, whose address many users share. */
  readonly proxies: BlockList
  readonly queries: QueryService
  readonly evaluator: MdxEvaluator
  readonly licensed: Licensed
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock: Clock
  /** Those of bounds.ts unless a test shortens them. */
  readonly bounds?: XmlaBounds | undefined
}

/** Starts serving. @throws Error where the address is in use */
export function startXmla(options: XmlaOptions): XmlaServer {
  const { store, tokens, verifyToken, issuers, claims, queries, evaluator, licensed, metrics, log, clock } =
    options
  const bounds = options.bounds ?? xmlaBounds
  const atWork = new AtWork(new XmlaSessions(bounds, clock), () => clock.now())
  const answerParts = {
    ...{ store, clock, queries, evaluator, licensed, atWork, bounds },
    hasCatalog: (tenant: Parameters<typeof hasCatalogCredential>[1], nickname: string) =>
      hasCatalogCredential(store, tenant, nickname),
  }
  const parts = {
    credentials: tellingReader(
      credentialReader({ store, tokens, verifyToken, issuers, claims, clock }),
      (kind) => metrics.credentialsRefused.inc({ kind }),
    ),
    throttle: new LoginThrottle(clock),
    isProxy: (address: string) => contains(options.proxies, address),
    slots: new ConnectionSlots({
      connectionsMax: bounds.connectionsMax,
      tenantMax: bounds.tenantConnectionsMax,
      principalMax: bounds.principalConnectionsMax,
      strangersMax: bounds.unauthenticatedMax,
    }),
    allowPlaintext: options.allowPlaintext,
    meter: xmlaMeter(metrics, log),
    log,
    answerRequest: (
      request: Parameters<typeof answerRequest>[1],
      answer: Parameters<typeof answerRequest>[2],
      signal: AbortSignal,
    ) => answerRequest(answerParts, request, answer, signal),
  }
  return listenXmla(options, bounds, (connection, ends) => serveConnection(parts, connection, ends), log)
}

/**
 * Whether XMLA is served at all. Its clients send secrets, so without TLS it is served on loopback alone.
 */
export function isServed({
  host,
  hasTls,
  allowPlaintext,
}: {
  readonly host: string | undefined
  readonly hasTls: boolean
  readonly allowPlaintext: boolean
}): boolean {
  return hasTls || allowPlaintext || ['127.0.0.1', '::1', 'localhost'].includes(host ?? '')
}
