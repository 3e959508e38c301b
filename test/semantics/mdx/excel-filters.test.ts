/**
 * The filters of a PivotTable as Excel writes them, with sets that are named where they stand. The shapes are those that
 * captures of Excel show in the tests of mdx-kylin (Top N) and in the notes of MallardCube (sums, value filters).
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, readAs } from '../../support/lake.ts'
import { captions, cellsetAs, grid, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const calendar = '[orders].[day.Calendar]'
const revenue = '[Measures].[revenue]'

async function sql(text: string): Promise<readonly (readonly string[])[]> {
  const lines = await readAs(lake.env, text)
  return lines.filter((line) => line.startsWith('D ')).map((line) => line.slice(2).split('|'))
}

const months = '[orders].[day.Calendar].[Month]'
/** The members below those of a set, as Excel writes them. */
const below = (set: string, flags = '') =>
  [
    `${set} AS [XL_Filter_Set_0]`,
    `Except(DrilldownLevel([XL_Filter_Set_0].Current AS [XL_Filter_HelperSet_0], , 0${flags}), [XL_Filter_HelperSet_0])`,
  ] as const
const [quarters, ofQuarter] = below(`Hierarchize(${calendar}.[Quarter].Members)`)
const [all, ofAll] = below('Hierarchize({[orders].[region].[All]})')
const [calculating, ofCalculating] = below('Hierarchize({[orders].[region].[All]})', ', INCLUDE_CALC_MEMBERS')
const full = (set: string) => `Filter(${set}, Not IsEmpty(${revenue}))`

describe.each([
  ['officer', 'true'],
  ['reader', "region IN ('east', 'west')"],
] as const)('as the %s', (who, where) => {
  /** Members and values of a field within a filter, and the total of what it leaves. */
  async function filtered(field: string, filter: string) {
    const cellset = await cellsetAs(
      lake,
      who,
      `SELECT NON EMPTY Hierarchize(${field}) DIMENSION PROPERTIES PARENT_UNIQUE_NAME,HIERARCHY_UNIQUE_NAME ON COLUMNS
       FROM (SELECT ${filter} ON COLUMNS FROM [sales.orders] WHERE (${revenue})) WHERE (${revenue})
       CELL PROPERTIES VALUE, FORMAT_STRING, LANGUAGE, BACK_COLOR, FORE_COLOR, FONT_FLAGS`,
    )
    const [values = []] = grid(cellset)
    return captions(cellset.axes[0]).map((caption, index) => [caption, Number(values[index])] as const)
  }
  const regions = (filter: string) =>
    filtered('{DrilldownLevel({[orders].[region].[All]},,,INCLUDE_CALC_MEMBERS)}', filter)
  const sums = async () =>
    (await sql(`SELECT region, sum(amount) FROM sales.orders WHERE ${where} GROUP BY region`)).map(
      ([key = '', value]) => [key, Number(value)] as const,
    )
  type Sums = readonly (readonly [string, number])[]
  const falling = (found: Sums) => found.toSorted(([, one], [, other]) => other - one)
  const rising = (found: Sums) => falling(found).toReversed()
  const add = (found: Sums) => found.reduce((sum, [, value]) => sum + value, 0)
  /** The first of the sorted until their sum reaches so much. */
  const until = (sorted: Sums, target: number) =>
    sorted.filter((_, index) => add(sorted.slice(0, index)) < target)

  const shapes: readonly (readonly [string, string, (found: Sums) => Sums])[] = [
    ['the top items', `TopCount(${full(ofAll)}, 1, ${revenue})`, (found) => falling(found).slice(0, 1)],
    ['the bottom items', `BottomCount(${full(ofAll)}, 1, ${revenue})`, (found) => rising(found).slice(0, 1)],
    [
      'the top percent',
      `TopPercent(${full(ofAll)}, 40, ${revenue})`,
      (found) => until(falling(found), add(found) * 0.4),
    ],
    [
      'the bottom percent',
      `BottomPercent(${full(ofAll)}, 40, ${revenue})`,
      (found) => until(rising(found), add(found) * 0.4),
    ],
    ['the top sum', `TopSum(${full(ofAll)}, 20000, ${revenue})`, (found) => until(falling(found), 20_000)],
    ['the bottom sum', `BottomSum(${ofAll}, 5, ${revenue})`, (found) => until(rising(found), 5)],
    [
      'a value that is greater',
      `Filter(${ofAll}, (${revenue}>11800))`,
      (found) => found.filter(([, value]) => value > 11_800),
    ],
    [
      'a value between',
      `Filter(${ofAll}, (${revenue}>=11000 AND ${revenue}<=11900))`,
      (found) => found.filter(([, value]) => value >= 11_000 && value <= 11_900),
    ],
    [
      'a value not between',
      `Filter(${ofAll}, (${revenue}<11000 OR ${revenue}>11900))`,
      (found) => found.filter(([, value]) => value < 11_000 || value > 11_900),
    ],
    ['a value that is not equal', `Filter(${ofAll}, (${revenue}<>0))`, (found) => found],
  ]
  test.each(shapes)('%s', async (_, filter, wanted) => {
    const left = wanted(await sums()).toSorted(([one], [other]) => (one < other ? -1 : 1))
    const found = await regions(`Generate(${all}, ${filter})`)
    // Where nothing is left there is nothing to show.
    const shown = left.length === 0 ? [] : [['All', add(left)], ...left]
    expect(found.map(([key]) => key)).toEqual(shown.map(([key]) => String(key)))
    for (const [index, [, value]] of found.entries()) expect(value).toBeCloseTo(Number(shown[index]?.[1]), 6)
  })

  test('calculated members among what is drilled', async () => {
    const [[key, value] = ['', 0]] = rising(await sums())
    const found = await regions(`Generate(${calculating}, BottomSum(${ofCalculating}, 5, ${revenue}))`)
    expect(found.map(([each]) => each)).toEqual(['All', key])
    expect(found[0]?.[1]).toBeCloseTo(value, 6)
  })

  test('the top items below each member of an upper level', async () => {
    const wanted = await sql(
      `SELECT to_char(m, 'FMMonth YYYY') FROM (SELECT date_trunc('month', day) AS m, sum(amount) AS s,
         row_number() OVER (PARTITION BY date_trunc('quarter', day) ORDER BY sum(amount) DESC) AS place
       FROM sales.orders WHERE ${where} GROUP BY 1, date_trunc('quarter', day)) x WHERE place = 1 ORDER BY m`,
    )
    const found = await filtered(
      `{${months}.Members}`,
      `Generate(${quarters}, TopCount(${full(ofQuarter)}, 1, ${revenue}))`,
    )
    expect(found.map(([caption]) => [caption])).toEqual(wanted.map(([caption = '']) => [caption]))
  })

  test('the top items within others, two levels down and one within the other', async () => {
    const upper = `Hierarchize({${calendar}.[All]}) AS [XL_Filter_Set_0]`
    const deep = `Except(DrilldownLevel(DrilldownLevel([XL_Filter_Set_0].Current, , 0) AS [XL_Filter_HelperSet_0], , 0), [XL_Filter_HelperSet_0])`
    const inner = `SELECT Generate(${upper}, TopCount(${full(deep)}, 2, ${revenue})) ON COLUMNS FROM [sales.orders] WHERE (${revenue})`
    const [lower, ofLower] = below(`Hierarchize(${calendar}.[Quarter].Members)`)
    const outer = `Generate(${lower.replace('Set_0', 'Set_1')}, TopCount(${full(ofLower.replaceAll('Set_0', 'Set_1'))}, 1, ${revenue}))`
    const cellset = await cellsetAs(
      lake,
      who,
      `SELECT NON EMPTY Hierarchize({${months}.Members}) ON COLUMNS FROM (SELECT ${outer} ON COLUMNS FROM (${inner}) WHERE (${revenue})) WHERE (${revenue})`,
    )
    const wanted = await sql(
      `WITH q AS (SELECT date_trunc('quarter', day) AS q FROM sales.orders WHERE ${where} GROUP BY 1 ORDER BY sum(amount) DESC LIMIT 2),
       m AS (SELECT date_trunc('month', day) AS m, sum(amount) AS s, row_number() OVER (PARTITION BY date_trunc('quarter', day) ORDER BY sum(amount) DESC) AS place
         FROM sales.orders WHERE ${where} AND date_trunc('quarter', day) IN (SELECT q FROM q) GROUP BY 1, date_trunc('quarter', day))
       SELECT to_char(m, 'FMMonth YYYY') FROM m WHERE place = 1 ORDER BY m`,
    )
    expect(captions(cellset.axes[0])).toEqual(wanted.map(([caption = '']) => caption))
  })

  test('the slicer of a subselect holds where its sets are ranked', async () => {
    const paid = '[orders].[paid].&[t]'
    const cellset = await cellsetAs(
      lake,
      who,
      `SELECT [orders].[region].[region].Members ON 0 FROM (SELECT Generate(${all}, TopCount(${full(ofAll)}, 1, ${revenue})) ON 0 FROM [sales.orders] WHERE (${revenue}, ${paid})) WHERE (${revenue}, ${paid})`,
    )
    const [[key] = []] = await sql(
      `SELECT region FROM sales.orders WHERE paid AND ${where} GROUP BY region ORDER BY sum(amount) DESC LIMIT 1`,
    )
    expect(captions(cellset.axes[0])).toEqual([String(key)])
  })

  test('the greatest and least children of each member, as older clients ask for them', async () => {
    const ask = (name: string) =>
      cellsetAs(
        lake,
        who,
        `SELECT ${name}({[orders].[region].[All]}, 1, , ${revenue}) ON 0 FROM [sales.orders]`,
      )
    const ranked = falling(await sums())
    expect(captions((await ask('DrilldownLevelTop')).axes[0])).toEqual(['All', String(ranked[0]?.[0])])
    expect(captions((await ask('DrilldownLevelBottom')).axes[0])).toEqual(['All', String(ranked.at(-1)?.[0])])
  })

  test('deviations, quotients and open ranges are as SQL has them', async () => {
    const set = `[orders].[region].[region].Members, ${revenue}`
    const found = await cellsetAs(
      lake,
      who,
      `WITH MEMBER [Measures].[a] AS Stdev(${set}) MEMBER [Measures].[b] AS VarP(${set})
       MEMBER [Measures].[c] AS Divide(${revenue}, 0, -1) MEMBER [Measures].[d] AS Divide(${revenue}, [Measures].[orders])
       MEMBER [Measures].[e] AS Count(NULL:${calendar}.[Month].&[2024-03-01])
       SELECT {[Measures].[a],[Measures].[b],[Measures].[c],[Measures].[d],[Measures].[e]} ON 0 FROM [sales.orders]`,
    )
    const [row = []] = await sql(
      `SELECT stddev_samp(s), var_pop(s), -1, sum(s) / sum(n), 3 FROM (SELECT sum(amount)::float8 AS s, count(*) AS n FROM sales.orders WHERE ${where} GROUP BY region) x`,
    )
    for (const [index, value] of (grid(found)[0] ?? []).entries())
      expect(Number(value)).toBeCloseTo(Number(row[index]), 4)
  })
})
