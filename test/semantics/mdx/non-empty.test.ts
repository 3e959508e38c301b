/**
 * NON EMPTY asks which combinations have rows in place of making all of them: the answers are the same, and bounds count
 * what is there.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, readAs } from '../../support/lake.ts'
import { cellsetAs, grid, type Reader, refusalAs, runAs, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const whole = { bounds: { fullProductMax: 1e12 } }
const asked = { bounds: { fullProductMax: 0 } }

const from = 'FROM [sales.orders]'
const region = '[orders].[region]'
const email = '[orders].[email]'
const note = '[orders].[note]'
const month = '[orders].[day.Calendar].[Month]'
const both = '{[Measures].[revenue],[Measures].[buyers]}'
const within = `FROM (SELECT ({${region}.&[east],${region}.&[west]}) ON 0 ${from})`

const statements: readonly string[] = [
  `SELECT NON EMPTY CrossJoin(${region}.Members, ${email}.Members) ON 0 ${from}`,
  `SELECT NON EMPTY Hierarchize(CrossJoin({DrilldownLevel({${region}.[All]})}, {DrilldownLevel({[orders].[paid].[All]})})) ON 0 ${from}`,
  `SELECT ${both} ON 0, NON EMPTY ${region}.Members * ${month}.Members ON 1 ${from}`,
  `SELECT NON EMPTY CrossJoin(${region}.Members, ${both}) ON 0, NON EMPTY CrossJoin([orders].[day.Calendar].Members, [orders].[paid].Members) ON 1 ${from}`,
  `SELECT NON EMPTY (${region}.Members, ${note}.Members) ON 0 ${from}`,
  `SELECT {NON EMPTY_SET} ON 0 ${from}`.replace(
    '{NON EMPTY_SET}',
    `NON EMPTY {(${region}.[region].Members * [area].[name].Members)}`,
  ),
  `SELECT ${both} ON 0, NON EMPTY CrossJoin(${region}.Members, ${email}.[email].Members) ON 1 ${within}`,
  `SELECT ${both} ON 0, NON EMPTY CrossJoin(${region}.Members, ${month}.Members) ON 1 ${from} WHERE ([orders].[paid].&[t])`,
  `SELECT ${both} ON 0, NON EMPTY CrossJoin(${region}.Members, ${month}.Members) ON 1 ${from} WHERE ({[orders].[paid].&[t],[orders].[paid].&[f]})`,
  `SELECT {[Measures].[stock],[Measures].[basket]} ON 0, NON EMPTY CrossJoin(${region}.Members, ${month}.Members) ON 1 ${from}`,
  `SELECT NON EMPTY {[Measures].[stock]} ON 0, NON EMPTY CrossJoin(${region}.Members, ${month}.Members) ON 1 ${from}`,
  // A value where there are no rows, also where it stands on the other axis.
  `WITH MEMBER [Measures].[x] AS IIF(IsEmpty([Measures].[revenue]), 7, NULL) SELECT {[Measures].[x]} ON 0, NON EMPTY CrossJoin(${region}.Members, [orders].[initial].Members) ON 1 ${from}`,
  `WITH MEMBER [Measures].[x] AS 7 SELECT NON EMPTY CrossJoin({[Measures].[x]}, ${region}.Members) ON 0, NON EMPTY CrossJoin([orders].[initial].Members, [orders].[paid].Members) ON 1 ${from}`,
  `WITH MEMBER [Measures].[x] AS 7 SELECT NON EMPTY CrossJoin(${region}.Members, [orders].[initial].Members) ON 0 ${from} WHERE ([Measures].[x])`,
  `WITH MEMBER ${region}.[two] AS ${region}.&[east] + ${region}.&[west] SELECT ${both} ON 0, NON EMPTY CrossJoin({${region}.[two],${region}.&[east]}, ${month}.Members) ON 1 ${from}`,
  `SELECT ${both} ON 0, NON EMPTY CrossJoin(VisualTotals({${region}.[All],${region}.&[east]}), ${month}.Members) ON 1 ${from}`,
  `SELECT NON EMPTY CrossJoin({${region}.&[east],${region}.&[east],${region}.[All]}, ${month}.Members) ON 0 ${from}`,
  `SELECT ${region}.Members ON 0, ${month}.Members ON 1 ${from} WHERE ([Measures].[revenue])`,
  `SELECT NON EMPTY CrossJoin(TopCount(${region}.[region].Members, 1, [Measures].[revenue]), CrossJoin(${month}.Members, [orders].[paid].Members)) ON 0 ${from}`,
  `SELECT NON EMPTY CrossJoin(${region}.Members, Filter(${email}.[email].Members, 1 = 2)) ON 0 ${from}`,
  `SELECT NON EMPTY CrossJoin(${region}.Members, ${month}.Members) HAVING [Measures].[revenue] > 100 ON 0 ${from}`,
]

describe.each<Reader>(['officer', 'reader'])('NON EMPTY of the %s', (who) => {
  test.each(statements)('is the same whether or not all combinations are made: %s', async (statement) => {
    const [all, some] = [
      await runAs(lake, who, statement, {}, whole),
      await runAs(lake, who, statement, {}, asked),
    ]
    if (all.kind !== 'cellset' || some.kind !== 'cellset') throw new Error(all.kind)
    expect(some.cellset).toEqual(all.cellset)
    if (!statement.includes('1 = 2')) expect(all.cellset.cells.length).toBeGreaterThan(0)
  })
})

test('fails in the same words either way', async () => {
  const twice = `SELECT NON EMPTY CrossJoin(${region}.Members, ${region}.Members) ON 0 ${from}`
  expect(await refusalAs(lake, 'reader', twice, {}, asked)).toBe(
    await refusalAs(lake, 'reader', twice, {}, whole),
  )
  expect(await refusalAs(lake, 'reader', twice, {}, asked)).toContain('one member of each hierarchy')
})

describe('bounds', () => {
  const wide = `CrossJoin(${email}.[email].Members, [orders].[day].[day].Members, [orders].[qty].[qty].Members)`

  test('count what is there', async () => {
    const plain = `SELECT {[Measures].[orders]} ON 0, ${wide} ON 1 ${from}`
    expect(await refusalAs(lake, 'officer', plain)).toContain('Ask for less.')
    const cellset = await cellsetAs(lake, 'officer', plain.replace('CrossJoin', 'NON EMPTY CrossJoin'))
    const lines = await readAs(
      lake.env,
      'SELECT count(*), sum(n) FROM (SELECT email, day, qty, count(*) AS n FROM sales.orders GROUP BY 1, 2, 3) s',
    )
    const counts = lines
      .find((line) => line.startsWith('D '))
      ?.slice(2)
      .split('|')
      .map(Number)
    const values = grid(cellset).map(([value]) => Number(value))
    expect([values.length, values.reduce((sum, value) => sum + value, 0)]).toEqual(counts ?? [])
  })

  test('hold for what is there as well', async () => {
    const statement = `SELECT NON EMPTY ${wide} ON 0 ${from}`
    const bounded = (bounds: object) => refusalAs(lake, 'officer', statement, {}, { bounds })
    expect(await bounded({ setTuplesMax: 500 })).toContain('a set has at most 500 tuples')
    expect(await bounded({ cellsMax: 500 })).toContain('an answer has at most 500 cells')
    expect(await bounded({ rowsMax: 500 })).toContain('more than 500 members and values')
  })

  test('of cells count those with values where an axis drops its empties', async () => {
    const axes = (empty: string) =>
      `SELECT ${empty}${email}.[email].Members ON 0, ${empty}[orders].[day].[day].Members ON 1 ${from}`
    const bounds = { bounds: { cellsMax: 5_000 } }
    expect(await refusalAs(lake, 'officer', axes(''), {}, bounds)).toContain('at most 5000 cells')
    const { cells } = await cellsetAs(lake, 'officer', axes('NON EMPTY '), {}, bounds)
    expect(cells.length).toBeGreaterThan(100)
    const table = await refusalAs(lake, 'officer', axes('NON EMPTY '), { format: 'tabular' }, bounds)
    expect(table).toContain('a table has at most 5000 values')
  })
})
