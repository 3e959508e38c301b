/** Queries on `$system`: their forms, and that they show a principal what Discover shows them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Lake } from '../../support/lake.ts'
import { ask, executeBody, rowsOf, type XmlaClientOptions } from '../../support/xmla.ts'
import { startXmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
let ann: XmlaClientOptions
let bob: XmlaClientOptions

beforeAll(async () => {
  const started = await startXmlaLake()
  lake = started.lake
  ann = started.ann
  bob = started.bob
})
afterAll(() => lake[Symbol.asyncDispose]())

describe('queries on $system', () => {
  test('take parameters and give the columns that are named', async () => {
    const text =
      'SELECT [CUBE_NAME], MEASURE_NAME FROM $system.MDSCHEMA_MEASURES WHERE ([CUBE_NAME] = @CubeName) AND MEASURE_AGGREGATOR = 127'
    const answer = await ask(ann, executeBody(text, { CubeName: 'sales.orders' }, { Format: 'Tabular' }))
    expect(answer).toMatchObject({
      columns: ['CUBE_NAME', 'MEASURE_NAME'],
      rows: [{ CUBE_NAME: 'sales.orders', MEASURE_NAME: 'buyers' }],
    })
  })

  test.each([
    ['a parameter without a value', 'SELECT * FROM $system.MDSCHEMA_CUBES WHERE CUBE_NAME = @x'],
    ['an unknown column', 'SELECT foo FROM $system.MDSCHEMA_CUBES'],
    ['an unknown rowset', 'SELECT * FROM $system.DISCOVER_LOCKS'],
    ['LIKE', "SELECT * FROM $system.MDSCHEMA_CUBES WHERE CUBE_NAME LIKE 'a'"],
    ['GROUP BY', 'SELECT CUBE_NAME FROM $system.MDSCHEMA_CUBES GROUP BY CUBE_NAME'],
    ['an OR without a right side', "SELECT * FROM $system.MDSCHEMA_CUBES WHERE CUBE_NAME = 'a' OR"],
    ['an unknown restriction', "SELECT * FROM SYSTEMRESTRICTSCHEMA($system.MDSCHEMA_CUBES, FOO = 'a')"],
    [
      'a restriction that is given twice',
      "SELECT * FROM SYSTEMRESTRICTSCHEMA($system.MDSCHEMA_CUBES, CUBE_NAME = 'a', CUBE_NAME = 'b')",
    ],
    [
      'a restriction that is no column, within OR',
      'SELECT * FROM $system.MDSCHEMA_MEASURES WHERE MEASURE_VISIBILITY = 1 OR MEASURE_AGGREGATOR = 1',
    ],
    ['a text without an end', "SELECT * FROM $system.MDSCHEMA_CUBES WHERE CUBE_NAME = 'a"],
  ])('refuse %s', async (_, text) => {
    expect((await ask(ann, executeBody(text))).kind).toBe('fault')
  })

  const selected = async (who: XmlaClientOptions, text: string) =>
    (await rowsOf(ask(who, executeBody(text)))).map((row) => Object.values(row).map(String).join(' '))
  const measures = 'SELECT MEASURE_NAME FROM $system.MDSCHEMA_MEASURES'
  test.each([
    ['OR', `${measures} WHERE MEASURE_NAME = 'revenue' OR MEASURE_NAME = 'buyers'`, ['buyers', 'revenue']],
    ['<>', `${measures} WHERE MEASURE_NAME <> 'revenue'`, ['buyers']],
    [
      'AND before OR',
      `${measures} WHERE MEASURE_NAME = 'x' OR MEASURE_AGGREGATOR = 1 AND NOT MEASURE_NAME = 'x'`,
      ['revenue'],
    ],
    ['numbers by size', `${measures} WHERE MEASURE_AGGREGATOR > 9`, ['buyers']],
    ['ORDER BY', `${measures} ORDER BY MEASURE_AGGREGATOR ASC, MEASURE_NAME`, ['revenue', 'buyers']],
    [
      'DESC and TOP',
      'SELECT TOP 1 MEASURE_NAME AS m FROM $system.MDSCHEMA_MEASURES ORDER BY m DESC',
      ['revenue'],
    ],
    ['DISTINCT', 'SELECT DISTINCT CUBE_NAME FROM $system.MDSCHEMA_MEASURES', ['sales.orders']],
    [
      'SYSTEMRESTRICTSCHEMA',
      "SELECT MEASURE_NAME FROM SYSTEMRESTRICTSCHEMA($system.MDSCHEMA_MEASURES, CUBE_NAME = 'sales.orders', MEASURE_NAME = 'buyers')",
      ['buyers'],
    ],
  ])('understand %s', async (_, text, wanted) => {
    for (const who of [ann, bob]) expect(await selected(who, text)).toEqual(wanted)
  })

  test('give a column the name after AS', async () => {
    const answer = await ask(
      ann,
      executeBody(
        "SELECT MEASURE_NAME AS [the name] FROM $system.MDSCHEMA_MEASURES WHERE MEASURE_NAME <> 'revenue'",
      ),
    )
    expect(answer).toMatchObject({ columns: ['the name'], rows: [{ 'the name': 'buyers' }] })
  })

  test('show no member that the principal does not see, whatever the condition', async () => {
    const text = `SELECT DISTINCT MEMBER_CAPTION FROM SYSTEMRESTRICTSCHEMA($system.MDSCHEMA_MEMBERS, CUBE_NAME = 'sales.orders', LEVEL_UNIQUE_NAME = '[orders].[region].[region]')
      WHERE MEMBER_CAPTION <> 'west' OR MEMBER_CAPTION = 'south' ORDER BY MEMBER_CAPTION DESC`
    expect(await selected(ann, text)).toEqual(['south', 'north', 'east'])
    expect(await selected(bob, text)).toEqual(['east'])
  })

  test('show a principal what Discover shows them', async () => {
    const text =
      "SELECT HIERARCHY_UNIQUE_NAME FROM $system.MDSCHEMA_HIERARCHIES WHERE HIERARCHY_NAME = 'note'"
    expect(await rowsOf(ask(ann, executeBody(text)))).toHaveLength(1)
    expect(await rowsOf(ask(bob, executeBody(text)))).toHaveLength(0)
  })
})
