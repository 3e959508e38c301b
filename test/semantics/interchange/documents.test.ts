/** One import of several files or documents: what they say together, and what two of them say. */

import { expect, test } from 'bun:test'
import { readInterchange } from '../../../src/semantics/interchange/read-interchange.ts'

const model = `semantic_models:
- name: orders
  model: ref('orders')
  entities: [{name: order, type: primary, expr: id}]
  dimensions: [{name: region, type: categorical}]
  measures: [{name: amount_sum, agg: sum, expr: amount}]
`
const metric = 'metrics:\n- {name: revenue, type: simple, type_params: {measure: amount_sum}, strange: 1}\n'
const read = (...files: readonly (readonly [name: string, text: string])[]) =>
  readInterchange({
    format: 'dbt',
    namespace: ['sales'],
    files: files.map(([name, text]) => ({ name, text })),
  })

test('a metric of one file is made of the measure of another, and pointers lead into their file', () => {
  const outcome = read(['models/orders.yml', model], ['metrics/revenue.yml', metric])
  if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.problems))
  expect(outcome.draft.metrics.map(({ name, body }) => [name, body.expression])).toEqual([
    ['revenue', 'sum(amount)'],
  ])
  expect(outcome.draft.notCarried.map(({ at }) => at)).toEqual(['metrics/revenue.yml#/metrics/0/strange'])
  expect(outcome.draft.tables.map(({ at }) => at)).toEqual(['models/orders.yml#/semantic_models/0'])
})

test('a text of YAML holds several documents', () => {
  const outcome = read(['', `# all\n---\n${model}---\n${metric}`])
  if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.problems))
  expect(outcome.draft.metrics.map(({ name }) => name)).toEqual(['revenue'])
  expect(outcome.draft.notCarried.map(({ at }) => at)).toEqual(['(2)#/metrics/0/strange'])
})

test('what two files define is refused, and both are named', () => {
  expect(read(['a.yml', model], ['b.yml', metric], ['c.yml', model + metric])).toEqual({
    kind: 'refused',
    problems: [
      { message: 'The semantic model orders is defined by a.yml and by c.yml' },
      { message: 'The metric revenue is defined by b.yml and by c.yml' },
    ],
  })
})

test('a file that cannot be read is named with its line', () => {
  expect(read(['a.yml', model], ['b.yml', 'metrics: [']).kind).toBe('refused')
  expect(JSON.stringify(read(['a.yml', model], ['b.yml', 'metrics: [']))).toContain('b.yml: ')
})

// The members are those of semantic_manifest.json as dbt-semantic-interfaces writes it.
test('a manifest of dbt names the schema of its models, and its filters are objects', () => {
  const manifest = {
    semantic_models: [
      {
        ...{
          name: 'orders',
          defaults: { agg_time_dimension: null },
          description: null,
          primary_entity: null,
        },
        node_relation: {
          alias: 'fct_orders',
          schema_name: 'marts',
          database: 'wh',
          relation_name: '"wh"."x"',
        },
        entities: [{ name: 'order', type: 'primary', role: null, expr: 'id', metadata: null }],
        measures: [
          { name: 'amount_sum', agg: 'sum', expr: 'amount', create_metric: false, agg_params: null },
        ],
        dimensions: [
          { name: 'region', type: 'categorical', is_partition: null, expr: null, type_params: null },
        ],
        metadata: null,
      },
    ],
    metrics: [
      {
        ...{ name: 'revenue', type: 'simple', description: null, label: 'Revenue', metadata: null },
        type_params: {
          measure: { name: 'amount_sum', filter: null, alias: null, join_to_timespine: false },
          ...{ numerator: null, window: null, metrics: [], conversion_type_params: null },
          input_measures: [{ name: 'amount_sum', filter: null }],
        },
        filter: { where_filters: [{ where_sql_template: "{{ Dimension('order__region') }} = 'EU'" }] },
      },
    ],
    project_configuration: { time_spine_table_configurations: [] },
    saved_queries: [],
  }
  const outcome = readInterchange({ format: 'dbt', files: [{ name: '', text: JSON.stringify(manifest) }] })
  if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.problems))
  const { tables, metrics, notCarried } = outcome.draft
  expect(notCarried).toEqual([])
  expect(tables[0]?.table).toEqual({ namespace: ['marts'], name: 'fct_orders' })
  expect(metrics[0]?.body).toMatchObject({
    expression: 'sum(amount)',
    filter: "(region) = 'EU'",
    label: 'Revenue',
  })
})
