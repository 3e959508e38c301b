/** The rowsets of the model as a whole: which there are, what each restriction leaves, and the model as a document. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rowsetNames } from '../../../src/server/xmla/discover/rowsets.ts'
import type { Lake } from '../../support/lake.ts'
import { ask, discoverBody, rowsOf, type XmlaClientOptions } from '../../support/xmla.ts'
import { startXmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
let ann: XmlaClientOptions
let bob: XmlaClientOptions
let stranger: XmlaClientOptions

beforeAll(async () => {
  const started = await startXmlaLake()
  lake = started.lake
  ann = started.ann
  bob = started.bob
  stranger = started.stranger
})
afterAll(() => lake[Symbol.asyncDispose]())

test('every rowset that Excel, Power BI and olap4j ask for is there', () => {
  const asked = [
    ...'DISCOVER_PROPERTIES DISCOVER_SCHEMA_ROWSETS DBSCHEMA_CATALOGS MDSCHEMA_CUBES DBSCHEMA_TABLES'.split(
      ' ',
    ),
    ...'MDSCHEMA_PROPERTIES MDSCHEMA_DIMENSIONS MDSCHEMA_HIERARCHIES MDSCHEMA_LEVELS MDSCHEMA_MEASURES'.split(
      ' ',
    ),
    ...'DISCOVER_LITERALS MDSCHEMA_SETS MDSCHEMA_KPIS MDSCHEMA_MEASUREGROUPS'.split(' '),
    ...'MDSCHEMA_MEASUREGROUP_DIMENSIONS MDSCHEMA_MEMBERS DISCOVER_XML_METADATA MDSCHEMA_FUNCTIONS'.split(
      ' ',
    ),
    ...'DBSCHEMA_SCHEMATA DISCOVER_DATASOURCES MDSCHEMA_ACTIONS DISCOVER_ENUMERATORS DISCOVER_KEYWORDS'.split(
      ' ',
    ),
  ]
  expect(asked.filter((name) => !rowsetNames.includes(name))).toEqual([])
})

test('the data of a cube was changed when its snapshot says', async () => {
  for (const who of [ann, bob]) {
    const [cube] = await rowsOf(ask(who, discoverBody('MDSCHEMA_CUBES')))
    expect(cube?.LAST_DATA_UPDATE).toBe('2023-11-14T22:13:20')
    expect(cube?.LAST_SCHEMA_UPDATE).not.toBe(cube?.LAST_DATA_UPDATE)
    const [catalog] = await rowsOf(ask(who, discoverBody('DBSCHEMA_CATALOGS')))
    expect(catalog?.DATE_MODIFIED).toBe('2023-11-14T22:13:20')
  }
})

test('a rowset that is not served is refused by its name', async () => {
  const answer = await ask(ann, discoverBody('DISCOVER_STORAGE_TABLES'))
  expect(answer).toMatchObject({
    kind: 'fault',
    message: 'The rowset `DISCOVER_STORAGE_TABLES` is not served here.',
  })
})

describe('a restriction', () => {
  /** What a column of the first row holds leaves rows with it alone, and what no row has leaves none. */
  test.each([
    ['MDSCHEMA_CUBES', 'CUBE_NAME'],
    ['MDSCHEMA_DIMENSIONS', 'DIMENSION_UNIQUE_NAME'],
    ['MDSCHEMA_DIMENSIONS', 'DIMENSION_NAME'],
    ['MDSCHEMA_HIERARCHIES', 'HIERARCHY_UNIQUE_NAME'],
    ['MDSCHEMA_HIERARCHIES', 'HIERARCHY_NAME'],
    ['MDSCHEMA_LEVELS', 'LEVEL_UNIQUE_NAME'],
    ['MDSCHEMA_LEVELS', 'LEVEL_NAME'],
    ['MDSCHEMA_MEASURES', 'MEASURE_NAME'],
    ['MDSCHEMA_MEASURES', 'MEASURE_UNIQUE_NAME'],
    ['MDSCHEMA_MEASURES', 'MEASUREGROUP_NAME'],
    ['MDSCHEMA_MEASUREGROUPS', 'MEASUREGROUP_NAME'],
    ['MDSCHEMA_MEASUREGROUP_DIMENSIONS', 'DIMENSION_UNIQUE_NAME'],
    ['MDSCHEMA_PROPERTIES', 'PROPERTY_NAME'],
    ['MDSCHEMA_FUNCTIONS', 'FUNCTION_NAME'],
    ['DBSCHEMA_CATALOGS', 'CATALOG_NAME'],
    ['DBSCHEMA_TABLES', 'TABLE_NAME'],
    ['DBSCHEMA_TABLES', 'TABLE_OLAP_TYPE'],
    ['DISCOVER_DATASOURCES', 'DataSourceName'],
    ['DISCOVER_ENUMERATORS', 'EnumName'],
    ['DISCOVER_KEYWORDS', 'Keyword'],
    ['DISCOVER_LITERALS', 'LiteralName'],
    ['DISCOVER_PROPERTIES', 'PropertyName'],
    ['DISCOVER_SCHEMA_ROWSETS', 'SchemaName'],
  ])('%s honours %s', async (rowset, column) => {
    const all = await rowsOf(ask(ann, discoverBody(rowset)))
    const value = String(all[all.length >> 1]?.[column])
    const some = await rowsOf(ask(ann, discoverBody(rowset, { [column]: value })))
    expect(some).toEqual(all.filter((row) => row[column] === value))
    expect(some.length).toBeGreaterThan(0)
    expect(await rowsOf(ask(ann, discoverBody(rowset, { [column]: 'nothing like it' })))).toEqual([])
  })

  test('of visibility or source without the bit of what is shown leaves nothing', async () => {
    for (const [rowset, name] of [
      ['MDSCHEMA_HIERARCHIES', 'HIERARCHY_VISIBILITY'],
      ['MDSCHEMA_MEASURES', 'MEASURE_VISIBILITY'],
      ['MDSCHEMA_LEVELS', 'LEVEL_VISIBILITY'],
      ['MDSCHEMA_DIMENSIONS', 'DIMENSION_VISIBILITY'],
    ] as const) {
      expect(await rowsOf(ask(ann, discoverBody(rowset, { [name]: '2' })))).toEqual([])
      expect((await rowsOf(ask(ann, discoverBody(rowset, { [name]: '3' })))).length).toBeGreaterThan(0)
    }
  })
})

describe('the model as a document', () => {
  const document = async (who: XmlaClientOptions, restrictions: Record<string, string> = {}) =>
    String((await rowsOf(ask(who, discoverBody('DISCOVER_XML_METADATA', restrictions))))[0]?.METADATA)

  test('holds the catalog, its cubes, dimensions and measures', async () => {
    const whole = await document(ann)
    expect(whole).toStartWith('<Server><Name>Covenant</Name>')
    for (const part of [
      '<Database><Name>lake</Name><ID>lake</ID>',
      '<Cube><Name>sales.orders</Name><ID>sales.orders</ID>',
      '<Measure><Name>revenue</Name><ID>revenue</ID>',
      '<AggregateFunction>Sum</AggregateFunction>',
      '<Attribute><Name>region</Name><ID>region</ID></Attribute>',
      '<Level><Name>Year</Name>',
    ])
      expect(whole).toContain(part)
  })

  test('goes as far as is asked for', async () => {
    expect(await document(ann, { ObjectExpansion: 'ReferenceOnly' })).toBe(
      '<Server><Name>Covenant</Name><ID>Covenant</ID></Server>',
    )
    const one = await document(ann, { DatabaseID: 'lake', ObjectExpansion: 'ExpandObject' })
    expect(one).toContain('<Cubes><Cube><Name>sales.orders</Name><ID>sales.orders</ID></Cube></Cubes>')
    expect(one).not.toContain('Measure')
    expect(await document(ann, { CubeID: 'sales.orders' })).toStartWith('<Cube>')
    expect(await document(ann, { CubeID: 'sales.orders', MeasureGroupID: 'orders' })).toStartWith(
      '<MeasureGroup>',
    )
    expect(await document(ann, { DimensionID: 'sales.orders.orders' })).toStartWith('<Dimension>')
  })

  test('shows no hierarchy that a mask empties, and nothing of another tenant', async () => {
    expect(await document(ann)).toContain('<ID>note</ID>')
    expect(await document(bob)).not.toContain('note')
    expect((await ask(stranger, discoverBody('DISCOVER_XML_METADATA'))).kind).toBe('fault')
  })

  test.each<[string, Record<string, string>]>([
    ['a cube that is not there', { CubeID: 'sales.nothing' }],
    ['another catalog', { DatabaseID: 'other' }],
    ['an object of a kind that is not there', { RoleID: 'x' }],
    ['a dimension of a cube', { CubeID: 'sales.orders', DimensionID: 'sales.orders.orders' }],
    ['an unknown expansion', { ObjectExpansion: 'All' }],
  ])('refuses %s', async (_, restrictions) => {
    expect((await ask(ann, discoverBody('DISCOVER_XML_METADATA', restrictions))).kind).toBe('fault')
  })
})
