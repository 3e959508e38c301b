/**
 * Runs a service in a process of its own, which dies by SIGKILL at the chosen point. Takes its orders from the
 * variable CRASH_CHILD, and prints one line when it is ready.
 */

import { join } from 'node:path'
import type { TenantId } from '../../src/core/tenant.ts'
import type { CrashPoint } from '../../src/gateway/base/crash-points.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { openStore } from '../../src/store/store.ts'
import { approveCovering } from './covered.ts'
import { startCrashService } from './crash-service.ts'
import { equipTenant, orders as ordersTable, type TestTenant } from './service.ts'
import { observeTerritory } from './spare-tenants.ts'
import { testStoreOptions } from './store.ts'

export interface CrashChildOrders {
  readonly dataDirectory: string
  /** A data directory with the tenant in it. */
  readonly template: string
  /** Set on the first start: equips the tenant, with a policy that denies commits of the property `forbidden`. */
  readonly equip?: {
    readonly tenant: TenantId
    readonly catalogUrl: string
    /** Further members of `config_json`. */
    readonly config?: Readonly<Record<string, unknown>>
  }
  /** Puts sales.orders of this tenant under a contract whose second version is approved. */
  readonly approveCovering?: TenantId
  readonly crashAt?: CrashPoint
  /** The how manieth pass of that point it is; 1 where absent. */
  readonly crashAtPass?: number
}

export interface CrashChildReady {
  readonly url: string
  readonly owner?: TestTenant
}

async function main(orders: CrashChildOrders): Promise<void> {
  const { dataDirectory, template, equip } = orders
  const store = await openStore({ ...testStoreOptions, dataDirectory, template })
  // Its commits name manifest lists that do not exist.
  if (equip) await observeTerritory(store, equip.tenant)
  const owner = equip && (await equipTenant(store, equip.tenant, 'acme', equip.catalogUrl, equip.config))
  if (owner !== undefined)
    await putPolicy(store, owner.tenant, ordersTable, {
      id: 'no-forbidden',
      kind: 'schema',
      mode: 'enforce',
      name: 'no-forbidden',
      message: '',
      definitionCel: '!("forbidden" in commit.result.properties)',
    })
  if (orders.approveCovering !== undefined) await approveCovering(store, orders.approveCovering)
  let passesLeft = orders.crashAtPass ?? 1
  const app = await startCrashService(store, join(dataDirectory, 'journal'), (point) => {
    if (point === orders.crashAt && --passesLeft === 0) process.kill(process.pid, 'SIGKILL')
  })
  console.log(JSON.stringify({ url: app.url.href, ...(owner && { owner }) } satisfies CrashChildReady))
}

if (import.meta.main) await main(JSON.parse(process.env.CRASH_CHILD ?? '') as CrashChildOrders)
