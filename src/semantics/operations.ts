/** Lists the operations of the semantic layer. */

import { attestationOperations } from './attestation-operations.ts'
import { cubeOperations } from './cube-operations.ts'
import { glossaryOperations } from './glossary-operations.ts'
import { metricOperations } from './metric-operations.ts'
import { modelOperations } from './model-operations.ts'
import { metricQueryOperations } from './query-operation.ts'

export const semanticOperations = [
  ...modelOperations,
  ...glossaryOperations,
  ...metricOperations,
  ...attestationOperations,
  ...metricQueryOperations,
  ...cubeOperations,
]
