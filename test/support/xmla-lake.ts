/** A lake with a cube, served over XMLA to two principals of its tenant and one of another. */

import { putMask } from '../../src/contract/put-mask.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { actorOf } from './actor.ts'
import { type Lake, type LakeOptions, startLake } from './lake.ts'
import { ordersTable, regionsTable } from './lake-tables.ts'
import { licenseForAll } from './license.ts'
import { declaringAs, openSteward } from './semantic-layer.ts'
import { makeTenant } from './spare-tenants.ts'
import type { XmlaClientOptions } from './xmla.ts'

export interface XmlaLake {
  readonly lake: Lake
  /** Sees every row and value. */
  readonly ann: XmlaClientOptions
  /** Row filters and masks apply, and a mask empties the hierarchy `note`. */
  readonly bob: XmlaClientOptions
  /** Of another tenant. */
  readonly stranger: XmlaClientOptions
  /** The secret of a steward. */
  readonly steward: string
}

/** Starts it, with the cube `sales.orders`: revenue and buyers by region, email, day and note. */
export async function startXmlaLake(options: LakeOptions = {}): Promise<XmlaLake> {
  const lake = await startLake({
    ...options,
    tables: options.tables ?? [ordersTable, regionsTable],
    env: { SVC_LICENSE: licenseForAll() },
  })
  const orders = { namespace: ['sales'], name: 'orders' }
  const client = (user: string, secret: string): XmlaClientOptions => ({
    ...{ port: lake.app.xmlaPort ?? 0, catalog: lake.catalog, user, secret },
  })
  const steward = await openSteward(lake)
  const put = declaringAs(lake, steward)
  await put('/api/v1/semantics/tables/sales/regions', { key: ['name'], dimensions: [{ name: 'name' }] })
  await put('/api/v1/semantics/tables/sales/orders', {
    key: ['id'],
    time_dimension: 'day',
    dimensions: [{ name: 'region' }, { name: 'email' }, { name: 'day', kind: 'time' }, { name: 'note' }],
  })
  await put('/api/v1/metrics/revenue', { table: orders, expression: 'sum(amount)', format: '#,##0.00' })
  await put('/api/v1/metrics/buyers', { table: orders, expression: 'count(DISTINCT email)' })
  await putMask(
    { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies },
    { table: orders, column: 'note' },
    { id: 'empty-note', action: 'replace-with-null', exemptRoles: ['officer'] },
  )
  const foreign = (await makeTenant(lake.store, { name: 'foreign' })).id
  return {
    ...{ lake, steward, ann: client('ann', lake.env.PGPASSWORD) },
    bob: client('bob', lake.restricted.PGPASSWORD),
    stranger: client('stan', await openSteward(lake, foreign, 'stan')),
  }
}
