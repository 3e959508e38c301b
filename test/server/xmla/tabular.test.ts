/** The tabular face of cubes over XMLA: the entity model and the rowsets that a live connection asks for. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readXml, type XmlElement } from '../../../src/wire/soap/xml.ts'
import {
  ask,
  discoverBody,
  envelope,
  executeBody,
  postText,
  rowsOf,
  XmlaConnection,
} from '../../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let one: XmlaLake
beforeAll(async () => {
  one = await startXmlaLake()
})
afterAll(() => one.lake[Symbol.asyncDispose]())

type Who = 'ann' | 'bob'
const readers = ['ann', 'bob'] as const
const discover = (who: Who | 'stranger', type: string, restrictions = {}) =>
  rowsOf(ask(one[who], discoverBody(type, restrictions)))

/** The document as it is sent, with its namespaces. */
async function csdl(
  who: Who,
  restrictions = {},
): Promise<{ readonly text: string; readonly schema: XmlElement }> {
  using connection = await XmlaConnection.open(one[who].port)
  connection.write(postText(one[who], envelope(discoverBody('DISCOVER_CSDL_METADATA', restrictions))))
  const { body } = await connection.answer()
  const [, text = ''] = /<METADATA>(.*)<\/METADATA>/s.exec(body) ?? []
  return { text, schema: readXml(text, { depthMax: 50, elementsMax: 10_000 }) }
}

const named = (parent: XmlElement | undefined, name: string) =>
  (parent?.children ?? []).filter((child) => child.name === name)

describe.each(readers)('the entity model of %s', (who) => {
  test('has a set for each table, and properties with their types', async () => {
    const { schema } = await csdl(who, { PERSPECTIVE_NAME: 'sales.orders', VERSION: '2.5' })
    const [container] = named(schema, 'EntityContainer')
    const sets = named(container, 'EntitySet').map(({ attributes }) => attributes.get('Name'))
    expect(sets).toEqual(named(schema, 'EntityType').map(({ attributes }) => attributes.get('Name')))
    const [orders] = named(schema, 'EntityType')
    const properties = named(orders, 'Property').map(({ attributes }) => [
      attributes.get('Name'),
      attributes.get('Type'),
    ])
    expect(properties).toContainEqual(['region', 'String'])
    expect(properties).toContainEqual(['day', 'DateTime'])
    expect(properties).toContainEqual(['buyers', 'Int64'])
    expect(new Set(properties.map(([name]) => name)).size).toBe(properties.length)
  })

  test('has levels of calendars that are properties', async () => {
    const { schema } = await csdl(who)
    const [orders] = named(schema, 'EntityType')
    const properties = named(orders, 'Property').map(({ attributes }) => attributes.get('Name'))
    const extension = orders?.children.at(-1)
    const levels = named(named(extension, 'Hierarchy')[0], 'Level')
    const sources = levels.map((level) =>
      named(named(level, 'Source')[0], 'PropertyRef')[0]?.attributes.get('Name'),
    )
    expect(levels.map(({ attributes }) => attributes.get('Name'))).toEqual([
      'Year',
      'Quarter',
      'Month',
      'Day',
    ])
    expect(properties).toEqual(expect.arrayContaining(sources))
  })

  test('says which version and which namespaces it has', async () => {
    const { text } = await csdl(who, { VERSION: '2.0' })
    expect(text).toStartWith('<Schema xmlns="http://schemas.microsoft.com/ado/2008/09/edm"')
    expect(text).toContain('bi:Version="2.0"')
  })
})

test('a hierarchy that a mask empties is in no rowset and not in the entity model', async () => {
  const rowsets = ['DBSCHEMA_COLUMNS', 'TMSCHEMA_COLUMNS', 'TMSCHEMA_LEVELS', 'DISCOVER_CALC_DEPENDENCY']
  const all = async (who: Who) =>
    JSON.stringify([(await csdl(who)).text, await Promise.all(rowsets.map((each) => discover(who, each)))])
  expect(await all('ann')).toContain('note')
  expect(await all('bob')).not.toContain('note')
})

test('a perspective that is not there, and a version that is not served, are faults', async () => {
  const fault = (restrictions: Readonly<Record<string, string>>) =>
    ask(one.ann, discoverBody('DISCOVER_CSDL_METADATA', restrictions))
  expect(await fault({ PERSPECTIVE_NAME: 'sales.nothing' })).toMatchObject({ kind: 'fault' })
  expect(await fault({ VERSION: '9.9' })).toMatchObject({ kind: 'fault' })
  expect((await fault({ PERSPECTIVE_NAME: 'Model' })).kind).toBe('rowset')
})

test('columns, measures and levels refer to tables and columns by number', async () => {
  const tables = await discover('ann', 'TMSCHEMA_TABLES')
  const columns = await discover('ann', 'TMSCHEMA_COLUMNS')
  const levels = await discover('ann', 'TMSCHEMA_LEVELS')
  const measures = await discover('ann', 'TMSCHEMA_MEASURES')
  const ids = tables.map(({ ID }) => ID)
  for (const { TableID } of [...columns, ...measures]) expect(ids).toContain(TableID)
  const columnIds = columns.map(({ ID }) => ID)
  for (const { ColumnID } of levels) expect(columnIds).toContain(ColumnID)
  expect(measures.map(({ Name }) => Name)).toEqual(['buyers', 'revenue'])
  expect(await discover('ann', 'TMSCHEMA_MODEL')).toHaveLength(1)
  expect(await discover('ann', 'TMSCHEMA_RELATIONSHIPS')).toEqual([])
})

test('rowsets of the tabular face are asked for by statement, too', async () => {
  const text = "SELECT [Name] FROM $system.TMSCHEMA_MEASURES WHERE [Name] = 'revenue'"
  expect(await rowsOf(ask(one.bob, executeBody(text)))).toEqual([{ Name: 'revenue' }])
})

test('a principal of another tenant gets none of them', async () => {
  const answer = await ask(one.stranger, discoverBody('DISCOVER_CSDL_METADATA'))
  expect(answer).toMatchObject({ kind: 'fault', message: 'There is no such catalog.' })
})

test('several results of one query come one after another', async () => {
  using connection = await XmlaConnection.open(one.ann.port)
  const text = 'EVALUATE ROW("a", 1) EVALUATE SUMMARIZECOLUMNS(orders[region], "m", [revenue])'
  connection.write(postText(one.ann, envelope(executeBody(text))))
  const { body } = await connection.answer()
  const [, results = ''] =
    /<results xmlns="http:\/\/schemas.microsoft.com\/analysisservices\/2003\/xmla-multipleresults">(.*)<\/results>/s.exec(
      body,
    ) ?? []
  expect(results.match(/<root /g)).toHaveLength(2)
  expect(results).toContain('<_x005B_a_x005D_>1</_x005B_a_x005D_>')
})
