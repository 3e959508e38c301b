/** Apache Superset on governed data: its own driver and introspection, a dashboard in a real browser. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { type Lake, readAs, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { declaringAs, openSteward } from '../support/semantic-layer.ts'
import { packageFolder } from './packages.ts'
import { runClient, startServer } from './processes.ts'
import { openSuperset, type Superset } from './superset/dashboard.ts'

setDefaultTimeout(600_000)

const here = new URL('./superset/', import.meta.url).pathname
const program = () => join(packageFolder('python:superset'), 'bin/superset')

let lake: Lake
let base: string
let superset: Superset
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  lake = stack.use(await startLake({ env: { SVC_LICENSE: licenseForAll() } }))
  const put = declaringAs(lake, await openSteward(lake))
  const table = { namespace: ['sales'], name: 'orders' }
  await put('/api/v1/semantics/tables/sales/orders', {
    key: ['id'],
    time_dimension: 'day',
    dimensions: [{ name: 'region' }, { name: 'day', kind: 'time' }],
  })
  await put('/api/v1/metrics/revenue', { table, expression: 'sum(amount)', unit: 'EUR' })
  await put('/api/v1/metrics/orders', { table, expression: 'count(*)' })
  await put('/api/v1/metrics/basket', { kind: 'ratio', numerator: 'revenue', denominator: 'orders' })
  const folder = mkdtempSync(join(tmpdir(), 'superset-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    SUPERSET_CONFIG_PATH: join(here, 'config.py'),
    SUPERSET_FOLDER: folder,
    FLASK_APP: 'superset',
  }
  const admin = ['--username', 'admin', '--firstname', 'a', '--lastname', 'b', '--email', 'a@b.example']
  for (const command of [
    ['db', 'upgrade'],
    ['fab', 'create-admin', ...admin, '--password', 'admin'],
    ['init'],
  ]) {
    const { exitCode, output } = await runClient('superset-init', [program(), ...command], {
      env,
      seconds: 300,
    })
    if (exitCode !== 0) throw new Error(output.slice(-3_000))
  }
  const port = freePort()
  base = `http://127.0.0.1:${port}`
  const command = [program(), 'run', '-p', String(port), '--with-threads']
  stack.use(await startServer('superset', command, `${base}/health`, { env, seconds: 120 }))
  const { PGUSER, PGPASSWORD, PGHOST, PGPORT, PGDATABASE } = lake.restricted
  const uri = `postgresql+psycopg2://${PGUSER}:${PGPASSWORD}@${PGHOST}:${PGPORT}/${PGDATABASE}`
  superset = await openSuperset(base, uri)
})
afterAll(() => stack.disposeAsync())

/** Opens a dashboard in a browser. @returns the texts of its table */
async function picture(dashboard: number, name: string): Promise<string> {
  const file = new URL(`../../.cache/logs/${name}.png`, import.meta.url).pathname
  const { exitCode, output } = await runClient(
    'superset-screenshot',
    ['node', join(here, 'screenshot.mjs'), packageFolder('npm:playwright'), base, String(dashboard), file],
    { seconds: 300 },
  )
  if (exitCode !== 0) throw new Error(output.slice(-3_000))
  expect(await Bun.file(file).exists()).toBe(true)
  return output
}

test('a dashboard shows governed rows, filtered and masked, and nothing else', async () => {
  const orders = await superset.addDataset('orders')
  const byRegion = { columns: ['region'], metrics: ['count'], orderby: [['region', true]], row_limit: 10 }
  expect(await superset.ask(orders, byRegion)).toEqual([
    { region: 'east', count: 250 },
    { region: 'west', count: 250 },
  ])
  const id = await superset.addDashboard('Governed orders', orders, [
    {
      name: 'Orders by region',
      viz_type: 'pie',
      groupby: ['region'],
      metric: 'count',
      label_type: 'key_value',
      number_format: 'SMART_NUMBER',
      row_limit: 100,
    },
    {
      name: 'Orders',
      viz_type: 'table',
      query_mode: 'raw',
      all_columns: ['id', 'email', 'region', 'amount', 'day'],
      order_by_cols: ['["id", true]'],
      row_limit: 8,
    },
  ])
  const shown = await picture(id, 'superset')
  expect(shown).toContain('east')
  expect(shown).not.toContain('user2@example.com')
})

test('a metric relation is listed, and a dashboard charts its metrics', async () => {
  expect(await superset.listTables('sales')).toContain('orders__metrics')
  const metrics = { revenue: 'MEASURE(revenue)', basket: 'MEASURE(basket)' }
  const relation = await superset.addDataset('orders__metrics', metrics)
  expect(relation.columns.toSorted()).toEqual([
    ...['basket', 'day', 'metric_time', 'orders', 'region', 'revenue'],
  ])
  const found = await superset.ask(relation, {
    columns: ['region'],
    metrics: ['revenue', 'basket'],
    orderby: [['revenue', false]],
    row_limit: 10,
  })
  // As the same principal gets them from the table itself.
  const expected = await readAs(
    lake.restricted,
    'SELECT region, sum(amount), sum(amount)::float8 / count(*) FROM sales.orders GROUP BY 1 ORDER BY 2 DESC',
  )
  const rows = expected.filter((line) => line.startsWith('D ')).map((line) => line.slice(2).split('|'))
  expect(rows).toHaveLength(2)
  expect(found).toEqual(
    rows.map(([region = '', revenue, basket]) => ({
      region,
      revenue: Number(revenue),
      basket: Number(basket),
    })),
  )
  const id = await superset.addDashboard('Metrics of orders', relation, [
    {
      name: 'Revenue by region',
      viz_type: 'pie',
      groupby: ['region'],
      metric: 'revenue',
      label_type: 'key_value',
      number_format: ',.2f',
      row_limit: 100,
    },
    {
      name: 'Revenue and basket',
      viz_type: 'table',
      query_mode: 'aggregate',
      groupby: ['region'],
      metrics: ['revenue', 'basket'],
      row_limit: 20,
    },
  ])
  const shown = await picture(id, 'superset-metrics')
  expect(shown).toContain('west')
  expect(shown).not.toContain('north')
})
