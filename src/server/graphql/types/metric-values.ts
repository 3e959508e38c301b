/** Numbers of metrics: the one request of every surface, answered by the read path as the caller may see the columns. */

import { requestReader } from '../../../auth/request-reader.ts'
import { Fault } from '../../../base/fault.ts'
import { type Grain, grains } from '../../../core/metric.ts'
import { tableName } from '../../../core/table-ref.ts'
import { type FilterOperator, filterOperators } from '../../../query/compile/metrics/request.ts'
import type { QueryContext } from '../../../query/query-service.ts'
import type { Cell } from '../../../query/run/json-rows.ts'
import { showMetric } from '../../../semantics/describe-metric.ts'
import { queryMetrics } from '../../../semantics/query-metrics.ts'
import { metricQueryOperations, metricRequest } from '../../../semantics/query-operation.ts'
import { accessOf, requireAccess } from '../access.ts'
import { graphqlBounds } from '../bounds.ts'
import type { Builder } from '../builder.ts'
import type { GraphContext } from '../context.ts'

const access = accessOf(metricQueryOperations, 'query_metrics')

type Answered = Awaited<ReturnType<typeof queryMetrics>>

interface Asked {
  readonly catalog: string
  readonly metrics: readonly string[]
  readonly dimensions?: readonly { readonly name: string; readonly grain?: string | null }[] | null
  readonly where?:
    | readonly {
        readonly dimension: string
        readonly operator: string
        readonly values?: readonly string[] | null
      }[]
    | null
  readonly grain?: string | null
  readonly from?: Date | null
  readonly to?: Date | null
  readonly orderBy?: readonly { readonly name: string; readonly descending?: boolean | null }[] | null
  readonly first: number
}

/** Adds the types, and `metricValues` to Query. */
export function addMetricValues(builder: Builder): void {
  const dimension = builder.inputType('MetricDimensionInput', {
    fields: (t) => ({
      name: t.string({ required: true }),
      grain: t.string({ description: `Of a time: ${grains.join(', ')}.` }),
    }),
  })
  const filter = builder.inputType('MetricFilterInput', {
    fields: (t) => ({
      dimension: t.string({ required: true }),
      operator: t.string({ required: true, description: filterOperators.join(', ') }),
      values: t.stringList({ description: 'Text forms of PostgreSQL.' }),
    }),
  })
  const order = builder.inputType('MetricOrderInput', {
    fields: (t) => ({ name: t.string({ required: true }), descending: t.boolean() }),
  })
  const column = builder.objectRef<Answered['columns'][number]>('MetricColumn').implement({
    fields: (t) => ({
      name: t.exposeString('name'),
      type: t.exposeString('type'),
      kind: t.exposeString('kind', { description: '`dimension` or `metric`.' }),
      unit: t.string({ nullable: true, resolve: ({ unit }) => unit ?? null }),
    }),
  })
  const values = builder.objectRef<Answered>('MetricValues').implement({
    description: 'Metrics by dimensions, computed from what you may see.',
    fields: (t) => ({
      queryId: t.exposeID('query_id'),
      columns: t.field({ type: [column], resolve: ({ columns }) => columns }),
      rows: t.field({
        type: t.listRef(t.listRef('String', { nullable: true })),
        description: 'Values as texts, in the order of `columns`.',
        resolve: ({ rows }) => rows.map((row) => row.map(textOf)),
      }),
      truncated: t.exposeBoolean('truncated'),
      restrictedBy: t.stringList({
        description: 'Tables of which a row filter hides rows from you.',
        resolve: ({ restricted_by: tables }) => tables.map(tableName),
      }),
      masked: t.stringList({
        description: 'Columns of which a mask hides values from you.',
        resolve: ({ masked }) => masked.map((one) => `${tableName(one.table)}.${one.column}`),
      }),
      warnings: t.stringList({ resolve: ({ warnings }) => warnings }),
    }),
  })
  builder.queryField('metricValues', (t) =>
    t.field({
      type: values,
      nullable: true,
      description: 'Computes metrics by dimensions, as you may see their columns.',
      args: {
        catalog: t.arg.string({ required: true, description: 'Nickname of a catalog credential.' }),
        metrics: t.arg.stringList({ required: true }),
        dimensions: t.arg({ type: [dimension] }),
        where: t.arg({ type: [filter] }),
        grain: t.arg.string({ description: 'Groups by `metric_time`, the time of each metric.' }),
        from: t.arg({ type: 'DateTime' }),
        to: t.arg({ type: 'DateTime' }),
        orderBy: t.arg({ type: [order] }),
        first: t.arg.int({ required: true, description: `Rows, ${graphqlBounds.metricRowsMax} at most.` }),
      },
      resolve: (_, args, context) => valuesOf(context, args as Asked),
    }),
  )
}

const textOf = (cell: Cell | undefined): string | null => {
  if (cell === null || cell === undefined) return null
  return typeof cell === 'string' ? cell : JSON.stringify(cell)
}

/** @throws Fault, SqlError as the REST operation; `not_found` for a metric over a table that may not be read */
async function valuesOf({ parts, store, caller, signal }: GraphContext, asked: Asked): Promise<Answered> {
  requireAccess(parts, caller, access)
  const { clock, queries } = parts
  const { tenant, principal } = caller
  for (const name of asked.metrics) await showMetric({ store, clock, tenant, principal }, name)
  const { principal: known, principalSource, ...reader } = requestReader(parts.store, caller)
  const { catalog } = asked
  const on: QueryContext = {
    ...{ tenant, principal: known, principalSource, reader, surface: 'graphql', catalog, searchPath: [] },
    purpose: caller.purpose,
  }
  const { metricRowsMax: rowsMax, metricBytesMax: bytesMax } = graphqlBounds
  const bounds = { rowsMax, bytesMax, charsMax: bytesMax, timeMs: graphqlBounds.operationMs }
  return await queryMetrics({ store: parts.store, clock, queries }, on, requestOf(asked), bounds, signal)
}

/** @throws Fault `bad_request` for what the schema of REST does not take */
function requestOf({ metrics, dimensions, where, orderBy, grain, from, to, first }: Asked) {
  const { metricRowsMax } = graphqlBounds
  if (first < 1 || first > metricRowsMax)
    throw new Fault('bad_request', `\`first\` is ${first}; it must be from 1 to ${metricRowsMax}.`)
  const long = [metrics, dimensions, where, orderBy].some((list) => (list?.length ?? 0) > 50)
  const many = where?.some(({ values }) => (values?.length ?? 0) > 1_000)
  if (long || many) throw new Fault('bad_request', 'A list of the request is too long.')
  return metricRequest({
    metrics,
    dimensions: (dimensions ?? []).map(({ name, grain: of }) => ({ name, grain: grainOf(of) })),
    where: (where ?? []).map(({ operator, values, ...filter }) => ({
      ...filter,
      operator: oneOf<FilterOperator>('operator', filterOperators, operator),
      values: values ?? [],
    })),
    order_by: (orderBy ?? []).map(({ name, descending }) => ({ name, descending: descending === true })),
    grain: grainOf(grain),
    from: from ?? undefined,
    to: to ?? undefined,
    limit: first,
  })
}

const grainOf = (name: string | null | undefined): Grain | undefined =>
  name == null ? undefined : oneOf('grain', grains, name)

function oneOf<T extends string>(what: string, names: readonly T[], name: string): T {
  const found = names.find((one) => one === name)
  if (found === undefined) throw new Fault('bad_request', `\`${what}\` must be one of ${names.join(', ')}.`)
  return found
}
