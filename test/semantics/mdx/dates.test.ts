/** Functions of dates, FORMAT, WTD, keys of members, and parts of members in DRILLTHROUGH. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, readAs } from '../../support/lake.ts'
import { cellsetAs, grid, type Reader, refusalAs, runAs, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const calendar = '[orders].[day.Calendar]'
const day = (key: string) => `${calendar}.[Day].&[${key}]`

async function sql(who: Reader, text: string): Promise<readonly (readonly string[])[]> {
  const lines = await readAs(who === 'officer' ? lake.env : lake.restricted, text)
  return lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2).split('|')] : []))
}

/** The value of an expression at the whole cube. */
async function scalar(expression: string, who: Reader = 'officer'): Promise<unknown> {
  const statement = `WITH MEMBER [Measures].[x] AS ${expression} SELECT {[Measures].[x]} ON 0 FROM [sales.orders]`
  return grid(await cellsetAs(lake, who, statement))[0]?.[0]
}

describe('an expression', () => {
  test.each([
    ['Year(CDate("2024-02-29"))', 2024],
    ['Month(CDate("2/29/2024"))', 2],
    ['Day("2024-02-29")', 29],
    ['Weekday("2024-02-29")', 5],
    [
      'Hour("2024-02-29 13:45:07") * 10000 + Minute("2024-02-29 13:45:07") * 100 + Second("2024-02-29 13:45:07")',
      134_507,
    ],
    ['Hour("2024-02-29")', 0],
    ['DatePart("y", "0050-02-01")', 32],
    ['DateAdd("m", 1, "0050-01-31")', '0050-02-28'],
    ['DateAdd("yyyy", -1, "0004-02-29 13:45:07")', '0003-02-28 13:45:07'],
    ['DateAdd("q", 1, "9999-01-01")', '9999-04-01'],
    ['Year(NULL)', undefined],
    ['DateAdd("m", 1, "2024-01-31")', '2024-02-29'],
    ['DateAdd("yyyy", -1, "2024-02-29")', '2023-02-28'],
    ['DateAdd("q", 1, "2024-11-30 10:00:00")', '2025-02-28 10:00:00'],
    ['DateAdd("ww", -1, "2024-03-05")', '2024-02-27'],
    ['DateDiff("d", "2024-02-28", "2024-03-01")', 2],
    ['DateDiff("m", "2024-01-31", "2024-02-01")', 1],
    ['DateDiff("yyyy", "2023-12-31", "2024-01-01")', 1],
    ['DateDiff("ww", "2024-03-02", "2024-03-03")', 1],
    ['DatePart("q", "2024-05-01") * 1000 + DatePart("y", "2024-02-01")', 2032],
    ['DateSerial(2024, 13, 0)', '2024-12-31'],
    ['VBA!Format(1234.5, "#,##0.00")', '1,234.50'],
    ['Format(0.256, "0.0%")', '25.6%'],
    ['Format(0.256, "Percent")', '25.60%'],
    ['Format(NULL, "0.0")', ''],
    ['Format("2024-02-09", "dd.mm.yyyy")', '09.02.2024'],
    ['Format("2024-02-09", "dddd d mmmm yy")', 'Friday 9 February 24'],
    ['Format("2024-02-09 07:05:03", "hh:mm:ss ""Uhr""")', '07:05:03 Uhr'],
    ['Format("2024-02-09", "Short Date")', '2/9/2024'],
    ['Format("abc", ">")', 'ABC'],
    ['DateDiff("d", Date(), Now())', 0],
    ['Len(Now())', 19],
    ['Year(Now()) >= 2026', true],
    [`${day('2024-02-09')}.Key`, '2024-02-09'],
    [`${day('2024-02-09')}.Member_Key`, '2024-02-09'],
    [`${day('2024-02-09')}.Properties("KEY0")`, '2024-02-09'],
    [`${calendar}.[Month].&[2024-02-01].Key0`, '2024-02-01'],
    ['[orders].[qty].&[3].Key + "0"', '30'],
    ['[orders].[qty].&[3].Properties("KEY", TYPED) + 1', 4],
    ['[orders].[qty].&[3].Properties("KEY")', '3'],
  ])('%s is %p', async (expression, expected) => {
    expect(await scalar(expression)).toEqual(expected)
  })

  test('Now is one moment in all of a statement', async () => {
    const statement =
      'WITH MEMBER [Measures].[x] AS Now() SELECT {[Measures].[x]} ON 0, [orders].[region].Members ON 1 FROM [sales.orders]'
    const values = grid(await cellsetAs(lake, 'officer', statement)).flat()
    expect(new Set(values).size).toBe(1)
  })

  test.each([
    ['Year("east")', 'a date is expected'],
    ['Year("2024-13-01")', 'a date is expected'],
    ['DateAdd("h", 1, "2024-01-01")', 'the interval of DateAdd is one of'],
    ['DateAdd("m", 99999999, "2024-01-01")', 'the years 1 to 9999'],
    ['DateAdd("d", 99999999999, "2024-01-01")', 'the years 1 to 9999'],
    ['DateSerial(1, 1, 1)', 'the years 100 to 9999'],
    ['Format("2024-01-01", "ttt")', 'in the picture of a date is not supported'],
    ['Format("2024-01-01", "d""x")', 'a quote that is not closed'],
    ['Format(1, "Scientific")', 'a picture of digits'],
    ['Format(1 = 1, "0")', 'a picture of digits'],
    ['Now(1)', 'with 1 arguments is not supported'],
    ['[orders].[qty].&[3].Properties("KEY", FOO)', 'takes a name, and TYPED'],
  ])('%s is refused', async (expression, message) => {
    const statement = `WITH MEMBER [Measures].[x] AS ${expression} SELECT {[Measures].[x]} ON 0 FROM [sales.orders]`
    expect(await refusalAs(lake, 'officer', statement)).toContain(message)
  })
})

describe.each(['officer', 'reader'] as const)('as the %s', (who) => {
  test('WTD adds up the days of the week so far, from Monday', async () => {
    const statement = `WITH MEMBER [Measures].[x] AS Sum(WTD(${calendar}.CurrentMember), [Measures].[revenue]) SELECT {[Measures].[x]} ON 0, ${calendar}.[Day].Members ON 1 FROM [sales.orders]`
    const rows = await sql(
      who,
      `SELECT sum(sum(amount)) OVER (PARTITION BY date_trunc('week', day::timestamp) ORDER BY day) FROM sales.orders GROUP BY day ORDER BY day`,
    )
    const found = grid(await cellsetAs(lake, who, statement)).flat()
    expect(found.map((value) => Number(value).toFixed(4))).toEqual(
      rows.map(([value]) => Number(value).toFixed(4)),
    )
    const month = `SELECT WTD(${calendar}.[Month].&[2024-02-01]) ON 0 FROM [sales.orders]`
    expect(await refusalAs(lake, who, month)).toContain('WTD is of days of a calendar')
  })

  test('DRILLTHROUGH returns parts of members that the reader sees', async () => {
    const statement = `DRILLTHROUGH MAXROWS 10000 FIRSTROWSET 1 SELECT FROM [sales.orders] WHERE ([Measures].[revenue]) RETURN KEY(${calendar}.[Month]), CAPTION(${calendar}.[Month]), UNIQUENAME([orders].[region]), NAME([orders].[region]), [Measures].[revenue]`
    const answer = await runAs(lake, who, statement, { format: 'tabular' })
    if (answer.kind !== 'tabular') throw new Error(answer.kind)
    expect(answer.tabular.columns.map(({ name }) => name)).toEqual([
      `KEY(${calendar}.[Month])`,
      `CAPTION(${calendar}.[Month])`,
      'UNIQUENAME([orders].[region])',
      'NAME([orders].[region])',
      '[Measures].[revenue]',
    ])
    const wanted = await sql(
      who,
      `SELECT date_trunc('month', day::timestamp)::date, to_char(day, 'FMMonth YYYY'), '[orders].[region].&[' || region || ']', region, amount::float8 FROM sales.orders`,
    )
    const lines = (rows: readonly (readonly unknown[])[]) =>
      rows.map((row) => [...row.slice(0, 4), Number(row[4])].join('|')).sort()
    expect(lines(answer.tabular.rows)).toEqual(lines(wanted))
  })

  test('a part of a measure is refused', async () => {
    const statement = 'DRILLTHROUGH SELECT FROM [sales.orders] RETURN KEY([Measures].[revenue])'
    expect(await refusalAs(lake, who, statement)).toContain('KEY in RETURN is of a hierarchy or level')
  })
})
