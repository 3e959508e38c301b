/** Explain, reading as another principal, usage and lineage by reading, with the jobs that keep their records. */

import type { TableStates } from '../catalog/table-states.ts'
import type { RequestPage } from '../core/access-hint.ts'
import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { tenantsToRoll } from '../store/jobs/due-tenants.ts'
import { closeDeadQueries } from '../store/query/queries-under-way.ts'
import { forgetReadLineage } from '../store/query/read-lineage.ts'
import { rollUsage } from '../store/query/usage.ts'
import { eachTenant } from '../store/tenant/tenants.ts'
import { asSeenByOperations } from './as-seen-by/operation.ts'
import { explainOperations } from './explain/operation.ts'
import { readLineageOperations } from './lineage/operations.ts'
import type { QueryService } from './query-service.ts'
import { readersOperations } from './readers/operation.ts'
import { usageOperations } from './usage/operations.ts'
import { readOperations } from './usage/read-operations.ts'

interface QueryNeeds {
  readonly states: TableStates
  readonly queries: QueryService
  readonly requestPage: RequestPage
}

/** The read path's operations and jobs. @param needs the service that runs statements */
export function queryFeature(core: Core, needs: QueryNeeds): Feature {
  const { store, log } = core
  return {
    operations: [
      ...bind(explainOperations, { ...core, ...needs }),
      ...bind(asSeenByOperations, { ...core, ...needs }),
      ...bind([...usageOperations, ...readOperations, ...readLineageOperations, ...readersOperations], core),
    ],
    jobs: [
      {
        name: 'close-dead-queries',
        schedule: '* * * * *',
        async run(signal) {
          const count = await closeDeadQueries(store, signal)
          if (count > 0) log.warn({ count }, 'queries of processes that ended were recorded as failed')
        },
      },
      {
        name: 'roll-usage',
        schedule: '* * * * *',
        async run(signal) {
          for (const tenant of await tenantsToRoll(store)) await rollUsage(store, tenant, signal)
        },
      },
      {
        name: 'forget-read-lineage',
        schedule: '41 4 * * *',
        async run(signal) {
          for await (const tenant of eachTenant(store, signal)) await forgetReadLineage(store, tenant)
        },
      },
    ],
  }
}
