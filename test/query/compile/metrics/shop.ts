/** A semantic layer over the tables of the read path's fixture, as the store gives it. */

import type {
  Attestation,
  BoundExpression,
  Dimension,
  MetricComputation,
  MetricVersion,
  TableModel,
} from '../../../../src/core/metric.ts'
import type { SemanticModel } from '../../../../src/core/semantic-model.ts'
import { type TableRef, tableKey } from '../../../../src/core/table-ref.ts'
import { governedTables } from '../../support/fixture.ts'

const tableOf = (name: string): TableRef => ({
  namespace: [name === 'employees' ? 'hr' : 'sales'],
  name,
})

const fieldOf = (table: string, column: string): number => {
  const found = governedTables
    .find(({ tableName }) => tableName === table)
    ?.columns.find(({ name }) => name === column)
  if (found === undefined) throw new Error(`${table} has no column ${column}`)
  return found.fieldId
}

/** Binds the columns that a text names. */
export function bound(table: string, text: string): BoundExpression {
  const governed = governedTables.find(({ tableName }) => tableName === table)
  const named = (governed?.columns ?? []).filter(({ name }) => new RegExp(`\\b${name}\\b`).test(text))
  const dimensions = text.match(/\b[a-z]+__\w+/g) ?? []
  return {
    ...{ text, names: Object.fromEntries(named.map(({ name, fieldId }) => [name, fieldId])) },
    ...(dimensions.length > 0 && { dimensions }),
  }
}

const dimension = (table: string, name: string, text = name, kind: Dimension['kind'] = 'categorical') => ({
  name,
  kind,
  expression: bound(table, text),
})

const orders: TableModel = {
  table: tableOf('orders'),
  number: 1,
  key: [fieldOf('orders', 'id')],
  entity: 'order',
  timeDimension: 'ordered_on',
  dimensions: [
    dimension('orders', 'status'),
    dimension('orders', 'region'),
    dimension('orders', 'is_large', 'amount > 50'),
    dimension('orders', 'note'),
    dimension('orders', 'ordered_on', 'ordered_on', 'time'),
  ],
  relationships: [
    {
      name: 'customer',
      to: tableOf('customers'),
      columns: [fieldOf('orders', 'customer_id')],
      key: [fieldOf('customers', 'id')],
    },
  ],
}
const customers: TableModel = {
  table: tableOf('customers'),
  number: 1,
  key: [fieldOf('customers', 'id')],
  entity: 'customer',
  dimensions: [
    dimension('customers', 'city'),
    dimension('customers', 'country'),
    dimension('customers', 'email'),
    dimension('customers', 'vip'),
  ],
  relationships: [],
}
const items: TableModel = {
  table: tableOf('items'),
  number: 1,
  key: [],
  dimensions: [
    dimension('items', 'sku'),
    // Those of its order under the same meaning.
    dimension('items', 'line'),
  ],
  relationships: [
    {
      name: 'order',
      to: tableOf('orders'),
      columns: [fieldOf('items', 'order_id')],
      key: [fieldOf('orders', 'id')],
    },
    {
      name: 'customer',
      to: tableOf('customers'),
      columns: [fieldOf('items', 'order_id')],
      key: [fieldOf('customers', 'id')],
    },
  ],
}
const employees: TableModel = {
  table: tableOf('employees'),
  number: 1,
  key: [fieldOf('employees', 'id')],
  dimensions: [dimension('employees', 'dept'), dimension('employees', 'name')],
  relationships: [
    {
      name: 'manager',
      to: tableOf('employees'),
      columns: [fieldOf('employees', 'manager_id')],
      key: [fieldOf('employees', 'id')],
    },
  ],
}

/** A metric in force. */
export function metric(name: string, computation: MetricComputation): MetricVersion {
  return { name, number: 1, state: 'active', sha256: name, definition: { computation } }
}

const simple = (name: string, table: string, text: string, filter?: string) =>
  metric(name, {
    kind: 'simple',
    table: tableOf(table),
    expression: bound(table, text),
    ...(filter !== undefined && { filter: bound(table, filter) }),
  })

export const metrics: readonly MetricVersion[] = [
  simple('revenue', 'orders', 'sum(amount)'),
  simple('paid_revenue', 'orders', 'sum(amount)', "status = 'paid'"),
  simple('orders', 'orders', 'count(*)'),
  simple('buyers', 'orders', 'count(distinct customer_id)'),
  simple('net', 'orders', 'sum(amount) - sum(quantity)', 'amount is not null'),
  simple('clients', 'customers', 'count(*)'),
  simple('notes', 'orders', 'count(note)'),
  simple('pieces', 'items', 'sum(qty)'),
  simple('turnover', 'items', 'sum(price * qty)'),
  simple('french_revenue', 'orders', 'sum(amount)', "customer__country like 'F%'"),
  simple('of_ada', 'orders', 'count(*)', "customer__email = 'CANARY.ada@example.com'"),
  simple('vips_paid', 'orders', 'count(*)', "status = 'paid' and customer__vip"),
  simple('parisian_pieces', 'items', 'sum(qty)', "order__customer__city = 'Paris'"),
  metric('french_share', { kind: 'ratio', numerator: 'french_revenue', denominator: 'revenue' }),
  metric('french_so_far', { kind: 'cumulative', metric: 'french_revenue' }),
  simple('salaries', 'employees', 'sum(salary)'),
  simple('heads', 'employees', 'count(*)'),
  metric('basket', { kind: 'ratio', numerator: 'revenue', denominator: 'orders' }),
  metric('share', { kind: 'ratio', numerator: 'paid_revenue', denominator: 'revenue' }),
  metric('pieces_per_order', { kind: 'ratio', numerator: 'pieces', denominator: 'orders' }),
  metric('unpaid', {
    kind: 'derived',
    expression: 'revenue - coalesce(paid_revenue, 0)',
    metrics: ['revenue', 'paid_revenue'],
  }),
  metric('stock', {
    kind: 'simple',
    table: tableOf('orders'),
    expression: bound('orders', 'sum(quantity)'),
    semiAdditive: { dimension: 'ordered_on', take: 'last', over: [] },
  }),
  metric('first_by_region', {
    kind: 'simple',
    table: tableOf('orders'),
    expression: bound('orders', 'sum(quantity)'),
    semiAdditive: { dimension: 'ordered_on', take: 'first', over: ['region'] },
  }),
  metric('revenue_so_far', { kind: 'cumulative', metric: 'revenue' }),
  metric('buyers_of_three_months', {
    kind: 'cumulative',
    metric: 'buyers',
    window: { count: 3, grain: 'month' },
  }),
  metric('revenue_last_month', {
    ...{ kind: 'offset', metric: 'revenue' },
    offsetWindow: { count: 1, grain: 'month' },
  }),
  metric('growth', {
    kind: 'derived',
    expression: 'revenue / revenue_last_month - 1',
    metrics: ['revenue', 'revenue_last_month'],
  }),
  metric('more', {
    kind: 'derived',
    expression: 'coalesce(revenue, 0) - coalesce(revenue_last_month, 0)',
    metrics: ['revenue', 'revenue_last_month'],
  }),
  metric('basket_last_week', {
    ...{ kind: 'offset', metric: 'basket' },
    offsetWindow: { count: 7, grain: 'day' },
  }),
  metric('orders_of_first_day', { kind: 'offset', metric: 'orders', offsetToGrain: 'month' }),
  metric('rolling_basket', {
    ...{ kind: 'cumulative', metric: 'basket' },
    window: { count: 2, grain: 'month' },
  }),
  metric('rolling_basket_last_month', {
    ...{ kind: 'offset', metric: 'rolling_basket' },
    offsetWindow: { count: 1, grain: 'month' },
  }),
  metric('so_far_last_month', {
    ...{ kind: 'offset', metric: 'revenue_so_far' },
    offsetWindow: { count: 1, grain: 'month' },
  }),
  metric('orders_of_the_year', { kind: 'cumulative', metric: 'orders', toDate: 'year' }),
]

/** The layer with these attestations. */
export function shop(attestations: readonly Attestation[] = []): SemanticModel {
  return {
    tables: new Map([orders, customers, items, employees].map((model) => [tableKey(model.table), model])),
    metrics: new Map(metrics.map((each) => [each.name, each])),
    attestations: new Map(attestations.map((each) => [each.metric, each])),
  }
}
