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

test.each([
  ['select * from pg_catalog.pg_nosuch', '42P01 relation "pg_catalog.pg_nosuch" does not exist'],
  ['select * from pg_class, nosuch.t', '42P01 relation "nosuch.t" does not exist'],
  ['select pg_nosuch(relname) from pg_class', '42883 function pg_nosuch(name) does not exist'],
  ['explain select pg_nosuch(relname) from pg_class', '42883 function pg_nosuch(name) does not exist'],
  ['select nosuch from pg_class, sales.orders', '42703 column "nosuch" does not exist'],
])('%s says what there is none of, as PostgreSQL does', async (text, error) => {
  expect(await answers(lake.env, text)).toEqual([`E ${error}`])
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

test.each([
  [
    `select obj_description('sales.orders'::regclass, 'pg_class') is not null, count(*) > 0 from sales.orders`,
    't|t',
  ],
  [`select format_type(23, null) as type, count(*) > 0 from sales.orders`, 'integer|t'],
  [`select current_setting('server_version_num')::int > 100000, min(id) > 0 from sales.orders`, 't|t'],
  [`select min(id) > 0 from sales.orders where to_regclass('sales.nosuch') is null`, 't'],
  [
    `select to_regclass('sales.orders')::text || ':' || (count(*) > 0) from sales.orders`,
    'sales.orders:true',
  ],
  [`select has_table_privilege('sales.orders', 'select') and count(*) > 0 from sales.orders`, 't'],
])('%s has a value of the catalog beside rows', async (text, row) => {
  expect(await answers(lake.env, text)).toEqual([`D ${row}`])
})

test('such a value has the name of its function, as all calls have', async () => {
  const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = lake.env
  const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, { user, password, database })
  const all = await client.ask(
    frames.query(`select format_type(23, null), format_type(25, null) as t from sales.orders limit 1`),
  )
  client.close()
  expect(all.filter((answer) => /^[TD] /.test(answer))).toEqual(['T format_type|t', 'D integer|text'])
})

test.each([
  'select obj_description(id::int::oid) from sales.orders',
  'select pg_total_relation_size(id::int::oid::regclass) from sales.orders',
  `select (select obj_description(oid) from pg_class limit 1), count(*) from sales.orders`,
])('%s asks the catalog by rows, and is refused', async (text) => {
  const [only] = await answers(lake.env, text)
  expect(only).toStartWith('E 0A000 ')
})

test('an unknown relation is an error, as PostgreSQL has it', async () => {
  const text = `select pg_table_size('sales.nosuch'), count(*) from sales.orders`
  expect(await answers(lake.env, text)).toEqual(['E 42P01 relation "sales.nosuch" does not exist'])
})

const sizeText = `select pg_total_relation_size('sales.orders'), count(*) > 0 from sales.orders`

test('the size of a named table is that of its snapshot, beside rows and alone', async () => {
  const [beside] = await answers(lake.env, sizeText)
  const bytes = Number(/^D (\d+)\|t$/.exec(beside ?? '')?.[1])
  expect(bytes).toBeGreaterThan(100)
  for (const text of [
    `select pg_relation_size('sales.orders'::regclass)`,
    `select pg_table_size('sales.orders')`,
  ])
    expect(await answers(lake.env, text)).toEqual([`D ${bytes}`])
  expect(
    await answers(
      lake.env,
      `select pg_size_pretty(pg_total_relation_size('sales.orders')), count(*) > 0 from sales.orders`,
    ),
  ).toEqual([`D ${Math.round(bytes / 1024)} kB|t`])
})

test('the size of a table is withheld where a row filter hides rows of it', async () => {
  expect(await answers(lake.restricted, sizeText)).toEqual(['D NULL|t'])
  expect(await answers(lake.restricted, `select pg_table_size('sales.orders') is null`)).toEqual(['D t'])
})
