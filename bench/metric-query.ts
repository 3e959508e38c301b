/**
 * Measures requests for metrics: the time from a request to protected SQL, and the run of that SQL on DuckDB against SQL
 * that a person would write for the same question, in turns on the same rows.
 */

import { DuckDBInstance } from '@duckdb/node-api'
import type { GovernedTable } from '../src/core/governed-table.ts'
import type { BoundExpression, MetricComputation, MetricVersion, TableModel } from '../src/core/metric.ts'
import type { SemanticModel } from '../src/core/semantic-model.ts'
import { tableKey } from '../src/core/table-ref.ts'
import { compileQuery } from '../src/query/compile/compile.ts'
import { renderSql } from '../src/query/compile/emit/render.ts'
import { expandMetrics } from '../src/query/compile/metrics/expand.ts'
import { compileMetricRequest, type MetricRequest } from '../src/query/compile/metrics/request.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { bootstrapRatio, percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

/** Goals: milliseconds to compile, and speed beside SQL by hand. */
const compileMsMax = 1
const ratioMin = 0.9

export const metricQuery: BenchEntry = {
  name: 'metric-query',
  about: 'requests for metrics to protected SQL, and that SQL on DuckDB against SQL by hand',
  options: {},
  run,
}

const names = ['id', 'region', 'status', 'amount', 'quantity', 'ordered_on', 'customer_id'] as const
const types = ['long', 'string', 'string', 'decimal(12,2)', 'int', 'date', 'long'] as const

const governed = (name: string, columns: readonly string[], of: readonly string[]): GovernedTable => ({
  ref: { namespace: ['sales'], name },
  schemaName: 'sales',
  tableName: name,
  relation: { duckdb: [name], trino: ['iceberg', 'sales', name] },
  columns: columns.map((column, index) => ({
    ...{ name: column, fieldId: index + 1, type: of[index] ?? 'string', required: false, masks: [] },
  })),
  rowFilters: [{ policyId: 'f', origin: { kind: 'table' }, expression: `${columns[1]} <> 'north'` }],
  contract: { id: name, version: 1 },
})
const orders = governed('orders', names, types)
const customers = governed('customers', ['id', 'city'], ['long', 'string'])
const tables = [orders, customers]
const principal = { sub: 'bench', roles: ['analyst'] }

const bound = ({ columns }: GovernedTable, text: string): BoundExpression => {
  const named = columns.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(text))
  return { text, names: Object.fromEntries(named.map(({ name, fieldId }) => [name, fieldId])) }
}
const ofOrders: TableModel = {
  table: orders.ref,
  number: 1,
  key: [1],
  timeDimension: 'ordered_on',
  dimensions: names.map((name) => ({
    ...{ name, kind: name === 'ordered_on' ? 'time' : 'categorical', expression: bound(orders, name) },
  })),
  relationships: [{ name: 'customer', to: customers.ref, columns: [7], key: [1] }],
}
const ofCustomers: TableModel = {
  ...{ table: customers.ref, number: 1, key: [1], relationships: [] },
  dimensions: [{ name: 'city', kind: 'categorical', expression: bound(customers, 'city') }],
}
const metric = (name: string, computation: MetricComputation): MetricVersion => ({
  ...{ name, number: 1, state: 'active', sha256: '', definition: { computation } },
})
const simple = (name: string, text: string, filter?: string) =>
  metric(name, {
    kind: 'simple',
    table: orders.ref,
    expression: bound(orders, text),
    ...(filter !== undefined && { filter: bound(orders, filter) }),
  })
const metrics = [
  simple('revenue', 'sum(amount)', "status = 'paid'"),
  simple('orders', 'count(*)'),
  simple('pieces', 'sum(quantity)'),
  metric('basket', { kind: 'ratio', numerator: 'revenue', denominator: 'orders' }),
]
const model: SemanticModel = {
  tables: new Map([ofOrders, ofCustomers].map((each) => [tableKey(each.table), each])),
  metrics: new Map(metrics.map((each) => [each.name, each])),
  attestations: new Map(),
}

interface Case {
  readonly request: MetricRequest
  /** What a person would write, over tables that hold the visible rows only. */
  readonly byHand: string
}

const plain = { where: [], orderBy: [], limit: 10_000 }
const visible = "FROM orders o WHERE region <> 'north'"
const cases: Readonly<Record<string, Case>> = {
  'by region': {
    request: { ...plain, metrics: ['revenue', 'orders'], dimensions: [{ name: 'region' }] },
    byHand: `SELECT region, sum(amount) FILTER (WHERE status = 'paid') AS r, count(*) AS n ${visible} GROUP BY 1 ORDER BY 1`,
  },
  'ratio by month': {
    request: { ...plain, metrics: ['basket'], dimensions: [], grain: 'month' },
    byHand: `SELECT CAST(date_trunc('month', ordered_on) AS date), CAST(sum(amount) FILTER (WHERE status = 'paid') AS double) / count(*) AS r ${visible} GROUP BY 1 ORDER BY 1`,
  },
  'by a joined dimension': {
    request: { ...plain, metrics: ['pieces'], dimensions: [{ name: 'customer__city' }] },
    byHand: `SELECT c.city, sum(o.quantity) AS q FROM orders o LEFT JOIN (SELECT * FROM customers WHERE city <> 'north') c ON o.customer_id = c.id WHERE region <> 'north' GROUP BY 1 ORDER BY 1`,
  },
}

/** The SQL of a request for DuckDB. */
function sqlOf(request: MetricRequest): string {
  const { tree, parameters } = compileMetricRequest(model, request)
  const expansion = expandMetrics(tree, { model, searchPath: [], generated: true })
  const compiled = compileQuery({ text: '', principal, tables, searchPath: [], expansion })
  const relation = ({ tableName }: GovernedTable) => tableName
  return renderSql(compiled.emit('duckdb'), 'duckdb', { relation, parameters, salt: new Uint8Array(32) })
}

async function* run({ smoke, seed }: BenchRun): AsyncGenerator<BenchResult> {
  const random = seededRandom(seed)
  for (const [name, { request }] of Object.entries(cases)) {
    const rounds = smoke ? 5 : 2_000
    const times: number[] = []
    for (let round = -rounds / 5; round < rounds; round++) {
      // Each text is another, because parsed statements are cached by their text.
      const from = new Date(Date.UTC(2020, 0, 1) + round * 3_600_000)
      const startMs = performance.now()
      sqlOf({ ...request, from })
      if (round >= 0) times.push(performance.now() - startMs)
    }
    const p95 = percentile(times, 0.95)
    yield {
      bench: 'metric-query',
      case: { of: 'compile', request: name },
      figures: { p50_ms: rounded(percentile(times, 0.5)), p95_ms: rounded(p95) },
      ...(!smoke && { verdict: p95 < compileMsMax ? 'kept' : 'broken' }),
    }
  }
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  try {
    const rows = smoke ? 1_000 : 5_000_000
    await connection.run(
      `CREATE TABLE customers AS SELECT i AS id, 'city ' || (i % 50) AS city FROM range(10000) t(i)`,
    )
    await connection.run(
      `CREATE TABLE orders AS SELECT i AS id, CASE i % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'east' ELSE 'west' END AS region,
         CASE i % 3 WHEN 0 THEN 'paid' ELSE 'open' END AS status, CAST(i % 10000 AS DECIMAL(12,2)) AS amount, CAST(i % 9 AS INTEGER) AS quantity,
         DATE '2024-01-01' + CAST(i % 365 AS INTEGER) AS ordered_on, i % 10000 AS customer_id FROM range(${rows}) t(i)`,
    )
    for (const [name, { request, byHand }] of Object.entries(cases)) {
      const ask = (sql: string) => async () => void (await connection.runAndReadAll(sql))
      const [hand = [], metrical = []] = await interleavedTimes(
        [ask(byHand), ask(sqlOf(request))],
        smoke ? 2 : 40,
        random,
      )
      const rounds = hand.map((target, index) => ({ base: [metrical[index] ?? target], target: [target] }))
      const { value, low, high } = bootstrapRatio(rounds, { quantile: 0.5, seed })
      yield {
        bench: 'metric-query',
        case: { of: 'scan', request: name, rows },
        figures: {
          p50_by_hand_ms: rounded(percentile(hand, 0.5)),
          p95_ms: rounded(percentile(metrical, 0.95)),
          ratio_vs_sql: rounded(value),
          ratio_vs_sql_low: rounded(low),
          ratio_vs_sql_high: rounded(high),
        },
        ...(!smoke && { verdict: high >= ratioMin ? 'kept' : 'broken' }),
      }
    }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
