/** Asks a running service about settings, and has it change them: for the session's own tenant, or as the operator. */

import { tenantNameOf } from '../../auth/administration/tenant-operations.ts'
import { openHttpClient } from '../http-client.ts'
import { pagesOf } from '../pages.ts'
import type { ServiceAddress } from '../service-address.ts'
import { settingOperation } from './described-body.ts'
import type { AskFor } from './desired-plan.ts'

/** Operations of the session's own tenant whose name under /admin is not made by the rule for all others. */
const operatorNames: Readonly<Record<string, string>> = {
  list_own_sessions: 'list_sessions',
  mint_own_session: 'mint_session',
  end_own_session: 'end_session',
}
/** Those that have one name for both. */
const ofBoth = ['list_catalogs', 'put_catalog', 'try_catalog', 'remove_catalog', 'get_own_session']

/** Milliseconds for one request; a catalog is tried by one. */
const requestMs = 120_000

/** The service at an address. Every request ends when `signal` aborts. */
export function openSettingsService(address: ServiceAddress, signal: AbortSignal): AskFor {
  const client = openHttpClient(address, { named: settingOperation, signal, requestMs })
  return (side, tenant) => {
    const named = (operation: string) => {
      if (side !== 'tenant' || ofBoth.includes(operation)) return operation
      return operatorNames[operation] ?? tenantNameOf(operation)
    }
    const whole = (input: object) => ({ ...input, ...(side === 'tenant' && { tenant }) })
    return {
      run: (operation, input = {}) => client.run(named(operation), whole(input)),
      async every<Item>(operation: string, input = {}) {
        const items: Item[] = []
        for await (const page of pagesOf(client, named(operation), whole({ limit: 200, ...input })))
          items.push(...(page as readonly Item[]))
        return items
      },
    }
  }
}
