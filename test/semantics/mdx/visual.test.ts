/** VISUAL and NON VISUAL subselects: which members are shown, and of which rows totals are, as SQL counts them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, readAs } from '../../support/lake.ts'
import { captions, cellsetAs, grid, type Reader, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const region = '[orders].[region]'
const paid = '[orders].[paid]'
const east = `(SELECT ({${region}.&[east]}) ON COLUMNS FROM [sales.orders])`

async function sql(who: Reader, text: string): Promise<readonly (readonly number[])[]> {
  const lines = await readAs(who === 'officer' ? lake.env : lake.restricted, text)
  return lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2).split('|').map(Number)] : []))
}

describe.each(['officer', 'reader'] as const)('as the %s', (who) => {
  const ask = (statement: string) => cellsetAs(lake, who, statement)
  const measures = '{[Measures].[revenue], [Measures].[buyers], [Measures].[basket]}'
  const values = 'sum(amount)::float8, count(DISTINCT email), sum(amount)::float8 / count(*)'

  test.each(['', 'VISUAL '])('FROM %s(…) has totals of the rows that it leaves', async (word) => {
    const cellset = await ask(`SELECT ${measures} ON 0, ${region}.Members ON 1 FROM ${word}${east}`)
    expect(captions(cellset.axes[1])).toEqual(['All', 'east'])
    const [row = []] = await sql(who, `SELECT ${values} FROM sales.orders WHERE region = 'east'`)
    expect(grid(cellset)).toEqual([row, row])
  })

  test('FROM NON VISUAL (…) has the members that it leaves, and totals of all rows that the principal sees', async () => {
    const cellset = await ask(
      `SELECT ${measures} ON 0, NON EMPTY ${region}.Members ON 1 FROM NON VISUAL ${east}`,
    )
    expect(captions(cellset.axes[1])).toEqual(['All', 'east'])
    const [whole = []] = await sql(who, `SELECT ${values} FROM sales.orders`)
    const [one = []] = await sql(who, `SELECT ${values} FROM sales.orders WHERE region = 'east'`)
    expect(grid(cellset)).toEqual([whole, one])
  })

  test('FROM NON VISUAL (…) of members that are on no axis gives the whole', async () => {
    const cellset = await ask(`SELECT ${measures} ON 0 FROM NON VISUAL ${east}`)
    expect(grid(cellset)).toEqual(await sql(who, `SELECT ${values} FROM sales.orders`))
  })

  test.each([
    [
      'NON VISUAL around VISUAL',
      `NON VISUAL (SELECT ({${region}.&[east]}) ON 0 FROM (SELECT ({${paid}.&[t]}) ON 0 FROM [sales.orders]))`,
      'paid',
    ],
    [
      'VISUAL around NON VISUAL',
      `(SELECT ({${region}.&[east]}) ON 0 FROM NON VISUAL (SELECT ({${paid}.&[t]}) ON 0 FROM [sales.orders]))`,
      "region = 'east'",
    ],
  ])('%s restricts the values by the visual one alone', async (_, source, where) => {
    const cellset = await ask(`SELECT ${measures} ON 0, ${region}.[All] ON 1 FROM ${source}`)
    expect(grid(cellset)).toEqual(await sql(who, `SELECT ${values} FROM sales.orders WHERE ${where}`))
  })

  test('a calculated share in NON VISUAL is of the whole', async () => {
    const cellset = await ask(
      `WITH MEMBER [Measures].[share] AS [Measures].[orders] / ([Measures].[orders], ${region}.[All]) SELECT {[Measures].[share]} ON 0, ${region}.&[east] ON 1 FROM NON VISUAL ${east}`,
    )
    const [[share] = []] = await sql(
      who,
      "SELECT count(*) FILTER (WHERE region = 'east')::float8 / count(*) FROM sales.orders",
    )
    expect(grid(cellset)).toEqual([[share]])
  })
})
