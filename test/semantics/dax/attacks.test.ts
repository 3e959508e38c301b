/** DAX that is malformed, huge or hostile: a fault within limits, without what the reader may not see. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { parseDax } from '../../../src/wire/dax/parse.ts'
import { generator } from '../../support/generator.ts'
import type { Lake } from '../../support/lake.ts'
import { startCubeLake } from '../mdx/cube-lake.ts'
import { daxAs, daxRefusal } from './dax-lake.ts'
import { daxShapes } from './shapes.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const core = `SUMMARIZECOLUMNS('orders'[day], "v", [orders])`

test.each([
  ['no end of brackets', `EVALUATE ${'FILTER('.repeat(10_000)}`],
  ['operators without an end', `EVALUATE ROW("x", 1${' + 1'.repeat(50_000)})`],
  ['variables without an end', `DEFINE ${'VAR x = 1 '.repeat(10_000)} EVALUATE ROW("x", x)`],
  ['a name of a million characters', `EVALUATE '${'x'.repeat(1_000_000)}'`],
  ['a text without an end', 'EVALUATE ROW("x'],
  [
    'a measure of itself',
    `DEFINE MEASURE 'orders'[a] = [b] MEASURE 'orders'[b] = [a] EVALUATE ROW("x", [a])`,
  ],
  [
    'a product of 10^6 rows',
    `DEFINE VAR t = ${core} EVALUATE CROSSJOIN(t, SELECTCOLUMNS(t, "b", [v]), SELECTCOLUMNS(t, "c", [v]))`,
  ],
  [
    'SQL in a text',
    `EVALUATE SUMMARIZECOLUMNS('orders'[region], TREATAS({"x') OR 1=1 --"}, 'orders'[region]), "v", [nothing])`,
  ],
  ['a second statement', `EVALUATE ROW("x", 1); DROP TABLE orders`],
])('that has %s is a fault', async (_, query) => {
  expect(await daxRefusal(lake, 'reader', query)).toStartWith('DAX: ')
})

/** Names that double the one before: `a0` to `a` and the count. */
const doubled = (count: number, define: (place: number) => string) =>
  Array.from({ length: count }, (_, place) => define(place)).join(' ')
const numbers = (count: number) => `{${Array.from({ length: count }, (_, place) => place).join(', ')}}`

test('variables that each name another twice are typed once', async () => {
  const variables = doubled(400, (place) => `VAR a${place + 1} = a${place} * a${place}`)
  const { results } = await daxAs(lake, 'reader', `DEFINE VAR a0 = 1 ${variables} EVALUATE ROW("x", a400)`)
  expect(results[0]).toEqual({ columns: [{ title: '[x]', type: 'integer' }], rows: [[1]] })
})

test('measures that each name another twice end at the bound of values', async () => {
  const measures = doubled(40, (place) => `MEASURE 'orders'[a${place + 1}] = [a${place}] + [a${place}]`)
  const query = `DEFINE MEASURE 'orders'[a0] = 1 ${measures} EVALUATE ROW("x", [a40])`
  expect(await daxRefusal(lake, 'reader', query, { stepsMax: 10_000 })).toContain('at most 10000 values')
  expect(await daxRefusal(lake, 'reader', query, { timeMs: 1 })).toContain('takes too long')
})

test('a text that doubles is refused before it fills the memory', async () => {
  const variables = doubled(40, (place) => `VAR a${place + 1} = CONCATENATE(a${place} & "", a${place})`)
  const query = `DEFINE VAR a0 = "x" ${variables} EVALUATE ROW("x", UPPER(a40))`
  expect(await daxRefusal(lake, 'reader', query)).toContain('at most 32768 characters')
})

test('a text in quotes is bounded', async () => {
  expect(await daxRefusal(lake, 'reader', `EVALUATE ROW("x", "${'x'.repeat(32_769)}")`)).toContain(
    'a text has at most 32768 characters',
  )
})

test('rows of a product count with their columns', async () => {
  const columns = Array.from({ length: 300 }, (_, place) => `"c${place}", 1`).join(', ')
  const query = `DEFINE VAR wide = SELECTCOLUMNS(${numbers(300)}, ${columns})
    EVALUATE TOPN(1, CROSSJOIN(wide, SELECTCOLUMNS(${numbers(300)}, "v", [Value])))`
  expect(await daxRefusal(lake, 'reader', query)).toContain('at most 20000000 values')
})

test('a product with a table without rows has none, however large the others are', async () => {
  const tables = ['a', 'b', 'c', 'd'].map((name) => `SELECTCOLUMNS(${numbers(400)}, "${name}", [Value])`)
  const query = `EVALUATE CROSSJOIN(${tables.join(', ')}, FILTER({1}, FALSE()))`
  const { results } = await daxAs(lake, 'reader', query)
  expect(results[0]?.rows).toEqual([])
  expect(results[0]?.columns).toHaveLength(5)
})

test.each(['{1}', 'FILTER({1}, FALSE())'])('columns of %s that double end at their bound', async (first) => {
  const variables = doubled(40, (place) => `VAR a${place + 1} = CROSSJOIN(a${place}, a${place})`)
  const query = `DEFINE VAR a0 = ${first} ${variables} EVALUATE a40`
  expect(await daxRefusal(lake, 'reader', query)).toContain('a table has at most 1664 columns')
})

test('a table of many columns is refused before it is joined', async () => {
  const wide = Array.from({ length: 1_700 }, (_, place) => `"c${place}", 1`).join(', ')
  expect(await daxRefusal(lake, 'reader', `EVALUATE ROW(${wide})`)).toContain('at most 1664 columns')
})

test('the columns of many tables that are united count as values', async () => {
  const wide = Array.from({ length: 1_000 }, (_, place) => `"c${place}", 1`).join(', ')
  const query = `DEFINE VAR wide = ROW(${wide}) EVALUATE TOPN(1, UNION(${Array(200).fill('wide').join(', ')}))`
  expect(await daxRefusal(lake, 'reader', query, { stepsMax: 150_000 })).toContain('at most 150000 values')
})

const rolled = (column: string, place: number) => `ROLLUPADDISSUBTOTAL(${column}, "t${place}")`

test('subtotals that multiply end at their bound', async () => {
  const names = ['region', 'email', 'paid', 'qty', 'note', 'initial', 'day']
  const ofDay = ['Year', 'Quarter', 'Month'].map((grain) => `day (${grain})`)
  const columns = [...names, ...ofDay].map((name) => `'orders'[${name}]`)
  const query = (of: readonly string[]) =>
    `EVALUATE SUMMARIZECOLUMNS(${of.map(rolled).join(', ')}, "v", [orders])`
  const empty = Array.from({ length: 40 }, () => 'ROLLUPGROUP()')
  expect(await daxRefusal(lake, 'reader', query(empty))).toContain('ROLLUPGROUP takes columns')
  expect(await daxRefusal(lake, 'reader', query(columns))).toContain('at most 1000 combinations of subtotals')
})

test('a sample counts its measures and series once each, and its rows as values', async () => {
  const names = (count: number, name: string) => Array(count).fill(`[${name}]`).join(', ')
  const query = (size: number, measures: string, series: string) =>
    `DEFINE VAR t = CROSSJOIN(SELECTCOLUMNS(${numbers(60)}, "x", [Value]), SELECTCOLUMNS(${numbers(3)}, "s", [Value]))
     EVALUATE SAMPLEAXISWITHLOCALMINMAX(${size}, ADDCOLUMNS(t, "v", [x] * [s]), [x], ${measures}, 1, ${series}, ALPHABETICAL, ASC, 1000, 60)`
  const once = await daxAs(lake, 'reader', query(30, '[v]', '[s]'))
  const often = await daxAs(lake, 'reader', query(30, names(5_000, 'v'), names(5_000, 's')), {
    stepsMax: 50_000,
  })
  expect(often.results[0]?.rows).toEqual(once.results[0]?.rows)
  expect(once.results[0]?.rows.length).toBeLessThanOrEqual(30)
})

test('columns by which rows are grouped again and again count as values', async () => {
  const by = Array(1_000).fill('[Value]').join(', ')
  const query = `EVALUATE GROUPBY(${numbers(100)}, ${by}, "n", COUNTX(CURRENTGROUP(), 1))`
  expect(await daxRefusal(lake, 'reader', query, { stepsMax: 90_000 })).toContain('at most 90000 values')
})

test('long texts that each row makes count by their length, and tell rows apart', async () => {
  const long = 'x'.repeat(32_000)
  const query = (count: number) =>
    `DEFINE VAR t = SELECTCOLUMNS(${numbers(count)}, "v", UPPER("${long}" & [Value])) EVALUATE TOPN(2, DISTINCT(t))`
  expect(await daxRefusal(lake, 'reader', query(100), { stepsMax: 100_000 })).toContain(
    'at most 100000 values',
  )
  const { results } = await daxAs(lake, 'reader', query(3))
  expect(results[0]?.rows.map(([text]) => String(text).slice(-1))).toEqual(['0', '1'])
})

test('other work runs while many rows are computed and put in order', async () => {
  let [turns, isOver] = [0, false]
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const { results } = await daxAs(
    lake,
    'reader',
    `DEFINE VAR t = CROSSJOIN(SELECTCOLUMNS(${numbers(150)}, "v", [Value]), SELECTCOLUMNS(${numbers(150)}, "w", [Value]))
     EVALUATE TOPN(3, t, [w] * 7 - [v] * 1000, 1)`,
  )
  isOver = true
  expect(results[0]?.rows).toEqual([
    [149, 0],
    [149, 1],
    [149, 2],
  ])
  // Of 22,500 rows, each step lets others run after 256 at most.
  expect(turns).toBeGreaterThan(400)
})

test('rows that are equal stay in their order, however many there are', async () => {
  const query = `DEFINE VAR t = CROSSJOIN(SELECTCOLUMNS(${numbers(40)}, "v", [Value]), SELECTCOLUMNS(${numbers(40)}, "w", [Value]))
    EVALUATE t ORDER BY [w] DESC`
  const rows = (await daxAs(lake, 'reader', query)).results[0]?.rows ?? []
  const wanted = Array.from({ length: 1_600 }, (_, place) => [place % 40, 39 - Math.floor(place / 40)])
  expect(rows).toEqual(wanted)
})

test('a list of more values than a statement takes filters by what is read', async () => {
  const values = Array.from({ length: 25_000 }, (_, place) => `"x${place}"`).join(', ')
  const query = `EVALUATE SUMMARIZECOLUMNS('orders'[region], FILTER(VALUES('orders'[region]), 'orders'[region] IN {${values}}), "v", [orders])`
  expect((await daxAs(lake, 'reader', query)).results[0]?.rows).toEqual([])
})

test('a text that ends a literal of SQL is a value that no row has', async () => {
  const query = `EVALUATE SUMMARIZECOLUMNS('orders'[region], TREATAS({"x') OR 1=1 --"}, 'orders'[region]), "v", [orders])`
  expect((await daxAs(lake, 'reader', query)).results[0]?.rows).toEqual([])
})

test('a bound on rows holds for what is read', async () => {
  const { message } = await daxAs(lake, 'officer', `EVALUATE ${core}`, { rowsMax: 100 }).then(
    () => ({ message: 'rows' }),
    (thrown: Error) => thrown,
  )
  expect(message).toContain('more than 100 rows')
})

test('mutated queries are read or refused with a fault', () => {
  const random = generator(61)
  const below = (count: number) => Math.floor(random() * count)
  const pieces = daxShapes.flatMap(({ query }) => query.match(/\[[^\]]*\]|'[^']*'|"[^"]*"|\w+|\S/g) ?? [])
  let read = 0
  for (let round = 0; round < 5_000; round++) {
    const tokens = daxShapes[below(daxShapes.length)]?.query.match(/\[[^\]]*\]|'[^']*'|"[^"]*"|\w+|\S/g) ?? []
    const mutated = [...tokens]
    for (let count = below(3); count >= 0; count--)
      mutated.splice(below(mutated.length), below(2), pieces[below(pieces.length)] ?? '')
    try {
      parseDax(mutated.join(' '))
      read++
    } catch (thrown) {
      expect(String((thrown as Error).message)).toStartWith('DAX: ')
    }
  }
  expect(read).toBeGreaterThan(200)
})
