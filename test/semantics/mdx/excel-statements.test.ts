/**
 * Statements of Excel that public sources have recorded, over our cube: each cell is what SQL by hand gives for its
 * members, and each axis has as many tuples as SQL counts, for an officer and for a reader of some rows, masked.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Cellset } from '../../../src/semantics/mdx/cellset.ts'
import type { SessionFormula } from '../../../src/semantics/mdx/session.ts'
import { type Lake, readAs } from '../../support/lake.ts'
import { cellsetAs, type Reader, refusalAs, runAs, startCubeLake } from './cube-lake.ts'
import { excelLayouts } from './excel-layouts.ts'
import { excelPivots, excelRefused } from './excel-pivots.ts'
import { excelStatements } from './excel-statements.ts'

setDefaultTimeout(120_000)

const recorded = { ...excelStatements, ...excelLayouts, ...excelPivots }

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const measures: Readonly<Record<string, string>> = {
  revenue: 'sum(amount)',
  orders: 'count(*)',
  buyers: 'count(DISTINCT email)',
  // The first of the cube, where a statement names none.
  basket: 'sum(amount)',
}
const columns: Readonly<Record<string, string>> = {
  '[orders].[region]': 'region',
  '[orders].[paid]': "CASE WHEN paid THEN 't' WHEN NOT paid THEN 'f' END",
  '[orders].[initial]': 'left(region, 1)',
  '[area].[name]': 'region',
}

/** The condition of a member's rows, in SQL. */
function conditionOf(hierarchy: string, uniqueName: string): string {
  const key = /&\[([^\]]*)\]$/.exec(uniqueName)?.[1]
  const isNull = uniqueName.endsWith('&')
  if (key === undefined && !isNull) return 'true'
  const grain = /\[day\.Calendar\]\.\[(\w+)\]/.exec(uniqueName)?.[1]
  const column =
    grain === undefined ? columns[hierarchy] : `date_trunc('${grain}', day::timestamp)::date::text`
  if (column === undefined) throw new Error(uniqueName)
  return isNull ? `(${column}) IS NULL` : `(${column}) = '${key}'`
}

interface AskedCell {
  readonly measure: string
  readonly conditions: readonly string[]
  readonly value: unknown
}

/** Every cell, also the empty ones, with the members that it is at. */
function cellsOf({ axes, slicer, cells }: Cellset): readonly AskedCell[] {
  const values = new Map(cells.map(({ ordinal, value }) => [ordinal, value]))
  const count = axes.reduce((product, { tuples }) => product * tuples.length, 1)
  return Array.from({ length: count }, (_, ordinal) => {
    let rest = ordinal
    const members = axes.flatMap(({ tuples }) => {
      const tuple = tuples[rest % tuples.length] ?? []
      rest = Math.floor(rest / tuples.length)
      return tuple
    })
    const all = [...members, ...(slicer.tuples[0] ?? [])]
    const measure = all.find(({ hierarchy }) => hierarchy === '[Measures]')?.caption ?? ''
    const others = all.filter(({ hierarchy }) => hierarchy !== '[Measures]')
    const conditions = others
      .map(({ hierarchy, uniqueName }) => conditionOf(hierarchy, uniqueName))
      .filter((condition) => condition !== 'true')
    return { measure, conditions, value: values.get(ordinal) }
  })
}

const numbersMax = 60

/** One number for each aggregate over the rows, NULL as NaN. What several cells ask for is asked once. */
async function numbersBySql(
  who: Reader,
  within: string,
  aggregates: readonly string[],
): Promise<readonly number[]> {
  const different = [...new Set(aggregates)]
  const found: number[] = []
  for (let from = 0; from < different.length; from += numbersMax) {
    const targets = different
      .slice(from, from + numbersMax)
      .map((each) => `coalesce((${each})::float8::text, '-')`)
    const text = `SELECT concat_ws('^', ${targets.join(', ')}) FROM sales.orders WHERE ${within}`
    const lines = await readAs(who === 'officer' ? lake.env : lake.restricted, text)
    const row = lines.find((line) => line.startsWith('D '))
    if (row === undefined) throw new Error(`${text}\n${lines.join('\n')}`)
    found.push(...row.slice(2).split('^').map(Number))
  }
  const numbers = new Map(different.map((each, index) => [each, found[index] ?? Number.NaN]))
  return aggregates.map((each) => numbers.get(each) ?? Number.NaN)
}

describe.each(['officer', 'reader'] as const)('as the %s', (who) => {
  test.each(Object.entries(recorded))(
    '%s',
    async (_, { text, within = 'true', sizes, session: made = [] }) => {
      let session: readonly SessionFormula[] = []
      for (const statement of made) {
        const answer = await runAs(lake, who, statement, { session })
        if (answer.kind === 'empty') session = answer.session
      }
      const cellset = await cellsetAs(lake, who, text, { session })
      const asked = cellsOf(cellset)
      const filtered = (aggregate: string, conditions: readonly string[]) =>
        conditions.length === 0 ? aggregate : `${aggregate} FILTER (WHERE ${conditions.join(' AND ')})`
      const ofCells = asked.flatMap(({ measure, conditions }) => [
        filtered('count(*)', conditions),
        `${filtered(measures[measure] ?? '', conditions)}${measure === 'basket' ? ` / nullif(${filtered('count(*)', conditions)}, 0)` : ''}`,
      ])
      const told = await numbersBySql(who, within, [...sizes, ...ofCells])
      const [counted, expected] = [told.slice(0, sizes.length), told.slice(sizes.length)]
      const tuples = cellset.axes.map((axis) => axis.tuples.length)
      expect(tuples).toHaveLength(sizes.length)
      // A size below 0 is not told by hand; its cells are still looked at.
      expect(tuples).toEqual(counted.map((size, index) => (size < 0 ? (tuples[index] ?? 0) : size)))
      asked.forEach(({ value, conditions }, index) => {
        const [rows, number] = expected.slice(index * 2)
        const wanted = rows === 0 ? 'empty' : Number(number).toPrecision(10)
        expect([...conditions, value === undefined ? 'empty' : Number(value).toPrecision(10)]).toEqual([
          ...conditions,
          wanted,
        ])
      })
    },
  )
})

describe.each(['officer', 'reader'] as const)('a probe of the %s', (who) => {
  const values = async (text: string) => (await cellsetAs(lake, who, text)).cells.map(({ value }) => value)

  // github.com/felixyman/MallardCube src/test_support/fixtures.rs
  test('counts the children of a member and of those above it', async () => {
    const text = `WITH MEMBER [Measures].cChildren As 'AddCalculatedMembers([orders].[region].currentmember.children).count' Set FilteredMembers As '{[orders].[region].&[east]}' Select {[Measures].cChildren} on ROWS, Hierarchize(Generate(FilteredMembers, Ascendants([orders].[region].currentmember))) DIMENSION PROPERTIES PARENT_UNIQUE_NAME, MEMBER_TYPE ON COLUMNS FROM [sales.orders]`
    const [count] = await numbersBySql(who, 'true', ['count(DISTINCT region)'])
    expect(await values(text)).toEqual([count ?? -1, 0])
  })

  test.each(['{[orders].[region].[All]}', '{[orders].[region].[(All)].Members}'])(
    'counts the children of %s',
    async (members) => {
      const text = `WITH MEMBER [Measures].cChildren As 'AddCalculatedMembers([orders].[region].currentmember.children).count' Set FilteredMembers As '${members}' Select {[Measures].cChildren} on ROWS, Hierarchize(Generate(FilteredMembers, Ascendants([orders].[region].currentmember))) ON COLUMNS FROM [sales.orders]`
      expect(await values(text)).toEqual([...(await numbersBySql(who, 'true', ['count(DISTINCT region)']))])
    },
  )

  // github.com/felixyman/MallardCube, review of 2026-09-23: the tuple of a cell of a table, within parentheses
  test('of the rows of a cell has each of them', async () => {
    const text =
      'DRILLTHROUGH MAXROWS 1000 SELECT FROM [sales.orders] WHERE ((([Measures].[revenue],[orders].[region].&[east]),[orders].[paid].&[t]))'
    const answer = await runAs(lake, who, text, { format: 'tabular' })
    const rows = answer.kind === 'tabular' ? answer.tabular.rows.length : answer.kind
    expect([rows]).toEqual([...(await numbersBySql(who, "region = 'east' AND paid", ['count(*)']))])
  })

  test('counts the children of a measure', async () => {
    const text = `WITH MEMBER [Measures].cChildren As 'AddCalculatedMembers([Measures].currentmember.children).count' Set FilteredMembers As '{[Measures].[revenue]}' Select {[orders].[region].[All]} on ROWS, Hierarchize(Generate(FilteredMembers, Ascendants([Measures].currentmember))) ON COLUMNS FROM [sales.orders]`
    expect(await values(text)).toEqual([...(await numbersBySql(who, 'true', ['sum(amount)']))])
  })

  // github.com/felixyman/MallardCube src/execute/dispatch.rs: CUBEMEMBER, which names no cube
  test('asks for the names of a measure and of a member, without a cube', async () => {
    const of = (name: string, first: number) =>
      `MEMBER [Measures].[XL_SD${first}] AS 'strtomember("${name}").UniqueName' MEMBER [Measures].[XL_SD${first + 1}] AS 'strtomember("${name}").properties("caption")' MEMBER [Measures].[XL_SD${first + 2}] AS '{strtomember("${name}")}.item(0).item(0).level.UniqueName'`
    const shown = (count: number) =>
      Array.from({ length: count }, (_, index) => `[Measures].[XL_SD${index}]`).join(',')
    expect(
      await values(
        `WITH ${of('[orders].[region].&[east]', 0)} ${of('[Measures].[revenue]', 3)} SELECT {${shown(6)}} ON 0 FROM  CELL PROPERTIES VALUE`,
      ),
    ).toEqual([
      '[orders].[region].&[east]',
      'east',
      '[orders].[region].[region]',
      '[Measures].[revenue]',
      'revenue',
      '[Measures].[MeasuresLevel]',
    ])
  })
})

test.each(Object.entries(excelRefused))('is refused as a whole: %s', async (_, { text, fault }) => {
  for (const who of ['officer', 'reader'] as const) expect(await refusalAs(lake, who, text)).toContain(fault)
})

test('each shape has a source, and none is there twice', () => {
  const all = [...Object.values(recorded), ...Object.values(excelRefused)]
  expect(Object.keys(recorded).length).toBe(
    [excelStatements, excelLayouts, excelPivots].flatMap((each) => Object.keys(each)).length,
  )
  expect(all.every(({ source }) => source.length > 10)).toBe(true)
  const shapes = all.map(({ text }) => text.replaceAll(/\s+/g, ''))
  expect(new Set(shapes).size).toBe(all.length)
})
