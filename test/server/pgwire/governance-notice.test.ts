/** A client that shows notices to a person is told that a statement is governed: once, and never what a filter compares with. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, startLake } from '../../support/lake.ts'
import { frames, reportFields, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

let lake: Lake
beforeAll(async () => {
  lake = await startLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const sum = 'select sum(length(email)) > 0 from sales.orders'
const notice = 'masked for you: sales.orders.email (mask-alphanum); rows are filtered for you: sales.orders'

/** The notices of each text, in one session of a client of this name. */
async function notices(env: Lake['env'], application: string, ...texts: readonly string[]) {
  const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = env
  const login = { user, password, database, application_name: application }
  const client = await WireClient.logIn({ port: Number(env.PGPORT) }, login)
  const all: (string | undefined)[][] = []
  for (const text of texts) {
    client.send(frames.query(text))
    const answers = await client.until('Z')
    expect(answers.find(({ type }) => type === 'E')).toBeUndefined()
    all.push(answers.filter(({ type }) => type === 'N').map((answer) => reportFields(answer).M))
  }
  client.close()
  return all
}

test('psql hears once of each statement which columns are masked and which rows filtered', async () => {
  const other = 'select count(*) from sales.orders'
  expect(await notices(lake.restricted, 'psql', sum, sum, other)).toEqual([
    [notice],
    [],
    ['rows are filtered for you: sales.orders'],
  ])
  expect(await notices(lake.restricted, 'psql', sum)).toEqual([[notice]])
})

test.each(['', 'Tableau', 'PostgreSQL JDBC Driver'])(
  'a client named “%s” hears of it where it asks to',
  async (application) => {
    const on = 'set svc.governance_notices = on'
    expect(await notices(lake.restricted, application, sum, on, sum)).toEqual([[], [], [notice]])
  },
)

test.each(['set svc.governance_notices = off', 'set client_min_messages = warning'])(
  'psql hears of nothing after “%s”',
  async (text) => {
    expect(await notices(lake.restricted, 'psql', text, sum)).toEqual([[], []])
  },
)

test('whom nothing applies to hears of nothing, also of a constant', async () => {
  expect(await notices(lake.env, 'psql', sum, 'select 1')).toEqual([[], []])
})

test('a masked column is marked in its comment', async () => {
  const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database, PGPORT } = lake.restricted
  const client = await WireClient.logIn({ port: Number(PGPORT) }, { user, password, database })
  const answers = await client.ask(
    frames.query(`select attname, col_description(attrelid, attnum) from pg_attribute
      where attrelid = 'sales.orders'::regclass and attname in ('id', 'email') order by attnum`),
  )
  client.close()
  expect(answers.filter((answer) => answer.startsWith('D '))).toEqual([
    'D id|Number of the order',
    'D email|Masked for some readers: EXPLAIN shows whether for you.',
  ])
})
