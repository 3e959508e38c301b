/**
 * Declares operations. It gives `run` the types of its input and output, inferred from their schemas, and does nothing
 * else.
 */

import type { TObject, TSchema } from '@sinclair/typebox'
import type { Access, Operation } from '../core/operation.ts'

/** An operation with the parts that it runs with. */
export interface BoundOperation {
  readonly declaration: Operation
  readonly parts: unknown
}

/**
 * Returns a function that declares the operations of a feature.
 * @typeParam Parts what the feature is assembled with
 */
export function operationsOf<Parts>() {
  return <const A extends Access, I extends TObject = TObject, O extends TSchema = TSchema>(
    operation: Operation<Parts, A, I, O>,
  ): Operation<Parts> => operation as Operation<Parts>
}

/** The operations of a feature with the parts that they run with. */
export function bind<Parts>(
  operations: readonly Operation<Parts>[],
  parts: Parts,
): readonly BoundOperation[] {
  return operations.map((declaration) => ({ declaration: declaration as Operation, parts }))
}
