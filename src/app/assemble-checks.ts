/** Assembles check runs: their kinds, the runner, and what ends a deployment. A further kind has its place here. */

import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { TableStates } from '../catalog/table-states.ts'
import { CheckRunner } from '../contract/checks/check-runner.ts'
import type { CheckService } from '../contract/checks/plan-deployment.ts'
import { settleDeployment } from '../contract/lifecycle/settle-deployment.ts'
import { qualityKind } from '../contract/quality/quality-kind.ts'
import { reconcileKind } from '../contract/reconcile/reconcile-kind.ts'
import type { SystemReads } from '../core/system-read.ts'
import type { EngineKinds } from '../engine/engine-kinds.ts'
import { checkPolicies } from '../query/compile/protect/protect.ts'
import { systemReads } from '../query/run/system-reads.ts'
import type { Store } from '../store/store.ts'
import type { CheckMetrics } from '../telemetry/check-metrics.ts'

interface CheckParts {
  readonly store: Store
  readonly states: TableStates
  readonly engines: EngineKinds
  /** Which addresses PostgreSQL sources may have. */
  readonly addressRules: AddressRules
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: CheckMetrics
  /** Whether the runner looks at the queue by itself; else only `runDue` does. */
  readonly byTime: boolean
}

export interface Checks extends CheckService {
  readonly runner: CheckRunner
  readonly reads: SystemReads
}

/** Milliseconds between two looks of a process at the queue of check runs. */
const lookMs = 5_000

/** The check runs of a service. */
export function assembleChecks(parts: CheckParts): Checks {
  const { store, states, engines, addressRules, clock, log, metrics, byTime } = parts
  const reads = systemReads({ store, states, clock, engines, log })
  const kinds = [qualityKind(clock), reconcileKind({ store, reads, addressRules })]
  const runner = new CheckRunner({
    ...{ store, log, metrics, kinds, lookMs: byTime ? lookMs : 0 },
    reads,
    onEnd: async ({ tenant, contract, number, cause }) => {
      const deployment = { store, states, clock, checkPolicies }
      if (cause === 'deploy') await settleDeployment(deployment, tenant, { contract, number })
    },
  })
  return { kinds, runner, reads, wake: () => void (byTime && runner.runDue()) }
}
