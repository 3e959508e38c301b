/** Real PostgreSQL clients get the same from the wire server as from a real PostgreSQL 18 with the same rows. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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
