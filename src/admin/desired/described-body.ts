/** The operations by which settings are put, and what the schema of one says of a file's words. */

import { tokenIssuerOperations } from '../../auth/issuer-operations.ts'
import { classificationOperations } from '../../contract/classification-operations.ts'
import { lifeCycleOperations } from '../../contract/lifecycle/operations.ts'
import { oversightOperations } from '../../contract/oversight-operations.ts'
import type { Operation } from '../../core/operation.ts'
import { classifierOperations } from '../../detection/classifier-operations.ts'
import type { ReadableSchema } from '../../http/read-value.ts'
import { storedOperationOperations } from '../../server/graphql/operations.ts'
import { findsOperation } from '../find-operation.ts'
import { operationNamed } from '../operations.ts'

const further = findsOperation([
  ...oversightOperations,
  ...classificationOperations,
  ...lifeCycleOperations,
  ...classifierOperations,
  ...tokenIssuerOperations,
  ...storedOperationOperations,
] as readonly Operation[])

/** The operation of this name. @throws Error where a kind names one that is not declared */
export function settingOperation(name: string): Operation {
  try {
    return further(name)
  } catch {
    return operationNamed(name)
  }
}

/** What an operation takes, without the members that say of which one it is. */
export function describedBody(operation: string, without: readonly string[] = []): ReadableSchema {
  const { properties = {}, required = [] } = settingOperation(operation).input as ReadableSchema
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !without.includes(name))),
    required: required.filter((name) => !without.includes(name)),
  }
}
