/** Members of one dimension that exist together: crossed sets, Existing and Exists, as SQL counts them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, readAs } from '../../support/lake.ts'
import { declaringAs, openSteward } from '../../support/semantic-layer.ts'
import { captions, cellsetAs, grid, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
  await declaringAs(lake, await openSteward(lake))('/api/v1/semantics/tables/sales/regions', {
    key: ['name'],
    dimensions: [{ name: 'name' }, { name: 'letter', expression: 'left(name, 1)' }],
  })
})
afterAll(() => lake[Symbol.asyncDispose]())

const from = 'FROM [sales.orders]'
const region = '[orders].[region]'
const initial = '[orders].[initial]'
const calendar = '[orders].[day.Calendar]'
const readers = [
  ['officer', 'true'],
  ['reader', "region IN ('east', 'west')"],
] as const

async function sql(text: string): Promise<readonly string[]> {
  const lines = await readAs(lake.env, text)
  return lines.filter((line) => line.startsWith('D ')).map((line) => line.slice(2).replaceAll('|', '/'))
}

describe.each(readers)('as the %s', (who, where) => {
  const ask = (statement: string) => cellsetAs(lake, who, statement)
  const pairs = (more = 'true') =>
    sql(`SELECT DISTINCT region, left(region, 1) FROM sales.orders WHERE ${where} AND ${more} ORDER BY 1, 2`)

  test.each([
    `CrossJoin(${region}.[region].Members, ${initial}.[initial].Members)`,
    `${region}.[region].Members * ${initial}.[initial].Members`,
    `(${region}.[region].Members, ${initial}.[initial].Members)`,
  ])('%s holds the pairs that rows have', async (set) => {
    const { axes } = await ask(`SELECT ${set} ON 0 ${from}`)
    expect(captions(axes[0])).toEqual([...(await pairs())])
  })

  test('other dimensions are crossed whole, and each member with All', async () => {
    const { axes } = await ask(
      `SELECT CrossJoin(${region}.[region].Members, [area].[name].[name].Members) ON 0 ${from}`,
    )
    const count = Number((await sql(`SELECT count(DISTINCT region) FROM sales.orders WHERE ${where}`))[0])
    expect(axes[0]?.tuples.length).toBe(count * 4)
    const all = await ask(`SELECT CrossJoin(${region}.[region].Members, {${initial}.[All]}) ON 0 ${from}`)
    expect(all.axes[0]?.tuples.length).toBe(count)
  })

  test('a subselect leaves the pairs of its rows', async () => {
    const found = await ask(
      `SELECT CrossJoin(${region}.[region].Members, ${initial}.[initial].Members) ON 0
       FROM (SELECT {${calendar}.[Day].&[2024-01-04]} ON 0 ${from})`,
    )
    expect(captions(found.axes[0])).toEqual([...(await pairs("day = '2024-01-04'"))])
  })

  test('Existing leaves the members that exist at the coordinates', async () => {
    const found = await ask(
      `WITH MEMBER [Measures].[initials] AS Count(Existing ${initial}.[initial].Members)
       MEMBER [Measures].[months] AS Count(Existing ${calendar}.[Month].Members)
       SELECT {[Measures].[initials],[Measures].[months]} ON 0, {${calendar}.[Quarter].&[2024-01-01], ${calendar}.[All]} * {${region}.&[east], ${region}.[All]} ON 1 ${from}`,
    )
    const counts = (more: string) =>
      sql(
        `SELECT count(DISTINCT left(region, 1)), count(DISTINCT date_trunc('month', day)) FROM sales.orders WHERE ${where} AND ${more}`,
      )
    const wanted = await Promise.all(
      ["day < '2024-04-01' AND region = 'east'", "day < '2024-04-01'", "region = 'east'", 'true'].map(counts),
    )
    expect(grid(found).map((row) => row.join('/'))).toEqual(wanted.map(([row = '']) => row))
  })

  test('Existing leaves the members that a slicer of several leaves', async () => {
    const found = await ask(
      `WITH MEMBER [Measures].[initials] AS Count(Existing ${initial}.[initial].Members)
       SELECT {[Measures].[initials]} ON 0 ${from} WHERE {${region}.&[east], ${region}.&[west]}`,
    )
    expect(grid(found)).toEqual([[2]])
  })

  test('Exists leaves the tuples that exist with one of another set', async () => {
    const found = await ask(
      `SELECT Exists(${region}.[region].Members, {${initial}.&[w], ${initial}.&[e]}) ON 0 ${from}`,
    )
    expect(captions(found.axes[0])).toEqual(['east', 'west'])
  })

  test('a joined dimension is asked for the rows of its own table, also without any of the cube', async () => {
    const set = 'CrossJoin([area].[name].[name].Members, [area].[letter].[letter].Members)'
    const { axes } = await ask(`SELECT ${set} ON 0 ${from}`)
    expect(captions(axes[0])).toEqual([
      ...(await sql('SELECT DISTINCT name, left(name, 1) FROM sales.regions ORDER BY 1')),
    ])
  })
})
