/**
 * What is known to stop Excel or to crash its provider, one test for each: the cause is not in our answers, and the reader
 * of test/support/xmla.ts, which takes every answer of every test, would stop at it.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { rowsetNames } from '../../../src/server/xmla/discover/rowsets.ts'
import { declaringAs } from '../../support/semantic-layer.ts'
import {
  ask,
  type CellValue,
  discoverBody,
  envelope,
  executeBody,
  type HttpAnswer,
  postText,
  readAnswer,
  rowsOf,
  XmlaConnection,
} from '../../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let started: XmlaLake
beforeAll(async () => {
  started = await startXmlaLake()
})
afterAll(() => started.lake[Symbol.asyncDispose]())

const discover = (type: string, restrictions: Record<string, string> = {}) =>
  rowsOf(ask(started.ann, discoverBody(type, restrictions)))

/** An answer in its bytes, which the reader takes. */
async function sent(body: string): Promise<HttpAnswer> {
  using connection = await XmlaConnection.open(started.ann.port)
  connection.write(postText(started.ann, envelope(body)))
  const answer = await connection.answer()
  readAnswer(answer)
  return answer
}

const from = 'FROM [sales.orders]'
const region = '[orders].[region]'
const cellset = (axes: string, more = '') => sent(executeBody(`SELECT ${axes} ${from} ${more}`))
/** What the reader says of an answer that was changed. */
const refusal = ({ body, ...answer }: HttpAnswer, change: (body: string) => string) => {
  const changed = change(body)
  expect(changed).not.toBe(body)
  try {
    readAnswer({ ...answer, body: changed })
  } catch (thrown) {
    return String(thrown)
  }
  return 'taken'
}
const nested = (value: CellValue | undefined) => (Array.isArray(value) ? value : [])

test('DISCOVER_SCHEMA_ROWSETS is asked thrice, then the session ends: GUIDs, nested restrictions, one row by name', async () => {
  const rows = await discover('DISCOVER_SCHEMA_ROWSETS')
  for (const row of rows) {
    expect(row.SchemaGuid).toMatch(/^[0-9a-f-]{36}$/)
    for (const each of nested(row.Restrictions)) expect(Object.keys(each)).toEqual(['Name', 'Type'])
  }
  for (const name of rowsetNames)
    expect(await discover('DISCOVER_SCHEMA_ROWSETS', { SchemaName: name })).toHaveLength(1)
})

test('the server "supports nothing": restrictions are those of Analysis Services', async () => {
  const wanted = {
    MDSCHEMA_CUBES: 'CATALOG_NAME SCHEMA_NAME CUBE_NAME BASE_CUBE_NAME CUBE_SOURCE',
    MDSCHEMA_DIMENSIONS:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_NAME DIMENSION_UNIQUE_NAME CUBE_SOURCE DIMENSION_VISIBILITY',
    MDSCHEMA_HIERARCHIES:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_UNIQUE_NAME HIERARCHY_NAME HIERARCHY_UNIQUE_NAME HIERARCHY_ORIGIN CUBE_SOURCE HIERARCHY_VISIBILITY',
    MDSCHEMA_LEVELS:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_UNIQUE_NAME HIERARCHY_UNIQUE_NAME LEVEL_NAME LEVEL_UNIQUE_NAME LEVEL_ORIGIN CUBE_SOURCE LEVEL_VISIBILITY',
    MDSCHEMA_MEASURES:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME MEASURE_NAME MEASURE_UNIQUE_NAME MEASUREGROUP_NAME CUBE_SOURCE MEASURE_VISIBILITY',
    MDSCHEMA_PROPERTIES:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_UNIQUE_NAME HIERARCHY_UNIQUE_NAME LEVEL_UNIQUE_NAME MEMBER_UNIQUE_NAME PROPERTY_NAME PROPERTY_TYPE PROPERTY_CONTENT_TYPE PROPERTY_ORIGIN CUBE_SOURCE PROPERTY_VISIBILITY',
    MDSCHEMA_MEMBERS:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_UNIQUE_NAME HIERARCHY_UNIQUE_NAME LEVEL_UNIQUE_NAME LEVEL_NUMBER MEMBER_NAME MEMBER_UNIQUE_NAME MEMBER_CAPTION MEMBER_TYPE TREE_OP CUBE_SOURCE',
  }
  for (const [name, restrictions] of Object.entries(wanted)) {
    const [row] = await discover('DISCOVER_SCHEMA_ROWSETS', { SchemaName: name })
    expect([name, ...nested(row?.Restrictions).map(({ Name }) => Name)]).toEqual([
      name,
      ...restrictions.split(' '),
    ])
    expect(row?.RestrictionsMask).toBe(String(2 ** restrictions.split(' ').length - 1))
  }
})

test('captions are empty and measures a nameless field: every GUID and master name is filled', async () => {
  for (const row of await discover('MDSCHEMA_DIMENSIONS'))
    for (const name of ['DIMENSION_GUID', 'DIMENSION_MASTER_UNIQUE_NAME', 'DIMENSION_CAPTION'])
      expect(row[name]).toMatch(/./)
  for (const rowset of ['MDSCHEMA_HIERARCHIES', 'MDSCHEMA_LEVELS', 'MDSCHEMA_MEASURES', 'MDSCHEMA_CUBES'])
    for (const row of await discover(rowset)) {
      const guids = Object.keys(row).filter((name) => name.endsWith('_GUID'))
      expect(guids).toHaveLength(1)
      for (const name of guids) expect(row[name]).toMatch(/^[0-9a-f-]{36}$/)
    }
})

test('what is marked as not visible shows all the same: no row says so', async () => {
  for (const rowset of ['DIMENSIONS', 'HIERARCHIES', 'LEVELS', 'MEASURES', 'PROPERTIES'])
    for (const row of await discover(`MDSCHEMA_${rowset}`))
      for (const [name, value] of Object.entries(row))
        if (name.endsWith('_IS_VISIBLE')) expect([name, value]).toEqual([name, 'true'])
})

test('wrong types, "document not saved": columns stand in the order of [MS-SSAS]', async () => {
  const starts = {
    MDSCHEMA_PROPERTIES:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_UNIQUE_NAME HIERARCHY_UNIQUE_NAME LEVEL_UNIQUE_NAME MEMBER_UNIQUE_NAME PROPERTY_TYPE PROPERTY_NAME PROPERTY_CAPTION DATA_TYPE',
    MDSCHEMA_CUBES:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME CUBE_TYPE CUBE_GUID CREATED_ON LAST_SCHEMA_UPDATE SCHEMA_UPDATED_BY LAST_DATA_UPDATE DATA_UPDATED_BY DESCRIPTION',
    MDSCHEMA_DIMENSIONS:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_NAME DIMENSION_UNIQUE_NAME DIMENSION_GUID DIMENSION_CAPTION DIMENSION_ORDINAL DIMENSION_TYPE DIMENSION_CARDINALITY DEFAULT_HIERARCHY',
    MDSCHEMA_HIERARCHIES:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_UNIQUE_NAME HIERARCHY_NAME HIERARCHY_UNIQUE_NAME HIERARCHY_GUID HIERARCHY_CAPTION DIMENSION_TYPE HIERARCHY_CARDINALITY DEFAULT_MEMBER ALL_MEMBER',
    MDSCHEMA_LEVELS:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME DIMENSION_UNIQUE_NAME HIERARCHY_UNIQUE_NAME LEVEL_NAME LEVEL_UNIQUE_NAME LEVEL_GUID LEVEL_CAPTION LEVEL_NUMBER LEVEL_CARDINALITY LEVEL_TYPE',
    MDSCHEMA_MEASURES:
      'CATALOG_NAME SCHEMA_NAME CUBE_NAME MEASURE_NAME MEASURE_UNIQUE_NAME MEASURE_CAPTION MEASURE_GUID MEASURE_AGGREGATOR DATA_TYPE NUMERIC_PRECISION NUMERIC_SCALE',
    DISCOVER_SCHEMA_ROWSETS: 'SchemaName SchemaGuid Restrictions Description RestrictionsMask',
    DISCOVER_PROPERTIES: 'PropertyName PropertyDescription PropertyType PropertyAccessType IsRequired Value',
  }
  for (const [name, columns] of Object.entries(starts)) {
    const answer = await ask(started.ann, discoverBody(name))
    if (answer.kind !== 'rowset') throw new Error(answer.kind)
    expect(answer.columns.join(' ')).toStartWith(columns)
  }
  const answer = await sent(discoverBody('DISCOVER_KEYWORDS'))
  expect(refusal(answer, (body) => body.replace('<Keyword>', '<Other>x</Other><Keyword>'))).toContain(
    'Other is not declared, or in another place',
  )
  const measures = await sent(discoverBody('MDSCHEMA_MEASURES'))
  const swapped = (body: string) =>
    body.replace(
      /(<MEASURE_NAME>[^<]*<\/MEASURE_NAME>)(<MEASURE_UNIQUE_NAME>[^<]*<\/MEASURE_UNIQUE_NAME>)/,
      '$2$1',
    )
  expect(refusal(measures, swapped)).toContain('is not declared, or in another place')
  const typed = (body: string) => body.replace(/<DATA_TYPE>\d+/, '<DATA_TYPE>five')
  expect(refusal(measures, typed)).toContain('is no xsd:unsignedShort')
})

test('a field cannot be added (0x800A03EC): a property is declared once, and never one of the five', async () => {
  const { body } = await cellset(
    `${region}.Members DIMENSION PROPERTIES MEMBER_UNIQUE_NAME, MEMBER_CAPTION, LEVEL_NUMBER, PARENT_UNIQUE_NAME, ${region}.[region].[PARENT_UNIQUE_NAME], MEMBER_TYPE ON 0`,
  )
  const info = /<HierarchyInfo name="\[orders\]\.\[region\]">(.*?)<\/HierarchyInfo>/.exec(body)?.[1] ?? ''
  expect([...info.matchAll(/<(\w+) name=/g)].map(([, name]) => name)).toEqual(
    'UName Caption LName LNum DisplayInfo PARENT_UNIQUE_NAME MEMBER_TYPE'.split(' '),
  )
})

test('MoveToHierProperty: a member holds no child that is not declared', async () => {
  const answer = await cellset(`${region}.Members ON 0`)
  const more = (body: string) => body.replace('</DisplayInfo></Member>', '</DisplayInfo><X>1</X></Member>')
  expect(refusal(answer, more)).toContain('other properties than declared')
  const less = (body: string) => body.replace(/<DisplayInfo>\d+<\/DisplayInfo><\/Member>/, '</Member>')
  expect(refusal(answer, less)).toContain('other properties than declared')
})

test('Excel crashes on "expand": CHILDREN_CARDINALITY comes where it is asked for alone', async () => {
  const calendar = 'Hierarchize({DrilldownLevel({[orders].[day.Calendar].[All]})})'
  expect((await cellset(`${calendar} DIMENSION PROPERTIES PARENT_UNIQUE_NAME ON 0`)).body).not.toContain(
    'CARDINALITY',
  )
  const asked = await cellset(`${calendar} DIMENSION PROPERTIES CHILDREN_CARDINALITY ON 0`)
  expect(asked.body).toMatch(/<CHILDREN_CARDINALITY>\d+</)
})

test('PFBaseString::Clear: no value is nil, each has a type, and the schema is there', async () => {
  const answer = await cellset(
    `NON EMPTY ${region}.Members ON 0, {[Measures].[revenue], [Measures].[buyers]} ON 1`,
    'CELL PROPERTIES VALUE, FORMAT_STRING, LANGUAGE, BACK_COLOR, FORE_COLOR, FONT_FLAGS',
  )
  expect(answer.body).not.toContain('nil')
  expect(answer.body).toContain('<xsd:schema')
  const values = answer.body.split('<CellData>')[1]?.match(/<Value[^>]*>/g) ?? []
  expect(values.length).toBeGreaterThan(4)
  for (const value of values) expect(value).toMatch(/^<Value xsi:type="xsd:(double|int|long)">$/)
  expect(refusal(answer, (body) => body.replace('xsi:type="xsd:', 'xsi:type="xs:'))).toContain('has the type')
  expect(refusal(answer, (body) => body.replace('<Value xsi:type="xsd:int">', '<Value>'))).toContain(
    'has the type',
  )
  expect(refusal(answer, (body) => body.replace('<Value xsi', '<Value xsi:nil="true" xsi'))).toContain(
    'is nil',
  )
  const unschooled = (body: string) => body.replace(/<xsd:schema.*?<\/xsd:schema>/s, '')
  expect(refusal(answer, unschooled)).toContain('the parts are')
})

test('"column can never contain null values": an axis has the form that was asked for, with All in it', async () => {
  const answer = await ask(
    started.ann,
    executeBody(
      `SELECT CrossJoin(Hierarchize({DrilldownLevel({${region}.[All]})}), {[Measures].[revenue],[Measures].[buyers]}) DIMENSION PROPERTIES PARENT_UNIQUE_NAME ON 0 ${from}`,
    ),
  )
  if (answer.kind !== 'dataset') throw new Error(answer.kind)
  const [axis, slicer, ...more] = answer.dataset.axes
  expect(more).toEqual([])
  expect(axis?.slice(0, 2)).toEqual([
    [`${region}.[All]`, '[Measures].[revenue]'],
    [`${region}.[All]`, '[Measures].[buyers]'],
  ])
  expect(slicer?.flat()).not.toContain('[Measures].[revenue]')
})

test('nothing renders: the slicer axis is there and has every other hierarchy', async () => {
  const hierarchies = (await discover('MDSCHEMA_HIERARCHIES')).map((row) => String(row.HIERARCHY_UNIQUE_NAME))
  for (const axes of ['', `${region}.Members ON 0`, `${region}.Members ON 0, {[Measures].[buyers]} ON 1`]) {
    const answer = await cellset(axes)
    const infos = /<AxisInfo name="SlicerAxis">(.*?)<\/AxisInfo>/.exec(answer.body)?.[1] ?? ''
    const found = [...infos.matchAll(/<HierarchyInfo name="([^"]*)"/g)].map(([, name]) => name ?? '')
    const onAxes = hierarchies.filter(
      (name) => axes.includes(name) || (name === '[Measures]' && axes.includes('buyers')),
    )
    expect([...found, ...onAxes].sort()).toEqual([...hierarchies].sort())
    const without = (body: string) => body.replace(/<Axis name="SlicerAxis">.*?<\/Axis>/s, '')
    expect(refusal(answer, without)).toContain('the slicer last')
  }
})

test('date filters are missing: a hierarchy of days has the type of dates, its origin, and the cube its pattern', async () => {
  const level = { LEVEL_UNIQUE_NAME: '[orders].[day].[day]' }
  expect(await discover('MDSCHEMA_LEVELS', level)).toMatchObject([{ LEVEL_DBTYPE: '7', LEVEL_ORIGIN: '2' }])
  expect(await discover('MDSCHEMA_PROPERTIES', { ...level, PROPERTY_NAME: 'MEMBER_VALUE' })).toMatchObject([
    { DATA_TYPE: '7' },
  ])
  expect(await discover('MDSCHEMA_HIERARCHIES', { HIERARCHY_UNIQUE_NAME: '[orders].[day]' })).toMatchObject([
    { HIERARCHY_ORIGIN: '2' },
  ])
  expect(await discover('MDSCHEMA_CUBES')).toMatchObject([{ PREFERRED_QUERY_PATTERNS: '3' }])
})

test('changes of the model have no effect: the page tells users to build a new pivot table', async () => {
  const page = await Bun.file(new URL('../../../docs/xmla.md', import.meta.url)).text()
  expect(page).toContain('after a change of the model, build a new pivot table')
})

test('the cube looks changed each time: its time of change moves with the model alone', async () => {
  const time = async () => (await discover('MDSCHEMA_CUBES'))[0]?.LAST_SCHEMA_UPDATE
  const before = await time()
  await cellset(`${region}.Members ON 0`)
  expect(await time()).toBe(before as string)
  const put = declaringAs(started.lake, started.steward)
  const table = { namespace: ['sales'], name: 'orders' }
  await put('/api/v1/metrics/lines', { table, expression: 'count(*)' })
  expect(await time()).not.toBe(before as string)
})
