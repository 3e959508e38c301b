/** A store on which statements of a chosen kind fail, as if the database had just gone away. */

import { Fault } from '../../src/base/fault.ts'
import type { Store } from '../../src/store/store.ts'

/** Every statement whose text matches `pattern` fails; all others reach the real store. */
export function failingStore(store: Store, pattern: RegExp): Store {
  const refuse = (text: string) => {
    if (pattern.test(text)) throw new Fault('unavailable', 'The database is not available.')
  }
  return {
    ...store,
    async tenantQuery(tenant, text, params, options) {
      refuse(text)
      return await store.tenantQuery(tenant, text, params, options)
    },
    async tenantCall(tenant, name, params) {
      refuse(`svc.${name}`)
      return await store.tenantCall(tenant, name, params)
    },
    async adminCall(name, params) {
      refuse(`svc.${name}`)
      return await store.adminCall(name, params)
    },
    async sessionCall(expected, name, params) {
      refuse(`svc.${name} find_service_session open_intent open_keyed_intent load_policies`)
      return await store.sessionCall(expected, name, params)
    },
    adminTransaction: (work, options) =>
      store.adminTransaction(
        (tx) =>
          work({
            ...tx,
            async query(text, params, queryOptions) {
              refuse(text)
              return await tx.query(text, params, queryOptions)
            },
          }),
        options,
      ),
    tenantTransaction: (tenant, work, options) =>
      store.tenantTransaction(
        tenant,
        (tx) =>
          work({
            ...tx,
            async query(text, params, queryOptions) {
              refuse(text)
              return await tx.query(text, params, queryOptions)
            },
          }),
        options,
      ),
  }
}
