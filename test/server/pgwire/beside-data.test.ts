/** What tells of the session stands beside data over the wire, and what BI tools write besides reaches the engine. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { versionText } from '../../../src/core/server-version.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

let lake: Lake
beforeAll(async () => {
  lake = await startLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

async function answers(env: Lake['env'], text: string): Promise<readonly string[]> {
  const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = env
  const client = await WireClient.logIn({ port: Number(env.PGPORT) }, { user, password, database })
  const all = await client.ask(frames.query(text))
  client.close()
  return all.filter((answer) => /^[DE] /.test(answer))
}

test('version() and current_database() stand beside data', async () => {
  expect(
    await answers(lake.env, 'select current_database(), version(), count(*) > 0 from sales.orders'),
  ).toEqual([`D ${lake.env.PGDATABASE}|${versionText}|t`])
})

test('the catalog and data at once are still refused', async () => {
  const [only] = await answers(lake.env, 'select version(), count(*) from pg_class, sales.orders')
  expect(only).toStartWith('E 0A000 ')
})

test('a recursion without an end is 54001, and says so', async () => {
  expect(
    await answers(
      lake.env,
      'with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t, sales.orders',
    ),
  ).toEqual(['E 54001 The recursion has more levels or rows, or longer values, than are served.'])
})

test('rows of a JSON value that has none are 22023', async () => {
  const [only] = await answers(
    lake.env,
    `select jsonb_array_elements(to_jsonb(o)) from (select 1 as a from sales.orders) o`,
  )
  expect(only).toStartWith('E 22023 ')
})
