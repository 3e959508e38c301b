/** Starts the recurring jobs and holds their schedules. Each feature implements its own. */

import type { Logger } from 'pino'
import { type LastLooks, rememberLooks } from '../base/last-looks.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { TableStates } from '../catalog/table-states.ts'
import { type ReportParts, reportEndedRuns } from '../contract/checks/report-breach.ts'
import { settleDeployments } from '../contract/lifecycle/settle-deployment.ts'
import { scheduleChecks } from '../contract/quality/schedule-checks.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Detection } from '../detection/start-detection.ts'
import type { GatewayParts } from '../gateway/base/parts.ts'
import { recoverIntents } from '../gateway/recovery/recover-intents.ts'
import { advanceReplays, type ReplayParts } from '../gateway/replay/advance-replays.ts'
import { auditManifests } from '../gateway/territory/audit-manifests.ts'
import { sweepTerritories } from '../gateway/territory/sweep.ts'
import { checkStaged } from '../gateway/vending/check-staged.ts'
import { limits } from '../limits.ts'
import type { LineageReceiver } from '../lineage/receiver.ts'
import { rememberPending, retryLineage } from '../lineage/retry.ts'
import { sweepLineage } from '../lineage/sweep.ts'
import { checkPolicies } from '../query/compile/protect/protect.ts'
import { type Jobs, startJobs } from '../server/jobs.ts'
import { tenantsDeploying } from '../store/check/check-runs.ts'
import { removeExpiredKeys } from '../store/commit/idempotency-keys.ts'
import { keepMonths } from '../store/history/months.ts'
import { removedKinds, removeExpired } from '../store/history/remove-expired.ts'
import { tenantsToRoll, tenantsWithContracts, tenantsWithExpired } from '../store/jobs/due-tenants.ts'
import { findJobGauge, putJobGauge } from '../store/jobs/job-gauges.ts'
import { reconcileTenant, withReplicaLock } from '../store/jobs/reconcile.ts'
import { closeDeadQueries } from '../store/query/queries-under-way.ts'
import { forgetReadLineage } from '../store/query/read-lineage.ts'
import { rollUsage } from '../store/query/usage.ts'
import { endExpired } from '../store/semantics/attestations.ts'
import { rotateSigningKeys } from '../store/session/signing-keys.ts'
import type { Store } from '../store/store.ts'
import { eachTenant } from '../store/tenant/tenants.ts'
import { forgetVended } from '../store/vended/vended-credentials.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { pruneWebhooks } from '../webhook/prune.ts'

interface JobParts {
  readonly gateway: GatewayParts
  readonly replayWorker: ReplayParts['replayWorker']
  readonly lineage: LineageReceiver
  readonly detection: Detection
  /** Which addresses storage may have. */
  readonly addressRules: AddressRules
  readonly checks: EndedRunParts & { readonly wake: () => void }
  /** Whether their schedules start them; else only `run` does. */
  readonly byTime: boolean
}

/** Starts every job of the service, on one replica at a time. */
export function startAllJobs(parts: JobParts): Jobs {
  const { gateway, replayWorker, lineage, detection, checks, addressRules, byTime } = parts
  const { store, metrics, log, commits } = gateway
  const lineageLooks = rememberPending()
  const scheduleLooks = rememberLooks<TenantId>()
  return startJobs(
    [
      {
        name: 'recover-intents',
        schedule: '*/10 * * * * *',
        run: async (signal) => void (await recoverIntents(gateway, signal)),
        gauge: metrics.commitIntents,
      },
      {
        name: 'reconcile',
        schedule: '7 * * * *',
        run: (signal) => reconcile(store, metrics, log, signal),
        gauge: metrics.reconciliationCoverage,
      },
      {
        name: 'rotate-signing-keys',
        schedule: '23 3 * * *',
        run: async () => void (await rotateSigningKeys(store)),
      },
      {
        name: 'forget-credentials',
        schedule: '41 3 * * *',
        run: async (signal) => {
          for await (const tenant of eachTenant(store, signal)) await forgetVended(store, tenant)
        },
      },
      {
        name: 'check-staged',
        schedule: '*/10 * * * *',
        run: (signal) => checkStaged({ ...gateway, addressRules }, signal),
      },
      {
        name: 'close-dead-queries',
        schedule: '* * * * *',
        run: async (signal) => {
          const count = await closeDeadQueries(store, signal)
          if (count > 0) log.warn({ count }, 'queries of processes that ended were recorded as failed')
        },
      },
      {
        name: 'keep-months',
        schedule: '11 2 * * *',
        run: async () => void (await keepMonths(store)),
      },
      {
        name: 'remove-expired',
        schedule: '29 * * * *',
        run: (signal) => removeAllExpired(store, metrics, log, signal),
      },
      {
        name: 'roll-usage',
        schedule: '* * * * *',
        run: async (signal) => {
          for (const tenant of await tenantsToRoll(store)) await rollUsage(store, tenant, signal)
        },
      },
      {
        name: 'sweep-territory',
        schedule: '* * * * *',
        run: (signal) => sweepTerritories(gateway, signal),
      },
      {
        name: 'audit-manifests',
        schedule: '*/10 * * * * *',
        run: (signal) => auditManifests(gateway, signal),
        gauge: metrics.manifestChecksPending,
      },
      {
        name: 'replay-policies',
        schedule: '*/30 * * * * *',
        run: (signal) => advanceReplays({ ...gateway, replayWorker }, signal),
      },
      {
        name: 'retry-lineage',
        schedule: '* * * * *',
        run: (signal) => retryLineage(lineage, lineageLooks, signal),
        gauge: metrics.lineagePending,
      },
      {
        name: 'sweep-lineage',
        schedule: '23 * * * *',
        run: (signal) => sweepLineage(lineage.parts, signal),
        gauge: metrics.lineageCycles,
      },
      { name: 'prune-webhooks', schedule: '41 * * * *', run: (signal) => pruneWebhooks(store, signal) },
      {
        name: 'end-attestations',
        schedule: '* * * * *',
        run: async (signal) => {
          for (const tenant of await tenantsWithExpired(store)) {
            signal.throwIfAborted()
            await endExpired(store, tenant)
          }
        },
      },
      {
        name: 'forget-read-lineage',
        schedule: '41 4 * * *',
        run: async (signal) => {
          for await (const tenant of eachTenant(store, signal)) await forgetReadLineage(store, tenant)
        },
      },
      {
        name: 'schedule-checks',
        schedule: '*/15 * * * * *',
        run: (signal) => scheduleAllChecks(gateway, checks, scheduleLooks, signal),
      },
      {
        name: 'report-checks',
        schedule: '*/10 * * * * *',
        run: (signal) => finishEndedRuns(gateway, checks, signal),
      },
      {
        name: 'poll-snapshots',
        schedule: `*/${limits.detectionPollMs / 1_000} * * * * *`,
        run: (signal) => detection.poller.poll(signal),
      },
    ],
    (name, work) => withReplicaLock(store, name, work),
    { keep: (job, value) => putJobGauge(store, job, value), find: (job) => findJobGauge(store, job) },
    commits,
    log,
    byTime,
  )
}

type EndedRunParts = Pick<ReportParts, 'chatWebhookUrl' | 'baseUrl'> & { readonly states: TableStates }

/** Requests the check runs that schedules and commits make due. */
async function scheduleAllChecks(
  { store, clock, log }: GatewayParts,
  { states, wake }: JobParts['checks'],
  looks: LastLooks<TenantId>,
  signal: AbortSignal,
): Promise<void> {
  const contracts = await tenantsWithContracts(store)
  looks.keepOnly(new Set(contracts.keys()))
  for (const [tenant, versions] of contracts) {
    signal.throwIfAborted()
    if (!looks.isDue(tenant, versions)) continue
    try {
      const schedules = await scheduleChecks({ store, states, clock, log }, tenant)
      if (schedules === 0) looks.note(tenant, versions)
    } catch (err) {
      signal.throwIfAborted()
      log.error({ err, tenant }, 'the checks of a tenant could not be scheduled; the next run retries')
    }
  }
  wake()
}

/** Ends deployments whose runs have ended, also those that a process left when it died, and reports breaches. */
async function finishEndedRuns(
  { store, log, clock }: GatewayParts,
  { states, ...report }: EndedRunParts,
  signal: AbortSignal,
): Promise<void> {
  for (const tenant of await tenantsDeploying(store)) {
    signal.throwIfAborted()
    await settleDeployments({ store, states, clock, checkPolicies }, tenant).catch((err: unknown) =>
      log.error({ err, tenant }, 'a deployment could not be ended; the next run retries'),
    )
  }
  await reportEndedRuns({ store, log, ...report }, signal)
}

/** Removes what settings and holds allow, of every tenant. */
async function removeAllExpired(
  store: Store,
  metrics: Metrics,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const tenant of eachTenant(store, signal)) {
    await removeExpiredKeys(store, tenant, signal).catch((err: unknown) => {
      signal.throwIfAborted()
      log.error({ err, tenant }, 'expired Idempotency-Keys could not be removed; the next run retries')
    })
    for (const kind of removedKinds)
      try {
        const count = await removeExpired(store, tenant, kind, signal)
        if (count === 0) continue
        metrics.historyRemoved.inc({ kind }, count)
        log.info({ tenant, kind, count }, 'history past its retention was removed')
      } catch (err) {
        signal.throwIfAborted()
        log.error(
          { err, tenant, kind },
          'history past its retention could not be removed; the next run retries',
        )
      }
  }
}

/**
 * Compares the graph of each tenant with its relational projection. Drift is a `breach` (docs/reference/operations.md
 * 3.2).
 */
async function reconcile(store: Store, metrics: Metrics, log: Logger, signal: AbortSignal): Promise<void> {
  let covered = 1
  for await (const tenant of eachTenant(store, signal)) {
    try {
      covered = Math.min(covered, await reconcileOne(store, tenant, metrics, log, signal))
    } catch (err) {
      signal.throwIfAborted()
      covered = 0
      // The other tenants must still be compared.
      log.error({ err, tenant }, 'a tenant could not be reconciled; the next run retries')
    }
  }
  metrics.reconciliationCoverage.set(covered)
}

/** @returns the share of the tenant's history that was compared within a week */
async function reconcileOne(
  store: Store,
  tenant: TenantId,
  metrics: Metrics,
  log: Logger,
  signal: AbortSignal,
): Promise<number> {
  const { breaches, coverage } = await reconcileTenant(store, tenant, signal)
  for (const breach of breaches) {
    if (!breach.isNew) continue
    metrics.reconciliationBreaches.inc()
    log.error({ breach }, 'breach: the graph and its relational projection differ')
  }
  return coverage
}
