/** Contracts with their documents, life cycle, policies, tags, pins and checks, and the jobs of check runs. */

import type { SeenRows } from '../core/seen-rows.ts'
import type { SystemReads } from '../core/system-read.ts'
import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { accessJob } from './access/access-job.ts'
import { accessOperations } from './access/operations.ts'
import { adoptOperations } from './adopt/operations.ts'
import { type CheckJobNeeds, checkJobs } from './check-jobs.ts'
import { checkOperations, checkRunOperations } from './checks/operations.ts'
import { reportOperations } from './checks/report-results.ts'
import { classificationOperations } from './classification-operations.ts'
import { coverageJob } from './coverage-digest.ts'
import { coverageOperations } from './coverage-operations.ts'
import { documentOperations } from './document/operations.ts'
import { gitOperations } from './git/operations.ts'
import { inForceOperations } from './in-force-operations.ts'
import { lifeCycleOperations } from './lifecycle/operations.ts'
import { looseningOperations } from './loosening/operations.ts'
import { oversightOperations } from './oversight-operations.ts'
import type { ContractParts } from './parts.ts'
import { pinOperations } from './pin-operations.ts'
import { policyOperations } from './policy-operations.ts'
import { reconcileOperations } from './reconcile/operations.ts'
import { sourceOperations } from './reconcile/source-operations.ts'
import { tableOperations } from './table-operations.ts'
import { tagHistoryOperations } from './tag-history-operations.ts'
import { tagOperations } from './tag-operations.ts'

const contractOperations = [
  ...tableOperations,
  ...documentOperations,
  ...adoptOperations,
  ...lifeCycleOperations,
  ...gitOperations,
  ...inForceOperations,
  ...checkOperations,
  ...reportOperations,
  ...policyOperations,
  ...tagOperations,
  ...pinOperations,
  ...oversightOperations,
  ...classificationOperations,
  ...coverageOperations,
  ...looseningOperations,
]

interface ContractNeeds
  extends Omit<ContractParts, keyof Core>,
    Pick<CheckJobNeeds, 'chatWebhookUrl' | 'baseUrl'> {
  /** Reads what contracts compare, as nobody in particular. */
  readonly reads: SystemReads
  /** Counts what access would show. */
  readonly seenRows: SeenRows
}

/** Contracts. @param needs what they take of the read path and of the settings */
export function contractFeature(core: Core, needs: ContractNeeds): Feature {
  const parts = { ...core, ...needs }
  return {
    operations: [
      ...bind(contractOperations, parts),
      ...bind(accessOperations, parts),
      ...bind([...tagHistoryOperations, ...checkRunOperations], core),
      ...bind(sourceOperations, core),
      ...bind(reconcileOperations, parts),
    ],
    jobs: [...checkJobs(core, { ...needs, wake: needs.checks.wake }), coverageJob(core), accessJob(core)],
  }
}
