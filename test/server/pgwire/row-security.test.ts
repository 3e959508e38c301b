/** What `row_security = off` means: a statement to which a row filter applies is refused, as PostgreSQL refuses it. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, startLake } from '../../support/lake.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

let lake: Lake
beforeAll(async () => {
  lake = await startLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

async function answers(env: Lake['env'], ...texts: readonly string[]): Promise<readonly string[]> {
  const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = env
  const client = await WireClient.logIn({ port: Number(env.PGPORT) }, { user, password, database })
  const all: string[] = []
  for (const text of texts) all.push(...(await client.ask(frames.query(text))))
  client.close()
  return all.filter((answer) => /^[DEC] /.test(answer))
}

const count = 'select count(*) > 0 from sales.orders'

test('a reader whose rows are filtered is refused while it is off, and reads again once it is on', async () => {
  expect(
    await answers(lake.restricted, 'set row_security = off', count, 'set row_security = on', count),
  ).toEqual([
    'C SET',
    'E 42501 query would be affected by row-level security policy for table "orders"',
    'C SET',
    'D t',
    'C SELECT 1',
  ])
})

test('a statement that was prepared while it was on stays filtered', async () => {
  const all = await answers(
    lake.restricted,
    'prepare all_rows as select count(*) from sales.orders',
    'execute all_rows',
    'set row_security = off',
    'execute all_rows',
  )
  const [, filtered] = all
  expect(all).toEqual(['C PREPARE', String(filtered), 'C SELECT 1', 'C SET', String(filtered), 'C SELECT 1'])
  expect(await answers(lake.env, 'select count(*) from sales.orders')).not.toContain(String(filtered))
})

test('a reader whose rows are not filtered reads while it is off', async () => {
  expect(await answers(lake.env, 'set row_security = off', count)).toEqual(['C SET', 'D t', 'C SELECT 1'])
})
