/** sqlx checks its statements while a program is compiled: by what Describe says, pg_attribute, and EXPLAIN of what it prepared. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, startLake } from '../support/lake.ts'
import { ordersTable, regionsTable } from '../support/lake-tables.ts'
import { runClient } from './processes.ts'

setDefaultTimeout(900_000)

let lake: Lake
beforeAll(async () => {
  lake = await startLake({ tables: [ordersTable, regionsTable] })
})
afterAll(() => lake[Symbol.asyncDispose]())

test('query! compiles with the types of columns, NULL where an outer join may give it, and runs', async () => {
  const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = lake.restricted
  const env = {
    DATABASE_URL: `postgres://${PGUSER}:${PGPASSWORD}@${PGHOST}:${PGPORT}/${PGDATABASE}`,
    // Beside the other clients, because its dependencies take minutes to compile.
    CARGO_TARGET_DIR: new URL('../../.cache/clients/cargo-sqlx', import.meta.url).pathname,
  }
  const cwd = new URL('./pgwire/sqlx', import.meta.url).pathname
  const command = ['cargo', 'run', '--locked', '--quiet']
  const { exitCode, output } = await runClient('sqlx', command, { env, seconds: 800, cwd })
  expect(output.trim().split('\n').slice(-2)).toEqual([
    '7 Some("west") Some("xxxxn@xxxxxxx.xxx") None',
    'Some(250) [(18, true, Some(2.25), Some(-32)), (102, true, Some(12.75), Some(-48))]',
  ])
  expect(exitCode).toBe(0)
})
