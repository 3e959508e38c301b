/** Assembles all routes of the public listener. Each feature implements its own. */

import type { Logger } from 'pino'
import { adminOperations } from '../auth/administration/admin-operations.ts'
import { graphOperations } from '../auth/administration/graph-operations.ts'
import { holdOperations } from '../auth/administration/hold-operations.ts'
import { monthOperations } from '../auth/administration/month-operations.ts'
import { ownOperations } from '../auth/administration/own-operations.ts'
import { retentionOperations } from '../auth/administration/retention-operations.ts'
import { admitter } from '../auth/admit.ts'
import { clientFinder } from '../auth/authorization/clients.ts'
import { authorizationOperations } from '../auth/authorization/operations.ts'
import { tokenIssuerOperations } from '../auth/issuer-operations.ts'
import { IdentityProvider } from '../auth/login/identity-provider.ts'
import { loginOperations } from '../auth/login/operations.ts'
import { webhookOperations } from '../auth/webhooks/operations.ts'
import { workloadTrustOperations } from '../auth/workload/operations.ts'
import { Fault } from '../base/fault.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { Config } from '../config.ts'
import { isLoopback } from '../config-values.ts'
import { checkOperations, checkRunOperations } from '../contract/checks/operations.ts'
import { reportOperations } from '../contract/checks/report-results.ts'
import type { DocumentCodec } from '../contract/document/document-codec.ts'
import { documentOperations } from '../contract/document/operations.ts'
import { gitOperations } from '../contract/git/operations.ts'
import { lifeCycleOperations } from '../contract/lifecycle/operations.ts'
import { looseningOperations } from '../contract/loosening/operations.ts'
import { oversightOperations } from '../contract/oversight-operations.ts'
import { pinOperations } from '../contract/pin-operations.ts'
import { policyOperations } from '../contract/policy-operations.ts'
import { reconcileOperations } from '../contract/reconcile/operations.ts'
import { sourceOperations } from '../contract/reconcile/source-operations.ts'
import { tableOperations } from '../contract/table-operations.ts'
import { tagHistoryOperations } from '../contract/tag-history-operations.ts'
import { tagOperations } from '../contract/tag-operations.ts'
import type { CredentialKind } from '../core/credential-kind.ts'
import type { Session } from '../core/session.ts'
import { classifierOperations } from '../detection/classifier-operations.ts'
import { detectionOperations } from '../detection/operations.ts'
import type { Detection } from '../detection/start-detection.ts'
import type { AcceptedJournal } from '../gateway/base/accepted-journal.ts'
import type { GatewayParts } from '../gateway/base/parts.ts'
import { writeOversightOperations } from '../gateway/oversight/operations.ts'
import { refusalOperations } from '../gateway/refusals/operations.ts'
import type { ReplayParts } from '../gateway/replay/advance-replays.ts'
import { replayOperations } from '../gateway/replay/operations.ts'
import { tryOperations } from '../gateway/replay/try-operation.ts'
import { gatewayRoutes } from '../gateway/routes.ts'
import { territoryOperations } from '../gateway/territory/operations.ts'
import { vendingOperations } from '../gateway/vending/operations.ts'
import { stagedOperations } from '../gateway/vending/staged-operations.ts'
import { graphQueryOperations } from '../graph/operations.ts'
import { bind } from '../http/declare.ts'
import type { Licensed } from '../license/licensed.ts'
import { limits } from '../limits.ts'
import { listingOperations } from '../lineage/listing-operations.ts'
import { namespaceOperations } from '../lineage/namespace-operations.ts'
import { lineageOperations } from '../lineage/operations.ts'
import type { LineageReceiver } from '../lineage/receiver.ts'
import { protectionOperations } from '../protection/operations.ts'
import { planSigner } from '../protection/plan-signing.ts'
import { revealOperations } from '../protection/reveal-operations.ts'
import { subjectOperations } from '../protection/subject-operations.ts'
import type { KeyProvider } from '../protection/tenant-keys.ts'
import { asSeenByOperations } from '../query/as-seen-by/operation.ts'
import { checkPolicies, warnPolicy } from '../query/compile/protect/protect.ts'
import { explainOperations } from '../query/explain/operation.ts'
import { readLineageOperations } from '../query/lineage/operations.ts'
import type { QueryService } from '../query/query-service.ts'
import { usageOperations } from '../query/usage/operations.ts'
import { connectionFileOperations } from '../semantics/connection-file-operation.ts'
import type { InterchangeCodec } from '../semantics/interchange/codec.ts'
import { interchangeOperations } from '../semantics/interchange/operations.ts'
import type { MdxEvaluator } from '../semantics/mdx/evaluator.ts'
import { mdxOperations } from '../semantics/mdx/explain-operation.ts'
import { semanticOperations } from '../semantics/operations.ts'
import { apiViewerRoutes } from '../server/api-viewer.ts'
import { bounded, remembered, reported } from '../server/checks.ts'
import { composeRoutes, type Routes } from '../server/compose.ts'
import { documentationRoutes } from '../server/documentation.ts'
import type { Drain } from '../server/drain.ts'
import { eventOperations } from '../server/events/operations.ts'
import { graphqlBounds } from '../server/graphql/bounds.ts'
import { EventFeed } from '../server/graphql/event-feed.ts'
import { storedOperationOperations } from '../server/graphql/operations.ts'
import { graphqlRoutes } from '../server/graphql/routes.ts'
import { makeSchema } from '../server/graphql/schema.ts'
import { homeRoutes } from '../server/home.ts'
import { mcpAdmitter } from '../server/mcp/caller.ts'
import { mcpRoutes } from '../server/mcp/routes.ts'
import { mcpServer } from '../server/mcp/server.ts'
import { type Health, opsRoutes } from '../server/ops.ts'
import { missingAdminRoutes, operationRoutes } from '../server/rest/mount.ts'
import { foldsAllNames } from '../store/catalog-credential/name-case.ts'
import { findSessionCreator } from '../store/session/sessions.ts'
import type { Store } from '../store/store.ts'
import { webhookSubscriptionOperations } from '../webhook/operations.ts'
import type { Auth } from './assemble-auth.ts'
import type { Checks } from './assemble-checks.ts'

const contractOperations = [
  ...tableOperations,
  ...documentOperations,
  ...lifeCycleOperations,
  ...gitOperations,
  ...checkOperations,
  ...reportOperations,
  ...policyOperations,
  ...tagOperations,
  ...pinOperations,
  ...oversightOperations,
  ...looseningOperations,
]

interface RouteParts {
  readonly config: Config
  readonly gateway: GatewayParts
  readonly replayWorker: ReplayParts['replayWorker']
  /** Begins with a replay that was just started. */
  readonly wakeReplays: () => void
  readonly auth: Auth
  readonly licensed: Licensed
  /** Which addresses the clouds that issue credentials may have. */
  readonly addressRules: AddressRules
  readonly lineage: LineageReceiver
  readonly states: TableStates
  /** Wraps the tenants' keys of the transform. */
  readonly keys: KeyProvider
  readonly queries: QueryService
  readonly codec: DocumentCodec
  readonly interchange: InterchangeCodec
  readonly evaluator: MdxEvaluator
  readonly checks: Checks
  readonly detection: Detection
  readonly drain: Drain
  readonly journal: AcceptedJournal | undefined
  /** The address that clients use; called only once the service listens. */
  readonly publicUrl: () => URL
  /** Of the XMLA listener; undefined where it is not served. */
  readonly xmlaUrl: () => URL | undefined
}

/** Every route of the service. */
export function assembleRoutes(parts: RouteParts): Routes {
  const { config, gateway, auth, licensed, addressRules, lineage, states, keys, queries, codec, checks } =
    parts
  const { detection, drain, journal, publicUrl, xmlaUrl, wakeReplays, replayWorker, interchange, evaluator } =
    parts
  const { store, policies, log, clock, metrics } = gateway
  const { internalAdminOrgId } = config.idp
  const admitParts = {
    ...auth,
    licensed,
    internalAdminOrgId,
    findCreator: (session: Session) => findSessionCreator(store, session),
  }
  const admit = admitter(admitParts)
  const provider = identityProvider(config)
  const serveMcp = mcpServer({
    parts: { store, clock, states, queries, checkPolicies, codec, licensed },
    admit: mcpAdmitter({ ...admitParts, store, clock, publicUrl }),
    log,
    publicUrl,
    signsIn: provider !== undefined,
  })
  const schema = makeSchema()
  const events = new EventFeed(store, log, graphqlBounds.eventsMs)
  drain.signal.addEventListener('abort', () => events.stop())
  const operations = [
    ...bind(storedOperationOperations, { store, schema }),
    ...bind(eventOperations, { store, clock, events, publicUrl, draining: drain.signal }),
    ...bind(lineageOperations, { receiver: lineage, clock, store }),
    ...bind(contractOperations, { store, clock, states, checkPolicies, warnPolicy, codec, checks }),
    ...bind(explainOperations, { store, states, clock }),
    ...bind(asSeenByOperations, { store, states, queries }),
    ...bind([...usageOperations, ...readLineageOperations], { store }),
    ...bind(semanticOperations, { store, clock, queries }),
    ...bind(connectionFileOperations, { store, clock, xmlaUrl }),
    ...bind(mdxOperations, { store, states, clock, queries, evaluator }),
    ...bind(interchangeOperations, { store, interchange }),
    ...bind(
      [
        ...refusalOperations,
        ...writeOversightOperations,
        ...graphOperations,
        ...retentionOperations,
        ...holdOperations,
        ...monthOperations,
        ...territoryOperations,
        ...namespaceOperations,
        ...listingOperations,
        ...tagHistoryOperations,
        ...graphQueryOperations,
        ...checkRunOperations,
      ],
      { store },
    ),
    ...bind(replayOperations, { store, wakeReplays }),
    ...bind(tryOperations, { ...gateway, replayWorker }),
    ...bind(detectionOperations, {
      store,
      catalogs: gateway.catalogs,
      queue: detection.queue,
      enabled: config.alphaWebhookEnabled,
      wake: () => detection.detector.wake(),
    }),
    ...bind(classifierOperations, { store, catalogs: gateway.catalogs, ...detection.trials }),
    ...bind(adminOperations, { store, licensed, clock, log, metrics }),
    ...bind(ownOperations, { store, clock, log, metrics }),
    ...bind(vendingOperations, { store, clock, addressRules }),
    ...bind(stagedOperations, {
      store,
      addressRules,
      catalogs: gateway.catalogs,
      budget: gateway.budget,
      log,
    }),
    ...bind(workloadTrustOperations, { store, addressRules }),
    ...bind(tokenIssuerOperations, { store, addressRules }),
    ...bind(webhookSubscriptionOperations, { store, addressRules, publicUrl }),
    ...bind([...protectionOperations, ...revealOperations, ...subjectOperations], {
      store,
      clock,
      states,
      keys,
      signer: planSigner(store.secretsKey),
      publicUrl,
    }),
    ...bind(sourceOperations, { store, addressRules }),
    ...bind(reconcileOperations, { store, states, checks, reads: checks.reads, addressRules }),
    ...bind([...loginOperations, ...authorizationOperations], {
      store,
      provider,
      publicUrl,
      internalAdminOrgId,
      clock,
      onRefused: (kind: CredentialKind) => metrics.credentialsRefused.inc({ kind }),
      findClient: clientFinder({
        registered: config.mcpClients,
        addressRules,
        allowsLoopback: () => isLoopback(publicUrl().hostname),
        clock,
      }),
    }),
    ...bind(webhookOperations, {
      store,
      clock,
      log,
      identityProvider: { secret: config.idp.webhookSecret, enabled: config.idpWebhookEnabled },
      billing: { secret: config.billingWebhookSecret, enabled: config.billingWebhookEnabled },
    }),
  ]
  const admin = operations.filter(({ declaration }) => declaration.path.startsWith('/admin/'))
  return composeRoutes(
    [
      gatewayRoutes(gateway, auth),
      operationRoutes(operations, admit, log, (tenant) => foldsAllNames(store, tenant)),
      missingAdminRoutes(admin, admit, log),
      mcpRoutes(serveMcp, log),
      graphqlRoutes({
        parts: { store, clock, states, checkPolicies, warnPolicy, codec, checks, licensed, events, queries },
        schema,
        admit,
        log,
        draining: drain.signal,
      }),
      homeRoutes(),
      apiViewerRoutes(),
      documentationRoutes(),
      opsRoutes({
        ...databaseChecks(store, log),
        ...journalCheck(journal, log),
        ready: () => ({
          policies: policies.ready(),
          detection: detection.ready(),
          accepting: drain.accepting,
        }),
      }),
    ],
    (fault) => log.error({ err: fault.cause ?? fault, faultId: fault.id }, 'a handler failed'),
  )
}

/** Logs when a check begins to fail and when it passes again, because a probe's body says only which check failed. */
function logChange(log: Logger, failing: string, passing: string) {
  return (fault: Fault | undefined) =>
    fault === undefined ? log.info(passing) : log.error({ err: fault.cause ?? fault }, failing)
}

/** The probes' check of the journal of accepted changes, which passes where there is none. */
function journalCheck(journal: AcceptedJournal | undefined, log: Logger): Pick<Health, 'journaling'> {
  const check = remembered(
    bounded(async () => await journal?.check(), limits.probeMs),
    limits.writeProbeMs,
  )
  return {
    journaling: reported(check, logChange(log, 'the journal refuses writes', 'the journal takes writes')),
  }
}

/** The probes' checks of the database. */
function databaseChecks(store: Store, log: Logger): Pick<Health, 'healthy' | 'writable' | 'degraded'> {
  const answers = async () => {
    if (!(await store.healthy())) throw new Fault('unavailable', 'The database does not answer.')
  }
  let locked: readonly string[] = []
  const look = bounded(async () => {
    locked = await store.lockedTables()
  }, limits.probeMs)
  const unlocked = async () => {
    locked = []
    // A database that does not answer is told by `healthy`.
    await look().catch(() => {})
    if (locked.length > 0)
      throw new Fault('unavailable', `Statements wait for the lock of ${locked.join(', ')}.`)
  }
  const isUnlocked = reported(
    remembered(unlocked, limits.writeProbeMs),
    logChange(log, 'a table of the database is locked', 'no table of the database is locked any more'),
  )
  return {
    degraded: async () => !(await isUnlocked()),
    healthy: reported(
      bounded(answers, limits.probeMs),
      logChange(log, 'the database does not answer', 'the database answers again'),
    ),
    writable: reported(
      remembered(
        bounded(() => store.checkWrites(), limits.probeMs),
        limits.writeProbeMs,
      ),
      logChange(log, 'the database refuses writes', 'the database takes writes again'),
    ),
  }
}

function identityProvider({ idp }: Config): IdentityProvider | undefined {
  const { issuerUrl, clientId, apiKey, claims } = idp
  if (issuerUrl === undefined || clientId === undefined) return undefined
  return new IdentityProvider({ issuerUrl, clientId, clientSecret: apiKey, claims })
}
