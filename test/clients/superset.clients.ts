/** Apache Superset on governed data: its own driver and introspection, a dashboard in a real browser. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { freePort } from '../support/free-port.ts'
import { type Lake, readAs, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { declaringAs, openSteward } from '../support/semantic-layer.ts'
import { packageFolder } from './packages.ts'
import { startPostgres } from './pgwire/oracle.ts'
import { runClient, startServer } from './processes.ts'
import { type Dataset, openSuperset, type Superset } from './superset/dashboard.ts'

setDefaultTimeout(600_000)

/** Superset has each name once, whatever the database. */
const namedOtherwise = 'orders_of_postgres'
const here = new URL('./superset/', import.meta.url).pathname
const program = () => join(packageFolder('python:superset'), 'bin/superset')

let lake: Lake
let base: string
let superset: Superset
/** On the same rows and values in a PostgreSQL. */
let overPostgres: Superset
let orders: Dataset
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
  superset = await openSuperset(base, uriOf(lake.restricted))
  const oracle = stack.use(await startPostgres())
  const { PGPORT, PGDATABASE } = oracle.restricted
  const on = postgres({
    host: '127.0.0.1',
    port: Number(PGPORT),
    user: 'postgres',
    database: PGDATABASE ?? '',
  })
  await on.unsafe(`CREATE VIEW sales.${namedOtherwise} AS SELECT * FROM sales.orders;
    GRANT SELECT ON sales.${namedOtherwise} TO ann`)
  await on.end()
  overPostgres = await openSuperset(base, uriOf(oracle.restricted), 'postgres')
  orders = await superset.addDataset('orders')
})
afterAll(() => stack.disposeAsync())

function uriOf({ PGUSER, PGPASSWORD, PGHOST, PGPORT, PGDATABASE }: Readonly<Record<string, string>>): string {
  return `postgresql+psycopg2://${PGUSER}:${PGPASSWORD}@${PGHOST}:${PGPORT}/${PGDATABASE}`
}

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

/** As a person picks them in "Time range": what is relative to today, fixed, open at one side, and computed. */
const timeRanges = [
  ...['Last day', 'Last week', 'Last month', 'Last quarter', 'Last year', 'Last 10 years', 'Next 3 days'],
  ...['previous calendar week', 'previous calendar month', 'previous calendar quarter'],
  ...['previous calendar year', 'Current day', 'Current week', 'Current month', 'Current quarter'],
  ...['Current year', 'No filter', '2024-01-05 : 2024-02-01', '2024-01-05T10:00:00 : 2024-01-06T11:30:15'],
  ...['2024-01-01T05:00:00 : 2024-01-01T10:00:00', ' : 2024-01-10', '2024-01-20 : ', '2024-01-05'],
  'DATEADD(DATETIME("2024-02-01T00:00:00"), -3, week) : DATETIME("2024-02-01T00:00:00")',
  'DATETRUNC(DATETIME("2024-01-17"), month) : LASTDAY(DATETIME("2024-01-17"), month)',
]

describe('the times of Superset', () => {
  let datasets: readonly (readonly [Superset, Dataset])[]
  const statements: string[] = []
  let refusals = 0

  beforeAll(async () => {
    const times = [
      { name: 'id', format: 'epoch_s' },
      { name: 'qty', format: 'epoch_ms' },
      { name: 'day as text', format: '%Y-%m-%d', expression: "to_char(day, 'YYYY-MM-DD')" },
    ]
    datasets = [
      [superset, orders],
      [overPostgres, await overPostgres.addDataset(namedOtherwise)],
    ]
    for (const [on, dataset] of datasets) await on.declareTimes(dataset, times)
  })

  /** Asks both; the statement is the same. @returns what the lake gave */
  async function same(query: Readonly<Record<string, unknown>>) {
    const answers = []
    for (const [on, dataset] of datasets)
      answers.push(await on.chart(dataset, { row_limit: 1_000, ...query }))
    const [ours, theirs] = answers
    statements.push(ours?.query ?? '')
    refusals += ours === undefined ? 1 : 0
    expect(ours?.query).toBe(theirs?.query.replaceAll(namedOtherwise, 'orders'))
    // Without an order, or with one that leaves rows equal, rows come in any order.
    const sorted = [ours, theirs].map((one) => (one?.data ?? []).map((row) => JSON.stringify(row)).toSorted())
    expect(sorted[0]).toEqual(sorted[1] ?? [])
    return ours?.data ?? []
  }

  const during = (column: string, range: string) => ({ col: column, op: 'TEMPORAL_RANGE', val: range })
  const axis = (column: string, grain: string) => ({
    ...{ timeGrain: grain, columnType: 'BASE_AXIS', sqlExpression: column, label: column },
    expressionType: 'SQL',
  })

  test.each(['day', 'placed_at', 'created', 'id', 'qty'])(
    'every grain groups %s as PostgreSQL does',
    async (column) => {
      const grains = datasets[0]?.[1].grains ?? []
      expect(grains).toContain('P3M')
      for (const grain of grains) {
        const found = await same({
          columns: [axis(column, grain)],
          metrics: ['count'],
          extras: { time_grain_sqla: grain },
          filters: [during(column, ' : 2024-03-10')],
          orderby: [[column, true]],
        })
        // PostgreSQL has no seconds or minutes of a date.
        expect(found.length > 0 || (column === 'day' && refusals > 0)).toBe(true)
      }
    },
  )

  test.each(['day', 'placed_at', 'created', 'id', 'day as text'])(
    'every time range filters %s as PostgreSQL does',
    async (column) => {
      const counts = []
      for (const range of timeRanges) {
        const [found] = await same({ columns: [], metrics: ['count'], filters: [during(column, range)] })
        counts.push(Number(found?.count))
      }
      expect(counts).toContain(500)
      expect(counts.some((count) => count > 0 && count < 500) || column === 'id').toBe(true)
    },
  )

  test('series, the top of them, and comparisons with earlier times are as from PostgreSQL', async () => {
    const base = {
      metrics: ['count'],
      granularity: 'placed_at',
      time_range: '2024-01-08 : 2024-02-05',
      extras: { time_grain_sqla: 'P1W' },
    }
    expect(await same({ ...base, is_timeseries: true, columns: ['region'] })).toHaveLength(8)
    // The regions have as many rows each, so that the top by their number would be any of them.
    const total = { expressionType: 'SQL', sqlExpression: 'sum(amount)', label: 'total' }
    const top = { series_columns: ['region'], series_limit: 1, series_limit_metric: total }
    expect(await same({ ...base, ...top, is_timeseries: true, columns: ['region'] })).toHaveLength(4)
    const compared = await same({
      metrics: ['count'],
      columns: [axis('placed_at', 'P1D')],
      filters: [during('placed_at', '2024-01-15 : 2024-01-22')],
      extras: { time_grain_sqla: 'P1D' },
      time_offsets: ['1 week ago'],
      orderby: [['placed_at', true]],
    })
    expect(compared).toHaveLength(7)
    expect(compared[0]).toHaveProperty('count__1 week ago', 12)
  })

  test('nothing but seconds and minutes of a date was refused', () => {
    expect(refusals).toBe(6)
  })

  test('its statements have the forms that Superset has for times', () => {
    for (const form of [
      "TO_TIMESTAMP('",
      "TO_DATE('",
      "DATE_TRUNC('quarter'",
      "timestamp 'epoch'",
      "INTERVAL '5 seconds'",
    ])
      expect(statements.some((text) => text.includes(form))).toBe(true)
  })
})
