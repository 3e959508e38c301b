/** POST /api/v1/metrics/query: answers a request for metrics. */

import { Type } from '@sinclair/typebox'
import { requestReader } from '../auth/request-reader.ts'
import { grains } from '../core/metric.ts'
import {
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  nullable,
  object,
  oneOf,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../http/schemas.ts'
import { filterOperators, type MetricRequest } from '../query/compile/metrics/request.ts'
import { semanticBounds } from './bounds.ts'
import { asking, operation } from './parts.ts'
import { queryMetrics, restBounds } from './query-metrics.ts'

const cell = Type.Unsafe<unknown>({})

/** Members of a request for metrics, without the catalog. */
const metricRequestMembers = {
  metrics: list(nonEmpty, { minItems: 1, maxItems: 50 }),
  dimensions: maybe(list(object({ name: nonEmpty, grain: maybe(oneOf(grains)) }), { maxItems: 20 })),
  where: maybe(
    list(
      object({
        dimension: nonEmpty,
        operator: oneOf(filterOperators),
        values: maybe(described(list(text, { maxItems: 1_000 }), 'text forms of PostgreSQL')),
      }),
      { maxItems: 50 },
    ),
  ),
  grain: maybe(described(oneOf(grains), 'groups by `metric_time`, the time of each metric')),
  from: maybe(described(time, 'of `metric_time`, included')),
  to: maybe(described(time, 'of `metric_time`, excluded')),
  order_by: maybe(list(object({ name: nonEmpty, descending: maybe(flag) }), { maxItems: 70 })),
  limit: maybe(Type.Integer({ minimum: 1, maximum: semanticBounds.rowsMax, default: 1_000 })),
}

interface MetricRequestInput {
  readonly metrics: readonly string[]
  readonly dimensions?: MetricRequest['dimensions'] | undefined
  readonly where?:
    | readonly {
        readonly dimension: string
        readonly operator: MetricRequest['where'][number]['operator']
        readonly values?: readonly string[] | undefined
      }[]
    | undefined
  readonly grain?: MetricRequest['grain']
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly order_by?:
    | readonly { readonly name: string; readonly descending?: boolean | undefined }[]
    | undefined
  readonly limit?: number | undefined
}

/** The request that a body holds. */
export function metricRequest(input: MetricRequestInput): MetricRequest {
  const {
    metrics,
    dimensions = [],
    where = [],
    grain,
    from,
    to,
    order_by: orderBy = [],
    limit = 1_000,
  } = input
  return {
    metrics,
    dimensions,
    where: where.map(({ values = [], ...filter }) => ({ ...filter, values })),
    ...(grain && { grain }),
    ...(from && { from }),
    ...(to && { to }),
    orderBy: orderBy.map(({ name, descending = false }) => ({ name, descending })),
    limit,
  }
}

/** What a request for metrics answers. */
export const metricAnswer = object({
  query_id: uuid,
  columns: list(
    object({
      name: text,
      type: text,
      kind: oneOf(['dimension', 'metric']),
      unit: maybe(text),
      format: maybe(text),
    }),
  ),
  rows: list(list(cell)),
  truncated: flag,
  contracts: list(object({ id: text, version: wholeNumber })),
  as_of: list(object({ table: tableIdentifier, snapshot_id: maybe(nullable(text)), pinned: flag })),
  restricted_by: described(list(tableIdentifier), 'tables of which a row filter hides rows'),
  masked: list(object({ table: tableIdentifier, column: text, action: maybe(text) })),
  warnings: list(text),
})

export const metricQueryOperations = [
  operation({
    name: 'query_metrics',
    tag: 'metrics',
    summary: 'Computes metrics by dimensions, as the caller may see their columns',
    method: 'POST',
    path: '/api/v1/metrics/query',
    access: asking,
    gives: { visible: ['existence', 'columns', 'values', 'counts'] },
    input: object({
      catalog: described(nonEmpty, 'nickname of a catalog credential'),
      ...metricRequestMembers,
    }),
    output: metricAnswer,
    status: 200,
    faults: {
      bad_request: 'The body is malformed, or the metrics cannot be asked for so; `error.sqlstate` says why.',
      forbidden: 'The session lacks the scope `read`, there is no license, or a table may not be read.',
      not_found: 'There is no such catalog.',
      conflict: 'A pinned snapshot or a column of a metric is gone, or governance changed meanwhile.',
      unprocessable:
        'A metric would be added up over what it does not add up over; `error.reason` is `semi_additive`.',
      upstream_failed: 'The upstream catalog did not reply.',
    },
    examples: [
      {
        input: {
          catalog: 'lake',
          metrics: ['revenue'],
          dimensions: [{ name: 'region' }],
          grain: 'month',
          from: '2026-01-01T00:00:00Z',
        },
      },
    ],
    run: async ({ parts, caller, signal }, { catalog, ...input }) => {
      const { tenant, principal, principalSource, ...reader } = requestReader(parts.store, caller)
      const on = {
        tenant,
        principal,
        principalSource,
        reader,
        surface: 'rest',
        catalog,
        searchPath: [],
        purpose: caller.purpose,
      } as const
      return await queryMetrics(parts, on, metricRequest(input), restBounds, signal)
    },
  }),
]
