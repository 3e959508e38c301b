/**
 * Makes what one app keeps of the files that it plans and signs for clients. All of it can be had again, except that a
 * plan was cancelled.
 */

import { Lru } from '../../base/lru.ts'
import { SharedChecks } from '../../base/shared-checks.ts'
import type { RawRead } from '../../core/raw-read.ts'
import type { SnapshotPlan } from '../../engine/iceberg/snapshot-plan.ts'
import { limits } from '../../limits.ts'
import type { PlanTask } from '../../vending/plan/plan-task.ts'
import type { SignSettings } from '../../vending/settings.ts'
import type { FileSet } from '../../vending/sign/file-set.ts'
import type { SignScope } from '../../vending/sign/judge-request.ts'

/** Plans that clients may fetch once more, or cancel. */
const plansMax = 10_000

interface MadePlan {
  /** Its first page. */
  readonly task: PlanTask
  readonly isCancelled: boolean
}

/** What a sign ticket allows now. */
export interface SignStanding {
  readonly settings: SignSettings
  readonly scope: SignScope
  /** What each signature is noted as. */
  readonly read: RawRead
}

export interface ClientFiles {
  /** By id. */
  readonly plans: Lru<string, MadePlan>
  /** By table, state and folders; by bytes. */
  readonly plannedSnapshots: Lru<string, SnapshotPlan>
  /** Files of snapshots that readers have signed, by bytes. */
  readonly signedSnapshots: Lru<string, Promise<FileSet>>
  /** By ticket. */
  readonly signStandings: SharedChecks<SignStanding>
}

/** Empty ones. */
export function clientFiles(): ClientFiles {
  return {
    plans: new Lru(plansMax),
    plannedSnapshots: new Lru(limits.enginePlanBytes),
    signedSnapshots: new Lru(limits.signFilesBytes),
    signStandings: new SharedChecks(),
  }
}
