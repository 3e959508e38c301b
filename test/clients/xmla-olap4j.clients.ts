/**
 * olap4j's driver for XMLA reads the cubes of a lake: its walk of the metadata, and cellsets of statements, as an officer
 * and as a reader of some rows, masked. A principal of another tenant is beside them.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, readAs } from '../support/lake.ts'
import type { XmlaClientOptions } from '../support/xmla.ts'
import { startXmlaLake } from '../support/xmla-lake.ts'
import { type OlapClient, type OlapRowset, startOlap, xmlaUrl } from './olap.ts'

setDefaultTimeout(120_000)

const cube = 'sales.orders'
const region = '[orders].[region]'
const from = `FROM [${cube}]`

let lake: Lake
let stranger: XmlaClientOptions
let readers: Readonly<Record<'ann' | 'bob', XmlaClientOptions>>
let olap: OlapClient
beforeAll(async () => {
  const { ann, bob, ...started } = await startXmlaLake()
  lake = started.lake
  stranger = started.stranger
  readers = { ann, bob }
  olap = await startOlap('olap4j')
})
afterAll(async () => {
  await olap?.[Symbol.asyncDispose]()
  await lake?.[Symbol.asyncDispose]()
})

interface Walked {
  readonly name: string
  readonly schemas: readonly { readonly name: string; readonly cubes: readonly WalkedCube[] }[]
}
interface WalkedCube {
  readonly name: string
  readonly measures: readonly { readonly name: string; readonly aggregator: string }[]
  readonly sets: readonly string[]
  readonly dimensions: readonly {
    readonly name: string
    readonly type: string
    readonly default: string
    readonly hierarchies: readonly WalkedHierarchy[]
  }[]
}
interface WalkedHierarchy {
  readonly name: string
  readonly default: string
  readonly roots: readonly string[]
  readonly levels: readonly {
    readonly name: string
    readonly depth: number
    readonly properties: readonly string[]
    readonly members: readonly string[]
  }[]
}

/** The refusal of what the client asked for, with its causes. */
async function refusal(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
  return 'answered'
}

const column = ({ columns, rows }: OlapRowset, name: string) => {
  const at = columns.indexOf(name)
  return rows.map((row) => row[at] ?? null)
}

describe.each(['ann', 'bob'] as const)('%s', (who) => {
  beforeAll(() => olap.connect(xmlaUrl(readers[who]), readers[who].user, readers[who].secret))

  /** One column over the wire, as the same principal. */
  const read = async (text: string): Promise<string[]> => {
    const lines = await readAs(who === 'ann' ? lake.env : lake.restricted, text)
    return lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2)] : []))
  }

  test('xmla-olap4j: walks from catalogs to members, and finds what the principal sees', async () => {
    const catalogs = (await olap.ask('walk')) as readonly Walked[]
    expect(catalogs.map(({ name, schemas }) => [name, schemas.length])).toEqual([['lake', 1]])
    const [walked, ...more] = catalogs[0]?.schemas[0]?.cubes ?? []
    expect([walked?.name, more.length]).toEqual([cube, 0])
    expect(walked?.measures.map(({ name }) => name)).toEqual(['[Measures].[buyers]', '[Measures].[revenue]'])
    expect(walked?.measures[1]?.aggregator).toBe('SUM')
    expect(walked?.sets).toEqual([])
    const orders = walked?.dimensions.find(({ name }) => name === '[orders]')
    const hierarchies = [region, '[orders].[email]', '[orders].[day]', '[orders].[day.Calendar]']
    // A mask empties the notes of those who are not officers.
    expect(orders?.hierarchies.map(({ name }) => name)).toEqual([
      ...hierarchies,
      ...(who === 'ann' ? ['[orders].[note]'] : []),
    ])
    expect(orders?.default).toBe(region)
    for (const { name, default: chosen, roots, levels } of orders?.hierarchies ?? []) {
      expect([chosen, roots]).toEqual([`${name}.[All]`, [`${name}.[All]`]])
      expect(levels.map(({ depth }) => depth)).toEqual(levels.map((_, index) => index))
      for (const { properties } of levels) expect(properties).toContain('MEMBER_CAPTION')
    }
    const membersOf = (hierarchy: string) =>
      orders?.hierarchies.find(({ name }) => name === hierarchy)?.levels.at(-1)?.members ?? []
    expect(membersOf(region)).toEqual(
      (await read('SELECT DISTINCT region FROM sales.orders ORDER BY 1')).map((key) => `${region}.&[${key}]`),
    )
    expect(membersOf('[orders].[email]')).toEqual(
      (await read('SELECT DISTINCT email FROM sales.orders ORDER BY 1')).map(
        (key) => `[orders].[email].&[${key}]`,
      ),
    )
  })

  test('xmla-olap4j: reads every rowset that it has a method for', async () => {
    const rowset = (name: string) => olap.rowset(name, cube)
    expect(column(await olap.rowset('databases'), 'DATA_SOURCE_NAME')).toEqual(['Covenant'])
    expect(column(await olap.rowset('catalogs'), 'TABLE_CAT')).toEqual(['lake'])
    expect(column(await olap.rowset('literals'), 'LITERAL_NAME')).toContain('DBLITERAL_QUOTE_PREFIX')
    expect(column(await olap.rowset('properties'), 'PROPERTY_NAME')).toContain('MdpropMdxSubqueries')
    expect(column(await olap.rowset('functions'), 'FUNCTION_NAME')).toContain('DRILLDOWNLEVEL')
    expect(column(await olap.rowset('keywords'), 'Keyword').join()).toContain('HIERARCHIZE')
    expect(column(await rowset('cubes'), 'CUBE_NAME')).toEqual([cube])
    expect(column(await rowset('dimensions'), 'DIMENSION_UNIQUE_NAME')).toEqual(['[Measures]', '[orders]'])
    const hierarchies = column(await rowset('hierarchies'), 'HIERARCHY_UNIQUE_NAME')
    expect(hierarchies.includes('[orders].[note]')).toBe(who === 'ann')
    expect(column(await rowset('levels'), 'LEVEL_UNIQUE_NAME')).toContain('[orders].[day.Calendar].[Month]')
    expect(column(await rowset('measures'), 'MEASURE_AGGREGATOR')).toEqual(['127', '1'])
    expect(column(await rowset('memberProperties'), 'PROPERTY_NAME')).toContain('MEMBER_VALUE')
    for (const name of ['sets', 'actions']) expect((await rowset(name)).rows).toEqual([])
    const members = await olap.rowset('members', cube, region)
    expect(column(members, 'MEMBER_CAPTION').slice(1)).toEqual(
      await read('SELECT DISTINCT region FROM sales.orders ORDER BY 1'),
    )
    // The members of a whole cube are not listed at once.
    expect(await refusal(rowset('members'))).toContain('MDSCHEMA_MEMBERS needs a dimension')
  })

  test('xmla-olap4j: looks up what is around a member', async () => {
    const calendar = '[orders].[day.Calendar]'
    const quarter = `${calendar}.[Quarter].&[2024-04-01]`
    expect(await olap.ask('lookup', cube, calendar, quarter)).toEqual({
      ...{ name: quarter, caption: 'Q2 2024', depth: 2, ordinal: true, type: 'REGULAR' },
      parent: `${calendar}.[Year].&[2024-01-01]`,
      children: ['04', '05', '06'].map((month) => `${calendar}.[Month].&[2024-${month}-01]`),
      ancestors: [`${calendar}.[Year].&[2024-01-01]`, `${calendar}.[All]`],
    })
    const north = await olap.ask('lookup', cube, region, `${region}.&[north]`)
    expect(north === null).toBe(who === 'bob')
  })

  test.each([
    [
      'totals and groups',
      `SELECT {[Measures].[revenue]} ON COLUMNS, NON EMPTY ${region}.Members ON ROWS ${from}`,
      'SELECT sum(amount)::float8 FROM sales.orders GROUP BY ROLLUP (region) ORDER BY grouping(region) DESC, region',
    ],
    [
      'the total of a subselect, and a distinct count',
      `SELECT {[Measures].[buyers]} ON COLUMNS, Hierarchize({DrilldownLevel({${region}.[All]},,,INCLUDE_CALC_MEMBERS)}) ON ROWS FROM (SELECT ({${region}.&[east],${region}.&[west]}) ON COLUMNS ${from})`,
      "SELECT count(DISTINCT email) FROM sales.orders WHERE region IN ('east', 'west') GROUP BY ROLLUP (region) ORDER BY grouping(region) DESC, region",
    ],
    [
      'a calendar',
      `SELECT {[Measures].[revenue]} ON COLUMNS, [orders].[day.Calendar].[Month].Members ON ROWS ${from}`,
      "SELECT sum(amount)::float8 FROM sales.orders GROUP BY date_trunc('month', day::timestamp) ORDER BY date_trunc('month', day::timestamp)",
    ],
    [
      'a calculated member and a slicer',
      `WITH MEMBER [Measures].[each] AS [Measures].[revenue] / [Measures].[buyers] SELECT {[Measures].[each]} ON COLUMNS ${from} WHERE (${region}.&[east])`,
      "SELECT sum(amount)::float8 / count(DISTINCT email) FROM sales.orders WHERE region = 'east'",
    ],
    [
      'the first of an order',
      `SELECT {[Measures].[revenue]} ON COLUMNS, TopCount(${region}.[region].Members, 1, [Measures].[revenue]) ON ROWS ${from}`,
      'SELECT sum(amount)::float8 FROM sales.orders GROUP BY region ORDER BY 1 DESC LIMIT 1',
    ],
    [
      'crossed fields',
      `SELECT {[Measures].[revenue]} ON COLUMNS, NON EMPTY CrossJoin(${region}.[region].Members, [orders].[day.Calendar].[Quarter].Members) ON ROWS ${from}`,
      "SELECT sum(amount)::float8 FROM sales.orders GROUP BY region, date_trunc('quarter', day::timestamp) ORDER BY region, date_trunc('quarter', day::timestamp)",
    ],
  ])('xmla-olap4j: reads the cells of %s', async (_, statement, sql) => {
    const { axes, values, formatted } = await olap.mdx(statement)
    const expected = (await read(sql)).map(Number)
    expect(expected.length).toBeGreaterThan(0)
    expect(values.map(Number)).toEqual(expected.map((each) => expect.closeTo(each, 6)))
    expect(formatted.every((text) => text !== '')).toBe(true)
    expect(axes.reduce((count, tuples) => count * tuples.length, 1)).toBe(expected.length)
  })

  test('xmla-olap4j: is given a fault, and goes on', async () => {
    const ask = (text: string) => refusal(olap.mdx(text))
    expect(await ask(`SELECT {Foo()} ON COLUMNS ${from}`)).toContain('the function FOO( ) is not supported')
    const one = (key: string) => `SELECT {${region}.&[${key}]} ON COLUMNS ${from}`
    const [hidden, absent] = [await ask(one('north')), await ask(one('moon!'))]
    if (who === 'ann') expect(hidden).toBe('answered')
    else expect(hidden.replaceAll('north', 'moon!')).toBe(absent)
    expect(absent).toContain('not that of')
    expect((await olap.mdx(`SELECT ${from}`)).values).toHaveLength(1)
  })
})

test('xmla-olap4j: draws the pivots that the page on XMLA shows', async () => {
  const page = await Bun.file(new URL('../../docs/xmla.md', import.meta.url)).text()
  const [, statement = ''] = /```mdx\n(.*?)\n```/s.exec(page) ?? []
  const drawn: string[] = []
  for (const { user, secret, ...at } of [readers.ann, readers.bob]) {
    await olap.connect(xmlaUrl({ user, secret, ...at }), user, secret)
    drawn.push(String(await olap.ask('layout', statement)))
  }
  const lines = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd())
  const shown = [...page.matchAll(/```text\n(.*?)```/gs)].map(([, text = '']) => text)
  expect(drawn.map(lines)).toEqual(shown.map(lines))
})

test('xmla-olap4j: shows nothing to a principal of another tenant', async () => {
  await olap.connect(xmlaUrl(stranger), stranger.user, stranger.secret)
  expect(await refusal(olap.mdx(`SELECT ${from}`))).toContain('There is no such catalog.')
})

test('xmla-olap4j: a wrong secret opens nothing', async () => {
  const { user } = readers.ann
  await olap.connect(xmlaUrl(readers.ann), user, 'wrong')
  expect(await refusal(olap.mdx(`SELECT ${from}`))).toContain('401')
})
