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
  expect(alone).toContain('10')
  for (let turn = 0; turn < repeats; turn++)
    expect((await rowsOf('SELECT 5 / n FROM sales.numbers GROUP BY 1')).toSorted()).toEqual(alone.toSorted())
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
