/** Counts the statements that a service sends to its store. */

import type { Store } from '../../src/store/store.ts'

export interface CountedStore {
  /** The store of the service that is counted: `wrapStore` of a test service. */
  readonly wrap: (store: Store) => Store
  /** Statements since the last call. */
  readonly take: () => number
}

/** Counts what goes to the database. */
export function countStatements(): CountedStore {
  let statements = 0
  const counting =
    <A extends readonly unknown[], R>(work: (...args: A) => R) =>
    (...args: A): R => {
      statements += 1
      return work(...args)
    }
  return {
    wrap: (store) => ({
      ...store,
      tenantQuery: counting(store.tenantQuery) as Store['tenantQuery'],
      tenantCall: counting(store.tenantCall) as Store['tenantCall'],
      tenantTransaction: (tenant, work, options) =>
        store.tenantTransaction(
          tenant,
          (tx) => work({ ...tx, query: counting(tx.query.bind(tx)) as typeof tx.query }),
          options,
        ),
    }),
    take() {
      const taken = statements
      statements = 0
      return taken
    },
  }
}
