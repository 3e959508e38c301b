/**
 * Medians and estimates of different values as metrics, beside SQL by hand on PostgreSQL, for readers who see all, some and
 * nothing.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { normal } from '../../support/compare.ts'
import { openSubject } from '../../support/duckdb.ts'
import { postgresSetup } from '../../support/fixture.ts'
import { askOracle, startOracle } from '../../support/postgres.ts'
import { answering, readers } from './readers.ts'
import { bound, metric, shop } from './shop.ts'

const oracle = await startOracle()
for (const statement of oracle === undefined ? [] : postgresSetup()) await oracle?.admin.unsafe(statement)
const subject = await openSubject()
afterAll(async () => {
  subject.close()
  await oracle?.stop()
})

const table = { namespace: ['sales'], name: 'orders' }
const simple = (name: string, text: string, filter?: string) =>
  metric(name, {
    ...{ kind: 'simple', table, expression: bound('orders', text) },
    ...(filter !== undefined && { filter: bound('orders', filter) }),
  })
const model = shop()
const added = [
  simple('middle', 'median(amount)'),
  simple('middle_paid', '2 * median(quantity)', "status = 'paid'"),
  simple('about_buyers', 'approx_count_distinct(customer_id)', "status = 'paid'"),
]
const layer = {
  ...model,
  metrics: new Map([...model.metrics, ...added.map((one) => [one.name, one] as const)]),
}
const request = (metrics: readonly string[]) => ({
  ...{ metrics, dimensions: [{ name: 'region' }], where: [], orderBy: [], limit: 1_000 },
})

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(oracle === undefined).each(readers)('for a reader $name', (reader) => {
  const compared = async (metrics: readonly string[], sql: string, alsoOnTrino: boolean) => {
    const expected = oracle && (await askOracle(oracle.admin, sql))
    if (expected === undefined || typeof expected === 'string') throw new Error(expected)
    const actual = await answering(subject, layer, alsoOnTrino)(reader, request(metrics))
    const types = actual.columns.map(({ type }) => type)
    expect(normal(actual.rows, types, false)).toEqual(normal(expected.rows, types, false))
  }

  test('a median is the percentile of one half of the rows that count', async () => {
    const half = (column: string) => `percentile_cont(0.5) within group (order by ${column})`
    const sql = `select region, ${half('amount::float8')}, 2 * ${half('quantity::float8')} filter (where status = 'paid')
      from ${reader.from('sales.orders')} o group by 1`
    await compared(['middle', 'middle_paid'], sql, false)
  })

  test('an estimate of few different values is their number, on Trino by its own estimate', async () => {
    const sql = `select region, count(distinct customer_id) filter (where status = 'paid')
      from ${reader.from('sales.orders')} o group by 1`
    await compared(['about_buyers'], sql, true)
  })
})
