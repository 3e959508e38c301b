/** Which of several like names a name stands for: an exact one first, then one in other case, then a caption. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ask } from '../../support/identity.ts'
import { type Lake, readAs, startLake } from '../../support/lake.ts'
import { ordersTable } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { declaringAs, openSteward } from '../../support/semantic-layer.ts'
import { captions, cellsetAs, grid, type Reader, refusalAs } from './cube-lake.ts'

setDefaultTimeout(120_000)

const orders = { namespace: ['sales'], name: 'orders' }
/** Codes that differ in case alone, among others `A.B` and `a.b`. */
const code = "CASE i % 4 WHEN 0 THEN 'A.B' WHEN 1 THEN 'a.b' WHEN 2 THEN 'X' ELSE 'x' END"

let lake: Lake
let steward: string
beforeAll(async () => {
  lake = await startLake({
    tables: [{ ...ordersTable, columns: [...ordersTable.columns, ['code', 'text', code]] }],
    env: { SVC_LICENSE: licenseForAll() },
  })
  steward = await openSteward(lake)
  const put = declaringAs(lake, steward)
  await put('/api/v1/semantics/tables/sales/orders', {
    key: ['id'],
    dimensions: [{ name: 'code' }, { name: 'region', label: 'Area' }],
  })
  await put('/api/v1/metrics/average', { table: orders, expression: 'avg(qty)', label: 'Revenue (mean)' })
  await put('/api/v1/metrics/revenue', { table: orders, expression: 'sum(qty)', label: 'Net' })
})
afterAll(() => lake[Symbol.asyncDispose]())

const from = 'FROM [sales.orders]'
const code_ = '[orders].[code]'

/** Numbers of a statement over the wire as the officer. */
async function sql(text: string): Promise<readonly number[]> {
  const lines = await readAs(lake.env, text)
  return lines.filter((line) => line.startsWith('D ')).flatMap((line) => line.slice(2).split('|').map(Number))
}
const value = async (statement: string, who: Reader = 'officer') =>
  grid(await cellsetAs(lake, who, statement))[0]?.[0]

describe('measures', () => {
  test('a name is found before a label, also one of former days that another metric has', async () => {
    const [sum] = await sql('SELECT sum(qty) FROM sales.orders')
    const { cube } = await cellsetAs(lake, 'officer', `SELECT ${from}`)
    const measures = cube.measures.map((one) =>
      one.name === 'average' ? { ...one, caption: 'Revenue' } : one,
    )
    const statement = `SELECT {[Measures].[revenue]} ON 0 ${from}`
    const like = await cellsetAs(lake, 'officer', statement, { cubes: [{ ...cube, measures }] })
    expect(grid(like)).toEqual([[sum]])
    expect(await value(`SELECT {[Measures].[revenue]} ON 0 ${from}`)).toBe(sum)
    expect(await value(`SELECT {[Measures].[REVENUE]} ON 0 ${from}`)).toBe(sum)
    expect(await value(`SELECT {[Measures].[Net]} ON 0 ${from}`)).toBe(sum)
  })

  test('an exact name is found before a calculated member that differs in case', async () => {
    const [sum] = await sql('SELECT sum(qty) FROM sales.orders')
    const both = `WITH MEMBER [Measures].[Revenue] AS 7 SELECT {[Measures].[revenue],[Measures].[Revenue]} ON 0 ${from}`
    expect(grid(await cellsetAs(lake, 'officer', both))).toEqual([[sum, 7]])
  })

  test('calculated members that differ in case are two', async () => {
    const both = `WITH MEMBER [Measures].[A.B] AS 1 MEMBER [Measures].[a.b] AS 2 SELECT {[Measures].[a.b],[Measures].[A.B]} ON 0 ${from}`
    expect(grid(await cellsetAs(lake, 'officer', both))).toEqual([[2, 1]])
    const neither = both.replace('{[Measures].[a.b],[Measures].[A.B]}', '{[Measures].[A.b]}')
    expect(await refusalAs(lake, 'officer', neither)).toContain('several names differ from it in case alone')
  })
})

describe('members', () => {
  test('members that differ in case are found by their own captions', async () => {
    for (const [who, where] of [
      ['officer', 'true'],
      ['reader', "region IN ('east', 'west')"],
    ] as const) {
      const counts = await sql(
        `SELECT sum(qty) FROM sales.orders WHERE ${where} AND code IN ('X', 'x') GROUP BY code ORDER BY code COLLATE "C"`,
      )
      const found = await cellsetAs(
        lake,
        who,
        `SELECT {${code_}.[X],${code_}.[x]} ON 0 ${from} WHERE ([Measures].[revenue])`,
      )
      expect(captions(found.axes[0])).toEqual(['X', 'x'])
      expect(grid(found)).toEqual([counts])
    }
    const level = await cellsetAs(lake, 'officer', `SELECT {${code_}.[code].[a.b]} ON 0 ${from}`)
    expect(captions(level.axes[0])).toEqual(['a.b'])
  })

  test('a caption in other case names a member that is the only one, and no member that is one of several', async () => {
    const one = await cellsetAs(lake, 'officer', `SELECT {[orders].[region].[EAST]} ON 0 ${from}`)
    expect(captions(one.axes[0])).toEqual(['east'])
    expect(await refusalAs(lake, 'officer', `SELECT {${code_}.[A.b]} ON 0 ${from}`)).toContain(
      'several names differ from it in case alone',
    )
  })

  test('what a reader does not see makes no name ambiguous for them', async () => {
    const seen = await cellsetAs(
      lake,
      'reader',
      `SELECT {${code_}.[A.B].Parent, ${code_}.[code].Members} ON 0 ${from}`,
    ).then(
      ({ axes }) => captions(axes[0]),
      (thrown) => String(thrown),
    )
    // East and west are the codes X and x.
    expect(seen).toContain('a name is not that of a member')
  })
})

describe('labels', () => {
  const put = (path: string, body: object) => ask(lake, 'PUT', path, steward, body)

  test('a metric whose label is that of another, or its name, is refused', async () => {
    for (const label of ['NET', 'Average', 'revenue (MEAN)'])
      expect(
        await put('/api/v1/metrics/total', { table: orders, expression: 'count(*)', label }),
      ).toMatchObject({ status: 422, body: { error: { message: expect.stringContaining('label') } } })
    expect((await put('/api/v1/metrics/total', { table: orders, expression: 'count(*)' })).status).toBe(200)
  })

  test('a metric is saved again with its own label', async () => {
    const again = { table: orders, expression: 'sum(qty)', label: 'Net' }
    expect((await put('/api/v1/metrics/revenue', again)).status).toBe(200)
  })

  test('dimensions of a table with one label are refused', async () => {
    const dimensions = [{ name: 'code', label: 'Region' }, { name: 'region' }]
    expect(await put('/api/v1/semantics/tables/sales/orders', { key: ['id'], dimensions })).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining('label') } },
    })
  })
})
