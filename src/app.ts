/**
 * Starts the whole service: makes the shared parts, has each feature assembled (src/app), listens, and stops it again.
 * Parts are wired together only here and in src/app.
 */

import { tmpdir } from 'node:os'
import type { Logger } from 'pino'
import { version } from '../package.json'
import { assembleAuth, identityProvider } from './app/assemble-auth.ts'
import { assembleChecks, type Checks } from './app/assemble-checks.ts'
import { assembleContracts } from './app/assemble-contracts.ts'
import { assembleFeatures } from './app/assemble-features.ts'
import { assembleGateway, endGateway } from './app/assemble-gateway.ts'
import { assembleReadPath } from './app/assemble-read-path.ts'
import { assembleRoutes } from './app/assemble-routes.ts'
import { openBudget } from './app/open-budget.ts'
import { gaugeReader } from './app/read-gauges.ts'
import type { IssueToken } from './auth/oauth-token.ts'
import { blockList } from './base/cidr.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { RightOfWay } from './base/right-of-way.ts'
import { addressRules } from './catalog/address.ts'
import { assertNoStubKinds, OpenCatalogs } from './catalog/open-catalog.ts'
import type { Config } from './config.ts'
import { DocumentCodec } from './contract/document/document-codec.ts'
import { type Detection, startDetection } from './detection/start-detection.ts'
import type { EngineKinds } from './engine/engine-kinds.ts'
import { prepareReadDirectory } from './engine/open-engines.ts'
import { openJournal } from './gateway/base/accepted-journal.ts'
import type { PassCrashPoint } from './gateway/base/crash-points.ts'
import type { GatewayParts } from './gateway/base/parts.ts'
import { recoverOrphans } from './gateway/recovery/recover-intents.ts'
import { replayWorker } from './gateway/replay/advance-replays.ts'
import type { Core } from './http/feature.ts'
import { readInstalledLicense } from './license/installed-license.ts'
import type { LicenseKey } from './license/keys.ts'
import { type Licensed, licensedBy } from './license/licensed.ts'
import { limits } from './limits.ts'
import { PolicyEngine } from './policy/engine.ts'
import { protectedForms } from './protection/protected-forms.ts'
import { explainPlan } from './query/explain/explain-plan.ts'
import type { QueryService } from './query/query-service.ts'
import type { LineageRecorder } from './query/run/record/lineage-recorder.ts'
import { InterchangeCodec } from './semantics/interchange/codec.ts'
import { MdxEvaluator } from './semantics/mdx/evaluator.ts'
import { ClockWatch } from './server/clock-watch.ts'
import type { Routes } from './server/compose.ts'
import { Drain } from './server/drain.ts'
import { listenHttp } from './server/http.ts'
import { type Jobs, startJobs } from './server/jobs.ts'
import { listenAt } from './server/listen-at.ts'
import { listenMetrics } from './server/ops.ts'
import type { CatalogService } from './server/pgwire/catalog-service.ts'
import { readCertificate } from './server/pgwire/read-certificate.ts'
import { startPgwire } from './server/pgwire/start-pgwire.ts'
import { isServed, startXmla } from './server/xmla/start-xmla.ts'
import { tableAccess } from './storage/vended-access.ts'
import { listCatalogKinds } from './store/catalog-credential/catalog-credentials.ts'
import type { IntentTimes } from './store/commit/commit-intents.ts'
import { readDatabaseClock } from './store/jobs/database-clock.ts'
import { findJobGauge, putJobGauge } from './store/jobs/job-gauges.ts'
import { withReplicaLock } from './store/jobs/reconcile.ts'
import type { Store } from './store/store.ts'
import { exchangeObserver } from './telemetry/exchange.ts'
import type { Metrics } from './telemetry/metrics.ts'
import type { Tracer } from './telemetry/tracing.ts'
import { vending } from './vending/vending.ts'
import { Deliverer } from './webhook/deliverer.ts'
import { sender } from './webhook/receiver.ts'

/** Milliseconds without a gateway request after which background work continues. */
const backgroundQuietMs = 100

export interface AppOptions {
  readonly config: Config
  readonly store: Store
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock?: Clock
  readonly passCrashPoint?: PassCrashPoint
  /** Default: those of limits.ts; a test shortens them. */
  readonly intentTimes?: IntentTimes
  /** The kinds of read engine; a test passes its own. */
  readonly engines?: EngineKinds
  /** Runs the statements of the read surfaces; a test passes its own. */
  readonly queries?: QueryService
  /** Answers statements about pg_catalog and information_schema; a test passes its own. */
  readonly systemCatalog?: CatalogService
  /** Directory that caches the initial contents of the service's own catalog for the next start. Absent: no cache. */
  readonly catalogDirectory?: string
  /** Directory, of this process alone, in which accepted changes are kept until they are audited. Absent: memory only. */
  readonly journalDirectory?: string
  /** The keys that verify licenses; a test passes its own, so that it does not need demo mode. */
  readonly licenseKeys?: readonly LicenseKey[]
  /** Default: those of the gateway; a test shortens them. */
  readonly lostAnswerWaitsMs?: readonly number[]
  /** The commits that detection and jobs wait for; a test passes one that is quiet sooner. */
  readonly commits?: RightOfWay
  /** Whether the schedules of jobs start them. Default: true; a test runs them itself. */
  readonly jobsByTime?: boolean
  /** Waits before a failed audit is repeated; a test decides when that is over. */
  readonly auditSleep?: (ms: number) => Promise<void>
  /** Waits out the drain delay; a test decides when that is over. */
  readonly sleep?: (ms: number) => Promise<void>
  /** Traces requests; default: what the settings name, else nothing does. */
  readonly tracer?: Tracer
}

export interface App {
  readonly routes: Routes
  /** Base address of the public listener. */
  readonly url: URL
  readonly metricsUrl: URL
  /** Port of the PostgreSQL wire; undefined where it is not served. */
  readonly pgwirePort: number
  /** Port of XMLA; undefined where it is not served. */
  readonly xmlaPort: number | undefined
  readonly jobs: Jobs
  readonly checks: Checks
  readonly gateway: GatewayParts
  readonly detection: Detection
  readonly webhooks: Deliverer
  /** Runs the statements of every read surface. */
  readonly queries: QueryService
  /** Of what statements read; a test writes it without waiting for its timer. */
  readonly lineageRecorder: LineageRecorder
  /** Serves {catalog-uri}/v1/oauth/tokens. */
  readonly issueToken: IssueToken
  readonly licensed: Licensed
  /**
   * Prepares what the first statement about pg_catalog would otherwise wait some seconds for.
   * @throws Fault `unavailable`
   */
  warm(): Promise<void>
  /** Serves on for the drain delay, lets requests in flight finish, then closes everything but the store. */
  stop(): Promise<void>
}

/**
 * Starts the service on an open store.
 * @throws Error where a catalog credential is of a kind that has only a stub adapter (docs/reference/catalogs.md 2.2)
 * @throws Fault where the license does not verify
 */
export async function startApp(options: AppOptions): Promise<App> {
  // What was opened is closed from the last to the first, also where a later part cannot start.
  await using opened = new AsyncDisposableStack()
  const { config, store, metrics, log } = options
  const license = await readInstalledLicense(config.license, config.demo, options.licenseKeys)
  const tls =
    config.pgwireTls &&
    (await readCertificate(config.pgwireTls, {
      cert: 'SVC_PGWIRE_TLS_CERT_FILE',
      key: 'SVC_PGWIRE_TLS_KEY_FILE',
    }))
  const xmlaTls =
    config.xmlaTls &&
    (await readCertificate(config.xmlaTls, { cert: 'SVC_XMLA_TLS_CERT_FILE', key: 'SVC_XMLA_TLS_KEY_FILE' }))
  if (config.readEngine.directory !== undefined) await prepareReadDirectory(config.readEngine.directory)
  assertNoStubKinds(await listCatalogKinds(store))
  if (config.jwt === undefined)
    log.warn(
      'SVC_JWKS_URL is not set: bearer tokens are read without verification, for the write gateway only',
    )

  const tracer = options.tracer ?? (config.tracing && (await openConfiguredTracer(config.tracing)))
  opened.defer(() =>
    tracer?.stop().catch((err: unknown) => log.warn({ err }, 'the last traces were not sent')),
  )
  metrics.buildInfo.set({ version, runtime: `bun ${Bun.version}`, store: store.backend }, 1)
  const policies = new PolicyEngine()
  opened.defer(() => policies.close())
  const rules = addressRules(config.upstreamAllow)
  const { budget, engineBytes, catalogRefusal } = openBudget(config, metrics, log)
  const catalogs = new OpenCatalogs({
    addressRules: rules,
    budget,
    observe: exchangeObserver(metrics, 'catalog'),
  })
  opened.defer(() => catalogs.close())
  const commits =
    options.commits ?? new RightOfWay({ quietMs: backgroundQuietMs, waitMsMax: limits.backgroundWaitMs })
  const clock = options.clock ?? systemClock
  const core: Core = { store, clock, log, metrics, addressRules: rules }
  const licensed = licensedBy(license, clock)
  const access = tableAccess({ catalogs, addressRules: rules, clock })
  const journal = options.journalDirectory ? await openJournal(options.journalDirectory) : undefined
  const codec = new DocumentCodec()
  const interchange = new InterchangeCodec()
  const evaluator = new MdxEvaluator({
    onRestart() {
      metrics.mdxThreadRestarts.inc()
      log.error('an MDX thread was replaced')
    },
  })
  for (const worker of [codec, interchange, evaluator]) opened.defer(() => worker.close())
  const gateway = assembleGateway(
    {
      store,
      contracts: assembleContracts(store, clock, codec),
      catalogs,
      policies,
      metrics,
      log,
      clock,
      commits,
      demo: config.demo,
      tableAccess: access,
      licensed,
      vend: vending({ store, clock, addressRules: rules, licensed, metrics }),
      budget,
    },
    journal,
    options,
  )
  opened.defer(() => endGateway(gateway))
  await gateway.unaudited.readJournal()
  // After the journal, which explains files that would otherwise look like those of another commit.
  if (store.backend === 'embedded')
    await recoverOrphans(gateway, AbortSignal.timeout(limits.orphansMs)).catch((err: unknown) =>
      log.warn({ err }, 'the intents of earlier processes could not be looked at; recovery decides them'),
    )
  if (licensed.state() === 'grace' || licensed.state() === 'expired')
    log.error({ state: licensed.state() }, 'the license has expired: renew it')
  const { auth, tokens, verifyToken, issuers, owners } = assembleAuth(config, { store, clock, metrics, log })
  const shared = { config, store, catalogs, addressRules: rules, metrics, log, clock, budget, engineBytes }
  const readPath = assembleReadPath(shared, options)
  const { states, engines, tripwire, queries, lineageRecorder, requestPage } = readPath
  opened.defer(async () => {
    for (const kind of engines.values()) await kind.close()
  })
  opened.defer(() => lineageRecorder.stop())
  opened.defer(() => tripwire.end())
  const byTime = options.jobsByTime ?? true
  const checks = assembleChecks({
    ...{ store, states, engines, clock, log, metrics, byTime },
    addressRules: rules,
  })
  opened.defer(() => checks.runner.stop())
  const publicUrl = () => (config.publicUrl === undefined ? http.url : new URL(config.publicUrl))
  const xmlaUrl = () => {
    if (xmla === undefined) return undefined
    const url = new URL('/', publicUrl())
    url.protocol = xmlaTls === undefined && !config.xmlaAllowPlaintext ? 'http:' : 'https:'
    url.port = String(xmla.port)
    return url
  }
  const detection = startDetection({
    parts: {
      ...{ store, catalogs, metrics, log, addressRules: rules, commits },
      protectedForms: (tenant, table) => protectedForms(store, tenant, table),
    },
    workers: config.detectionWorkers,
    chatWebhookUrl: config.chatWebhookUrl,
    s3Events: config.s3Events,
    baseUrl: publicUrl,
  })
  opened.defer(() => detection.stop())
  const webhooks = new Deliverer({
    ...{ store, metrics, log, publicUrl },
    send: sender({ addressRules: rules, clock }),
    byTime,
  })
  opened.defer(() => webhooks.stop())
  const drain = new Drain()
  const replays = replayWorker()
  const provider = identityProvider(config, { clock, metrics, log })
  const features = await assembleFeatures({
    ...{ ...readPath, config, core, gateway, licensed, provider, codec, interchange, evaluator },
    ...{ checks, detection, publicUrl, xmlaUrl, replayWorker: replays },
    wakeReplays: () => void jobs.run('replay-policies'),
  })
  const routes = assembleRoutes({
    ...{ ...readPath, features, gateway, auth, licensed, provider, codec, checks, detection, drain },
    ...{ journal, publicUrl, internalAdminOrgId: config.idp.internalAdminOrgId },
  })
  const jobs = startJobs(
    features.flatMap((feature) => feature.jobs),
    (name, work) => withReplicaLock(store, name, work),
    { keep: (job, value) => putJobGauge(store, job, value), find: (job) => findJobGauge(store, job) },
    ...([commits, log, byTime] as const),
  )
  opened.defer(() => jobs.stop())
  // A policy that takes long must not hold up the end of its job.
  opened.defer(() => replays.close())
  void jobs.run('recover-intents')
  const clockWatch = new ClockWatch({
    clock,
    monotonicMs: () => performance.now(),
    databaseMs: () => readDatabaseClock(store),
    metrics,
    log,
  })
  clockWatch.start()
  opened.defer(() => clockWatch.stop())
  opened.defer(() => commits.end())

  const http = await listenAt('SVC_LISTEN_ADDR', config.listen, (address) =>
    listenHttp({ ...address, handle: routes.handle, drain, log, budget, owners, metrics, tracer }),
  )
  opened.defer(() => http.stop(true))
  const readGauges = gaugeReader({
    ...{ metrics, store, budget },
    directories: {
      data: config.store.kind === 'embedded' ? config.store.dataDir : undefined,
      journal: options.journalDirectory,
      read: config.readEngine.directory ?? tmpdir(),
    },
  })
  const metricsListener = await listenAt('SVC_METRICS_ADDR', config.metricsListen, (address) =>
    listenMetrics({
      ...address,
      async scrape() {
        await readGauges()
        return { contentType: metrics.registry.contentType, text: await metrics.registry.metrics() }
      },
    }),
  )
  opened.defer(() => metricsListener.stop(true))

  const pgwire = await listenAt('SVC_PGWIRE_ADDR', config.pgwireListen, (address) =>
    startPgwire({
      ...address,
      tls,
      allowPlaintext: config.pgwireAllowPlaintext,
      proxies: config.pgwireProxyProtocol ? blockList(config.trustedProxies) : undefined,
      store,
      tokens,
      verifyToken,
      issuers,
      claims: config.idp.claims,
      queries,
      systemCatalog: options.systemCatalog,
      catalogDirectory: options.catalogDirectory,
      catalogRefusal,
      budget,
      explain: (context, statement) => explainPlan({ store, states, clock, requestPage }, context, statement),
      metrics,
      tracer,
      log,
      clock,
    }),
  )

  opened.defer(async () => void (await pgwire.stop(0)))

  const { host } = config.xmlaListen
  const allowPlaintext = config.xmlaAllowPlaintext
  const xmla = isServed({ host, hasTls: xmlaTls !== undefined, allowPlaintext })
    ? await listenAt('SVC_XMLA_ADDR', config.xmlaListen, (address) =>
        startXmla({
          ...address,
          ...{ tls: xmlaTls, allowPlaintext, store, tokens, verifyToken, issuers },
          claims: config.idp.claims,
          proxies: blockList(config.trustedProxies),
          ...{ queries, evaluator, licensed, metrics, log, clock },
        }),
      )
    : undefined
  if (xmla === undefined)
    log.info('XMLA is not served: it needs SVC_XMLA_TLS_CERT_FILE, or an address on loopback')
  const held = opened.move()
  return {
    routes,
    url: http.url,
    metricsUrl: metricsListener.url,
    pgwirePort: pgwire.port,
    xmlaPort: xmla?.port,
    jobs,
    checks,
    gateway,
    detection,
    webhooks,
    queries,
    lineageRecorder,
    issueToken: auth.issueToken,
    licensed,
    warm: pgwire.warm,
    async stop() {
      drain.announce()
      await (options.sleep ?? Bun.sleep)(config.drainDelayMs)
      await tripwire.end()
      const ended = await Promise.all([
        drain.close(limits.drainMs),
        pgwire.stop(limits.drainMs),
        xmla?.stop(limits.drainMs) ?? true,
      ])
      if (ended.includes(false)) log.error('requests were still in flight when the drain time ran out')
      // Finished responses may not be sent yet. The listener closes once the last byte is sent.
      await Promise.race([http.stop(false), Bun.sleep(limits.flushMs)])
      await held.disposeAsync()
    },
  }
}

/** The SDK is loaded here, so that tracing that is off costs no module. */
async function openConfiguredTracer(settings: NonNullable<Config['tracing']>): Promise<Tracer> {
  const { openTracer } = await import('./telemetry/open-telemetry.ts')
  return openTracer(settings, version)
}
