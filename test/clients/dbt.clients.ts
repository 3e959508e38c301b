/** dbt reads governed tables as sources: its checks, freshness, previews, tests and documentation. It builds nothing. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lake, startLake } from '../support/lake.ts'
import { ordersTable, regionsTable } from '../support/lake-tables.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'

setDefaultTimeout(300_000)

let lake: Lake
let folder: string
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  lake = stack.use(await startLake({ tables: [ordersTable, regionsTable] }))
  folder = mkdtempSync(join(tmpdir(), 'dbt-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(new URL('./pgwire/dbt', import.meta.url).pathname, folder, { recursive: true })
})
afterAll(() => stack.disposeAsync())

/** Runs a command of dbt as the principal who sees the regions east and west, and no e-mail address. */
async function dbt(...words: readonly string[]) {
  const program = join(packageFolder('python:dbt'), 'bin/dbt')
  const env = { ...lake.restricted, DBT_SEND_ANONYMOUS_USAGE_STATS: '0', DBT_PROFILES_DIR: folder }
  const command = [program, '--no-use-colors', ...words, '--project-dir', folder]
  return await runClient(`dbt-${words[0]}`, command, { env, seconds: 120, cwd: folder })
}

test('dbt debug finds its connection in order', async () => {
  const { exitCode, output } = await dbt('debug')
  expect(output).toContain('Connection test: [OK connection ok]')
  expect(exitCode).toBe(0)
})

test('dbt source freshness reads when a table was last loaded', async () => {
  const { exitCode, output } = await dbt('source', 'freshness')
  expect(output).toContain('WARN freshness of sales.orders')
  expect(exitCode).toBe(0)
})

test('dbt show previews what its principal may see', async () => {
  const statement = `select region, min(email) as email from {{ source('sales', 'orders') }} group by 1 order by 1`
  const { exitCode, output } = await dbt('show', '--inline', statement)
  expect(output).toMatch(/\| east +\| xxxxn+@xxxxxxx\.xxx/)
  expect(output).not.toContain('north')
  expect(exitCode).toBe(0)
})

test('dbt test finds that the sources keep what is promised of them', async () => {
  const { exitCode, output } = await dbt('test')
  expect(output).toContain('PASS=4 WARN=0 ERROR=0')
  expect(exitCode).toBe(0)
})

test('dbt docs generate writes the catalog of the governed tables', async () => {
  const { exitCode } = await dbt('docs', 'generate')
  expect(exitCode).toBe(0)
  const { sources } = await Bun.file(join(folder, 'target/catalog.json')).json()
  const { metadata, columns } = sources['source.covenant.sales.orders']
  expect(metadata).toMatchObject({ schema: 'sales', name: 'orders', comment: 'Orders, one a row' })
  expect(columns.amount).toMatchObject({ index: 4, type: 'numeric(10,2)' })
})
