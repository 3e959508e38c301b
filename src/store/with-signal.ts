/** A store whose statements end with a signal, for a request that only reads. A change must not be given one. */

import type { Store } from './store.ts'

const origins = new WeakMap<Store, Store>()

/**
 * Binds the reads of a request to its signal. A call of a function that enters the tenant itself is one short message:
 * it is not begun once the signal has aborted, and not stopped.
 */
export function withSignal(store: Store, signal: AbortSignal): Store {
  const bound: Store = {
    ...store,
    tenantQuery: (of, text, params, options) => store.tenantQuery(of, text, params, { signal, ...options }),
    tenantTransaction: (of, work, options) => store.tenantTransaction(of, work, { signal, ...options }),
    async tenantCall(of, name, params) {
      signal.throwIfAborted()
      return await store.tenantCall(of, name, params)
    },
  }
  origins.set(bound, store)
  return bound
}

/** The store that was bound, or this one: what caches are kept by. */
export function originOf(store: Store): Store {
  return origins.get(store) ?? store
}
