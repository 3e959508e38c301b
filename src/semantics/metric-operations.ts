/** Declares the operations that save, move, show and list metrics. */

import { type Static, Type } from '@sinclair/typebox'
import { grains, metricKinds, metricStates } from '../core/metric.ts'
import { pageRequest } from '../http/page-view.ts'
import {
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../http/schemas.ts'
import { listMetricVersions, moveMetric } from '../store/semantics/metrics.ts'
import { listMetricViews, showMetric } from './describe-metric.ts'
import { expressionText, folder, metricName, prose } from './model-operations.ts'
import { asking, askingOf, changeOf, defining, operation } from './parts.ts'
import { type GivenMetric, putMetric } from './put-metric.ts'

const currencyCode = Type.String({ pattern: '^[A-Z]{3}$' })

const about = {
  label: maybe(prose),
  description: maybe(prose),
  term: maybe(described(metricName, 'the glossary term that it means; one metric in force for a term')),
  variant: maybe(described(oneOf(['grain', 'unit']), 'by what it differs from the metric of the same term')),
  unit: maybe(text),
  format: maybe(described(text, 'such as `#,##0.00` or `0.0%`')),
  owner: maybe(text),
  folder: maybe(folder),
  default_grain: maybe(oneOf(grains)),
}
const computation = {
  expression: maybe(described(expressionText, 'aggregates over columns; of kind derived: over metrics')),
  filter: maybe(described(expressionText, 'the rows that count')),
  semi_additive: maybe(
    object({
      dimension: metricName,
      take: oneOf(['first', 'last']),
      over: maybe(list(nonEmpty, { maxItems: 10 })),
    }),
  ),
  currency: maybe(
    described(
      object({
        column: described(nonEmpty, 'holds the currency of each amount'),
        to: described(currencyCode, 'of the result, as ISO 4217 has it'),
        rate: described(nonEmpty, 'a dimension of a joined table, such as `fx__rate`'),
      }),
      'converts the amounts of an aggregate before it adds them up',
    ),
  ),
  numerator: maybe(metricName),
  denominator: maybe(metricName),
  metric: maybe(described(metricName, 'what accumulates, or is moved')),
  window: maybe(object({ count: ordinal, grain: oneOf(grains) })),
  to_date: maybe(described(oneOf(grains), 'accumulates since the beginning of this grain')),
  offset_window: maybe(
    described(object({ count: ordinal, grain: oneOf(grains) }), 'the value so many grains before'),
  ),
  offset_to_grain: maybe(described(oneOf(grains), 'the value in the first period of this grain')),
  base: maybe(described(metricName, 'of kind conversion: counts the rows that may lead to others')),
  conversion: maybe(described(metricName, 'counts the rows that they lead to')),
  entity: maybe(described(nonEmpty, 'what rows of both belong to: a dimension or an entity of both tables')),
  constant_properties: maybe(
    described(
      list(object({ base: nonEmpty, conversion: nonEmpty }), { minItems: 1, maxItems: 10 }),
      'dimensions that have the same value in both rows',
    ),
  ),
  calculation: maybe(described(oneOf(['rate', 'count']), 'of a conversion; default `rate`')),
}
const metric = object({
  name: text,
  version: ordinal,
  state: oneOf(metricStates),
  sha256: described(text, 'of what is computed; attestations are bound to it'),
  kind: oneOf(metricKinds),
  ...about,
  ...computation,
  tables: list(tableIdentifier),
  dimensions: list(
    object({
      name: text,
      kind: oneOf(['categorical', 'time']),
      label: maybe(text),
      description: maybe(text),
    }),
  ),
  entities: described(list(text), 'keys and relationships by which it can be grouped as by dimensions'),
  tags: described(list(text), 'of its columns, without those that a steward attested away'),
  declassified: list(object({ attestation: uuid, metric: text, tags: list(text), valid_until: time })),
  problems: described(
    list(object({ kind: oneOf(['dropped', 'retyped', 'masked']), column: text, detail: text })),
    'what has become of its columns, for the caller',
  ),
  created_at: time,
  created_by: described(text, 'subject'),
})
const version = object({
  version: ordinal,
  state: oneOf(metricStates),
  sha256: text,
  kind: oneOf(metricKinds),
  created_at: time,
  created_by: described(text, 'subject'),
})
const path = '/api/v1/metrics'
const common = { tag: 'metrics' } as const

/** The definition of a metric in a request. */
export const metricInput = object({
  ...about,
  ...computation,
  metric: metricName,
  of: computation.metric,
  kind: maybe(oneOf(metricKinds)),
  table: maybe(tableIdentifier),
  state: maybe(described(oneOf(['draft', 'active']), 'default `active`')),
})

/** The metric that a request defines. */
export function givenMetric(input: Omit<Static<typeof metricInput>, 'metric'>): GivenMetric {
  const { of, kind = 'simple', state = 'active', default_grain: defaultGrain, ...given } = input
  const { semi_additive: semi, to_date: toDate, ...others } = given
  const { offset_window: offsetWindow, offset_to_grain: offsetToGrain, ...moved } = others
  const { constant_properties: constant, ...rest } = moved
  return {
    ...rest,
    ...{ kind, state, defaultGrain, toDate, metric: of, offsetWindow, offsetToGrain, constant },
    semiAdditive: semi && { ...semi, over: semi.over ?? [] },
  }
}

export const metricOperations = [
  operation({
    ...common,
    name: 'put_metric',
    summary: 'Defines a metric as its next version',
    method: 'PUT',
    path: `${path}/{metric}`,
    access: defining,
    gives: { nothing: 'own input' },
    input: metricInput,
    output: metric,
    faults: {
      not_found: 'There is no such table.',
      conflict: 'Another metric in force means the same term.',
      unprocessable: 'The metric cannot be computed.',
    },
    examples: [
      {
        input: {
          metric: 'revenue',
          table: { namespace: ['sales'], name: 'orders' },
          expression: 'sum(amount)',
          filter: "status = 'paid'",
          unit: 'EUR',
        },
      },
    ],
    run: async (context, { metric: name, ...given }) => {
      await putMetric(await changeOf(context), name, givenMetric(given))
      return await showMetric(askingOf(context), name)
    },
  }),
  operation({
    ...common,
    name: 'move_metric',
    summary: 'Moves a version of a metric to another state',
    method: 'POST',
    path: `${path}/{metric}/versions/{version}/move`,
    access: defining,
    gives: { nothing: 'own input' },
    input: object({ metric: metricName, version: ordinal, to: oneOf(['active', 'deprecated', 'retired']) }),
    output: version,
    status: 200,
    faults: {
      not_found: 'There is no such version of the metric.',
      conflict: 'Its state does not allow the move, or another metric means the same term.',
    },
    run: async (context, { metric: name, version: number, to }) =>
      versionView(await moveMetric(await changeOf(context), name, number, to)),
  }),
  operation({
    ...common,
    name: 'show_metric',
    summary: 'A metric: its version in force, else its newest',
    method: 'GET',
    path: `${path}/{metric}`,
    access: asking,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object({ metric: metricName }),
    output: metric,
    faults: { not_found: 'There is no such metric, or its table may not be read.' },
    run: (context, { metric: name }) => showMetric(askingOf(context), name),
  }),
  operation({
    ...common,
    name: 'list_metrics',
    summary: 'The metrics that the caller may ask for, by name',
    method: 'GET',
    path,
    access: asking,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object({ all: maybe(described(flag, 'drafts and retired ones as well')), ...pageInput }),
    output: pageOf(metric),
    run: (context, { all = false, ...page }) =>
      listMetricViews(askingOf(context), { ...pageRequest(page), inForce: !all }),
  }),
  operation({
    ...common,
    name: 'list_metric_versions',
    summary: 'The versions of a metric, newest first',
    method: 'GET',
    path: `${path}/{metric}/versions`,
    access: asking,
    gives: { visible: ['description'] },
    input: object({ metric: metricName, ...pageInput }),
    output: pageOf(version),
    faults: { not_found: 'There is no such metric, or its table may not be read.' },
    run: async ({ parts, caller }, { metric: name, ...page }) => {
      // It may be asked for under the same condition.
      await showMetric(askingOf({ parts, caller }), name)
      const { items, next } = await listMetricVersions(parts.store, caller.tenant, name, pageRequest(page))
      return { items: items.map(versionView), next_page_token: next }
    },
  }),
]

function versionView({ number, state, sha256, definition, at, by }: Awaited<ReturnType<typeof moveMetric>>) {
  return { version: number, state, sha256, kind: definition.computation.kind, created_at: at, created_by: by }
}
