/** Metrics as modellers know them, over REST: with filters by joined tables, by entities, and conversions. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { ask } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { ordersTable, regionsTable } from '../support/lake-tables.ts'
import { licenseForAll } from '../support/license.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(120_000)

let lake: Lake
let steward: string
let stranger: string

beforeAll(async () => {
  lake = await startLake({ tables: [ordersTable, regionsTable], env: { SVC_LICENSE: licenseForAll() } })
  const open = async (sub: string, tenant = lake.tenant) => {
    const session = { name: sub, principal: { sub, roles: ['steward'] }, scopes: ['read', 'admin'] as const }
    return (await createServiceSession(lake.store, tenant, session)).secret
  }
  steward = await open('stella')
  stranger = await open('stan', (await makeTenant(lake.store, { name: 'foreign' })).id)
  await put('/api/v1/semantics/tables/sales/regions', {
    ...{ key: ['name'], entity: 'area' },
    dimensions: [{ name: 'initial', expression: 'upper(left(name, 1))' }],
  })
  const to = { namespace: ['sales'], name: 'regions' }
  await put('/api/v1/semantics/tables/sales/orders', {
    ...{ key: ['id'], entity: 'order', time_dimension: 'day' },
    dimensions: [{ name: 'region' }, { name: 'day', kind: 'time' }],
    relationships: [{ name: 'area', to, columns: ['region'], to_columns: ['name'] }],
  })
  const filters = { all_orders: undefined, northern: "area__initial = 'N'", large: 'amount > 50' }
  for (const [name, filter] of Object.entries(filters))
    await put(`/api/v1/metrics/${name}`, { table: orders, expression: 'count(*)', filter })
})
afterAll(() => lake[Symbol.asyncDispose]())

const orders = { namespace: ['sales'], name: 'orders' }

async function put(path: string, body: object) {
  const { status, body: answer } = await ask(lake, 'PUT', path, steward, body)
  if (status >= 300) throw new Error(JSON.stringify(answer))
  return answer
}

const query = (secret: string, body: object) =>
  ask(lake, 'POST', '/api/v1/metrics/query', secret, { catalog: lake.catalog, ...body })

test('a filter reads a joined table, whose columns the metric inherits', async () => {
  const { body } = await query(steward, {
    metrics: ['northern', 'all_orders'],
    dimensions: [{ name: 'region' }],
  })
  const rows = body.rows as readonly (readonly [string, string, string])[]
  expect(rows.length).toBeGreaterThan(1)
  const shown = rows.map(([region, northern]) => [region, String(northern)])
  expect(shown).toEqual(rows.map(([region, , all]) => [region, region.startsWith('n') ? String(all) : '0']))
})

test('an entity groups, and a metric says by which it can be', async () => {
  const { body } = await ask(lake, 'GET', '/api/v1/metrics/all_orders', steward)
  expect(body.entities).toEqual(['order', 'area'])
  const grouped = await query(steward, { metrics: ['all_orders'], dimensions: [{ name: 'area' }] })
  const plain = await query(steward, { metrics: ['all_orders'], dimensions: [{ name: 'region' }] })
  expect(grouped.body.rows).toEqual(plain.body.rows)
})

test('a conversion is saved where it can be computed, and refused with what is wrong', async () => {
  const given = { kind: 'conversion', base: 'all_orders', conversion: 'large', entity: 'area' }
  const saved = await put('/api/v1/metrics/led', { ...given, window: { count: 7, grain: 'day' } })
  expect(saved).toMatchObject({ ...given, calculation: 'rate', window: { count: 7, grain: 'day' } })
  expect((await query(steward, { metrics: ['led'] })).status).toBe(200)
  const refused = async (change: object) => {
    const { status, body } = await ask(lake, 'PUT', '/api/v1/metrics/led', steward, { ...given, ...change })
    return `${status} ${JSON.stringify(body)}`
  }
  expect(await refused({ entity: 'nobody' })).toContain('422')
  expect(await refused({ entity: 'nobody' })).toContain('no entity of sales.orders itself')
  expect(await refused({ conversion: 'northern' })).toContain('area__initial of another table')
  expect(await refused({ base: 'led' })).toContain('422')
})

test('a dimension that a filter reads is not removed from the other table', async () => {
  const { status } = await ask(lake, 'PUT', '/api/v1/semantics/tables/sales/regions', steward, {
    ...{ key: ['name'], entity: 'area', dimensions: [{ name: 'other', expression: 'upper(name)' }] },
  })
  expect(status).toBe(422)
})

test('another tenant knows none of it', async () => {
  for (const name of ['northern', 'led']) {
    expect((await ask(lake, 'GET', `/api/v1/metrics/${name}`, stranger)).status).toBe(404)
    expect((await query(stranger, { metrics: [name] })).status).toBeGreaterThanOrEqual(400)
  }
})
