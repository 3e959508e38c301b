/** What a result says of its columns, their types and their tables, is what the catalog says of them; what EXPLAIN expects. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import pg from 'pg'
import { tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import { type Lake, readAs, startLake, type WrittenTable } from '../../support/lake.ts'

setDefaultTimeout(300_000)

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long', required: true },
  { id: 2, name: 'tags', type: { list: 'string', elementId: 10 } },
  { id: 3, name: 'home', type: { struct: [{ id: 11, name: 'city', type: 'string' }] } },
  { id: 4, name: 'scores', type: { list: 'long', elementId: 12 } },
  { id: 5, name: 'deep', type: { list: { list: 'int', elementId: 14 }, elementId: 13 } },
  { id: 6, name: 'email', type: 'string' },
  { id: 7, name: 'hidden', type: { list: 'string', elementId: 15 } },
]
/** In another order than that of their ids, as Iceberg's moves leave them. */
const moved = [3, 5, 0, 1, 2, 4, 6].flatMap((index) => fields[index] ?? [])

const things: WrittenTable = {
  ref: { namespace: ['made'], name: 'things' },
  async write(folder) {
    const table = tableInFolder(folder, 'things', { fields, formatVersion: 2 })
    const row = {
      id: 1n,
      tags: ['a', 'b'],
      home: { city: 'x' },
      scores: [7n],
      deep: [[1]],
      email: 'e',
      hidden: ['h'],
    }
    await table.append([{ rows: [row] }])
    await table.evolve(moved)
    return table.metadataLocation ?? ''
  },
  masks: {
    email: { action: 'mask-alphanum' },
    'hidden.element': { action: 'mask-alphanum' },
  },
}

let lake: Lake
let client: pg.Client
beforeAll(async () => {
  lake = await startLake({ written: [things] })
  const {
    PGHOST: host,
    PGPORT: port,
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
  } = lake.restricted
  client = new pg.Client({ host, port: Number(port), user, password, database })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await lake[Symbol.asyncDispose]()
})

interface Attribute {
  readonly attname: string
  readonly attnum: number
  readonly atttypid: number
  readonly oid: number
}

const attributes = async (table: string): Promise<readonly Attribute[]> =>
  (
    await client.query(`select attname, attnum::int, atttypid::int, attrelid::int8::text as oid from pg_attribute
      where attrelid = '${table}'::regclass and attnum > 0 order by attnum`)
  ).rows.map((row) => ({ ...row, oid: Number(row.oid) }))

const described = async (text: string): Promise<readonly Attribute[]> =>
  (await client.query(text)).fields.map(({ name, columnID, dataTypeID, tableID }) => ({
    ...{ attname: name, attnum: columnID, atttypid: dataTypeID, oid: tableID },
  }))

test.each(['made.things', 'sales.orders'])(
  'SELECT * of %s has the columns, types, order and OIDs of the catalog',
  async (table) => {
    expect(await described(`select * from ${table}`)).toEqual(await attributes(table))
  },
)

test('a list is an array in the catalog, and a struct JSON', async () => {
  const { rows } = await client.query(`select column_name, data_type, udt_name from information_schema.columns
    where table_schema = 'made' order by ordinal_position`)
  expect(rows).toEqual([
    { column_name: 'scores', data_type: 'ARRAY', udt_name: '_int8' },
    { column_name: 'email', data_type: 'text', udt_name: 'text' },
    { column_name: 'id', data_type: 'bigint', udt_name: 'int8' },
    { column_name: 'tags', data_type: 'ARRAY', udt_name: '_text' },
    { column_name: 'home', data_type: 'jsonb', udt_name: 'jsonb' },
    { column_name: 'deep', data_type: 'ARRAY', udt_name: '_jsonb' },
    { column_name: 'hidden', data_type: 'ARRAY', udt_name: '_text' },
  ])
})

test('a column keeps its table through subqueries, WITH and joins, and loses it in expressions', async () => {
  const [first] = await attributes('made.things')
  const things = first?.oid ?? 0
  const places = async (text: string) => (await described(text)).map(({ oid, attnum }) => [oid, attnum])
  const inner = 'select id, email, id + 1 as more from made.things'
  const expected = [
    [things, 3],
    [things, 2],
    [0, 0],
  ]
  expect(await places(`select t.id, t.email, t.more from (${inner}) t`)).toEqual(expected)
  expect(await places(`with t as (${inner}) select * from t`)).toEqual(expected)
  expect(
    await places(
      `select a.id, b.email, upper(a.email) from made.things a left join made.things b on a.id = b.id`,
    ),
  ).toEqual(expected)
  expect(await places('select id from made.things union all select id from made.things')).toEqual([[0, 0]])
  expect(await places('select id, count(*) from made.things group by id')).toEqual([
    [things, 3],
    [0, 0],
  ])
})

test('a cursor and a prepared statement name the same columns', async () => {
  const expected = (await attributes('made.things')).slice(1, 4)
  await client.query('begin')
  await client.query('declare c cursor for select email, id, tags from made.things')
  expect(await described('fetch all from c')).toEqual(expected)
  await client.query('commit')
  const { fields: prepared } = await client.query({
    name: 'p',
    text: 'select email, id, tags from made.things',
  })
  expect(prepared.map(({ columnID }) => columnID)).toEqual(expected.map(({ attnum }) => attnum))
})

test('EXPLAIN expects as many rows as its principal got of the statement before, and knows of nobody else', async () => {
  const text = 'select id as mine from made.things where id > 0'
  const expectedBy = async (env: Lake['env']) => {
    const lines = await readAs(env, `explain ${text}`)
    return /rows=(\d+) /.exec(lines.join('\n'))?.[1]
  }
  expect(await expectedBy(lake.restricted)).toBe('1000')
  await client.query(text)
  expect(await expectedBy(lake.restricted)).toBe('1')
  expect(await expectedBy(lake.env)).toBe('1000')
})
