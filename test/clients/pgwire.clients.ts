/** Real PostgreSQL clients get the same from the wire server as from a real PostgreSQL 18 with the same rows. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { putMetric } from '../../src/semantics/put-metric.ts'
import { putTableModel } from '../../src/semantics/put-table-model.ts'
import { actorOf } from '../support/actor.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { ordersTable, regionsTable } from '../support/lake-tables.ts'
import { packageFolder } from './packages.ts'
import { differences, stepsOf } from './pgwire/compare.ts'
import { type Oracle, startPostgres } from './pgwire/oracle.ts'
import { runClient } from './processes.ts'

setDefaultTimeout(300_000)

const folder = new URL('./pgwire/', import.meta.url).pathname
const python = () => join(packageFolder('python:pgwire'), 'bin/python')
const jars = () => join(packageFolder('maven:pgwire'), 'lib/*')

let lake: Lake
let oracle: Oracle
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  oracle = stack.use(await startPostgres())
  lake = stack.use(await startLake({ tables: [ordersTable, regionsTable] }))
})
afterAll(() => stack.disposeAsync())

async function both(name: string, command: readonly string[]) {
  const run = async (server: string, env: Readonly<Record<string, string>>) => {
    const finished = await runClient(`pgwire-${name}-${server}`, command, { env, seconds: 240, cwd: folder })
    return stepsOf(name, finished)
  }
  // One after the other: a cancel that comes late on a busy machine would be a difference.
  const theirs = await run('postgres', oracle.env)
  return { theirs, ours: await run('covenant', lake.env) }
}

const clients: Readonly<Record<string, () => readonly string[]>> = {
  'psycopg 3': () => [python(), 'psycopg3_client.py'],
  'psycopg2 and SQLAlchemy': () => [python(), 'sqlalchemy_client.py'],
  asyncpg: () => [python(), 'asyncpg_client.py'],
  'psqlODBC by pyodbc': () => [python(), 'odbc_client.py'],
  pgjdbc: () => ['java', '-Duser.timezone=UTC', '-cp', jars(), 'Jdbc.java'],
  'node pg, pg-cursor and postgres.js': () => ['node', 'node_client.mjs', packageFolder('npm:pgwire')],
  'pgx and lib/pq': () => ['go', 'run', '-C', 'go', '.'],
}

/** Steps whose answers may differ, and why; docs/postgres-compatibility.md lists the same. */
const documented: Readonly<Record<string, string>> = {
  catalogs: 'a session sees the one database that it is connected to',
}

describe.each(Object.entries(clients))('%s', (name, command) => {
  test('gets from every step what it gets from PostgreSQL', async () => {
    const { ours, theirs } = await both(name.replaceAll(/\W+/g, '-'), command())
    expect(theirs.length).toBeGreaterThan(5)
    const found = differences(ours, theirs).filter(([step]) => documented[step] === undefined)
    expect(found).toEqual([])
  })
})

describe('psql', () => {
  const commands = readFileSync(join(folder, 'psql-commands.txt'), 'utf8').trim().split('\n')

  test.each(commands)('%s ends without an error', async (command) => {
    const { exitCode, output } = await psql(lake.env, '-v', 'ON_ERROR_STOP=1', '-c', command)
    expect(output).not.toContain('ERROR')
    expect(exitCode).toBe(0)
  })

  test.each(['\\d sales.orders', '\\dt sales.*', '\\d', '\\dv', '\\df', '\\dn'])(
    '%s prints what it prints of PostgreSQL',
    async (command) => {
      const printed = async (env: Readonly<Record<string, string>>) =>
        (await psql(env, '-At', '-c', command)).output.replaceAll('|postgres', '|covenant')
      expect(await printed(lake.env)).toBe(await printed(oracle.env))
    },
  )

  test('\\d+ shows what the contract declares', async () => {
    const { output } = await psql(lake.env, '-A', '-c', '\\d+ sales.orders', '-c', '\\dt+ sales.orders')
    expect(output).toContain('Number of the order')
    expect(output).toContain('Orders, one a row')
    expect(output).toContain('"orders_pkey" PRIMARY KEY, btree (id)')
    expect(output).toContain('FOREIGN KEY (region) REFERENCES sales.regions(name)')
  })

  test('a script runs as on PostgreSQL, whatever the format', async () => {
    for (const format of ['aligned', 'csv', 'html', 'unaligned']) {
      const printed = async (env: Readonly<Record<string, string>>) =>
        (await psql(env, '-P', `format=${format}`, '-P', 'null=∅', '-f', 'script.sql')).output
      expect(await printed(lake.env)).toBe(await printed(oracle.env))
    }
  })
})

function psql(env: Readonly<Record<string, string>>, ...options: readonly string[]) {
  return runClient('psql', ['psql', '-X', ...options], { env, seconds: 60, cwd: folder })
}

describe('pgbench', () => {
  test.each(['simple', 'extended', 'prepared'])('-M %s runs every transaction', async (mode) => {
    const command = ['pgbench', '-n', '-M', mode, '-f', 'orders.pgbench.sql', '-c', '4', '-t', '25']
    const { exitCode, output } = await runClient(`pgbench-${mode}`, command, {
      env: lake.env,
      seconds: 120,
      cwd: folder,
    })
    expect(output).toContain('actually processed: 100/100')
    expect(exitCode).toBe(0)
  })
})

test('pg_dump --schema-only writes the governed tables with their keys and comments', async () => {
  const command = ['pg_dump', '--schema-only']
  const { exitCode, output } = await runClient('pg_dump', command, { env: lake.env, seconds: 120 })
  expect(output).not.toContain('error')
  expect(exitCode).toBe(0)
  expect(output).toContain('CREATE TABLE sales.orders (\n    id bigint NOT NULL,')
  expect(output).toContain("COMMENT ON COLUMN sales.orders.id IS 'Number of the order'")
  expect(output).toContain('FOREIGN KEY (region) REFERENCES sales.regions(name)')
})

test('SchemaCrawler finds the governed tables with their columns and types', async () => {
  const crawl = async (env: Readonly<Record<string, string>>) => {
    const { exitCode, output } = await runClient(
      'schemacrawler',
      [
        'java',
        '-cp',
        jars(),
        'schemacrawler.Main',
        '--server=postgresql',
        `--host=${env.PGHOST}`,
        `--port=${env.PGPORT}`,
        `--database=${env.PGDATABASE}`,
        `--user=${env.PGUSER}`,
        `--password=${env.PGPASSWORD}`,
        '--info-level=standard',
        '--command=schema',
        '--schemas=.*sales.*',
        '--no-info',
        '--output-format=text',
      ],
      { seconds: 120 },
    )
    if (exitCode !== 0) throw new Error(output.slice(-3_000))
    return output
  }
  const found = await crawl(lake.env)
  expect(found).toContain('sales.orders')
  expect(found).toContain('orders_pkey')
  expect(found).toContain('orders_region_fkey')
  expect(found).toContain('Number of the order')
  expect(found).toBe(await crawl(oracle.env))
})

// Last, because the relation is listed beside the tables.
describe('psql on a metric relation', () => {
  beforeAll(async () => {
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella') }
    const table = { namespace: ['sales'], name: 'orders' }
    const dimensions = [{ name: 'region' }, { name: 'day', kind: 'time' as const }]
    await putTableModel(on, table, { key: ['id'], dimensions, relationships: [], timeDimension: 'day' })
    const metric = { kind: 'simple', table, expression: 'sum(amount)', unit: 'EUR', state: 'active' } as const
    await putMetric(on, 'revenue', metric)
  })

  test('lists its dimensions and metrics', async () => {
    const { output } = await psql(
      lake.restricted,
      '-At',
      '-c',
      '\\d+ sales.orders__metrics',
      '-c',
      '\\dt sales.*',
    )
    for (const column of ['region|text', 'day|date', 'metric_time|date', 'revenue|numeric'])
      expect(output).toContain(column)
    expect(output).toContain('Use MEASURE(revenue), in EUR.')
    expect(output).toContain('sales|orders__metrics|table')
  })

  test('spreads a metric over two dimensions', async () => {
    const { output } = await psql(lake.restricted, '-A', '-f', 'metrics.sql')
    expect(output).toContain('region|1|2|3|4')
    expect(output.split('\n').filter((line) => /^(?:east|west)(?:\|[\d.]+){4}$/.test(line))).toHaveLength(2)
  })

  test('computes a metric by a dimension as the table itself gives it, filtered and masked', async () => {
    // Rows alone: the notice that they are governed has tests of its own.
    const quiet = ['-q', '-c', 'SET svc.governance_notices = off']
    const rows = async (text: string) => (await psql(lake.restricted, '-At', ...quiet, '-c', text)).output
    const found = await rows(
      'SELECT region, MEASURE(revenue) FROM sales.orders__metrics GROUP BY 1 ORDER BY 1',
    )
    expect(found).toBe(await rows('SELECT region, sum(amount) FROM sales.orders GROUP BY 1 ORDER BY 1'))
    expect(
      found
        .trim()
        .split('\n')
        .map((line) => line.split('|')[0]),
    ).toEqual(['east', 'west'])
  })
})
