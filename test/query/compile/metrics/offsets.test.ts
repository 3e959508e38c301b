/**
 * Metrics of other periods than those asked for, and windows over ratios, beside SQL by hand on PostgreSQL, for readers who
 * see all, some and nothing.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import type { Grain } from '../../../../src/core/metric.ts'
import { normal } from '../../support/compare.ts'
import { openSubject } from '../../support/duckdb.ts'
import { postgresSetup } from '../../support/fixture.ts'
import { askOracle, startOracle } from '../../support/postgres.ts'
import { answering, type Known, readers } from './readers.ts'
import { shop } from './shop.ts'

const oracle = await startOracle()
for (const statement of oracle === undefined ? [] : postgresSetup()) await oracle?.admin.unsafe(statement)
const subject = await openSubject()
const answer = answering(subject, shop())
afterAll(async () => {
  subject.close()
  await oracle?.stop()
})

const [from, to] = ['2023-12-01', '2024-05-01']

/** What each metric is of the orders `o` of a range of time. */
const over = {
  revenue: 'sum(o.amount)',
  basket: 'sum(o.amount)::float8 / nullif(count(o.id), 0)',
  orders: 'count(o.id)',
}

/** A value for each period and region: of the orders from `begin` to `end`, in terms of the period's start `s`. */
function valueIn(reader: Known, what: keyof typeof over, begin: string, end: string): string {
  const rows = `${reader.from('sales.orders')} o where o.ordered_on >= ${begin} and o.ordered_on < ${end}`
  return `(select ${over[what]} from ${rows} and o.region is not distinct from r.region)`
}

function periods(reader: Known, grain: Grain, values: readonly string[]): string {
  return `select s::date, region, ${values.map((_, index) => `v${index}`).join(', ')} from (
    select s, r.region, ${values.map((value, index) => `${value} as v${index}`).join(', ')}
    from generate_series(timestamp '${from}', timestamp '${to}' - interval '1 ${grain}', interval '1 ${grain}') s,
      (select distinct region from ${reader.from('sales.orders')} x) r) p`
}

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(oracle === undefined).each(readers)('for a reader $name', (reader) => {
  /** Compares those groups in which any of the values is there: a group without rows has no row. */
  async function compared(
    metrics: readonly string[],
    grain: Grain,
    values: readonly string[],
    rowsMin = 3,
  ): Promise<void> {
    const expected = oracle && (await askOracle(oracle.admin, periods(reader, grain, values)))
    if (expected === undefined || typeof expected === 'string') throw new Error(expected)
    const actual = await answer(reader, {
      ...{ metrics, grain, dimensions: [{ name: 'region' }], where: [], orderBy: [], limit: 1_000 },
      ...{ from: new Date(from), to: new Date(to) },
    })
    const types = actual.columns.map(({ type }) => type)
    const isGiven = (row: readonly unknown[]) =>
      row.slice(2).some((value) => value !== null && String(value) !== '0')
    const given = expected.rows.filter(isGiven)
    expect(normal(actual.rows.filter(isGiven), types, false)).toEqual(normal(given, types, false))
    if (reader.name !== 'without the role that the filter wants')
      expect(given.length).toBeGreaterThanOrEqual(rowsMin)
  }
  const month = "interval '1 month'"
  const revenue = valueIn(reader, 'revenue', 's', `s + ${month}`)
  const before = valueIn(reader, 'revenue', `s - ${month}`, 's')

  test('a month is beside the month before, and their difference and growth are of both', async () => {
    await compared(['revenue', 'revenue_last_month', 'more', 'growth'], 'month', [
      revenue,
      before,
      `coalesce(${revenue}, 0) - coalesce(${before}, 0)`,
      `${revenue} / nullif(${before}, 0) - 1`,
    ])
  })

  test('a day is beside the day a month before, the last one where that month is shorter', async () => {
    const day = valueIn(reader, 'revenue', `s - ${month}`, `s - ${month} + interval '1 day'`)
    await compared(['revenue_last_month'], 'day', [day])
  })

  test('a ratio of a time before is the ratio of what its parts were then', async () => {
    const week = "interval '7 days'"
    const value = valueIn(reader, 'basket', `s - ${week}`, `s + interval '1 day' - ${week}`)
    await compared(['basket_last_week'], 'day', [value])
  })

  test('every day of a month is beside the first day of the month', async () => {
    const first = "date_trunc('month', s)"
    const value = `nullif(${valueIn(reader, 'orders', first, `${first} + interval '1 day'`)}, 0)`
    await compared(['orders_of_first_day'], 'day', [value], 0)
  })

  test('a window over a ratio divides what its parts add up to in the window, and can be moved itself', async () => {
    const value = valueIn(reader, 'basket', `s - ${month}`, `s + ${month}`)
    const moved = valueIn(reader, 'basket', `s - interval '2 months'`, 's')
    await compared(['rolling_basket', 'rolling_basket_last_month'], 'month', [value, moved])
  })

  test('a metric whose filter reads a joined table accumulates the rows that it lets count', async () => {
    const customers = `${reader.from('sales.customers')} c where c.id = o.customer_id`
    const isFrench = `exists (select 1 from ${customers} and c.country like 'F%')`
    const rows = `${reader.from('sales.orders')} o where o.ordered_on < s + ${month} and ${isFrench}`
    const value = `(select sum(o.amount) from ${rows} and o.region is not distinct from r.region)`
    await compared(['french_so_far'], 'month', [value], 1)
  })

  test('what has accumulated is beside what had a month before', async () => {
    const value = valueIn(reader, 'revenue', "timestamp '1900-01-01'", 's')
    await compared(['so_far_last_month'], 'month', [value])
  })
})
