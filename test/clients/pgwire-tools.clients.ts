/** Tools above the drivers read governed tables over the wire: Ibis, ADBC, Django, and PostgreSQL itself by postgres_fdw. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import postgres from 'postgres'
import { tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import { readAs, type WrittenTable } from '../support/lake.ts'
import { packageFolder } from './packages.ts'
import { compareServers, type Driver, inPython, type Servers, startServers } from './pgwire/drivers.ts'
import { runClient } from './processes.ts'

setDefaultTimeout(300_000)

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long', required: true },
  { id: 2, name: 'tags', type: { list: 'string', elementId: 4 } },
  { id: 3, name: 'name', type: 'string' },
]

/** A table with a list, whose columns were moved since. */
const things: WrittenTable = {
  ref: { namespace: ['made'], name: 'things' },
  async write(folder) {
    const table = tableInFolder(folder, 'things', { fields, formatVersion: 2 })
    await table.append([{ rows: [{ id: 1n, tags: ['a', 'b'], name: 'x' }] }])
    await table.evolve([2, 0, 1].flatMap((index) => fields[index] ?? []))
    return table.metadataLocation ?? ''
  },
}

let servers: Servers
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  servers = await startServers(stack, { written: [things] })
})
afterAll(() => stack.disposeAsync())

const tools: Readonly<Record<string, Driver>> = {
  Ibis: { command: inPython('python:pgwire-tools', 'ibis_expressions_client.py') },
  ADBC: { command: inPython('python:pgwire-tools', 'adbc_client.py') },
  Django: { command: inPython('python:pgwire-tools', 'django_client.py') },
}

/** Runs a script as the principal who sees the regions east and west, and no e-mail address. @returns its lines */
async function printed(script: string): Promise<readonly string[]> {
  const folder = new URL('./pgwire/', import.meta.url).pathname
  const command = [join(packageFolder('python:pgwire-tools'), 'bin/python'), script]
  const { exitCode, output } = await runClient(script, command, {
    env: servers.lake.restricted,
    seconds: 120,
    cwd: folder,
  })
  if (exitCode !== 0) throw new Error(output.slice(-3_000))
  return output.split('\n')
}

test('Ibis sees the columns of a table as reading it gives them, lists included', async () => {
  const lines = await printed('ibis_client.py')
  expect(lines).toContain("rows [{'name': 'x', 'id': 1, 'tags': ['a', 'b']}]")
  expect(lines.find((line) => line.startsWith('schema'))).toMatch(/Array/)
  expect(lines.find((line) => line.startsWith('regions'))).toMatch(/east.*250.*west.*250/)
})

describe.each(Object.entries(tools))('%s', (name, driver) => {
  test('gets from every step what it gets from PostgreSQL', async () => {
    const { lake, oracle } = servers
    const { steps, found } = await compareServers(name, driver, { ours: lake.env, theirs: oracle.env })
    expect(steps.length).toBeGreaterThan(5)
    expect(found).toEqual([])
    expect(JSON.stringify(steps)).not.toContain('payroll')
  })

  test('gets no row that is filtered and no value that is masked for its principal', async () => {
    const { lake, oracle } = servers
    const roles = { ours: lake.restricted, theirs: oracle.restricted }
    const { steps, found } = await compareServers(name, driver, roles)
    expect(found).toEqual([])
    expect(JSON.stringify(steps)).toContain('xxxxn@xxxxxxx.xxx')
    expect(JSON.stringify(steps)).not.toMatch(/user\d+@|payroll/)
  })
})

/** Each with what it sends of it, with the tables of the lake in the place of `remote`. */
const foreignStatements: readonly (readonly [statement: string, sent: string])[] = [
  ["SELECT id, email FROM remote.orders WHERE email LIKE '%@example.com' AND id < 40 ORDER BY id", '~~'],
  ["SELECT id FROM remote.orders WHERE note NOT LIKE 'note 1%' AND id < 40 ORDER BY id", '!~~'],
  ["SELECT id FROM remote.orders WHERE note ILIKE 'NOTE 1%' AND id < 40 ORDER BY id", '~~*'],
  ["SELECT id FROM remote.orders WHERE note NOT ILIKE 'NOTE 1%' AND id < 40 ORDER BY id", '!~~*'],
  ["SELECT id FROM remote.orders WHERE note ~ '^note 1+$' ORDER BY id", '~'],
  ["SELECT count(*) FROM remote.orders WHERE region IN ('east', 'north')", 'ANY'],
  [
    'SELECT id FROM remote.orders WHERE region IS DISTINCT FROM note AND id < 9 ORDER BY id',
    'IS DISTINCT FROM',
  ],
  [
    "SELECT id FROM remote.orders WHERE day BETWEEN '2024-02-01' AND '2024-02-03' ORDER BY id",
    "day >= '2024-02-01'",
  ],
  ["SELECT id FROM remote.orders WHERE placed_at < '2024-01-01 05:00+00' ORDER BY id", 'placed_at <'],
  ['SELECT region, count(*), sum(amount) FROM remote.orders GROUP BY region ORDER BY region', 'GROUP BY'],
  [
    'SELECT id, amount FROM remote.orders WHERE paid ORDER BY amount DESC, id LIMIT 4',
    'ORDER BY amount DESC',
  ],
  [
    'SELECT r.name, o.id FROM remote.regions r JOIN remote.orders o ON o.region = r.name WHERE o.id < 9 ORDER BY 2',
    'INNER JOIN',
  ],
  [
    'SELECT r.name, count(o.id) FROM remote.regions r LEFT JOIN remote.orders o ON o.region = r.name GROUP BY 1 ORDER BY 1',
    'LEFT JOIN',
  ],
  ['SELECT id, payload, uid, ratio, created FROM remote.orders ORDER BY id LIMIT 5', 'payload'],
]

describe('postgres_fdw', () => {
  const people = { ann: 'lake', bob: 'governed' }

  test.each(Object.entries(people))(
    'reads for %s what the rows and values that are left to them would give, with LIKE and estimates of the remote plan',
    async (user, database) => {
      const { lake, oracle } = servers
      const { PGPORT, PGDATABASE, PGPASSWORD } = user === 'ann' ? lake.env : lake.restricted
      const port = Number(oracle.env.PGPORT)
      const on = postgres({ host: '127.0.0.1', port, user: 'postgres', database, max: 1, onnotice: () => {} })
      try {
        await on.unsafe(`CREATE EXTENSION postgres_fdw;
          CREATE SERVER lake FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (host '127.0.0.1', port '${PGPORT}', dbname '${PGDATABASE}', use_remote_estimate 'true');
          CREATE USER MAPPING FOR postgres SERVER lake OPTIONS (user '${user}', password '${PGPASSWORD}');
          CREATE SCHEMA remote;
          IMPORT FOREIGN SCHEMA sales FROM SERVER lake INTO remote`)
        const imported =
          await on`SELECT relname FROM pg_class WHERE relnamespace = 'remote'::regnamespace ORDER BY 1`
        expect(imported.map(({ relname }) => relname)).toEqual(['orders', 'regions'])
        const unsent: unknown[] = []
        for (const [statement, sent] of foreignStatements) {
          const plan = (await on.unsafe(`EXPLAIN VERBOSE ${statement}`)).map((row) => row['QUERY PLAN'])
          const asked = plan.map(String).filter((line) => line.includes('Remote SQL: '))
          if (!asked.some((line) => line.includes(sent))) unsent.push([statement, asked])
          const found = await on.unsafe(statement)
          const expected = await on.unsafe(statement.replaceAll('remote.', 'sales.'))
          expect([statement, ...found]).toEqual([statement, ...expected])
        }
        expect(unsent).toEqual([])
      } finally {
        await on.end()
      }
    },
  )

  test('takes the number of rows from the remote plan', async () => {
    const { lake, oracle } = servers
    const port = Number(oracle.env.PGPORT)
    const on = postgres({ host: '127.0.0.1', port, user: 'postgres', database: 'lake', max: 1 })
    try {
      const rowsOf = (lines: readonly string[]) => /rows=(\d+)/.exec(lines.join('\n'))?.[1]
      const text = "SELECT id, region FROM sales.orders WHERE ((note ~~ 'note 1%'))"
      const remote = await readAs(lake.env, `EXPLAIN ${text}`)
      const plan = await on.unsafe("EXPLAIN SELECT id, region FROM remote.orders WHERE note LIKE 'note 1%'")
      expect(rowsOf(remote)).toBeDefined()
      expect(rowsOf(plan.map((row) => String(row['QUERY PLAN'])))).toBe(rowsOf(remote))
    } finally {
      await on.end()
    }
  })
})
