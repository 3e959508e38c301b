/** What the queries of charts need beside groups: their sizes, samples of points, and tables that are put side by side. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Lake } from '../../support/lake.ts'
import { startCubeLake } from '../mdx/cube-lake.ts'
import { daxRefusal, daxRows } from './dax-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const one = async (expression: string) =>
  (await daxRows(lake, 'officer', `EVALUATE ROW("x", ${expression})`))[0]?.[0]

test('CEILING and FLOOR give the multiple of a step, and BLANK of BLANK', async () => {
  expect(await one('CEILING(4.2, 1)')).toBe(5)
  expect(await one('CEILING(3500 * 1.1, 1)')).toBe(3850)
  expect(await one('CEILING(7, 5)')).toBe(10)
  expect(await one('FLOOR(4.8, 1)')).toBe(4)
  expect(await one('FLOOR(-4.2, 1)')).toBe(-5)
  expect(await one('FLOOR(BLANK(), 1)')).toBe(null)
  expect(await one('CEILING(4, 0)')).toBe(0)
})

test('SQRT gives a root, and refuses a number below zero', async () => {
  expect(await one('SQRT(3500)')).toBeCloseTo(59.1607978, 6)
  expect(await one('SQRT(BLANK())')).toBe(null)
  expect(await daxRefusal(lake, 'officer', 'EVALUATE ROW("x", SQRT(-1))')).toContain('SQRT')
})

const chart = (size: number, series: string, groups: string, seriesMax = 60) =>
  `DEFINE VAR core = SUMMARIZECOLUMNS('orders'[day], ${groups}"v", [revenue])
   EVALUATE SAMPLEAXISWITHLOCALMINMAX(${size}, core, 'orders'[day], [v], 350, ${series}, ALPHABETICAL, ASC, 105000, ${seriesMax})
   ORDER BY 'orders'[day]`

test('a line chart has all points up to its size', async () => {
  const rows = await daxRows(lake, 'officer', chart(3500, '', ''))
  expect(rows).toEqual(
    await daxRows(
      lake,
      'officer',
      `EVALUATE SUMMARIZECOLUMNS('orders'[day], "v", [revenue]) ORDER BY 'orders'[day]`,
    ),
  )
})

test('beyond its size the least and the greatest points remain, and no others are made up', async () => {
  const all = await daxRows(lake, 'officer', chart(3500, '', ''))
  const some = await daxRows(lake, 'officer', chart(40, '', ''))
  expect(some.length).toBeGreaterThan(10)
  expect(some.length).toBeLessThanOrEqual(40)
  const texts = all.map((row) => JSON.stringify(row))
  for (const row of some) expect(texts).toContain(JSON.stringify(row))
  const values = (rows: readonly (readonly unknown[])[]) => rows.map((row) => Number(row[1]))
  expect(Math.min(...values(some))).toBe(Math.min(...values(all)))
  expect(Math.max(...values(some))).toBe(Math.max(...values(all)))
})

test('a line chart has at most so many series, the first by name', async () => {
  const rows = await daxRows(lake, 'officer', chart(3500, "'orders'[region]", "'orders'[region], ", 2))
  expect([...new Set(rows.map((row) => row[1]))].sort()).toEqual(['east', 'north'])
})

test('a sample without an axis of its table is refused', async () => {
  const query = `DEFINE VAR core = SUMMARIZECOLUMNS('orders'[day], "v", [revenue])
    EVALUATE SAMPLEAXISWITHLOCALMINMAX(10, core, 'orders'[region], [v], 350, , ALPHABETICAL, ASC, 105000, 60)`
  expect(await daxRefusal(lake, 'officer', query)).toContain('SAMPLEAXISWITHLOCALMINMAX')
})

test('GENERATEALL puts variables beside each other, and remains where the second has no rows', async () => {
  const query = `DEFINE VAR a = ROW("a", [orders])
    VAR b = FILTER(ROW("b", 1), [b] > 1)
    EVALUATE GENERATEALL(KEEPFILTERS(a), KEEPFILTERS(b))`
  const rows = await daxRows(lake, 'officer', query)
  expect(rows.map((row) => row.map(Number))).toEqual([[1_000, 0]])
  expect(await daxRows(lake, 'officer', query.replace('GENERATEALL', 'GENERATE'))).toEqual([])
})

test('GENERATEALL over a table that could differ by row is refused by name', async () => {
  const query = `EVALUATE GENERATEALL(VALUES('orders'[region]), SUMMARIZECOLUMNS('orders'[paid], "v", [orders]))`
  expect(await daxRefusal(lake, 'officer', query)).toContain('GENERATEALL takes variables')
})
