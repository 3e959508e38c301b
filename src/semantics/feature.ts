/** The semantic layer over REST, and the job that ends attestations. */

import type { TableStates } from '../catalog/table-states.ts'
import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import type { QueryService } from '../query/query-service.ts'
import { tenantsWithExpired } from '../store/jobs/due-tenants.ts'
import { endExpired } from '../store/semantics/attestations.ts'
import { connectionFileOperations } from './connection-file-operation.ts'
import type { InterchangeCodec } from './interchange/codec.ts'
import { interchangeOperations } from './interchange/operations.ts'
import type { MdxEvaluator } from './mdx/evaluator.ts'
import { mdxOperations } from './mdx/explain-operation.ts'
import { semanticOperations } from './operations.ts'

interface SemanticNeeds {
  readonly states: TableStates
  readonly queries: QueryService
  readonly interchange: InterchangeCodec
  readonly evaluator: MdxEvaluator
  /** Of the XMLA listener; undefined where it is not served. */
  readonly xmlaUrl: () => URL | undefined
}

/** The semantic layer. @param needs the service that runs statements, and the threads of the layer */
export function semanticFeature(core: Core, needs: SemanticNeeds): Feature {
  const { store } = core
  return {
    operations: [
      ...bind(semanticOperations, { ...core, ...needs }),
      ...bind(connectionFileOperations, { ...core, ...needs }),
      ...bind(mdxOperations, { ...core, ...needs }),
      ...bind(interchangeOperations, { ...core, ...needs }),
    ],
    jobs: [
      {
        name: 'end-attestations',
        schedule: '* * * * *',
        async run(signal) {
          for (const tenant of await tenantsWithExpired(store)) {
            signal.throwIfAborted()
            await endExpired(store, tenant)
          }
        },
      },
    ],
  }
}
