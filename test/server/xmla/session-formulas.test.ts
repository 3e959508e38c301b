/** Rows of Discover for the members and sets of an XMLA session, which that session alone is shown. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { ask as askRest } from '../../support/identity.ts'
import { declaringAs } from '../../support/semantic-layer.ts'
import { ask, discoverBody, executeBody, rowsOf, type XmlaClientOptions } from '../../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let started: XmlaLake
beforeAll(async () => {
  started = await startXmlaLake()
})
afterAll(() => started.lake[Symbol.asyncDispose]())

async function begin(who: XmlaClientOptions): Promise<string> {
  const { sessionId = '' } = await ask(who, executeBody(''), '<BeginSession mustUnderstand="1"/>')
  return `<Session SessionId="${sessionId}"/>`
}

const region = '[orders].[region]'
const statements = [
  "CREATE SESSION MEMBER [sales.orders].[Measures].[twice] AS '[Measures].[revenue] * 2', FORMAT_STRING = '0.0', CAPTION = 'Twice', DISPLAY_FOLDER = 'Mine'",
  'CREATE SESSION HIDDEN MEMBER [sales.orders].[Measures].[hidden] AS 1 MEMBER [sales.orders].[Measures].[unseen] AS 1, VISIBLE = 0',
  `CREATE SESSION MEMBER [sales.orders].${region}.[All].[coasts] AS Aggregate({${region}.&[east], ${region}.&[west]})`,
  `CREATE SESSION SET [sales.orders].[Few] AS {${region}.&[east], ${region}.&[west]}, CAPTION = 'A few'`,
  `CREATE SESSION DYNAMIC SET [sales.orders].[Pairs] AS Filter(CrossJoin([Few], [orders].[day.Calendar].[Year].Members), [Measures].[revenue] > 1)`,
  `CREATE SESSION HIDDEN SET [sales.orders].[secret] AS {${region}.&[east]}`,
]

test('a session lists what it defined, and nobody else does', async () => {
  const { ann, bob } = started
  for (const who of [ann, bob]) {
    const own = await begin(who)
    const other = await begin(who)
    for (const text of statements)
      expect(await ask(who, executeBody(text), own)).toMatchObject({ kind: 'empty' })
    const rows = (request: string, header: string, restrictions: Record<string, string> = {}) =>
      rowsOf(ask(who, discoverBody(request, restrictions), header))
    const measures = async (header: string) =>
      (await rows('MDSCHEMA_MEASURES', header)).filter(
        ({ MEASURE_NAME: name }) => !['revenue', 'buyers'].includes(String(name)),
      )
    expect(await measures(other)).toEqual([])
    expect(await measures('')).toEqual([])
    expect(await measures(own)).toMatchObject([
      {
        ...{ MEASURE_NAME: 'twice', MEASURE_UNIQUE_NAME: '[Measures].[twice]', MEASURE_CAPTION: 'Twice' },
        ...{
          MEASURE_AGGREGATOR: '127',
          EXPRESSION: '[Measures].[revenue] * 2',
          DEFAULT_FORMAT_STRING: '0.0',
        },
        MEASURE_DISPLAY_FOLDER: 'Mine',
      },
    ])
    expect(await rows('MDSCHEMA_SETS', other)).toEqual([])
    expect(await rows('MDSCHEMA_SETS', own)).toMatchObject([
      { SET_NAME: 'Few', SET_CAPTION: 'A few', SCOPE: '2', DIMENSIONS: region, SET_EVALUATION_CONTEXT: '1' },
      {
        ...{ SET_NAME: 'Pairs', SET_EVALUATION_CONTEXT: '2' },
        DIMENSIONS: `${region},[orders].[day.Calendar]`,
      },
    ])
    expect(await rows('MDSCHEMA_SETS', own, { HIERARCHY_UNIQUE_NAME: region })).toHaveLength(1)
    const members = (header: string, restrictions: Record<string, string>) =>
      rows('MDSCHEMA_MEMBERS', header, { CUBE_NAME: 'sales.orders', MEMBER_TYPE: '4', ...restrictions })
    const level = { LEVEL_UNIQUE_NAME: `${region}.[region]` }
    expect(await members(own, level)).toMatchObject([
      { MEMBER_UNIQUE_NAME: `${region}.[All].[coasts]`, PARENT_UNIQUE_NAME: `${region}.[All]`, SCOPE: '2' },
    ])
    expect(await members(other, level)).toEqual([])
    expect(await members(own, { MEMBER_UNIQUE_NAME: '[Measures].[twice]', TREE_OP: '8' })).toHaveLength(1)
    expect(await members(own, { MEMBER_UNIQUE_NAME: `${region}.[All]`, TREE_OP: '1' })).toHaveLength(1)
    expect(await members(own, { MEMBER_UNIQUE_NAME: '[Measures].[hidden]', TREE_OP: '8' })).toEqual([])
    const system = 'SELECT SET_NAME FROM $system.MDSCHEMA_SETS'
    expect(await rowsOf(ask(who, executeBody(system), own))).toHaveLength(2)
    const dropped = 'DROP SET [sales.orders].[Few], [sales.orders].[Pairs]'
    expect(await ask(who, executeBody(dropped), own)).toMatchObject({ kind: 'empty' })
    expect(await rows('MDSCHEMA_SETS', own)).toEqual([])
  }
})

test('a set that names itself, or others twice each, is listed at once', async () => {
  const { ann } = started
  const own = await begin(ann)
  const doubled = Array.from(
    { length: 60 },
    (_, place) => `SET [sales.orders].[d${place + 1}] AS [d${place}] * [d${place}]`,
  )
  const text = `CREATE SESSION SET [sales.orders].[d0] AS {${region}.&[east]} SET [sales.orders].[itself] AS CrossJoin([itself], [itself], ${region}.Members) ${doubled.join(' ')}`
  expect(await ask(ann, executeBody(text), own)).toMatchObject({ kind: 'empty' })
  const rows = await rowsOf(ask(ann, discoverBody('MDSCHEMA_SETS', {}), own))
  expect(rows.map(({ SET_NAME: name }) => name)).toContain('d60')
  expect(rows.find(({ SET_NAME: name }) => name === 'itself')).toMatchObject({ DIMENSIONS: region })
  expect(rows.find(({ SET_NAME: name }) => name === 'd3')).toMatchObject({ DIMENSIONS: region })
})

test('a member in a hierarchy that has gone is left out of lists, and others are still listed', async () => {
  const { lake, ann } = started
  const own = await begin(ann)
  const put = declaringAs(lake, started.steward)
  const path = '/api/v1/semantics/tables/sales/orders'
  const { body } = await askRest(lake, 'GET', path, started.steward)
  const { key, dimensions, time_dimension } = body as Record<string, unknown>
  const model = { key, time_dimension, dimensions: [...(dimensions as readonly object[]), { name: 'paid' }] }
  await put(path, model)
  for (const text of [
    'CREATE SESSION MEMBER [sales.orders].[orders].[paid].[All].[both] AS 1',
    'CREATE SESSION MEMBER [sales.orders].[Measures].[one] AS 1',
    'CREATE SESSION SET [sales.orders].[paids] AS [orders].[paid].Members',
  ])
    expect(await ask(ann, executeBody(text), own)).toMatchObject({ kind: 'empty' })
  await put(path, { ...model, dimensions })
  const named = async (rowset: string, column: string, restrictions: Record<string, string> = {}) =>
    (await rowsOf(ask(ann, discoverBody(rowset, restrictions), own))).map((row) => row[column])
  expect(await named('MDSCHEMA_MEASURES', 'MEASURE_NAME')).toContain('one')
  expect(await named('MDSCHEMA_SETS', 'SET_NAME')).toEqual(['paids'])
  const level = { CUBE_NAME: 'sales.orders', LEVEL_UNIQUE_NAME: `${region}.[region]`, MEMBER_TYPE: '4' }
  expect(await named('MDSCHEMA_MEMBERS', 'MEMBER_NAME', level)).toEqual([])
  const more = 'CREATE SESSION MEMBER [sales.orders].[Measures].[two] AS 2'
  expect(await ask(ann, executeBody(more), own)).toMatchObject({ kind: 'empty' })
})

test('another tenant has no such catalog, and a session of another principal is none', async () => {
  const { ann, bob, stranger } = started
  const [create = ''] = statements
  const header = await begin(ann)
  expect(await ask(stranger, executeBody(create), header)).toMatchObject({
    kind: 'fault',
    message: 'There is no such catalog.',
  })
  expect(await ask(bob, executeBody(create), header)).toMatchObject({
    kind: 'fault',
    message: expect.stringContaining('The session is unknown'),
  })
})

test('a message without a session cannot define anything', async () => {
  const [create = ''] = statements
  expect(await ask(started.ann, executeBody(create))).toMatchObject({
    kind: 'fault',
    message: expect.stringContaining('lasts for a session of XMLA'),
  })
})

test('CURRENTCUBE stands for the property Cube of the message', async () => {
  const header = await begin(started.ann)
  const create = 'CREATE MEMBER CURRENTCUBE.[Measures].[other] AS [Measures].[revenue] + 0'
  const made = await ask(started.ann, executeBody(create, {}, { Cube: 'sales.orders' }), header)
  expect(made).toMatchObject({ kind: 'empty' })
  const select = 'SELECT {[Measures].[other]} ON 0 FROM [sales.orders]'
  expect(await ask(started.ann, executeBody(select), header)).toMatchObject({ kind: 'dataset' })
})
