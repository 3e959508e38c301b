/** Assembles the PostgreSQL wire over a store: authentication, cancel requests across replicas, catalog, listener. */

import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { AccessTokens } from '../../auth/access-token.ts'
import type { VerifyToken } from '../../auth/bearer.ts'
import type { ClaimNames } from '../../auth/claims.ts'
import { credentialReader } from '../../auth/read-credential.ts'
import { tellingReader } from '../../auth/refused-credentials.ts'
import type { TokenIssuers } from '../../auth/token-issuers.ts'
import type { ByteBudget } from '../../base/byte-budget.ts'
import type { Clock } from '../../base/clock.ts'
import type { OnRefused } from '../../core/credential-kind.ts'
import type { QueryService } from '../../query/query-service.ts'
import { hasCatalogCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import { openCancelChannel } from '../../store/query/cancel-channel.ts'
import type { Store } from '../../store/store.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Tracer } from '../../telemetry/tracing.ts'
import { Activity } from './activity.ts'
import { CancelKeys, type CancelRequest } from './cancel-keys.ts'
import { openCatalogService, storeTables } from './catalog/open-catalog-service.ts'
import type { CatalogService } from './catalog-service.ts'
import { ConnectionSlots, defaultSlots } from './connection-slots.ts'
import { type ListenOptions, listenPgwire } from './listen.ts'
import { LoginThrottle } from './login-throttle.ts'
import type { ServeParts } from './serve-client.ts'
import type { ExplainStatement } from './session-state.ts'
import { wireMeter } from './wire-meter.ts'

interface PgwireOptions extends ListenOptions {
  readonly allowPlaintext: boolean
  readonly store: Store
  readonly tokens: AccessTokens
  readonly verifyToken: VerifyToken | undefined
  readonly issuers?: TokenIssuers
  readonly claims: ClaimNames
  readonly queries: QueryService
  /** The service for statements about the catalog; by default shadow databases. */
  readonly systemCatalog?: CatalogService | undefined
  /** Where the snapshot of the shadow databases is cached for the next start; undefined: nowhere. */
  readonly catalogDirectory?: string | undefined
  /** Why statements about the catalog are refused: the process is too small for a database of it. */
  readonly catalogRefusal?: string | undefined
  /** The bytes of the process, of which those databases take some; absent: they are not counted. */
  readonly budget?: ByteBudget | undefined
  readonly explain: ExplainStatement
  readonly metrics: Metrics
  /** Absent: statements are not traced. */
  readonly tracer?: Tracer | undefined
  readonly log: Logger
  readonly clock: Clock
}

export interface Pgwire {
  readonly port: number
  /** Prepares the catalog, so that its first statement does not wait. @throws Fault `unavailable` */
  warm(): Promise<void>
  /** @returns whether all statements ended in time */
  stop(timeoutMs: number): Promise<boolean>
}

/** Starts serving. @throws Fault where the store is unavailable; Error where the address is in use */
export async function startPgwire(options: PgwireOptions): Promise<Pgwire> {
  const { store, tokens, verifyToken, issuers, claims, metrics, log, clock } = options
  const channel = await openCancelChannel(store, (message) => {
    for (const request of readRequests(message)) cancelKeys.cancelHere(request)
  })
  const cancelKeys = new CancelKeys(
    channel && { publish: (requests) => channel.publish(JSON.stringify(requests)) },
  )
  const activity = new Activity()
  const ownCatalog =
    options.systemCatalog === undefined
      ? openCatalogService({
          source: storeTables(store),
          activity: (session) => activity.of(session),
          snapshotDirectory: options.catalogDirectory,
          budget: options.budget,
          refusal: options.catalogRefusal,
          onDatabases: (count) => metrics.pgwireCatalogDatabases.set(count),
        })
      : undefined
  const onRefused: OnRefused = (kind) => metrics.credentialsRefused.inc({ kind })
  const closeParts = async () => {
    await channel?.close()
    ownCatalog?.close()
  }
  let stopped: Promise<boolean> | undefined
  const served: ServeParts = {
    queries: options.queries,
    catalog: ownCatalog ?? options.systemCatalog,
    activity,
    explain: options.explain,
    meter: wireMeter(metrics, log),
    tracer: options.tracer,
    log,
    clock,
    credentials: tellingReader(
      credentialReader({ store, tokens, verifyToken, issuers, claims, clock }),
      onRefused,
    ),
    onRefused,
    throttle: new LoginThrottle(clock),
    allowPlaintext: options.allowPlaintext,
    mockKey: randomBytes(32),
    slots: new ConnectionSlots(defaultSlots),
    cancelKeys,
    hasCatalog: (tenant, nickname) => hasCatalogCredential(store, tenant, nickname),
  }
  const server = await listenOrClose(() => listenPgwire(options, served), closeParts)
  return {
    port: server.port,
    async warm() {
      if (options.catalogRefusal === undefined) await ownCatalog?.prepare()
    },
    stop(timeoutMs) {
      stopped ??= server.stop(timeoutMs).finally(closeParts)
      return stopped
    },
  }
}

async function listenOrClose<T>(listen: () => T, close: () => Promise<void>): Promise<T> {
  try {
    return listen()
  } catch (thrown) {
    await close()
    throw thrown
  }
}

function readRequests(message: string): readonly CancelRequest[] {
  try {
    return JSON.parse(message).filter(
      (each: Partial<CancelRequest> | null) =>
        Number.isInteger(each?.processId) && typeof each?.keyDigest === 'string',
    )
  } catch {
    return []
  }
}
