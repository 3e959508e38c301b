/** The only place where the parts are put together: plain functions, no container. */

import type { Logger } from 'pino'
import { AccessTokens } from './auth/access-token.ts'
import { administrationRoutes } from './auth/administration/routes.ts'
import { ownBearerReader, readUnverifiedBearer, tokenVerifier, verifyingBearerReader } from './auth/bearer.ts'
import { sessionFinder, sessionKeyReader } from './auth/find-session.ts'
import { IdentityProvider } from './auth/login/identity-provider.ts'
import { loginRoutes } from './auth/login/routes.ts'
import { type IssueToken, oauthTokenIssuer } from './auth/oauth-token.ts'
import { principalChain } from './auth/principal-chain.ts'
import { webhookRoutes } from './auth/webhooks/routes.ts'
import { blockList } from './base/cidr.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { RightOfWay } from './base/right-of-way.ts'
import { addressRules } from './catalog/address.ts'
import { assertNoStubKinds, CatalogPool } from './catalog/open-catalog.ts'
import { TableStates } from './catalog/table-states.ts'
import type { Config } from './config.ts'
import { contractRoutes } from './contract/routes.ts'
import type { TenantId } from './core/tenant.ts'
import { detectionRoutes } from './detection/routes.ts'
import { type Detection, startDetection } from './detection/start-detection.ts'
import type { EngineKinds } from './engine/engine-kinds.ts'
import { openEngines, prepareReadDirectory } from './engine/open-engines.ts'
import type { PassCrashPoint } from './gateway/crash-points.ts'
import { Foretold } from './gateway/foretold.ts'
import type { GatewayParts } from './gateway/parts.ts'
import { recoverIntents } from './gateway/recovery/recover-intents.ts'
import { settleWaitsMs } from './gateway/recovery/settle.ts'
import { gatewayRoutes } from './gateway/routes.ts'
import { TableCache } from './gateway/table-cache.ts'
import { readInstalledLicense } from './license/installed-license.ts'
import type { LicenseKey } from './license/keys.ts'
import { type Licensed, licensedBy } from './license/licensed.ts'
import { limits } from './limits.ts'
import { LineageReceiver } from './lineage/receiver.ts'
import { retryLineage } from './lineage/retry.ts'
import { lineageRoutes } from './lineage/routes.ts'
import { sweepLineage } from './lineage/sweep.ts'
import { PolicyEngine } from './policy/engine.ts'
import { explainLines } from './query/explain.ts'
import { checkPolicies } from './query/protect.ts'
import type { QueryService } from './query/query-service.ts'
import { queryRoutes } from './query/routes.ts'
import { queryService } from './query/run.ts'
import { Tripwire } from './query/tripwire.ts'
import { usageRoutes } from './query/usage-routes.ts'
import { composeRoutes, type Routes } from './server/compose.ts'
import { Drain } from './server/drain.ts'
import { listenHttp } from './server/http.ts'
import { type Jobs, startJobs } from './server/jobs.ts'
import { listenAt } from './server/listen-at.ts'
import { listenMetrics, opsRoutes } from './server/ops.ts'
import type { CatalogService } from './server/pgwire/catalog-service.ts'
import { readCertificate } from './server/pgwire/read-certificate.ts'
import { startPgwire } from './server/pgwire/start-pgwire.ts'
import { listCatalogKinds } from './store/catalog-credentials.ts'
import { type IntentTimes, intentTimes } from './store/commit-intents.ts'
import { isMaskedFor } from './store/governed-table.ts'
import { findJobGauge, keepJobGauge } from './store/job-gauges.ts'
import { closeDeadQueries } from './store/queries-under-way.ts'
import { reconcileTenant, withReplicaLock } from './store/reconcile.ts'
import { rotateSigningKeys } from './store/signing-keys.ts'
import type { Store } from './store/store.ts'
import { eachTenant } from './store/tenants.ts'
import type { Metrics } from './telemetry/metrics.ts'

export interface AppOptions {
  readonly config: Config
  readonly store: Store
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock?: Clock
  readonly passCrashPoint?: PassCrashPoint
  /** Those of limits.ts unless a test shortens them. */
  readonly intentTimes?: IntentTimes
  /** The kinds of read engine that there are; a test brings its own. */
  readonly engines?: EngineKinds
  /** What runs the statements of the read surfaces, in place of the service's own. */
  readonly queries?: QueryService
  /** What answers statements about pg_catalog and information_schema there. */
  readonly systemCatalog?: CatalogService
  /** Where the first contents of the service's own are kept for the next start; nowhere where absent. */
  readonly catalogDirectory?: string
  /** The keys that sign licenses; a test brings its own, so that it needs no walkthrough. */
  readonly licenseKeys?: readonly LicenseKey[]
  /** Those of the gateway unless a test shortens them. */
  readonly settleWaitsMs?: readonly number[]
  /** For which detection and jobs stand back; a test brings one that is quieter sooner. */
  readonly commits?: RightOfWay
}

export interface App {
  readonly routes: Routes
  /** Base address of the public listener. */
  readonly url: URL
  readonly metricsUrl: URL
  /** Port of the PostgreSQL wire; undefined where it is not served. */
  readonly pgwirePort: number
  readonly jobs: Jobs
  readonly gateway: GatewayParts
  readonly detection: Detection
  /** What every read surface runs statements by. */
  readonly queries: QueryService
  /** What {catalog-uri}/v1/oauth/tokens answers with. */
  readonly issueToken: IssueToken
  readonly licensed: Licensed
  /** Does ahead what the first statement about pg_catalog would wait for, some seconds. @throws Fault `unavailable` */
  warm(): Promise<void>
  /** Lets requests under way finish, then closes everything but the store. */
  stop(): Promise<void>
}

/**
 * Starts the service on an open store.
 * @throws Error where a registered catalog is of a kind that has only a stub adapter (SPEC 2.2); Fault where
 *   the license does not verify
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, store, metrics, log } = options
  const license = await readInstalledLicense(config.license, config.demo, options.licenseKeys)
  const tls = config.pgwireTls && (await readCertificate(config.pgwireTls))
  if (config.readEngine.directory !== undefined) await prepareReadDirectory(config.readEngine.directory)
  assertNoStubKinds(await listCatalogKinds(store))
  if (config.jwt === undefined)
    log.warn(
      'SVC_JWKS_URL is not set: bearer tokens are read without verification, for the write gateway only',
    )

  const policies = new PolicyEngine()
  const rules = addressRules(config.upstreamAllow)
  const catalogs = new CatalogPool({ addressRules: rules })
  const states = new TableStates(catalogs, limits.tableStateBytes)
  const commits =
    options.commits ??
    new RightOfWay({ quietMs: limits.backgroundQuietMs, waitMsMax: limits.backgroundWaitMs })
  const gateway: GatewayParts = {
    store,
    catalogs,
    policies,
    tables: new TableCache(limits.metadataCacheBytes),
    foretold: new Foretold(),
    metrics,
    log,
    clock: options.clock ?? systemClock,
    intentTimes: options.intentTimes ?? intentTimes,
    settleWaitsMs: options.settleWaitsMs ?? settleWaitsMs,
    // Roles that nobody verified exempt from nothing.
    maskedFor: (tenant, table, { principal, verified }) =>
      isMaskedFor(store, tenant, table, verified ? principal : { sub: principal.sub, roles: [] }),
    passCrashPoint: options.passCrashPoint ?? (() => {}),
    commits,
    demo: config.demo,
  }
  const { clock } = gateway
  const licensed = licensedBy(license, clock)
  if (licensed.state() === 'grace' || licensed.state() === 'expired')
    log.error({ state: licensed.state() }, 'the license has expired: renew it')
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
  const { internalAdminOrgId } = config.idp

  const lineage = new LineageReceiver({ store, metrics, log })
  const engines = options.engines ?? openEngines({ addressRules: rules, catalogs, ...config.readEngine })
  const tripwire = new Tripwire({ engines, log, metrics })
  const queries = options.queries ?? queryService({ store, states, engines, clock, log, tripwire })
  const publicUrl = () => (config.publicUrl === undefined ? http.url : new URL(config.publicUrl))
  const detection = startDetection({
    parts: { store, catalogs, metrics, log, addressRules: rules, commits },
    workers: config.detectionWorkers,
    chatWebhookUrl: config.chatWebhookUrl,
    s3Events: config.s3Events,
    baseUrl: publicUrl,
  })
  const drain = new Drain()
  const routes = composeRoutes(
    [
      gatewayRoutes(gateway, auth),
      lineageRoutes({ receiver: lineage, clock }, auth),
      contractRoutes({ ...auth, store, log, clock, states, checkPolicies }),
      queryRoutes({ ...auth, store, states, log }),
      usageRoutes({ ...auth, store, log }),
      detectionRoutes({
        ...auth,
        store,
        log,
        licensed,
        queue: detection.queue,
        enabled: config.alphaWebhookEnabled,
        wake: () => detection.detector.wake(),
      }),
      administrationRoutes({ ...auth, store, licensed, clock, log, internalAdminOrgId }),
      loginRoutes({
        store,
        provider: identityProvider(config),
        publicUrl,
        internalAdminOrgId,
        clock,
        log,
      }),
      webhookRoutes({
        store,
        clock,
        log,
        identityProvider: { secret: config.idp.webhookSecret, enabled: config.idpWebhookEnabled },
        billing: { secret: config.billingWebhookSecret, enabled: config.billingWebhookEnabled },
      }),
      opsRoutes({
        healthy: () => store.healthy(),
        ready: () => ({
          policies: policies.ready(),
          detection: detection.ready(),
          accepting: !drain.draining,
        }),
      }),
    ],
    (fault) => log.error({ err: fault.cause ?? fault, faultId: fault.id }, 'a handler failed'),
  )

  const jobs = startJobs(
    [
      {
        name: 'recover-intents',
        schedule: '* * * * *',
        run: async (signal) => void (await recoverIntents(gateway, signal)),
        gauge: metrics.commitIntents,
      },
      { name: 'reconcile', schedule: '7 * * * *', run: (signal) => reconcile(store, metrics, log, signal) },
      {
        name: 'rotate-signing-keys',
        schedule: '23 3 * * *',
        run: async () => void (await rotateSigningKeys(store)),
      },
      {
        name: 'close-dead-queries',
        schedule: '* * * * *',
        run: async (signal) => {
          const count = await closeDeadQueries(store, signal)
          if (count > 0) log.warn({ count }, 'queries of processes that are gone were recorded as failed')
        },
      },
      {
        name: 'retry-lineage',
        schedule: '* * * * *',
        run: (signal) => retryLineage(lineage, signal),
        gauge: metrics.lineagePending,
      },
      {
        name: 'sweep-lineage',
        schedule: '23 * * * *',
        run: (signal) => sweepLineage(lineage.parts, signal),
        gauge: metrics.lineageCycles,
      },
      {
        name: 'poll-snapshots',
        schedule: `*/${limits.detectionPollMs / 1_000} * * * * *`,
        run: (signal) => detection.poller.poll(signal),
      },
    ],
    (name, work) => withReplicaLock(store, name, work),
    { keep: (job, value) => keepJobGauge(store, job, value), find: (job) => findJobGauge(store, job) },
    commits,
    log,
  )
  void jobs.run('recover-intents')

  const http = await listenAt('SVC_LISTEN_ADDR', config.listen, (address) =>
    listenHttp({ ...address, handle: routes.handle, drain, log }),
  )
  const metricsListener = await listenAt('SVC_METRICS_ADDR', config.metricsListen, (address) =>
    listenMetrics({
      ...address,
      scrape: async () => ({
        contentType: metrics.registry.contentType,
        text: await metrics.registry.metrics(),
      }),
    }),
  )

  const pgwire = await listenAt('SVC_PGWIRE_ADDR', config.pgwireListen, (address) =>
    startPgwire({
      ...address,
      tls,
      allowPlaintext: config.pgwireAllowPlaintext,
      store,
      tokens,
      verifyToken,
      organizationClaim: config.idp.organizationClaim,
      queries,
      systemCatalog: options.systemCatalog,
      catalogDirectory: options.catalogDirectory,
      explain: (context, statement) => explainLines({ store, states }, context, statement),
      metrics,
      log,
      clock,
    }),
  )

  return {
    routes,
    url: http.url,
    metricsUrl: metricsListener.url,
    pgwirePort: pgwire.port,
    jobs,
    gateway,
    detection,
    queries,
    issueToken: auth.issueToken,
    licensed,
    warm: pgwire.warm,
    async stop() {
      await tripwire.end()
      const [answered, ended] = await Promise.all([drain.close(limits.drainMs), pgwire.stop(limits.drainMs)])
      if (!answered || !ended) log.error('requests were still under way when the drain time ran out')
      // What is answered is not yet sent: the listener closes once the last byte is out.
      await Promise.race([http.stop(false), Bun.sleep(limits.flushMs)])
      await http.stop(true)
      commits.end()
      await jobs.stop()
      await detection.stop()
      await metricsListener.stop(true)
      await policies.close()
      for (const kind of engines.values()) await kind.close()
      catalogs.close()
    },
  }
}

/** SPEC 6: drift between the graph and its relational projection is a `breach`. */
async function reconcile(store: Store, metrics: Metrics, log: Logger, signal: AbortSignal): Promise<void> {
  for await (const tenant of eachTenant(store, signal)) {
    try {
      await reconcileOne(store, tenant, metrics, log, signal)
    } catch (err) {
      signal.throwIfAborted()
      // The others are to be compared all the same.
      log.error({ err, tenant }, 'a tenant could not be reconciled')
    }
  }
}

async function reconcileOne(
  store: Store,
  tenant: TenantId,
  metrics: Metrics,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (const breach of await reconcileTenant(store, tenant, signal)) {
    if (!breach.isNew) continue
    metrics.reconciliationBreaches.inc()
    log.error({ breach }, 'breach: the graph and its relational projection differ')
  }
}

function identityProvider({ idp }: Config): IdentityProvider | undefined {
  const { issuerUrl, clientId, apiKey, organizationClaim } = idp
  if (issuerUrl === undefined || clientId === undefined) return undefined
  return new IdentityProvider({ issuerUrl, clientId, clientSecret: apiKey, organizationClaim })
}
