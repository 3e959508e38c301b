/** A store of which a call of choice fails, and with it, where asked, all calls after it, as in an outage. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { toStoreFault } from '../../src/store/database/store-fault.ts'
import type { Store } from '../../src/store/store.ts'

/** What a database or the way to it says, as the driver throws it. */
export const storeFailures = {
  'connection refused': { code: 'ECONNREFUSED' },
  'time-out': { code: '57014' },
  'role lost': { code: '42501', routine: 'aclcheck_error' },
  'unknown function': { code: '42883' },
  'forgotten statement': { code: '26000' },
} as const
export type StoreFailure = keyof typeof storeFailures

export interface Failing {
  /** Which of the calls from now on fails; 0 is the next. */
  readonly at: number
  readonly failure: StoreFailure
  /** Whether all calls after it fail too. */
  readonly stays: boolean
  /** Whether only calls count that work given to `within` makes. Default: false, those of the background count as well. */
  readonly ofWork?: boolean
}

export interface FaultyStore {
  /** The store of the service: `wrapStore` of a test service. */
  readonly wrap: (store: Store) => Store
  readonly fail: (failing: Failing) => void
  /** Runs work whose calls alone count where `ofWork` is asked for. */
  readonly within: <T>(work: () => T) => T
  /** Ends the failures. @returns whether any call has failed since `fail` */
  readonly heal: () => boolean
}

/** Makes the wrapper; until `fail` is called, all calls reach the real store. */
export function faultyStore(): FaultyStore {
  let [failing, calls, hasFailed]: [Failing | undefined, number, boolean] = [undefined, 0, false]
  const working = new AsyncLocalStorage<true>()
  const pass = () => {
    if (failing === undefined || (failing.ofWork && !working.getStore())) return
    const { at, failure, stays } = failing
    const call = calls++
    if (call !== at && !(stays && call > at)) return
    hasFailed = true
    throw toStoreFault(Object.assign(new Error(failure), storeFailures[failure]))
  }
  const passing =
    <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      pass()
      return await work(...args)
    }
  return {
    wrap: (store) => ({
      ...store,
      tenantQuery: passing(store.tenantQuery) as Store['tenantQuery'],
      adminQuery: passing(store.adminQuery) as Store['adminQuery'],
      tenantCall: passing(store.tenantCall) as Store['tenantCall'],
      adminCall: passing(store.adminCall) as Store['adminCall'],
      sessionCall: passing(store.sessionCall) as Store['sessionCall'],
      tenantTransaction: (tenant, work, options) =>
        store.tenantTransaction(
          tenant,
          (tx) => work({ ...tx, query: passing(tx.query.bind(tx)) as typeof tx.query }),
          options,
        ),
      adminTransaction: (work, options) =>
        store.adminTransaction(
          (tx) => work({ ...tx, query: passing(tx.query.bind(tx)) as typeof tx.query }),
          options,
        ),
    }),
    fail(next) {
      ;[failing, calls, hasFailed] = [next, 0, false]
    },
    within: (work) => working.run(true, work),
    heal() {
      failing = undefined
      return hasFailed
    },
  }
}
