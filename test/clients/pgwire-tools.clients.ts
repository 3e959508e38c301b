/** Tools above the drivers read governed tables over the wire: Ibis, ADBC, Django, and PostgreSQL itself by postgres_fdw. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import { startOracle } from '../query/support/postgres.ts'
import { type Lake, startLake, type WrittenTable } from '../support/lake.ts'
import { ordersTable, regionsTable } from '../support/lake-tables.ts'
import { packageFolder } from './packages.ts'
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

let lake: Lake
beforeAll(async () => {
  lake = await startLake({ tables: [ordersTable, regionsTable], written: [things] })
})
afterAll(() => lake[Symbol.asyncDispose]())

/** Runs a script as the principal who sees the regions east and west, and no e-mail address. @returns its lines */
async function printed(script: string): Promise<readonly string[]> {
  const folder = new URL('./pgwire/', import.meta.url).pathname
  const command = [join(packageFolder('python:pgwire-tools'), 'bin/python'), script]
  const { exitCode, output } = await runClient(script, command, {
    env: lake.restricted,
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

test('ADBC reads results, parameters, schemas and objects', async () => {
  const lines = await printed('adbc_client.py')
  expect(lines).toContain("regions [{'region': 'east', 'n': 250}, {'region': 'west', 'n': 250}]")
  expect(lines).toContain("one [(7, 'xxxxn@xxxxxxx.xxx')]")
  expect(lines.find((line) => line.startsWith('types'))).toStartWith("types ['int64', 'string', 'string'")
  expect(lines).toContain("tables ['orders', 'regions']")
})

test('Django inspects a table and reads it by its ORM, with parameters that the server binds', async () => {
  const lines = await printed('django_client.py')
  expect(lines.some((line) => line.includes("region = models.ForeignKey('Regions'"))).toBe(true)
  expect(lines.find((line) => line.startsWith('east'))).toMatch(/'n': 250, 'total': Decimal/)
  expect(lines).toContain('months 12 2024-01-01')
  expect(lines).toContain('one xxxxn@xxxxxxx.xxx 2')
  expect(lines).toContain('plan Foreign Scan')
})

test('postgres_fdw imports a schema, and reads with LIKE and with estimates of the remote plan', async () => {
  const oracle = await startOracle()
  if (oracle === undefined) throw new Error('there are no PostgreSQL binaries for this platform')
  const { PGPORT, PGDATABASE, PGUSER, PGPASSWORD } = lake.env
  try {
    await oracle.admin.unsafe(`CREATE EXTENSION postgres_fdw;
      CREATE SERVER lake FOREIGN DATA WRAPPER postgres_fdw
        OPTIONS (host '127.0.0.1', port '${PGPORT}', dbname '${PGDATABASE}', use_remote_estimate 'true');
      CREATE USER MAPPING FOR postgres SERVER lake OPTIONS (user '${PGUSER}', password '${PGPASSWORD}');
      CREATE SCHEMA sales;
      IMPORT FOREIGN SCHEMA sales FROM SERVER lake INTO sales`)
    const filtered = `FROM sales.orders WHERE email LIKE 'user7%' AND id < 100`
    const plan = await oracle.admin.unsafe(`EXPLAIN VERBOSE SELECT id ${filtered}`)
    const lines = plan.map((row) => String(row['QUERY PLAN']))
    expect(lines.some((line) => line.includes("~~ 'user7%'"))).toBe(true)
    const [counted] = await oracle.admin.unsafe(`SELECT count(*)::int AS n ${filtered}`)
    expect(counted?.n).toBe(11)
    const joined = await oracle.admin.unsafe(`SELECT r.name, count(*)::int AS n
      FROM sales.orders o JOIN sales.regions r ON o.region = r.name GROUP BY 1 ORDER BY 1`)
    expect(joined.map(({ name, n }) => [name, n])).toEqual(
      ['east', 'north', 'south', 'west'].map((name) => [name, 250]),
    )
  } finally {
    await oracle.stop()
  }
})
