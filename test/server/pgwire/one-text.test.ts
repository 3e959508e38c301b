/** A value has one text, whatever else a result holds and in whichever order engines find it. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, startLake } from '../../support/lake.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(180_000)

const numbers = {
  ...{ name: 'numbers', rowCount: 200_000, fileCount: 4 },
  columns: [
    ['id', 'bigint', 'i'],
    ['n', 'numeric(10,2)', '(i % 9 + 1) * 0.5'],
    ['word', 'text', `'w' || (i * 7919 % 50)`],
  ],
} as const
const repeats = 20
let lake: Lake
let client: WireClient

beforeAll(async () => {
  lake = await startLake({ tables: [numbers] })
  const { PGPORT: port, PGUSER: user, PGPASSWORD: password } = lake.env
  client = await WireClient.logIn({ port: Number(port) }, { user, database: lake.catalog, password })
})
afterAll(() => lake?.[Symbol.asyncDispose]())

const rowsOf = async (sql: string) =>
  (await client.ask(frames.query(sql))).filter((line) => line.startsWith('D ')).map((line) => line.slice(2))

test('a quotient beside others is what it is alone', async () => {
  const alone: string[] = []
  for (let n = 1; n <= 9; n++)
    alone.push(...(await rowsOf(`SELECT 5 / n FROM sales.numbers WHERE n = ${n} * 0.5 GROUP BY 1`)))
  expect(alone).toContain('10.0000000000000000')
  for (let turn = 0; turn < repeats; turn++)
    expect((await rowsOf('SELECT 5 / n FROM sales.numbers GROUP BY 1')).toSorted()).toEqual(alone.toSorted())
})

test.each([
  ['a subquery', 'SELECT q FROM (SELECT 5 / n AS q FROM sales.numbers) s GROUP BY 1'],
  ['a CTE', 'WITH s AS (SELECT DISTINCT 5 / n AS q FROM sales.numbers) SELECT q FROM s'],
  ['UNION', 'SELECT 5 / n FROM sales.numbers UNION SELECT avg(n) FROM sales.numbers WHERE n = 1'],
])('a quotient out of %s has the digits of PostgreSQL', async (_, sql) => {
  const texts = await rowsOf(sql)
  expect(texts).toContain('10.0000000000000000')
  expect(texts).toContain('2.5000000000000000')
})

test('a quotient that is rounded or cast has the digits that were asked for', async () => {
  const sql =
    'SELECT round(5 / n, 2), trunc(5 / n, 1), (5 / n)::numeric(8,3) FROM sales.numbers GROUP BY n HAVING n = 0.5'
  expect(await rowsOf(sql)).toEqual(['10.00|10.0|10.000'])
})

test('distinct values are gathered in ascending order', async () => {
  const sorted = Array.from({ length: 50 }, (_, word) => `w${word}`).toSorted()
  for (let turn = 0; turn < repeats; turn++) {
    expect(await rowsOf('SELECT array_agg(DISTINCT word) FROM sales.numbers')).toEqual([
      `{${sorted.join(',')}}`,
    ])
    expect(await rowsOf("SELECT string_agg(DISTINCT word, '|') FROM sales.numbers")).toEqual([
      sorted.join('|'),
    ])
  }
})
