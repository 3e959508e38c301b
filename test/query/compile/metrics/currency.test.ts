/**
 * Amounts that are converted by a joined table, against SQL by hand for PostgreSQL over security-barrier views: the currency
 * of an order is its region, and its rate the number of its customer. What is written for Trino is held against its grammar.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import type { MetricComputation } from '../../../../src/core/metric.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { parseSelect } from '../../../../src/query/compile/parse/parse.ts'
import { generator } from '../../../support/generator.ts'
import { isLongForm } from '../../../support/long-form.ts'
import { openSubject } from '../../support/duckdb.ts'
import { canary, governedTables, postgresSetup, principal } from '../../support/fixture.ts'
import { askOracle, startOracle } from '../../support/postgres.ts'
import { answering, readers } from './readers.ts'
import { bound, metric, shop } from './shop.ts'

const table = { namespace: ['sales'], name: 'orders' }
const currency = { column: bound('orders', 'region'), to: 'EU', rate: 'customer__customer' }
const amounts: Readonly<Record<string, MetricComputation>> = {
  total: { kind: 'simple', table, expression: bound('orders', 'sum(amount)'), currency },
  mean: { kind: 'simple', table, expression: bound('orders', 'avg(quantity)'), currency },
  floats: { kind: 'simple', table, expression: bound('orders', 'max(discount)'), currency },
  paid: {
    ...{
      kind: 'simple',
      table,
      expression: bound('orders', 'sum(amount) filter (where quantity > 1)'),
      currency,
    },
    filter: bound('orders', "status = 'paid' and customer__country like 'F%'"),
  },
  share: { kind: 'ratio', numerator: 'paid', denominator: 'total' },
}
const model = {
  ...shop(),
  metrics: new Map([
    ...shop().metrics,
    ...Object.entries(amounts).map(([name, one]) => [name, metric(name, one)] as const),
  ]),
}
const converted = (amount: string) =>
  `case when o.region = 'EU' then ${amount} when o.region is not null then ${amount} * c.id end`
const paid = "o.quantity > 1 and o.status = 'paid' and c.country like 'F%'"
const hand: Readonly<
  Record<string, { readonly sql: string; readonly amount: string; readonly rows: string }>
> = {
  total: { sql: `sum(${converted('o.amount')})`, amount: 'o.amount', rows: 'true' },
  mean: { sql: `avg(${converted('o.quantity')})`, amount: 'o.quantity', rows: 'true' },
  floats: { sql: `max(${converted('o.discount')})`, amount: 'o.discount', rows: 'true' },
  paid: { sql: `sum(${converted('o.amount')}) filter (where ${paid})`, amount: 'o.amount', rows: paid },
}

const oracle = await startOracle()
for (const statement of oracle === undefined ? [] : postgresSetup()) await oracle?.admin.unsafe(statement)
const subject = await openSubject()
const answer = answering(subject, model)
afterAll(async () => {
  subject.close()
  await oracle?.stop()
})

const request = (metrics: readonly string[], dimensions: readonly string[] = [], after = 0) => ({
  metrics,
  dimensions: dimensions.map((name) => ({ name })),
  where: after === 0 ? [] : [{ dimension: 'order', operator: '>' as const, values: [String(after)] }],
  orderBy: [],
  limit: 1_000,
})
const seed = 20_261_129

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(oracle === undefined)('amounts that are converted', () => {
  test.each(readers)(`are those by hand for a reader $name (seed ${seed})`, async (reader) => {
    if (oracle === undefined) throw new Error('there is no PostgreSQL')
    const random = generator(seed)
    const from = `${reader.from('sales.orders')} o left join ${reader.from('sales.customers')} c on o.customer_id = c.id`
    for (let round = 0; round < (isLongForm ? 200 : 10); round++) {
      const metrics = Object.keys(hand).filter((_, index) => index === round % 4 || random() < 0.3)
      const dimensions = ['status', 'region', 'customer__city'].filter(() => random() < 0.4)
      const after = Math.floor(random() * 6)
      const keys = dimensions.map((name) => (name === 'customer__city' ? 'c.city' : `o.${name}`))
      const lost = metrics.map((name) => {
        const { amount = '', rows = '' } = hand[name] ?? {}
        return `(select string_agg(n || ' of ' || coalesce(region, 'no currency'), ', ' order by n desc, region) from (
          select o.region, count(*) as n from ${from} where o.id > ${after} and ${rows} and ${amount} is not null
            and ${converted(amount)} is null group by 1) g)`
      })
      const sql = `select ${[...keys, ...metrics.map((name) => hand[name]?.sql), ...lost].join(', ')} from ${from}
        where o.id > ${after} ${keys.length > 0 ? `group by ${keys.join(', ')}` : ''}`
      const expected = await askOracle(oracle.admin, sql)
      if (typeof expected === 'string') throw new Error(`${expected}: ${sql}`)
      const actual = await answer(reader, request(metrics, dimensions, after))
      const shown = (rows: readonly (readonly unknown[])[]) =>
        rows.map((row) => row.map((cell) => plain(cell)).join('|')).sort()
      expect({ sql, rows: shown(actual.rows) }).toEqual({ sql, rows: shown(expected.rows) })
      if (reader === readers[0]) expect(JSON.stringify(actual)).not.toContain(canary)
    }
  })
})

/** Numbers as numbers, because digits of averages differ. */
const plain = (cell: unknown) => {
  const number = cell === null || cell === '' ? Number.NaN : Number(cell)
  return Number.isNaN(number) ? String(cell) : number.toPrecision(10)
}

describe('without what tells of amounts that have no rate', () => {
  const expand = (text: string, generated = false) =>
    expandMetrics(parseSelect(text), { model, searchPath: [], generated })

  test.each(['total', 'share'])('%s is refused, also in a statement of the service', (name) => {
    for (const generated of [false, true])
      expect(() => expand(`select measure(${name}) from sales.orders__metrics`, generated)).toThrow(
        'left out here without a word',
      )
  })

  test('no statement of a client becomes one that tells', () => {
    const told =
      'select measure(total), count(*) filter (where metric_lacks_rate(total)) from sales.orders__metrics'
    expect(() => expand(told)).toThrow()
  })
})

test('who sees the currency or the rate masked is refused', async () => {
  const masked = (tableName: string, name: string) =>
    governedTables.map((one) => ({
      ...one,
      rowFilters: [],
      columns: one.columns.map((column) => ({
        ...column,
        masks:
          one.tableName === tableName && column.name === name
            ? [{ action: 'replace-with-null', policyId: 'm', origin: { kind: 'column' as const } }]
            : [],
      })),
    }))
  for (const [of, column] of [
    ['orders', 'region'],
    ['orders', 'customer_id'],
    ['customers', 'id'],
  ] as const) {
    const reader = { name: '', principal, tables: masked(of, column), from: (name: string) => name }
    await expect(answer(reader, request(['total']))).rejects.toThrow('cannot be converted')
    await expect(answer(reader, request(['orders']))).resolves.toBeDefined()
  }
})
