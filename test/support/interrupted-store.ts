/** A store in which another writer acts at a point of a commit: just before a call of the database. */

import type { Store } from '../../src/store/store.ts'

/** Calls that write an intent; on the client surface it is written together with the load of what governs. */
export type IntentCall = 'open_intent' | 'open_keyed_intent' | 'begin_commit' | 'begin_keyed_commit'

/** The store with `act` run before each of these calls. */
export function interruptedStore(
  store: Store,
  act: () => Promise<void>,
  calls: readonly IntentCall[] = ['open_intent', 'open_keyed_intent', 'begin_commit', 'begin_keyed_commit'],
): Store {
  const before = async (name: string) => {
    if ((calls as readonly string[]).includes(name)) await act()
  }
  return {
    ...store,
    async tenantCall(tenant, name, params) {
      await before(name)
      return await store.tenantCall(tenant, name, params)
    },
    async sessionCall(tenant, name, params) {
      await before(name)
      return await store.sessionCall(tenant, name, params)
    },
  }
}
