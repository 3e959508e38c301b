/**
 * Queries that Power BI wrote, as exports of its Performance Analyzer in public repositories hold them, against SQL that was
 * written from the parts of each, for an officer and for a reader of some rows, masked: all of them in `test:soak`, some in
 * `npm test`. The names of a report are those of the cube of cube-lake.ts, and so are its literals; lists are shorter. What
 * the reports showed is not known, so the SQL says what DAX means, and no answer of Analysis Services was seen.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { isDate } from '../../../src/semantics/dax/values.ts'
import { type Lake, readAs } from '../../support/lake.ts'
import { type Reader, startCubeLake } from '../mdx/cube-lake.ts'
import { daxAs } from './dax-lake.ts'
import { comparable, type Row } from './visual-oracle.ts'

setDefaultTimeout(7_200_000)

interface Recorded {
  /** The repository of the export, and its path there. */
  readonly source: string
  readonly query: string
  /** Common tables of `rows`. */
  readonly with?: string
  /** One statement for each EVALUATE; its columns in the order of the query's. */
  readonly rows: readonly string[]
}

const recorded: readonly Recorded[] = await Bun.file(
  new URL('./fixtures/recorded.json', import.meta.url),
).json()
const isSoak = process.env.SVC_TEST_SOAK_SECONDS !== undefined
/** Every one of so many. */
const step = isSoak ? 1 : 17
const some = recorded.filter((_, place) => place % step === step - 1)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

async function rowsBySql(who: Reader, { with: tables }: Recorded, sql: string): Promise<readonly Row[]> {
  const text = `${tables === undefined ? '' : `WITH ${tables} `}SELECT '>', g.* FROM (${sql}) g`
  const lines = await readAs(who === 'officer' ? lake.env : lake.restricted, text)
  const error = lines.find((line) => line.startsWith('E'))
  if (error !== undefined) throw new Error(`${text}\n${error}`)
  const plain = (value: string) =>
    value === 'NULL' ? null : value === 't' ? true : value === 'f' ? false : value
  return lines.flatMap((line) =>
    line.startsWith('D >|') ? [line.slice('D >|'.length).split('|').map(plain)] : [],
  )
}

test('the recordings are of many reports, and no query is there twice', () => {
  expect(new Set(recorded.map(({ source }) => source)).size).toBeGreaterThanOrEqual(25)
  expect(new Set(recorded.map(({ query }) => query)).size).toBe(recorded.length)
  expect(recorded.length).toBeGreaterThanOrEqual(180)
})

describe.each(['officer', 'reader'] as const)('recorded queries of the %s', (who) => {
  test('give the rows that SQL gives', async () => {
    let rows = 0
    for (const each of some) {
      const { results } = await daxAs(lake, who, each.query)
      expect(results.length).toBe(each.rows.length)
      for (const [place, sql] of each.rows.entries()) {
        const found = (results[place]?.rows ?? []).map((row) =>
          row.map((value) => (isDate(value) ? value.text : (value ?? null))),
        )
        const wanted = comparable(await rowsBySql(who, each, sql))
        expect([each.query, ...comparable(found)]).toEqual([each.query, ...wanted])
        rows += found.length
      }
    }
    expect(rows).toBeGreaterThan(some.length)
  })
})
