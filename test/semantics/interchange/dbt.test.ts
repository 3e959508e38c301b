/** What metrics of dbt become that read more than their own model: filters by the way to another one, and conversions. */

import { describe, expect, test } from 'bun:test'
import { readInterchange } from '../../../src/semantics/interchange/read-interchange.ts'

const models = `
semantic_models:
- name: customers
  model: ref('customers')
  entities: [{name: customer, type: primary, expr: id}, {name: country, type: foreign, expr: country_id}]
  dimensions: [{name: region, type: categorical}]
- name: countries
  model: ref('countries')
  entities: [{name: country, type: primary, expr: id}]
  dimensions: [{name: iso, type: categorical}]
- name: visits
  model: ref('visits')
  defaults: {agg_time_dimension: at}
  entities: [{name: visit, type: primary, expr: id}, {name: customer, type: foreign, expr: customer_id}]
  dimensions: [{name: at, type: time}, {name: page, type: categorical}]
  measures: [{name: visited, agg: sum, expr: 1}]
- name: buys
  model: ref('buys')
  defaults: {agg_time_dimension: at}
  entities: [{name: buy, type: primary, expr: id}, {name: customer, type: foreign, expr: customer_id}]
  dimensions: [{name: at, type: time}, {name: page, type: categorical}]
  measures: [{name: bought, agg: count, expr: 1}]
`
function read(metrics: string) {
  const outcome = readInterchange({
    format: 'dbt',
    files: [{ name: '', text: `${models}metrics:\n${metrics}` }],
    namespace: ['sales'],
  })
  if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.problems))
  return outcome.draft
}
const filtered = (filter: string) => {
  const { metrics, notCarried } = read(
    `- {name: m, type: simple, type_params: {measure: visited}, filter: ${JSON.stringify(filter)}}`,
  )
  return metrics.find(({ name }) => name === 'm')?.body.filter ?? notCarried.map(({ why }) => why).join('; ')
}
const why = 'Its filter reads more than dimensions and entities that the model leads to'

describe('a filter of dbt', () => {
  test.each([
    ["{{ Dimension('customer__region') }} = 'EU'", "customer__region = 'EU'"],
    ["{{ Dimension('customer__country__iso') }} = 'FR'", "customer__country__iso = 'FR'"],
    ["{{ Dimension('country__iso', entity_path=['customer']) }} = 'FR'", "customer__country__iso = 'FR'"],
    [
      "{{ Dimension('visit__page') }} = '/' and {{ Entity('customer') }} is not null",
      "(page) = '/' and customer_id is not null",
    ],
    [
      "{{ TimeDimension('metric_time', 'month') }} > '2026-01-01'",
      "date_trunc('month', (at)) > '2026-01-01'",
    ],
    ["{{ TimeDimension('visit__at', 'day') }} > '2026-01-01'", "(at) > '2026-01-01'"],
  ])('%s is %s', (filter, sql) => {
    expect(filtered(filter)).toBe(sql)
  })

  test.each([
    "{{ Dimension('customer__shoe_size') }} = 4",
    "{{ Dimension('supplier__region') }} = 'EU'",
    "{{ Entity('supplier') }} = 4",
    "{{ TimeDimension('visit__at', 'fortnight') }} > '2026-01-01'",
    "{{ Metric('bought', group_by=['customer']) }} > 2",
  ])('%s is not carried, and said so', (filter) => {
    expect(filtered(filter)).toContain(why)
  })
})

describe('a conversion of dbt', () => {
  const conversion = (more: string) =>
    `- {name: c, type: conversion, type_params: {conversion_type_params: {base_measure: {name: visited}, conversion_measure: bought, entity: customer${more}}}}`

  test('is one between the metrics of its measures', () => {
    const { metrics, notCarried } = read(
      conversion(
        ', calculation: conversions, window: 7 days, constant_properties: [{base_property: page, conversion_property: page}]',
      ),
    )
    expect(notCarried).toEqual([])
    expect(metrics.map(({ name, body }) => [name, body.kind, body.expression])).toEqual([
      ['visited', 'simple', 'count(*)'],
      ['bought', 'simple', 'count(*)'],
      ['c', 'conversion', undefined],
    ])
    expect(metrics[2]?.body).toMatchObject({
      ...{ base: 'visited', conversion: 'bought', entity: 'customer', calculation: 'count' },
      ...{ window: { count: 7, grain: 'day' }, constant_properties: [{ base: 'page', conversion: 'page' }] },
    })
  })

  test('of another window, or without an entity, is not carried', () => {
    const why = 'It is no conversion between two plain measures'
    expect(read(conversion(', window: 3 fortnights')).notCarried[0]?.why).toBe(why)
    expect(read(conversion('').replace(', entity: customer', '')).notCarried[0]?.why).toBe(why)
  })
})

test('the primary entity of a model is the name of its key, and others lead away from it', () => {
  const { tables } = read('')
  const visits = tables.find(({ table }) => table.name === 'visits')
  expect(visits?.body).toMatchObject({ key: ['id'], entity: 'visit', relationships: [{ name: 'customer' }] })
})
