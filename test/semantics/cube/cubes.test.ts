/** The cubes of a lake, as each principal may learn of them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { buildCubes } from '../../../src/semantics/cube/build-cubes.ts'
import { actorOf } from '../../support/actor.ts'
import { ask } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { ordersTable, regionsTable } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { declaringAs, openSteward } from '../../support/semantic-layer.ts'
import { makeTenant } from '../../support/spare-tenants.ts'

setDefaultTimeout(120_000)

let lake: Lake
let stranger: string
const on = () => ({ store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies })
const orders = { namespace: ['sales'], name: 'orders' }
const regions = { namespace: ['sales'], name: 'regions' }

beforeAll(async () => {
  lake = await startLake({ tables: [ordersTable, regionsTable], env: { SVC_LICENSE: licenseForAll() } })
  stranger = await openSteward(lake, (await makeTenant(lake.store, { name: 'foreign' })).id, 'stan')
  const put = declaringAs(lake, await openSteward(lake))
  await put('/api/v1/semantics/tables/sales/regions', { key: ['name'], dimensions: [{ name: 'name' }] })
  await put('/api/v1/semantics/tables/sales/orders', {
    key: ['id'],
    time_dimension: 'day',
    dimensions: [
      { name: 'region', label: 'Region' },
      { name: 'email' },
      { name: 'day', kind: 'time' },
      { name: 'big', expression: 'amount > 50' },
    ],
    relationships: [{ name: 'area', to: regions, columns: ['region'], to_columns: ['name'] }],
  })
  await put('/api/v1/metrics/revenue', {
    ...{ table: orders, expression: 'sum(amount)', label: 'Revenue' },
    ...{ unit: 'EUR', format: '#,##0.00' },
  })
  await put('/api/v1/metrics/buyers', { table: orders, expression: 'count(DISTINCT email)' })
  await put('/api/v1/metrics/so_far', { kind: 'cumulative', of: 'revenue' })
})
afterAll(() => lake[Symbol.asyncDispose]())

const cubesFor = (roles: readonly string[], tenant = lake.tenant) =>
  buildCubes({
    ...{ store: lake.store, clock: { now: () => 0 }, tenant },
    ...{ principal: { sub: 'p', roles }, catalog: lake.catalog },
  })

describe('the cubes of a catalog', () => {
  test('are the tables with metrics, with a dimension for each table that they lead to', async () => {
    const [cube, ...others] = await cubesFor(['officer'])
    expect(others).toEqual([])
    expect(cube).toMatchObject({
      name: 'sales.orders',
      relation: { schema: 'sales', name: 'orders__metrics' },
      measures: [
        { name: 'buyers', uniqueName: '[Measures].[buyers]', isSum: false, type: 'int8' },
        { name: 'revenue', caption: 'Revenue', isSum: true, format: '#,##0.00', unit: 'EUR' },
      ],
    })
    const names = cube?.dimensions.map(({ uniqueName, hierarchies }) => [
      uniqueName,
      hierarchies.map((hierarchy) => hierarchy.uniqueName),
    ])
    expect(names).toEqual([
      [
        '[orders]',
        [
          '[orders].[region]',
          '[orders].[email]',
          '[orders].[day]',
          '[orders].[day.Calendar]',
          '[orders].[big]',
        ],
      ],
      ['[area]', ['[area].[name]']],
    ])
  })

  test('have years, quarters, months and days for each time', async () => {
    const [cube] = await cubesFor(['officer'])
    const calendar = cube?.dimensions[0]?.hierarchies.find(({ kind }) => kind === 'calendar')
    expect(calendar?.levels.map(({ uniqueName }) => uniqueName)).toEqual([
      '[orders].[day.Calendar].[(All)]',
      '[orders].[day.Calendar].[Year]',
      '[orders].[day.Calendar].[Quarter]',
      '[orders].[day.Calendar].[Month]',
      '[orders].[day.Calendar].[Day]',
    ])
  })

  test('keep their version while nothing that is shown has changed', async () => {
    const [one, other] = [await cubesFor(['officer']), await cubesFor(['officer'])]
    expect(one.map(({ version }) => version)).toEqual(other.map(({ version }) => version))
  })

  test('are told over REST to those who may read, and to no other tenant', async () => {
    const path = '/api/v1/xmla/lake/cubes'
    const { status, body } = await ask(lake, 'GET', path, lake.env.PGPASSWORD)
    expect(status).toBe(200)
    expect(body).toMatchObject({ items: [{ name: 'sales.orders' }] })
    expect((await ask(lake, 'GET', path, stranger)).status).toBe(404)
  })

  test('show another tenant nothing', async () => {
    const foreign = await makeTenant(lake.store, { name: 'another' })
    expect(await cubesFor(['officer', 'steward'], foreign.id)).toEqual([])
  })

  test('leave out a hierarchy over a column that a mask empties', async () => {
    await putMask(
      on(),
      { table: orders, column: 'region' },
      {
        ...{ id: 'empty', action: 'replace-with-null', exemptRoles: ['officer'] },
      },
    )
    const names = async (roles: readonly string[]) =>
      (await cubesFor(roles)).flatMap(({ dimensions }) =>
        dimensions.flatMap(({ hierarchies }) => hierarchies.map(({ name }) => name)),
      )
    expect(await names(['officer'])).toContain('region')
    expect(await names([])).not.toContain('region')
  })

  test('leave out tables without a contract', async () => {
    await deleteContract(on(), regions)
    const [cube] = await cubesFor(['officer', 'steward'])
    expect(cube?.dimensions.map(({ name }) => name)).toEqual(['orders'])
  })
})
