/** The shapes of MDX that clients of cubes send: axes, the order of tuples, properties, ordinals and values of each. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Cellset } from '../../../src/semantics/mdx/cellset.ts'
import type { MdxAnswer } from '../../../src/semantics/mdx/run.ts'
import { type Lake, readAs } from '../../support/lake.ts'
import { captions, cellsetAs, grid, refusalAs, runAs, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const from = 'FROM [sales.orders]'
const region = '[orders].[region]'
const paid = '[orders].[paid]'
const calendar = '[orders].[day.Calendar]'
const revenue = '[Measures].[revenue]'
const count = '[Measures].[orders]'
const expanded = (hierarchy: string) =>
  `Hierarchize({DrilldownLevel({${hierarchy}.[All]},,,INCLUDE_CALC_MEMBERS)})`

const ask = (statement: string, who: 'officer' | 'reader' = 'officer') => cellsetAs(lake, who, statement)
const askedTabular = async (statement: string, who: 'officer' | 'reader' = 'officer') => {
  const answer = await runAs(lake, who, statement, { format: 'tabular' })
  if (answer.kind !== 'tabular') throw new Error(answer.kind)
  return answer.tabular
}

/** The rows of a statement over the wire as the officer, values as numbers. */
async function read(text: string): Promise<readonly (readonly unknown[])[]> {
  const lines = await readAs(lake.env, text)
  const error = lines.find((line) => line.startsWith('E'))
  if (error !== undefined) throw new Error(error)
  return lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2).split('|')] : []))
}
const sums = async (text: string) => (await read(text)).map(([value]) => Number(value))

/** What every cellset must hold, whatever was asked. */
function assertWellFormed({ cube, axes, slicer, cells }: Cellset): void {
  for (const { hierarchies, tuples } of [...axes, slicer]) {
    for (const { properties } of hierarchies) expect(new Set(properties).size).toBe(properties.length)
    for (const tuple of tuples) {
      expect(tuple.map(({ hierarchy }) => hierarchy)).toEqual(hierarchies.map(({ uniqueName }) => uniqueName))
      tuple.forEach(({ properties }, index) => {
        expect(properties.length).toBe(hierarchies[index]?.properties.length ?? 0)
      })
    }
  }
  const onAxes = axes.flatMap(({ hierarchies }) => hierarchies.map(({ uniqueName }) => uniqueName))
  const all = [
    '[Measures]',
    ...cube.dimensions.flatMap(({ hierarchies }) => hierarchies.map((each) => each.uniqueName)),
  ]
  const sliced = slicer.hierarchies.map(({ uniqueName }) => uniqueName)
  if (axes.every(({ tuples }) => tuples.length > 0)) expect([...onAxes, ...sliced].sort()).toEqual(all.sort())
  expect(slicer.tuples).toHaveLength(1)
  expect(slicer.hierarchies.every(({ properties }) => properties.length === 0)).toBe(true)
  const count = axes.reduce((product, { tuples }) => product * tuples.length, 1)
  const ordinals = cells.map(({ ordinal }) => ordinal)
  expect(ordinals).toEqual(ordinals.toSorted((one, other) => one - other))
  expect(new Set(ordinals).size).toBe(ordinals.length)
  expect(ordinals.every((ordinal) => ordinal >= 0 && ordinal < count)).toBe(true)
}

async function asked(statement: string, who: 'officer' | 'reader' = 'officer'): Promise<Cellset> {
  const cellset = await ask(statement, who)
  assertWellFormed(cellset)
  return cellset
}

describe('values', () => {
  test('1: a total has no axis and one cell', async () => {
    const cellset = await asked(`SELECT ${from} WHERE (${revenue})`)
    expect(cellset.axes).toEqual([])
    expect(cellset.cells).toEqual([
      { ordinal: 0, type: 'int', value: 47_185, formatted: '47,185.00', format: '#,##0.00' },
    ])
  })

  test('2: several measures are several columns', async () => {
    const cellset = await asked(
      `SELECT {${revenue},${count}} ON COLUMNS ${from} CELL PROPERTIES VALUE, FORMAT_STRING`,
    )
    expect(captions(cellset.axes[0])).toEqual(['revenue', 'orders'])
    expect(cellset.cellProperties).toEqual(['VALUE', 'FORMAT_STRING'])
    expect(grid(cellset)).toEqual([[47_185, 1_000]])
  })

  test('measures that do not add up are computed for each combination of levels', async () => {
    const cellset = await asked(
      `SELECT {[Measures].[buyers],[Measures].[basket],[Measures].[stock]} ON 0, ${expanded(region)} ON 1 ${from}`,
    )
    const rows = await read(
      `SELECT count(DISTINCT email), sum(amount)::float8 / count(*), sum(qty) FILTER (WHERE day = (SELECT max(day) FROM sales.orders))
       FROM sales.orders UNION ALL SELECT * FROM (SELECT count(DISTINCT email), sum(amount)::float8 / count(*),
       sum(qty) FILTER (WHERE day = last) FROM (SELECT *, max(day) OVER (PARTITION BY region) AS last FROM sales.orders) o GROUP BY region ORDER BY region) g`,
    )
    expect(grid(cellset)).toEqual(rows.map((row) => row.map(Number)))
  })
})

describe('fields on an axis', () => {
  test('3: a field has its total first, then its members in order', async () => {
    const cellset = await asked(
      `SELECT NON EMPTY ${expanded(region)} DIMENSION PROPERTIES PARENT_UNIQUE_NAME,HIERARCHY_UNIQUE_NAME,MEMBER_CAPTION ON COLUMNS ${from} WHERE (${revenue})`,
    )
    const [axis] = cellset.axes
    expect(axis?.hierarchies).toEqual([
      { uniqueName: region, properties: ['PARENT_UNIQUE_NAME', 'HIERARCHY_UNIQUE_NAME'] },
    ])
    expect(captions(axis)).toEqual(['All', 'east', 'north', 'south', 'west'])
    expect(axis?.tuples[1]).toEqual([
      {
        ...{ hierarchy: region, uniqueName: `${region}.&[east]`, caption: 'east' },
        ...{ levelUniqueName: `${region}.[region]`, levelNumber: 1, displayInfo: 0 },
        properties: [`${region}.[All]`, region],
      },
    ])
    expect(axis?.tuples.map(([member]) => member?.displayInfo)).toEqual([
      0x1_0004, 0, 0x2_0000, 0x2_0000, 0x2_0000,
    ])
    expect(grid(cellset)).toEqual([
      [47_185, ...(await sums('SELECT sum(amount) FROM sales.orders GROUP BY region ORDER BY region'))],
    ])
  })

  test('4: a calendar expands level by level', async () => {
    const cellset = await asked(
      `SELECT {${count}} ON 0, NON EMPTY DrilldownMember({{DrilldownLevel({${calendar}.[All]},,,INCLUDE_CALC_MEMBERS)}}, {${calendar}.[Year].&[2024-01-01]}) DIMENSION PROPERTIES PARENT_UNIQUE_NAME ON 1 ${from}`,
    )
    const [, axis] = cellset.axes
    expect(captions(axis)).toEqual(['All', '2024', 'Q1 2024', 'Q2 2024', 'Q3 2024', 'Q4 2024'])
    expect(axis?.tuples[2]?.[0]).toMatchObject({
      uniqueName: `${calendar}.[Quarter].&[2024-01-01]`,
      levelNumber: 2,
      properties: [`${calendar}.[Year].&[2024-01-01]`],
    })
    const quarters = await sums(
      "SELECT count(*) FROM sales.orders GROUP BY date_trunc('quarter', day::timestamp) ORDER BY date_trunc('quarter', day::timestamp)",
    )
    expect(grid(cellset).flat()).toEqual([1_000, 1_000, ...quarters])
  })

  test('5: two fields are crossed, and measures stay on their axis', async () => {
    const cellset = await asked(
      `SELECT NON EMPTY CrossJoin(CrossJoin(${expanded(region)}, ${expanded(paid)}), {${count},${revenue}}) ON 0 ${from}`,
    )
    expect(cellset.axes[0]?.hierarchies.map(({ uniqueName }) => uniqueName)).toEqual([
      region,
      paid,
      '[Measures]',
    ])
    expect(captions(cellset.axes[0]).slice(0, 8)).toEqual([
      ...['All/All/orders', 'All/All/revenue', 'All/f/orders', 'All/f/revenue'],
      ...['All/t/orders', 'All/t/revenue', 'east/All/orders', 'east/All/revenue'],
    ])
    expect(cellset.cells).toHaveLength(5 * 3 * 2)
  })

  const nested = (which: string) =>
    `SELECT NON EMPTY Hierarchize(DrilldownMember(CrossJoin({${region}.[All],${region}.[region].AllMembers}, {(${paid}.[All])}), ${which}, ${paid})) ON 0 ${from} WHERE (${count})`

  test('6: nested rows are each parent, then what is below it', async () => {
    const cellset = await asked(nested(`${region}.[region].AllMembers`))
    expect(captions(cellset.axes[0]).slice(0, 7)).toEqual([
      ...['All/All', 'east/All', 'east/f', 'east/t', 'north/All', 'north/f', 'north/t'],
    ])
  })

  test('7: all but some rows are expanded by a complement', async () => {
    const cellset = await asked(nested(`{-{${region}.&[east]}}`))
    expect(captions(cellset.axes[0]).slice(0, 5)).toEqual([
      'All/All',
      'east/All',
      'north/All',
      'north/f',
      'north/t',
    ])
  })

  test('8: expanded members expand again', async () => {
    const year = `${calendar}.[Year].&[2024-01-01]`
    const cellset = await asked(
      `SELECT DrilldownMember({DrilldownMember({{DrilldownLevel({${calendar}.[All]})}}, {${year}})}, {${calendar}.[Quarter].&[2024-04-01]}) ON 0 ${from}`,
    )
    expect(captions(cellset.axes[0])).toEqual([
      ...['All', '2024', 'Q1 2024', 'Q2 2024', 'April 2024', 'May 2024', 'June 2024', 'Q3 2024', 'Q4 2024'],
    ])
  })

  test('9: members and levels are drilled up, and a level by its place', async () => {
    const down = `DrilldownLevel({${region}.[All]})`
    expect(
      captions((await asked(`SELECT DrillupMember(${down}, {${region}.[All]}) ON 0 ${from}`)).axes[0]),
    ).toEqual(['All'])
    expect(captions((await asked(`SELECT DrillupLevel(${down}) ON 0 ${from}`)).axes[0])).toEqual(['All'])
    const byPlace = await asked(
      `SELECT DrilldownLevel(CrossJoin({${paid}.[All]}, {${region}.[All]}),,1) ON 0 ${from}`,
    )
    expect(captions(byPlace.axes[0])).toEqual(['All/All', 'All/east', 'All/north', 'All/south', 'All/west'])
  })
})

describe('filters', () => {
  test('10: totals within subselects are of what they leave', async () => {
    const cellset = await asked(
      `SELECT {[Measures].[buyers]} ON 0, ${expanded(region)} ON 1 FROM (SELECT ({${region}.&[east],${region}.&[north]}) ON COLUMNS FROM (SELECT ({${paid}.&[t]}) ON COLUMNS ${from}))`,
    )
    expect(captions(cellset.axes[1])).toEqual(['All', 'east', 'north'])
    expect(grid(cellset).flat()).toEqual(
      await sums(
        "SELECT count(DISTINCT email) FROM sales.orders WHERE paid AND region IN ('east', 'north') GROUP BY GROUPING SETS ((), (region)) ORDER BY region NULLS FIRST",
      ),
    )
  })

  test('11: labels, dates and values filter by conditions', async () => {
    const filtered = async (set: string, shown: string, formulas = '') =>
      captions(
        (
          await asked(
            `${formulas} SELECT ${expanded(shown)} ON 0 FROM (SELECT ${set} ON COLUMNS ${from}) WHERE (${revenue})`,
          )
        ).axes[0],
      )
    const members = `${region}.[region].AllMembers`
    const caption = `${region}.CurrentMember.MEMBER_CAPTION`
    expect(await filtered(`Filter(${members}, (InStr(1, ${caption}, "O") > 0))`, region)).toEqual([
      'All',
      'north',
      'south',
    ])
    expect(await filtered(`Filter(${members}, (Left(${caption}, 1) = "e"))`, region)).toEqual(['All', 'east'])
    expect(await filtered(`Filter(${members}, (${caption} >= "s" AND ${caption} <= "t"))`, region)).toEqual([
      'All',
      'south',
    ])
    expect(await filtered(`Filter(${members}, (${revenue} > 11800))`, region)).toEqual([
      'All',
      'east',
      'north',
    ])
    const day = '[orders].[day]'
    expect(
      await filtered(
        `Filter(${day}.[day].AllMembers, (${day}.CurrentMember.MEMBER_VALUE < CDate("2024-01-04")))`,
        day,
      ),
    ).toEqual(['All', '2024-01-01', '2024-01-02', '2024-01-03'])
    const top = `WITH SET [XL_Filter_Set_0] AS TopCount(${region}.[region].Members, 2, ${revenue})`
    expect(await filtered(`Generate({${paid}.[All]}, [XL_Filter_Set_0])`, region, top)).toEqual([
      'All',
      'east',
      'north',
    ])
    expect(await filtered(`BottomCount(${members}, 1, ${revenue})`, region)).toEqual(['All', 'west'])
    expect(await filtered(`TopPercent(${members}, 30, ${revenue})`, region)).toEqual(['All', 'east', 'north'])
    expect(await filtered(`TopSum(${members}, 11850, ${revenue})`, region)).toEqual(['All', 'east'])
  })

  test('10: a total has no value where subselects leave no rows, also beside groups', async () => {
    const user = '[orders].[email].&[user1@example.com]'
    const nothing = `FROM (SELECT {${region}.&[east]} ON 0 FROM (SELECT {${user}} ON 0 ${from}))`
    for (const measure of [count, revenue, '[Measures].[buyers]'])
      for (const set of [`{${region}.[All]}`, `${paid}.Members`])
        expect((await asked(`SELECT {${measure}} ON 0, ${set} ON 1 ${nothing}`)).cells).toEqual([])
  })

  test('11: an unknown form of filter is a fault', async () => {
    const statement = `SELECT ${expanded(region)} ON 0 FROM (SELECT Filter(${region}.[region].AllMembers, VBA!Foo(${region}.CurrentMember.Name)) ON 0 ${from})`
    expect(await refusalAs(lake, 'officer', statement)).toStartWith('MDX: ')
    const other = statement.replace('VBA!Foo', 'Soundex')
    expect(await refusalAs(lake, 'officer', other)).toContain('SOUNDEX')
  })

  test('12: the members of a field are listed with calculated ones', async () => {
    const cellset = await asked(
      `WITH MEMBER ${region}.[All].[both] AS Aggregate({${region}.&[east],${region}.&[west]}) SELECT {AddCalculatedMembers({${region}.[region].Members})} DIMENSION PROPERTIES MEMBER_TYPE ON COLUMNS ${from} WHERE ([Measures].[buyers]) CELL PROPERTIES CELL_ORDINAL`,
    )
    expect(captions(cellset.axes[0])).toEqual(['east', 'north', 'south', 'west', 'both'])
    expect(cellset.axes[0]?.tuples.map(([member]) => member?.properties)).toEqual([[1], [1], [1], [1], [4]])
    expect(grid(cellset)).toEqual([[250, 250, 250, 250, 500]])
  })

  test('13: whether members can be expanded is counted', async () => {
    const cellset = await asked(
      `WITH MEMBER [Measures].cChildren AS 'AddCalculatedMembers(${region}.currentmember.children).count' SET FilteredMembers AS '{${region}.&[east]}' SELECT {[Measures].cChildren} ON COLUMNS, Hierarchize(Generate(FilteredMembers, Ascendants(${region}.currentmember))) DIMENSION PROPERTIES PARENT_UNIQUE_NAME ON ROWS ${from}`,
    )
    expect(captions(cellset.axes[1])).toEqual(['All', 'east'])
    expect(grid(cellset)).toEqual([[4], [0]])
  })
})

describe('formulas', () => {
  test('14: calculated members have values and formats of their own', async () => {
    const cellset = await asked(
      `WITH MEMBER [Measures].[share] AS IIF(${count} = 0, NULL, ${revenue} / (${revenue}, ${region}.[All])), FORMAT_STRING = "0.0%" MEMBER [Measures].[none] AS NULL + NULL SELECT {[Measures].[share],[Measures].[none]} ON 0, ${region}.Members ON 1 ${from}`,
    )
    expect(cellset.cells.map(({ formatted }) => formatted)).toEqual([
      '100.0%',
      '25.1%',
      '25.1%',
      '24.9%',
      '24.9%',
    ])
    expect(cellset.cells.every(({ ordinal }) => ordinal % 2 === 0)).toBe(true)
  })

  test('14: members and sets of a session are found until they are dropped', async () => {
    const made = await runAs(
      lake,
      'officer',
      "CREATE SESSION MEMBER [sales.orders].[Measures].[twice] AS '[Measures].[orders] * 2'",
    )
    const more = await runAs(
      lake,
      'officer',
      `CREATE SESSION SET [sales.orders].[few] AS {${region}.&[east]}`,
      { session: sessionOf(made) },
    )
    const session = sessionOf(more)
    const cellset = await cellsetAs(lake, 'officer', `SELECT {[Measures].[twice]} ON 0, [few] ON 1 ${from}`, {
      session,
    })
    expect(grid(cellset)).toEqual([[500]])
    const gone = await runAs(lake, 'officer', 'DROP MEMBER [sales.orders].[Measures].[twice]', { session })
    expect(
      await refusalAs(lake, 'officer', `SELECT {[Measures].[twice]} ON 0 ${from}`, {
        session: sessionOf(gone),
      }),
    ).toContain('not that of')
  })

  test('15: members and sets are read out of texts', async () => {
    const cellset = await asked(
      `SELECT {StrToMember("${region}.&[east]")} ON 0, StrToSet("{${paid}.&[t],${paid}.&[f]}", CONSTRAINED) ON 1 ${from} WHERE (${count})`,
    )
    expect(grid(cellset)).toEqual([[83], [167]])
    expect(captions((await asked(`SELECT (${region}.&[east], ${paid}.&[t]) ON 0 ${from}`)).axes[0])).toEqual([
      'east/t',
    ])
    expect(
      await refusalAs(
        lake,
        'officer',
        `SELECT StrToSet("Head(${region}.Members)", CONSTRAINED) ON 0 ${from}`,
      ),
    ).toContain('CONSTRAINED')
  })

  test('a formula that is defined by itself is a fault', async () => {
    expect(
      await refusalAs(
        lake,
        'officer',
        `WITH MEMBER [Measures].[x] AS [Measures].[x] + 1 SELECT {[Measures].[x]} ON 0 ${from}`,
      ),
    ).toContain('by themselves')
  })
})

const sessionOf = (answer: MdxAnswer) => (answer.kind === 'empty' ? answer.session : [])

describe('other statements', () => {
  test('16: a refresh answers nothing', async () => {
    expect(await runAs(lake, 'officer', 'REFRESH CUBE [sales.orders]')).toEqual({
      kind: 'empty',
      session: [],
    })
  })

  test('16: drilling through shows the visible, masked rows of a cell', async () => {
    const statement = `DRILLTHROUGH MAXROWS 2 SELECT ${from} WHERE (${revenue}, ${region}.&[east]) RETURN ${region}, [orders].[email], ${revenue}`
    const tabular = await askedTabular(statement)
    expect(tabular.columns.map(({ name }) => name)).toEqual([region, '[orders].[email]', revenue])
    expect(tabular.rows).toEqual([
      ['east', 'user102@example.com', 37.74],
      ['east', 'user106@example.com', 39.22],
    ])
    const masked = await askedTabular(statement, 'reader')
    expect(masked.rows.every(([, email]) => /^[xn@.]*$/.test(String(email)))).toBe(true)
    expect(await refusalAs(lake, 'reader', statement.replace('east', 'north'))).toContain('not that of')
  })

  test('rows of a table have a column for each level and each column', async () => {
    const tabular = await askedTabular(
      `SELECT {${count},${revenue}} ON 0, NON EMPTY ${expanded(region)} ON 1 ${from}`,
    )
    expect(tabular.columns).toEqual([
      { name: `${region}.[region].[MEMBER_CAPTION]`, type: 'string' },
      { name: count, type: 'int' },
      { name: revenue, type: 'double' },
    ])
    expect(tabular.rows[0]).toEqual([undefined, 1_000, 47_185])
    expect(tabular.rows[1]).toEqual(['east', 250, 11_850])
  })
})

describe('17: functions of other tools', () => {
  const members = `${region}.[region].Members`
  const year = `${calendar}.[Year].&[2024-01-01]`
  const month = (number: string) => `${calendar}.[Month].&[2024-${number}-01]`
  test.each([
    [`Order(${members}, ${revenue}, BDESC)`, ['east', 'north', 'south', 'west']],
    [`Order(${members}, ${revenue}, ASC)`, ['west', 'south', 'north', 'east']],
    [`TopCount(${members}, 1, ${revenue})`, ['east']],
    [`Filter(${members}, ${revenue} < 11800)`, ['south', 'west']],
    [`Except(${members}, {${region}.&[east]})`, ['north', 'south', 'west']],
    [`Intersect(${members}, {${region}.&[east]})`, ['east']],
    [`Union({${region}.&[west]}, ${members})`, ['west', 'east', 'north', 'south']],
    [`Distinct({${region}.&[west], ${region}.&[west]})`, ['west']],
    [`{${region}.&[west], ${region}.&[east]} + {${region}.&[west]}`, ['west', 'east']],
    [`Head(${members}, 2)`, ['east', 'north']],
    [`Tail(${members})`, ['west']],
    [`Subset(${members}, 1, 2)`, ['north', 'south']],
    [`${region}.&[north] : ${region}.&[west]`, ['north', 'south', 'west']],
    [`Descendants(${year}, ${calendar}.[Quarter])`, ['Q1 2024', 'Q2 2024', 'Q3 2024', 'Q4 2024']],
    [`{Ancestor(${month('05')}, ${calendar}.[Quarter])}`, ['Q2 2024']],
    [`{ParallelPeriod(${calendar}.[Quarter], 1, ${month('05')})}`, ['February 2024']],
    [`YTD(${month('03')})`, ['January 2024', 'February 2024', 'March 2024']],
    [`PeriodsToDate(${calendar}.[Quarter], ${month('05')})`, ['April 2024', 'May 2024']],
    [`LastPeriods(2, ${month('05')})`, ['April 2024', 'May 2024']],
    [`{${month('05')}.Lag(1), ${month('05')}.NextMember, ${month('05')}.Parent}`, undefined],
    [`{${region}.&[north].PrevMember}`, ['east']],
    [`NonEmpty(${members}, {(${paid}.&[t], ${revenue})})`, ['east', 'north', 'south', 'west']],
    [`Hierarchize({${region}.&[west], ${region}.[All], ${region}.&[east]})`, ['All', 'east', 'west']],
    [`Hierarchize({${region}.[All], ${region}.&[east]}, POST)`, ['east', 'All']],
    [`Extract(CrossJoin(${members}, {${paid}.&[t]}), ${region})`, ['east', 'north', 'south', 'west']],
    [`{${members}.Item(1)}`, ['north']],
    [`{${region}.[region].[south]}`, ['south']],
    [`{${calendar}.[All].[2024].[Q2 2024].[May 2024]}`, ['May 2024']],
  ])('%s', async (set, expected) => {
    const statement = `SELECT ${set} ON 0 ${from}`
    if (expected === undefined) expect(await refusalAs(lake, 'officer', statement)).toBe('answered')
    else expect(captions((await asked(statement)).axes[0])).toEqual([...expected])
  })

  test.each([
    // The reader sees no row of 2024-12-02, so that counting days would miss.
    [`ParallelPeriod(${calendar}.[Month], 1, ${calendar}.[Day].&[2024-12-03])`, ['2024-11-03']],
    [`Cousin(${calendar}.[Day].&[2024-12-03], ${calendar}.[Month].&[2024-11-01])`, ['2024-11-03']],
    [`Cousin(${month('05')}, ${calendar}.[Quarter].&[2024-10-01])`, ['November 2024']],
    [`ParallelPeriod(${calendar}.[Month], 2, ${calendar}.[Day].&[2024-08-31])`, []],
  ])('the same place of another period is told by dates: %s', async (member, expected) => {
    expect(captions((await asked(`SELECT {${member}} ON 0 ${from}`, 'reader')).axes[0])).toEqual(expected)
  })

  test('VisualTotals shows totals of what is shown below', async () => {
    const cellset = await asked(
      `SELECT VisualTotals(Distinct(Hierarchize({Ascendants(${region}.&[north]), {${region}.&[east]}}))) ON 0 ${from} WHERE ([Measures].[buyers])`,
    )
    expect(captions(cellset.axes[0])).toEqual(['All', 'east', 'north'])
    expect(grid(cellset)).toEqual([[500, 250, 250]])
  })

  test('Aggregate, Sum, Avg, Count, Rank and running totals', async () => {
    const cellset = await asked(
      `WITH MEMBER [Measures].[a] AS Sum({${region}.&[east],${region}.&[west]}, ${count})
       MEMBER [Measures].[b] AS Avg(${members}, ${count}) MEMBER [Measures].[c] AS Count(${members})
       MEMBER [Measures].[d] AS Aggregate({${region}.&[east],${region}.&[west]}, [Measures].[buyers])
       MEMBER [Measures].[e] AS Sum(YTD(${month('03')}), ${count})
       SELECT {[Measures].[a],[Measures].[b],[Measures].[c],[Measures].[d],[Measures].[e]} ON 0 ${from}`,
    )
    const [months] = await sums("SELECT count(*) FROM sales.orders WHERE day < '2024-04-01'")
    expect(grid(cellset)).toEqual([[500, 250, 4, 500, months]])
  })

  test('NON EMPTY is per axis', async () => {
    const cellset = await asked(
      `SELECT {${region}.&[east],${region}.&[west]} ON 0, NON EMPTY [area].[name].Members ON 1 FROM (SELECT {${region}.&[east]} ON 0 ${from}) WHERE (${count})`,
    )
    expect(cellset.axes.map(captions)).toEqual([['east'], ['All', 'east']])
    const all = await asked(
      `SELECT [area].[name].Members ON 0 FROM (SELECT {${region}.&[east]} ON 0 ${from}) WHERE (${count})`,
    )
    expect(captions(all.axes[0])).toEqual(['All', 'east', 'north', 'south', 'west'])
  })

  test('slicers of several members are sums over their rows', async () => {
    const cellset = await asked(
      `SELECT {[Measures].[buyers]} ON 0 ${from} WHERE {${region}.&[east],${region}.&[west]}`,
    )
    expect(grid(cellset)).toEqual([[500]])
    const crossed = await asked(
      `SELECT {${count}} ON 0 ${from} WHERE {${region}.&[east],${region}.&[west]} * {${paid}.&[t]}`,
    )
    expect(grid(crossed)).toEqual([[167]])
  })
})
