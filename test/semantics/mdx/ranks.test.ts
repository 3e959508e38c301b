/** The order of values where some are empty, equal or below zero: an empty one stands where 0 does, and before it. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Lake } from '../../support/lake.ts'
import { captions, cellsetAs, grid, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const region = '[orders].[region]'
/** east -5, north 0, south 3, west empty; and the same value for north and south. */
const formulas = `WITH MEMBER [Measures].[v] AS CASE ${region}.CurrentMember.Name WHEN "east" THEN -5 WHEN "north" THEN 0 WHEN "south" THEN 3 ELSE NULL END
  MEMBER [Measures].[t] AS CASE ${region}.CurrentMember.Name WHEN "east" THEN 1 WHEN "west" THEN 9 ELSE 4 END
  MEMBER [Measures].[w] AS CASE ${region}.CurrentMember.Name WHEN "east" THEN "b" WHEN "north" THEN "" WHEN "south" THEN "A" ELSE NULL END`
const members = `${region}.[region].Members`

test.each([
  [`BottomCount(${members}, 4, [Measures].[v])`, ['east', 'west', 'north', 'south']],
  [`BottomCount(${members}, 2, [Measures].[v])`, ['east', 'west']],
  [`TopCount(${members}, 4, [Measures].[v])`, ['south', 'north', 'west', 'east']],
  [`TopCount(${members}, 2, [Measures].[v])`, ['south', 'north']],
  [`Order(${members}, [Measures].[v], ASC)`, ['east', 'west', 'north', 'south']],
  [`Order(${members}, [Measures].[v], BDESC)`, ['south', 'north', 'west', 'east']],
  [`Order(${members}, [Measures].[w], BASC)`, ['west', 'north', 'south', 'east']],
  // Equal values keep the order of the set, whichever way it is ranked.
  [`TopCount(${members}, 2, [Measures].[t])`, ['west', 'north']],
  [`TopCount(${members}, 3, [Measures].[t])`, ['west', 'north', 'south']],
  [`BottomCount(${members}, 2, [Measures].[t])`, ['east', 'north']],
  [
    `BottomCount({${region}.&[south],${region}.&[north],${region}.&[east]}, 2, [Measures].[t])`,
    ['east', 'south'],
  ],
  [
    `Order({${region}.&[south],${region}.&[north],${region}.&[east]}, [Measures].[t], BDESC)`,
    ['south', 'north', 'east'],
  ],
  // Without a value the first, in their order.
  [`TopCount(${members}, 2)`, ['east', 'north']],
  [`BottomCount(${members}, 2)`, ['east', 'north']],
  [`TopCount(${members}, 0, [Measures].[t])`, []],
  // The fewest whose sum reaches the bound.
  [`TopSum(${members}, 12, [Measures].[t])`, ['west', 'north']],
  [`TopSum(${members}, 13, [Measures].[t])`, ['west', 'north']],
  [`BottomSum(${members}, 5, [Measures].[t])`, ['east', 'north']],
  [`TopPercent(${members}, 50, [Measures].[t])`, ['west']],
  [`TopPercent(${members}, 51, [Measures].[t])`, ['west', 'north']],
  [`BottomPercent(${members}, 10, [Measures].[t])`, ['east', 'north']],
])('%s', async (set, expected) => {
  const { axes } = await cellsetAs(lake, 'officer', `${formulas} SELECT ${set} ON 0 FROM [sales.orders]`)
  expect(captions(axes[0])).toEqual(expected)
})

test('equal values have one rank', async () => {
  const rank = `${formulas} MEMBER [Measures].[r] AS Rank(${region}.CurrentMember, ${members}, [Measures].[t]) SELECT ${members} ON 0 FROM [sales.orders] WHERE ([Measures].[r])`
  expect(grid(await cellsetAs(lake, 'officer', rank))).toEqual([[4, 2, 2, 1]])
})
