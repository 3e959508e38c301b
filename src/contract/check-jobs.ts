/** The jobs of check runs: those that schedules and commits make due, and what follows when runs have ended. */

import { type LastLooks, rememberLooks } from '../base/last-looks.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Core, Job } from '../http/feature.ts'
import { tenantsDeploying } from '../store/check/check-runs.ts'
import { tenantsWithContracts } from '../store/jobs/due-tenants.ts'
import type { CheckPolicies } from './change.ts'
import { type ReportParts, reportEndedRuns } from './checks/report-breach.ts'
import { settleDeployments } from './lifecycle/settle-deployment.ts'
import { scheduleChecks } from './quality/schedule-checks.ts'

export interface CheckJobNeeds extends Pick<ReportParts, 'chatWebhookUrl' | 'baseUrl'> {
  readonly states: TableStates
  readonly checkPolicies: CheckPolicies
  /** Has the runner look at its queue. */
  readonly wake: () => void
}

/** The jobs, with what one run remembers for the next. */
export function checkJobs(core: Core, needs: CheckJobNeeds): readonly Job[] {
  const looks = rememberLooks<TenantId>()
  return [
    {
      name: 'schedule-checks',
      schedule: '*/15 * * * * *',
      run: (signal) => scheduleAllChecks(core, needs, looks, signal),
    },
    {
      name: 'report-checks',
      schedule: '*/10 * * * * *',
      run: (signal) => finishEndedRuns(core, needs, signal),
    },
  ]
}

/** Requests the check runs that schedules and commits make due. */
async function scheduleAllChecks(
  { store, clock, log }: Core,
  { states, wake }: CheckJobNeeds,
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
  { store, log, clock }: Core,
  { states, checkPolicies, chatWebhookUrl, baseUrl }: CheckJobNeeds,
  signal: AbortSignal,
): Promise<void> {
  for (const tenant of await tenantsDeploying(store)) {
    signal.throwIfAborted()
    await settleDeployments({ store, states, clock, checkPolicies }, tenant).catch((err: unknown) =>
      log.error({ err, tenant }, 'a deployment could not be ended; the next run retries'),
    )
  }
  await reportEndedRuns({ store, log, chatWebhookUrl, baseUrl }, signal)
}
