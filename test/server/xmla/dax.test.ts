/** Queries in DAX over XMLA, as reports of Power BI write them, for two principals and one of another tenant. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ask as askRest } from '../../support/identity.ts'
import { readAs } from '../../support/lake.ts'
import { ask, executeBody, rowsOf } from '../../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let one: XmlaLake
beforeAll(async () => {
  one = await startXmlaLake()
})
afterAll(() => one.lake[Symbol.asyncDispose]())

type Who = 'ann' | 'bob'
const readers = ['ann', 'bob'] as const
const run = (who: Who | 'stranger', text: string) => rowsOf(ask(one[who], executeBody(text)))
const bySql = async (who: Who, text: string) => {
  const lines = await readAs(who === 'ann' ? one.lake.env : one.lake.restricted, text)
  return lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2).split('|')] : []))
}

/** A table with a total, as a report writes it. */
const visual = `
  DEFINE
    VAR __DS0FilterTable = TREATAS({"east", "north"}, 'orders'[region])
    VAR __DS0Core = SUMMARIZECOLUMNS(
      ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal"),
      __DS0FilterTable,
      "revenue", 'orders'[revenue],
      "buyers", 'orders'[buyers])
    VAR __DS0PrimaryWindowed = TOPN(502, __DS0Core, [IsGrandTotalRowTotal], 0, 'orders'[region], 1)
  EVALUATE __DS0PrimaryWindowed
  ORDER BY [IsGrandTotalRowTotal] DESC, 'orders'[region]`

describe.each(readers)('a report of %s', (who) => {
  test('has the groups and the total of the rows that they see', async () => {
    const rows = await run(who, visual)
    const expected = await bySql(
      who,
      `SELECT region, grouping(region), sum(amount)::float8, count(DISTINCT email) FROM sales.orders
       WHERE region IN ('east', 'north') GROUP BY ROLLUP (region) ORDER BY 2 DESC, 1`,
    )
    expect(rows.length).toBe(who === 'ann' ? 3 : 2)
    expect(rows).toEqual(
      expected.map(([region = '', total, revenue = '', buyers = '']) => ({
        ...(total === '0' && { 'orders[region]': region }),
        '[IsGrandTotalRowTotal]': String(total === '1'),
        '[revenue]': revenue,
        '[buyers]': buyers,
      })),
    )
  })

  test('filters by a range of dates and sorts by a measure', async () => {
    const rows = await run(
      who,
      `DEFINE VAR __F = FILTER(KEEPFILTERS(VALUES('orders'[day])), AND('orders'[day] >= DATE(2024, 1, 10), 'orders'[day] < DATE(2024, 2, 1)))
       EVALUATE TOPN(2, SUMMARIZECOLUMNS('orders'[region], __F, "m", [revenue]), [m], 0) ORDER BY [m] DESC`,
    )
    const expected = await bySql(
      who,
      `SELECT region, sum(amount)::float8 FROM sales.orders WHERE day >= '2024-01-10' AND day < '2024-02-01' GROUP BY 1 ORDER BY 2 DESC LIMIT 2`,
    )
    expect(rows.map((row) => [row['orders[region]'], row['[m]']])).toEqual(expected)
  })
})

test('a hidden member filters as one that is not there', async () => {
  const query = (region: string) =>
    `EVALUATE SUMMARIZECOLUMNS('orders'[region], TREATAS({"${region}"}, 'orders'[region]), "m", [revenue])`
  expect(await run('ann', query('north'))).toHaveLength(1)
  expect(await run('bob', query('north'))).toEqual([])
  expect(await run('bob', query('nowhere'))).toEqual([])
})

test('a column that a mask empties is faulted as one that is not there', async () => {
  const fault = async (column: string) => {
    const answer = await ask(one.bob, executeBody(`EVALUATE VALUES('orders'[${column}])`))
    return answer.kind === 'fault' ? answer.message : answer.kind
  }
  expect(await fault('note')).toBe(await fault('nothing'))
  expect((await run('ann', `EVALUATE VALUES('orders'[note])`)).length).toBeGreaterThan(1)
})

test('a principal of another tenant finds no catalog', async () => {
  const answer = await ask(one.stranger, executeBody(visual))
  expect(answer).toMatchObject({ kind: 'fault', message: 'There is no such catalog.' })
})

test('leaves a usage record of the surface and the reader', async () => {
  await run('bob', visual)
  const { body } = await askRest(one.lake, 'GET', '/api/v1/usage?limit=1', one.steward)
  expect(body).toMatchObject({ items: [{ surface: 'xmla', principal: 'bob' }] })
})

test.each([
  ['a function', 'EVALUATE PATHITEM(VALUES(orders[region]), 1)', 'PATHITEM'],
  ['a scalar function', 'EVALUATE ROW("x", FORMAT(1, "0"))', 'FORMAT'],
  ['a parameter of the source', 'DEFINE MPARAMETER \'p\' = 1 EVALUATE ROW("x", 1)', 'MPARAMETER'],
])('%s that is not supported is named in the fault', async (_, text, name) => {
  const answer = await ask(one.ann, executeBody(text))
  expect(answer).toMatchObject({ kind: 'fault', message: expect.stringContaining(name) })
})
