/** Lists of thousands of values: one parameter of a statement, read in turns of the event loop, with the rows of any list. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Lake } from '../../support/lake.ts'
import { startCubeLake } from '../mdx/cube-lake.ts'
import { daxAs, daxRefusal, daxRows } from './dax-lake.ts'
import { comparable } from './visual-oracle.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const texts = (count: number) => Array.from({ length: count }, (_, place) => `"x${place}"`)
const byRegion = (filter: string) => `EVALUATE SUMMARIZECOLUMNS('orders'[region], ${filter}, "v", [orders])`

test('18,000 texts are one parameter, and other work runs while they are read', async () => {
  let [turns, isOver] = [0, false]
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const list = [...texts(18_000), '"note 58"'].join(', ')
  const { results, reads } = await daxAs(lake, 'officer', byRegion(`TREATAS({${list}}, 'orders'[note])`))
  isOver = true
  expect(results[0]?.rows).toEqual([['east', 1]])
  expect(reads.map(({ parameters }) => parameters.length)).toEqual([1])
  // Of 36,000 tokens 256 at most are read in one turn.
  expect(turns).toBeGreaterThan(36_000 / 256)
})

describe.each(['officer', 'reader'] as const)('the %s', (who) => {
  const extra = texts(200).join(', ')
  test.each([
    [
      'texts',
      `TREATAS({"note 58", ${extra}, "note 59"}, 'orders'[note])`,
      `TREATAS({"note 58", "note 59"}, 'orders'[note])`,
    ],
    ['texts and BLANK', `TREATAS({BLANK(), ${extra}}, 'orders'[note])`, `TREATAS({BLANK()}, 'orders'[note])`],
    [
      'texts that are left out',
      `FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT('orders'[note] IN {"note 58", ${extra}, BLANK()}))`,
      `FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT('orders'[note] IN {"note 58", BLANK()}))`,
    ],
    [
      'texts that are left out while BLANK stays',
      `FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT('orders'[note] IN {"note 58", ${extra}}))`,
      `FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT('orders'[note] IN {"note 58"}))`,
    ],
    [
      'texts of an expression',
      `TREATAS({"e", "w", ${extra}}, 'orders'[initial])`,
      `TREATAS({"e", "w"}, 'orders'[initial])`,
    ],
    [
      'numbers',
      `TREATAS({${Array.from({ length: 150 }, (_, place) => place).join(', ')}}, 'orders'[qty])`,
      `FILTER(KEEPFILTERS(VALUES('orders'[qty])), 'orders'[qty] >= 0)`,
    ],
    [
      'days',
      `TREATAS({${Array.from({ length: 150 }, (_, place) => `DATE(2024, 1, ${place + 1})`).join(', ')}}, 'orders'[day])`,
      `FILTER(KEEPFILTERS(VALUES('orders'[day])), 'orders'[day] < DATE(2024, 1, 151))`,
    ],
    [
      'texts with signs of SQL and of arrays',
      String.raw`TREATAS({"note 58", "a,b", "{", "}", "NULL", "\", "a""b", "' OR 1=1 --", ${extra}}, 'orders'[note])`,
      `TREATAS({"note 58"}, 'orders'[note])`,
    ],
  ])('gets the same rows by a long list of %s', async (_, long, short) => {
    const rows = comparable(await daxRows(lake, who, byRegion(long)))
    expect(rows).toEqual(comparable(await daxRows(lake, who, byRegion(short))))
    expect(rows.length).toBeGreaterThan(0)
  })
})

test('a list beyond the bound is refused, also as one parameter', async () => {
  const list = texts(20_001).join(', ')
  expect(await daxRefusal(lake, 'reader', byRegion(`TREATAS({${list}}, 'orders'[note])`))).toContain(
    'at most 20000 values',
  )
})
