/** What documents of other formats say of the semantic layer, and that nothing in them is dropped without a word. */

import { describe, expect, test } from 'bun:test'
import { readInterchange } from '../../../src/semantics/interchange/read-interchange.ts'
import { renamed } from '../../../src/semantics/interchange/sql-names.ts'
import { generator } from '../../support/generator.ts'
import { isLongForm } from '../../support/long-form.ts'

type Format = 'ossie' | 'dbt' | 'odcs'
function read(format: Format, text: string, namespace?: readonly string[]) {
  const outcome = readInterchange({ format, files: [{ name: '', text }], namespace })
  if (outcome.kind === 'refused') throw new Error(outcome.problems.map(({ message }) => message).join('; '))
  return outcome.draft
}
const refusal = (format: Format, text: string) => {
  const outcome = readInterchange({ format, files: [{ name: '', text }] })
  return outcome.kind === 'refused' ? outcome.problems.map(({ message }) => message).join('; ') : 'read'
}
const ansi = (expression: string) => `{dialects: [{dialect: ANSI_SQL, expression: "${expression}"}]}`

describe('a document of Ossie', () => {
  const text = `
version: "0.1.1"
semantic_model:
- name: shop
  description: What we sell
  datasets:
  - name: orders
    source: lake.sales.orders
    primary_key: [id]
    unique_keys: [[number]]
    fields:
    - {name: region, expression: ${ansi('orders.region')}, dimension: {is_time: false}, label: Region}
    - {name: placed_on, expression: ${ansi('placed_on')}, dimension: {is_time: true}}
    - {name: net, expression: ${ansi('amount - tax')}, description: Without tax}
  - name: customers
    source: lake.sales.customers
    primary_key: [id]
    fields:
    - {name: City, expression: ${ansi('city')}, dimension: {}}
    - {name: tier, expression: {dialects: [{dialect: TABLEAU, expression: "[Tier]"}]}, dimension: {}}
  - {name: log, source: "SELECT * FROM x"}
  relationships:
  - {name: customer, from: orders, to: customers, from_columns: [customer_id], to_columns: [id]}
  metrics:
  - {name: revenue, expression: ${ansi('SUM(orders.net)')}, description: Paid, ai_context: {synonyms: [turnover]}}
  - {name: mixed, expression: ${ansi('SUM(orders.net) / COUNT(customers.id)')}}
  - {name: strange, expression: ${ansi('SUM(')}}
  custom_extensions:
  - {vendor_name: DBT, data: '{"a":1}'}
`
  const draft = read('ossie', text)
  const lost = draft.notCarried.map(({ at, why }) => `${at}: ${why}`)

  test('becomes models, each after those that it leads to', () => {
    expect(draft.tables.map(({ table }) => table.name)).toEqual(['customers', 'orders'])
    expect(draft.tables[1]).toMatchObject({
      table: { namespace: ['sales'], name: 'orders' },
      body: {
        key: ['id'],
        time_dimension: 'placed_on',
        dimensions: [
          { name: 'region', kind: 'categorical', label: 'Region' },
          { name: 'placed_on', kind: 'time' },
        ],
        relationships: [{ name: 'customer', columns: ['customer_id'], to_columns: ['id'] }],
      },
    })
  })

  test('has its metrics over columns, with fields that are no columns written out', () => {
    expect(draft.metrics.map(({ name, body }) => [name, body.expression])).toEqual([
      ['revenue', 'SUM((amount - tax))'],
    ])
  })

  test.each([
    ['/semantic_model/0/description', 'kept'],
    ['/semantic_model/0/custom_extensions', 'kept'],
    ['/semantic_model/0/datasets/0/unique_keys', 'kept'],
    ['/semantic_model/0/datasets/0/fields/2/description', 'kept'],
    ['/semantic_model/0/datasets/1/fields/0/name', 'lower-case'],
    ['/semantic_model/0/datasets/1/fields/1/expression', 'no expression in the dialect ANSI_SQL'],
    ['/semantic_model/0/datasets/2/source', 'a query'],
    ['/semantic_model/0/metrics/0/ai_context', 'kept'],
    ['/semantic_model/0/metrics/1/expression', 'several datasets (orders, customers)'],
    ['/semantic_model/0/metrics/2/expression', 'cannot be read'],
  ])('lists %s', (at, why) => {
    expect(lost).toContainEqual(expect.stringContaining(`${at}: `))
    expect(lost.find((one) => one.startsWith(`${at}: `))).toContain(why)
  })

  test('of another version is refused', () => {
    expect(refusal('ossie', 'version: "0.3.0"\nsemantic_model: []')).toBe(
      'Version "0.3.0" is not supported; 0.1.1 and 0.2.0.dev0 are',
    )
    expect(refusal('ossie', 'semantic_model: []')).toContain('A document without a version is not supported')
  })

  test('takes the namespace that is given', () => {
    const [table] = read('ossie', text, ['other', 'place']).tables
    expect(table?.table.namespace).toEqual(['other', 'place'])
  })
})

describe('a document of dbt', () => {
  const latest = `
models:
- name: orders
  agg_time_dimension: ordered_at
  semantic_model: {enabled: true, name: sales}
  columns:
  - {name: order_id, entity: {type: primary, name: order}}
  - {name: customer_id, entity: {type: foreign, name: customer}}
  - {name: ordered_at, granularity: day, dimension: {type: time}}
  - {name: status, dimension: categorical, description: State of the order}
  - {name: note, data_tests: [not_null]}
  metrics:
  - {name: revenue, agg: sum, expr: amount, filter: "{{ Dimension('order__status') }} = 'paid'"}
  - {name: orders, type: simple, agg: count, expr: 1}
  - {name: p95, agg: percentile, expr: amount, percentile: 95, percentile_type: discrete}
  - {name: balance, agg: sum, expr: amount, non_additive_dimension: {name: ordered_at, window_agg: max}}
  - {name: other_time, agg: count, expr: 1, agg_time_dimension: shipped_at}
  - {name: far, agg: count, expr: 1, filter: "{{ Dimension('customer__tier') }} = 1"}
- name: customers
  semantic_model: true
  columns: [{name: id, entity: {type: primary, name: customer}}]
- {name: staging}
metrics:
- {name: basket, type: ratio, numerator: revenue, denominator: orders}
- {name: growth, type: derived, expr: now - before, input_metrics: [{name: revenue, alias: now}, {name: revenue, alias: before, offset_window: 7 days}]}
- {name: twice, type: derived, expr: r + r, input_metrics: [{name: revenue, alias: r}]}
- {name: month_to_date, type: cumulative, input_metric: revenue, grain_to_date: month}
- {name: trailing, type: cumulative, input_metric: revenue, window: 30d, period_agg: last}
- {name: signups, type: conversion, entity: user}
- {name: of_start, type: ratio, numerator: revenue, denominator: {name: revenue, offset_to_grain: month}}
- {name: few, type: derived, expr: revenue, input_metrics: [{name: revenue, filter: status = 'x', offset_window: 1 month}]}
`
  test('needs a namespace', () => {
    expect(refusal('dbt', latest)).toContain('names no namespaces')
  })

  test('of the latest form becomes models and metrics', () => {
    const { tables, metrics, notCarried } = read('dbt', latest, ['sales'])
    expect(tables.map(({ table }) => table.name)).toEqual(['customers', 'orders'])
    expect(tables[1]?.body).toMatchObject({
      key: ['order_id'],
      time_dimension: 'ordered_at',
      relationships: [{ name: 'customer', columns: ['customer_id'], to_columns: ['id'] }],
      dimensions: [
        { name: 'ordered_at', kind: 'time' },
        { name: 'status', description: 'State of the order' },
      ],
    })
    expect(Object.fromEntries(metrics.map(({ name, body }) => [name, body]))).toMatchObject({
      revenue: { expression: 'sum(amount)', filter: "(status) = 'paid'" },
      orders: { expression: 'count(*)' },
      p95: { expression: 'percentile_disc(0.95) WITHIN GROUP (ORDER BY amount)' },
      balance: { semi_additive: { dimension: 'ordered_at', take: 'last', over: [] } },
      basket: { kind: 'ratio', numerator: 'revenue', denominator: 'orders' },
      twice: { kind: 'derived', expression: 'revenue + revenue' },
      revenue_7_day_before: {
        ...{ kind: 'offset', of: 'revenue' },
        offset_window: { count: 7, grain: 'day' },
      },
      growth: { kind: 'derived', expression: 'revenue - revenue_7_day_before' },
      revenue_at_month_start: { kind: 'offset', of: 'revenue', offset_to_grain: 'month' },
      of_start: { kind: 'ratio', numerator: 'revenue', denominator: 'revenue_at_month_start' },
      month_to_date: { kind: 'cumulative', of: 'revenue', to_date: 'month' },
      trailing: { kind: 'cumulative', of: 'revenue', window: { count: 30, grain: 'day' } },
    })
    const lost = notCarried.map(({ at }) => at)
    expect(lost).toEqual(
      expect.arrayContaining([
        '/models/0/columns/2/granularity',
        '/models/0/columns/4/data_tests',
        '/models/0/metrics/4',
        '/models/0/metrics/5',
        '/models/2',
        '/metrics/7',
        '/metrics/4/period_agg',
        '/metrics/5',
      ]),
    )
  })

  test('of the older form becomes the same', () => {
    const older = `
semantic_models:
- name: sales
  model: ref('orders')
  defaults: {agg_time_dimension: ordered_at}
  entities:
  - {name: order, type: primary, expr: order_id}
  dimensions:
  - {name: ordered_at, type: time, type_params: {time_granularity: day}}
  - {name: status, type: categorical}
  measures:
  - {name: amount, agg: sum, create_metric: true}
  - {name: order_count, agg: count, expr: "1"}
  - {name: unused, agg: max}
metrics:
- {name: revenue, type: simple, label: Revenue, type_params: {measure: {name: amount, fill_nulls_with: 0}}, filter: "{{ Dimension('order__status') }} = 'paid'"}
- {name: basket, type: ratio, type_params: {numerator: revenue, denominator: {name: order_count}}}
- {name: so_far, type: cumulative, type_params: {measure: amount, window: 7 days}}
`
    const { tables, metrics, notCarried } = read('dbt', older, ['sales'])
    expect(tables).toMatchObject([{ table: { name: 'orders' }, body: { key: ['order_id'] } }])
    expect(Object.fromEntries(metrics.map(({ name, body }) => [name, body]))).toMatchObject({
      amount: { expression: 'sum(amount)' },
      revenue: { expression: 'sum(amount)', filter: "(status) = 'paid'", label: 'Revenue' },
      order_count: { expression: 'count(*)' },
      basket: { kind: 'ratio', numerator: 'revenue', denominator: 'order_count' },
      so_far: { kind: 'cumulative', of: 'amount', window: { count: 7, grain: 'day' } },
    })
    expect(notCarried.map(({ at }) => at)).toEqual(
      expect.arrayContaining([
        '/semantic_models/0/measures/2',
        '/metrics/0/type_params/measure/fill_nulls_with',
      ]),
    )
  })
})

describe('a contract document', () => {
  const text = `
apiVersion: v3.2.0
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
- name: orders
  physicalName: orders
  properties:
  - {name: id, logicalType: integer, primaryKey: true}
  - {name: day, physicalName: placed_on, logicalType: date, semanticType: dimension}
  - {name: is_large, logicalType: boolean, semanticType: dimension, transformLogic: amount > 100}
  - {name: revenue, logicalType: number, semanticType: measure, transformLogic: sum(amount), businessName: Revenue, synonyms: [turnover]}
  - {name: nothing, semanticType: measure}
`
  test('has dimensions and measures by semanticType', () => {
    const { tables, metrics, notCarried } = read('odcs', text, ['sales'])
    expect(tables).toMatchObject([
      {
        body: {
          key: ['id'],
          time_dimension: 'day',
          dimensions: [
            { name: 'day', kind: 'time', expression: '"placed_on"' },
            { name: 'is_large', expression: 'amount > 100' },
          ],
        },
      },
    ])
    expect(metrics).toMatchObject([
      { name: 'revenue', body: { expression: 'sum(amount)', label: 'Revenue' } },
    ])
    expect(notCarried.map(({ at }) => at)).toEqual([
      '/schema/0/properties/3/synonyms',
      '/schema/0/properties/4',
    ])
  })
})

describe('hostile documents', () => {
  test.each([
    ['ossie', '{'],
    ['ossie', '[]'],
    ['ossie', 'a: &a [*a, *a]'],
    ['ossie', `${'['.repeat(200)}`],
    ['ossie', 'version: "0.1.1"\nsemantic_model: {}'],
    ['dbt', 'models: {}'],
    ['odcs', '\u0000'],
  ] as const)('of %s are refused: %s', (format, text) => {
    expect(readInterchange({ format, files: [{ name: '', text }], namespace: ['a'] }).kind).toBe('refused')
  })

  test('of odd values are read without an error, and change nothing of JavaScript', () => {
    const text = JSON.stringify({
      version: '0.1.1',
      __proto__: { polluted: 1 },
      semantic_model: [
        7,
        null,
        {
          name: 1,
          datasets: [
            {
              name: '__proto__',
              source: 'a.b',
              fields: [{ name: 'constructor', expression: 5, dimension: 5 }],
            },
            { name: 'x'.repeat(5_000), source: '../../etc/passwd' },
            {
              name: 'd',
              source: 'a.d',
              custom_extensions: [{ vendor_name: 'COMMON', data: '{"covenant": []}' }, 5],
            },
          ],
          relationships: [{ name: 'r', from: '__proto__', to: 'toString' }],
          metrics: [
            {
              name: 'm',
              expression: { dialects: [{ dialect: 'ANSI_SQL', expression: 'sum(d.x); DROP TABLE y' }] },
            },
            {
              name: 'n',
              expression: { dialects: [{ dialect: 'ANSI_SQL', expression: '('.repeat(10_000) }] },
            },
          ],
        },
      ],
    }).replace('"version"', '"__proto__": {"polluted": 1}, "version"')
    const { metrics } = read('ossie', text)
    expect(metrics).toEqual([])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  const seed = 20_261_124
  test(`of random members are read or refused, and every member is used or listed (seed ${seed})`, () => {
    const random = generator(seed)
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
    const names = [
      'name',
      'source',
      'fields',
      'datasets',
      'metrics',
      'expression',
      'dialects',
      'models',
      'columns',
      'entity',
      'type',
      'agg',
      'schema',
      'properties',
      'semanticType',
      'x',
    ]
    const value = (depth: number): unknown => {
      const kind = pick(['text', 'number', 'null', 'flag', 'list', 'object', 'object'])
      if (kind === 'text') return pick(['', 'a', 'sum(a.b)', '{{', 'ANSI_SQL', 'measure', 'primary'])
      if (kind === 'number') return 1
      if (kind === 'flag') return true
      if (kind === 'null' || depth === 0) return null
      const size = Math.floor(random() * 4)
      if (kind === 'list') return Array.from({ length: size }, () => value(depth - 1))
      return Object.fromEntries(Array.from({ length: size }, () => [pick(names), value(depth - 1)]))
    }
    for (let round = 0; round < (isLongForm ? 5_000 : 300); round++) {
      const [format, top] = pick([
        ['ossie', { version: '0.1.1', semantic_model: [value(6)], zzz: value(2) }],
        ['dbt', { models: [value(6)], metrics: [value(5)], zzz: 1 }],
        ['odcs', { apiVersion: 'v3.2.0', schema: [value(6)], zzz: 1 }],
      ] as const)
      const { notCarried } = read(format, JSON.stringify(top), ['n'])
      if (format !== 'odcs') expect(notCarried.map(({ at }) => at)).toContain('/zzz')
    }
  })
})

describe('names in an expression', () => {
  test.each([
    ['sum(o.amount) + count(*)', 'sum(amount) + count(*)'],
    [
      `sum("o"."Straße") FILTER (WHERE o.x = 'o.y' AND "é" > 1)`,
      `sum("Straße") FILTER (WHERE x = 'o.y' AND "é" > 1)`,
    ],
    ['max( o . a )', 'max( a )'],
    ["'ü' || o.b", "'ü' || b"],
  ])('are changed and nothing else: %s', (text, expected) => {
    expect(renamed(text, (path, last) => (path.length === 2 ? last : undefined))).toBe(expected)
  })
})
