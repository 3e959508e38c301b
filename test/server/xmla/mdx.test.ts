/** Statements in MDX over XMLA, each answer read as a client reads it. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ask as askRest } from '../../support/identity.ts'
import type { Lake } from '../../support/lake.ts'
import { readAs } from '../../support/lake.ts'
import {
  ask,
  discoverBody,
  executeBody,
  type ReadDataset,
  rowsOf,
  type XmlaClientOptions,
} from '../../support/xmla.ts'
import { startXmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
let ann: XmlaClientOptions
let bob: XmlaClientOptions
let steward: string

beforeAll(async () => {
  const started = await startXmlaLake()
  lake = started.lake
  ann = started.ann
  bob = started.bob
  steward = started.steward
})
afterAll(() => lake[Symbol.asyncDispose]())

async function dataset(who: XmlaClientOptions, text: string, header = ''): Promise<ReadDataset> {
  const answer = await ask(who, executeBody(text, {}, { Format: 'Multidimensional' }), header)
  if (answer.kind !== 'dataset') throw new Error(answer.kind === 'fault' ? answer.message : answer.kind)
  return answer.dataset
}

const regions =
  'NON EMPTY Hierarchize({DrilldownLevel({[orders].[region].[All]},,,INCLUDE_CALC_MEMBERS)}) DIMENSION PROPERTIES PARENT_UNIQUE_NAME, MEMBER_TYPE ON COLUMNS'
const properties = 'CELL PROPERTIES VALUE, FORMAT_STRING, LANGUAGE, BACK_COLOR, FORE_COLOR, FONT_FLAGS'

describe('a statement in MDX', () => {
  test('without axes gives the total, with every hierarchy on the slicer', async () => {
    const { axes, cells } = await dataset(ann, 'SELECT FROM [sales.orders] WHERE ([Measures].[revenue])')
    expect(axes).toHaveLength(1)
    expect(axes[0]?.[0]).toContain('[Measures].[revenue]')
    expect(cells.size).toBe(1)
  })

  test.each(['ann', 'bob'] as const)(
    'gives %s the groups and totals of the rows that they see',
    async (who) => {
      const [client, env] = who === 'ann' ? [ann, lake.env] : [bob, lake.restricted]
      const { axes, cells } = await dataset(
        client,
        `SELECT ${regions} FROM [sales.orders] WHERE ([Measures].[buyers]) ${properties}`,
      )
      const lines = await readAs(
        env,
        'SELECT region, count(DISTINCT email) FROM sales.orders GROUP BY ROLLUP (region) ORDER BY grouping(region) DESC, region',
      )
      const expected = lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2).split('|')] : []))
      expect(axes[0]?.map(([name]) => name)).toEqual(
        expected.map(([region], index) =>
          index === 0 ? '[orders].[region].[All]' : `[orders].[region].&[${region}]`,
        ),
      )
      expect([...cells.values()]).toEqual(expected.map(([, count]) => count ?? ''))
    },
  )

  test('takes a calendar and measures on two axes', async () => {
    const { axes } = await dataset(
      ann,
      `SELECT {[Measures].[revenue],[Measures].[buyers]} ON COLUMNS,
       NON EMPTY Hierarchize(DrilldownMember({{DrilldownLevel({[orders].[day.Calendar].[All]})}},{[orders].[day.Calendar].[Year].&[2024-01-01]})) ON ROWS
       FROM [sales.orders] ${properties}`,
    )
    expect(axes).toHaveLength(3)
    expect(axes[0]).toEqual([['[Measures].[revenue]'], ['[Measures].[buyers]']])
    expect(axes[1]?.flat().filter((name) => name.includes('[Quarter]')).length).toBeGreaterThan(1)
  })

  test('gives a table where one is asked for, absent values as absent elements', async () => {
    const text =
      'SELECT {[Measures].[buyers]} ON COLUMNS, NON EMPTY [orders].[region].[region].Members ON ROWS FROM [sales.orders]'
    const rows = await rowsOf(ask(ann, executeBody(text, {}, { Format: 'Tabular' })))
    expect(rows.length).toBeGreaterThan(1)
    expect(Object.keys(rows[0] ?? {})).toEqual([
      '[orders].[region].[region].[MEMBER_CAPTION]',
      '[Measures].[buyers]',
    ])
  })

  test('takes parameters as texts, which are never read as MDX', async () => {
    const run = async (who: XmlaClientOptions, statement: string, parameters: Record<string, string>) =>
      await ask(who, executeBody(statement, parameters, { Format: 'Multidimensional' }))
    const region = '[orders].[region]'
    const statement = `SELECT {StrToMember(@Region, CONSTRAINED)} ON 0 FROM [sales.orders] WHERE ([Measures].[revenue])`
    const plain = `SELECT {${region}.&[east]} ON 0 FROM [sales.orders] WHERE ([Measures].[revenue])`
    for (const who of [ann, bob])
      expect(await run(who, statement, { region: `${region}.&[east]` })).toEqual(await run(who, plain, {}))
    for (const [who, given] of [
      [bob, { region: `${region}.&[north]` }],
      [ann, { region: `${region}.Members.Item(0)` }],
      [ann, {}],
    ] as const)
      expect((await run(who, statement, given)).kind).toBe('fault')
    const set = `SELECT StrToSet(@set, CONSTRAINED) ON 0 FROM [sales.orders] WHERE ([Measures].[revenue])`
    expect((await run(ann, set, { SET: `{${region}.&[east],${region}.&[west]}` })).kind).toBe('dataset')
  })

  test('refreshes, and drills through to the rows that the reader sees', async () => {
    expect((await ask(ann, executeBody('REFRESH CUBE [sales.orders]'))).kind).toBe('empty')
    const text = 'DRILLTHROUGH MAXROWS 5 SELECT FROM [sales.orders] WHERE ([Measures].[revenue])'
    expect((await rowsOf(ask(bob, executeBody(text)))).length).toBe(5)
  })

  test('leaves a usage record of the surface and the reader', async () => {
    await dataset(bob, 'SELECT FROM [sales.orders] WHERE ([Measures].[buyers])')
    const { body } = await askRest(lake, 'GET', '/api/v1/usage?limit=1', steward)
    expect(body).toMatchObject({ items: [{ surface: 'xmla', principal: 'bob' }] })
  })

  test('is answered for the principal of its credential, also where the client names another', async () => {
    const text = 'SELECT [orders].[region].[region].Members ON COLUMNS FROM [sales.orders]'
    const properties = { EffectiveUserName: 'ann', Roles: 'officer', CustomData: 'officer' }
    expect(await ask(bob, executeBody(text, {}, properties))).toEqual(await ask(bob, executeBody(text)))
    expect(await ask(bob, executeBody(text))).not.toEqual(await ask(ann, executeBody(text)))
  })

  test('defines members of its session and of no other', async () => {
    const begin = '<BeginSession mustUnderstand="1"/>'
    const { sessionId = '' } = await ask(ann, executeBody(''), begin)
    const session = `<Session SessionId="${sessionId}"/>`
    const create = "CREATE SESSION MEMBER [sales.orders].[Measures].[twice] AS '[Measures].[buyers] * 2'"
    expect((await ask(ann, executeBody(create), session)).kind).toBe('empty')
    const select = 'SELECT {[Measures].[twice]} ON COLUMNS FROM [sales.orders]'
    expect((await dataset(ann, select, session)).cells.size).toBe(1)
    expect((await ask(ann, executeBody(select))).kind).toBe('fault')
  })

  test('of a set of 10^6 tuples is a fault within limits, and others are answered beside it', async () => {
    const days = '[orders].[day].[day].Members'
    const heavy = [
      `SELECT Generate(${days}, Generate(${days}, Generate(${days}, ${days}, ALL), ALL), ALL) ON COLUMNS FROM [sales.orders]`,
      `SELECT CrossJoin(${days}, [orders].[email].[email].Members, [orders].[note].[note].Members) ON COLUMNS FROM [sales.orders]`,
      `WITH MEMBER [Measures].[x] AS Sum(${days}, Sum(${days}, Sum(${days}, 1))) SELECT {[Measures].[x]} ON COLUMNS FROM [sales.orders]`,
    ]
    const asked = heavy.map((text) => ask(ann, executeBody(text)))
    for (let count = 0; count < 20; count++)
      expect((await ask(bob, discoverBody('DISCOVER_KEYWORDS'))).kind).toBe('rowset')
    for (const answer of await Promise.all(asked))
      expect(answer).toMatchObject({ kind: 'fault', message: expect.stringContaining('Ask for less.') })
  })

  test.each([
    ['an unknown cube', 'SELECT FROM [sales.nothing]'],
    ['a function that is not served', 'SELECT {Foo([orders].[region])} ON COLUMNS FROM [sales.orders]'],
    ['no MDX', 'hello'],
    ['DAX', 'EVALUATE orders'],
    ['a name of a million characters', `SELECT FROM [${'x'.repeat(1_000_000)}]`],
    ['a bracket without an end', `SELECT {[orders].[region ON COLUMNS FROM [sales.orders]`],
    ['brackets without an end', `SELECT ${'{('.repeat(10_000)} ON COLUMNS FROM [sales.orders]`],
    [
      'subselects within each other',
      `SELECT FROM ${'(SELECT FROM '.repeat(1_000)}[sales.orders]${')'.repeat(1_000)}`,
    ],
    [
      'operators without an end',
      `WITH MEMBER [Measures].[x] AS 1${'+1'.repeat(50_000)} SELECT FROM [sales.orders]`,
    ],
    ['a statement that writes', 'UPDATE CUBE [sales.orders] SET ([Measures].[revenue]) = 1'],
  ])('that is %s is a fault', async (_, text) => {
    expect((await ask(ann, executeBody(text))).kind).toBe('fault')
  })

  test('faults alike for a hidden member and for one that is not there', async () => {
    const select = (key: string) =>
      `SELECT {[orders].[region].&[${key}]} ON COLUMNS FROM [sales.orders] WHERE ([Measures].[buyers])`
    const level = 'SELECT [orders].[region].[region].Members ON COLUMNS FROM [sales.orders]'
    const names = async (who: XmlaClientOptions) => (await dataset(who, level)).axes[0]?.flat() ?? []
    const seen = new Set(await names(bob))
    const hidden = (await names(ann))
      .find((name) => !seen.has(name))
      ?.slice('[orders].[region].&['.length, -1)
    expect(hidden).toBeString()
    const [one, other] = [
      await ask(bob, executeBody(select(hidden ?? ''))),
      await ask(bob, executeBody(select('nowhere'))),
    ]
    expect(JSON.stringify(one).replaceAll(hidden ?? '', 'nowhere')).toBe(JSON.stringify(other))
  })
})
