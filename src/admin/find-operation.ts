/** Looks operations up by name, for a client that sends a few of them. It imports none. */

import type { Operation } from '../core/operation.ts'

/**
 * A look-up among operations.
 * @returns a function that gives the operation of a name; it throws Error where a command names one that is not declared
 */
export function findsOperation(operations: readonly Operation[]): (name: string) => Operation {
  const byName = new Map(operations.map((operation) => [operation.name, operation]))
  return (name) => {
    const found = byName.get(name)
    if (found === undefined) throw new Error(`no operation is named ${name}`)
    return found
  }
}
