/** People with a masked pay, and the semantic layer over them: what attested metrics are tried on. */

import type { AttachedMask, GovernedTable } from '../../../../src/core/governed-table.ts'
import type {
  Attestation,
  BoundExpression,
  Dimension,
  MetricComputation,
  TableModel,
} from '../../../../src/core/metric.ts'
import type { SemanticModel } from '../../../../src/core/semantic-model.ts'
import { tableKey } from '../../../../src/core/table-ref.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { compileMetricRequest, type MetricRequest } from '../../../../src/query/compile/metrics/request.ts'
import { parseSelect } from '../../../../src/query/compile/parse/parse.ts'
import { openSubject } from '../../support/duckdb.ts'
import { metric } from './shop.ts'

/** One payment to a person. */
export interface Payment {
  readonly id: number
  readonly person: number
  readonly team: string
  readonly city: string
  readonly site: number
  readonly kind: string
  readonly paid: string
  readonly pay: number | string | null
}

const columns = [
  ['id', 'int', 'int'],
  ['person', 'int', 'int'],
  ['team', 'string', 'text'],
  ['city', 'string', 'text'],
  ['site', 'int', 'int'],
  ['kind', 'string', 'text'],
  ['paid', 'date', 'date'],
  ['pay', 'int', 'int'],
] as const
type ColumnName = (typeof columns)[number][0]
const fieldOf = (name: string) => columns.findIndex(([each]) => each === name) + 1

export const hidePay: AttachedMask = {
  policyId: 'hide-pay',
  origin: { kind: 'column' },
  action: 'replace-with-null',
}

const governed = (
  name: string,
  of: readonly (readonly [string, 'int' | 'string' | 'date', string])[],
): GovernedTable => ({
  ref: { namespace: ['hr'], name },
  ...{ schemaName: 'hr', tableName: name },
  relation: { duckdb: ['main', name], trino: ['lake', 'hr', name] },
  columns: of.map(([column, type], index) => ({
    ...{ name: column, type, fieldId: index + 1, required: false },
    masks: column === 'pay' ? [hidePay] : [],
  })),
  rowFilters: [],
  contract: { id: name, version: 1 },
})
const sites = governed('sites', [
  ['id', 'int', 'int'],
  ['country', 'string', 'text'],
])

/** The tables, with a change of the first one for one reader. */
export function staffTables(change: Partial<GovernedTable> = {}): readonly GovernedTable[] {
  return [{ ...governed('staff', columns), ...change }, sites]
}

/** The table's columns, with a pay of another type. */
export function columnsPaidIn(type: GovernedTable['columns'][number]['type']): GovernedTable['columns'] {
  const [{ columns: all } = { columns: [] }] = staffTables()
  return all.map((one) => (one.name === 'pay' ? { ...one, type } : one))
}

/** The table's columns, with masks on some besides that of the pay. */
export function maskedColumns(...names: readonly ColumnName[]): GovernedTable['columns'] {
  const [{ columns: all } = { columns: [] }] = staffTables()
  return all.map((one) =>
    (names as readonly string[]).includes(one.name) ? { ...one, masks: [hidePay] } : one,
  )
}

const bound = (text: string): BoundExpression => {
  const named = columns.filter(([name]) => new RegExp(`\\b${name}\\b`).test(text))
  const dimensions = text.match(/\bat__\w+/g) ?? []
  return {
    ...{ text, names: Object.fromEntries(named.map(([name]) => [name, fieldOf(name)])) },
    ...(dimensions.length > 0 && { dimensions }),
  }
}
const dimension = (name: string, text = name, kind: Dimension['kind'] = 'categorical'): Dimension => ({
  ...{ name, kind, expression: bound(text) },
})
const staff: TableModel = {
  table: { namespace: ['hr'], name: 'staff' },
  ...{ number: 1, key: [fieldOf('id')], timeDimension: 'paid' },
  dimensions: [
    ...[dimension('id'), dimension('person'), dimension('team'), dimension('city'), dimension('pay')],
    ...[dimension('site'), dimension('paid', 'paid', 'time')],
  ],
  relationships: [
    { name: 'at', to: { namespace: ['hr'], name: 'sites' }, columns: [fieldOf('site')], key: [1] },
  ],
}
const siteModel: TableModel = {
  table: { namespace: ['hr'], name: 'sites' },
  ...{ number: 1, key: [1], relationships: [] },
  dimensions: [
    { name: 'country', kind: 'categorical', expression: { text: 'country', names: { country: 2 } } },
  ],
}

const simple = (text: string, filter?: string): MetricComputation => ({
  ...{ kind: 'simple', table: staff.table, expression: bound(text) },
  ...(filter !== undefined && { filter: bound(filter) }),
})
const metrics = [
  metric('pays', simple('sum(pay)')),
  metric('wages', simple('sum(pay)', "kind = 'wage'")),
  metric('pays_in_x', simple('sum(pay)', "at__country = 'x'")),
  metric('payments', simple('count(*)')),
  metric('each', { kind: 'ratio', numerator: 'pays', denominator: 'payments' }),
  metric('beside_wages', { kind: 'derived', expression: 'pays - wages', metrics: ['pays', 'wages'] }),
  metric('so_far', { kind: 'cumulative', metric: 'pays' }),
  metric('month_before', { kind: 'offset', metric: 'pays', offsetWindow: { count: 1, grain: 'month' } }),
  metric('so_far_before', { kind: 'offset', metric: 'so_far', offsetWindow: { count: 1, grain: 'month' } }),
  metric('wages_paid', simple('count(*)', "kind = 'wage'")),
  metric('bonuses_paid', simple('count(*)', "kind = 'bonus'")),
  ...(['rate', 'count'] as const).map((calculation) =>
    metric(`bonus_${calculation}`, {
      ...{ kind: 'conversion', base: 'wages_paid', conversion: 'bonuses_paid', calculation },
      ...{ entity: 'person', window: { count: 10, grain: 'day' } },
    }),
  ),
  metric('bonus_at_home', {
    ...{ kind: 'conversion', base: 'wages_paid', conversion: 'bonuses_paid', calculation: 'count' },
    ...{ entity: 'person', constant: [{ base: 'city', conversion: 'city' }] },
  }),
  metric('held', {
    ...{ kind: 'simple', table: staff.table, expression: bound('sum(pay)') },
    semiAdditive: { dimension: 'paid', take: 'last', over: [] },
  }),
]

/** An attestation that lifts the mask of the pay inside a metric, by teams. */
export function attested(over: Partial<Attestation> = {}): Attestation {
  const { metric: name = 'pays' } = over
  return {
    ...{ id: name, metric: name, sha256: name, tags: [], minGroupSize: 3 },
    masks: [{ fieldId: fieldOf('pay'), policyId: 'hide-pay', action: 'replace-with-null' }],
    dimensions: [{ name: 'team' }],
    untilMs: Number.POSITIVE_INFINITY,
    ...over,
  }
}

/** A group has payments to at least so many persons. */
export const persons = (k: number) => ({ anonymity: { k, fieldId: fieldOf('person') } })

/** The layer with attestations. */
export function staffModel(...attestations: readonly Attestation[]): SemanticModel {
  return {
    tables: new Map([staff, siteModel].map((model) => [tableKey(model.table), model])),
    metrics: new Map(metrics.map((each) => [each.name, each])),
    attestations: new Map(attestations.map((each) => [each.metric, each])),
  }
}

export type Rows = readonly (readonly (string | null)[])[]

/** The layer in which the metric `pays` is this aggregate. */
export function paidAs(model: SemanticModel, aggregate: string): SemanticModel {
  return { ...model, metrics: new Map([...model.metrics, ['pays', metric('pays', simple(aggregate))]]) }
}

/** A database with these payments, and what asks it. @param payType DuckDB's */
export async function openStaff(payments: readonly Payment[], payType = 'int') {
  const quoted = (value: string | number | null) =>
    value === null ? 'null' : typeof value === 'number' ? String(value) : `'${value}'`
  const rows = payments.map((row) => `(${columns.map(([name]) => quoted(row[name])).join(', ')})`)
  const subject = await openSubject({
    tables: staffTables(),
    searchPath: ['hr'],
    setup: [
      `create table staff (${columns.map(([name, , type]) => `${name} ${name === 'pay' ? payType : type}`).join(', ')})`,
      `insert into staff values ${rows.join(', ')}`,
      'create table sites (id int, country text)',
      "insert into sites values (1, 'x'), (2, 'x'), (3, 'y')",
    ],
  })
  return {
    close: subject.close,
    async [Symbol.asyncDispose]() {
      subject.close()
    },
    compile: subject.compile,
    /** Runs a statement over the relation `staff__metrics`. */
    async sql(text: string, model: SemanticModel, tables = staffTables()): Promise<Rows> {
      const expansion = expandMetrics(parseSelect(text), { model, searchPath: ['hr'] })
      return (await subject.run(text, [], { tables, expansion })).rows
    },
    async request(
      request: Partial<MetricRequest>,
      model: SemanticModel,
      tables = staffTables(),
    ): Promise<Rows> {
      const plain = { metrics: ['pays'], dimensions: [], where: [], orderBy: [], limit: 1000 }
      const { tree, parameters } = compileMetricRequest(model, { ...plain, ...request })
      const expansion = expandMetrics(tree, { model, searchPath: [], generated: true })
      return (await subject.run('', parameters, { tables, expansion })).rows
    },
  }
}
