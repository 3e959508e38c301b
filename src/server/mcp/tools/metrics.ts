/** Declares list_metrics and query_metric: the tenant's metrics, and their numbers as the caller may see the columns. */

import { Type } from '@sinclair/typebox'
import { cleanText } from '../../../base/clean-text.ts'
import { Fault } from '../../../base/fault.ts'
import { grains } from '../../../core/metric.ts'
import { tableName } from '../../../core/table-ref.ts'
import {
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../../http/schemas.ts'
import { filterOperators } from '../../../query/compile/metrics/request.ts'
import type { QueryContext } from '../../../query/query-service.ts'
import { listMetricViews, type MetricView, showMetric } from '../../../semantics/describe-metric.ts'
import { queryMetrics } from '../../../semantics/query-metrics.ts'
import { metricRequest } from '../../../semantics/query-operation.ts'
import { mcpBounds } from '../bounds.ts'
import { assertBudgetLeft } from '../byte-budget.ts'
import { cursorsOf } from '../cursor.ts'
import { fitting, listBytes } from '../fitting.ts'
import { type ToolContext, tool } from '../tool.ts'
import { charsMax, cleanName, untrusted, untrustedMark } from '../untrusted.ts'
import { catalogInput, chosenCatalog } from './catalogs.ts'

const listedDefault = 20
/** Metrics that one call looks at, and dimensions that it shows of each. */
const lookedAtMax = 1_000
const dimensionsShown = 20

const askingOf = ({ parts: { store, clock }, caller: { tenant, principal } }: ToolContext) => ({
  ...{ store, clock, tenant, principal },
})

export const listMetrics = tool({
  name: 'list_metrics',
  description:
    'List metrics that you may ask for: meaning, unit, dimensions. Prefer them to SQL of your own.',
  scope: 'mcp:read',
  gives: { visible: ['existence', 'description', 'columns'] },
  input: object({
    query: maybe(Type.String({ maxLength: 200, description: 'words of names, labels, descriptions, terms' })),
    limit: maybe(Type.Integer({ minimum: 1, maximum: 50, default: listedDefault })),
    cursor: maybe(Type.String({ maxLength: 4_096, description: '`next_cursor` of the previous answer' })),
  }),
  output: object({
    metrics: list(
      object({
        ...untrustedMark,
        name: text,
        description: maybe(text),
        term: maybe(text),
        unit: maybe(text),
        tables: list(text),
        dimensions: list(object({ name: text, kind: text })),
        masked: maybe(flag),
      }),
    ),
    next_cursor: maybe(text),
  }),
  async run(context, { query = '', limit: given, cursor }) {
    const limit = given ?? listedDefault
    const bytesMax = listBytes(given)
    const answer = (found: readonly MetricView[], after: string | undefined) => {
      const shown = fitting(found.map(metricView), bytesMax)
      const last = shown.length < found.length ? found[shown.length - 1]?.name : after
      return { metrics: [...shown], next_cursor: cursors.seal(last) }
    }
    context.parts.licensed.require('metrics')
    const cursors = await cursorsOf(context, 'list_metrics', { query })
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    const found: MetricView[] = []
    let after = cursors.open(cursor)
    for (let seen = 0; seen < lookedAtMax; seen += limit) {
      const page = { limit, inForce: true, ...(after !== undefined && { after }) }
      const { items, next_page_token: next } = await listMetricViews(askingOf(context), page)
      for (const metric of items) {
        if (!matches(metric, words)) continue
        found.push(metric)
        if (found.length === limit) return answer(found, metric.name)
      }
      after = next
      if (next === undefined) break
    }
    return answer(found, after)
  },
})

function matches(
  { name, label = '', description = '', term = '' }: MetricView,
  words: readonly string[],
): boolean {
  const all = [name, label, description, term].join('\n').toLowerCase()
  return words.every((word) => all.includes(word))
}

function metricView({ name, label, description, term, unit, tables, dimensions, problems }: MetricView) {
  const meaning = [label, description].filter((one) => one !== undefined).join(': ')
  return {
    ...untrusted,
    name,
    ...(meaning !== '' && { description: cleanText(meaning, charsMax.name) }),
    ...(term !== undefined && { term }),
    ...(unit !== undefined && { unit: cleanName(unit) }),
    tables: tables.map((table) => cleanName(tableName(table))),
    dimensions: dimensions
      .slice(0, dimensionsShown)
      .map(({ name: dimension, kind }) => ({ name: dimension, kind })),
    ...(problems.some(({ kind }) => kind === 'masked') && { masked: true }),
  }
}

const grain = oneOf(grains)

export const queryMetric = tool({
  name: 'query_metric',
  description:
    'Compute metrics by dimensions, without SQL. Masks and row filters apply; `restricted_by` names tables whose rows are filtered for you.',
  scope: 'mcp:query',
  gives: { visible: ['existence', 'columns', 'values', 'counts'] },
  input: object({
    metrics: list(nonEmpty, { minItems: 1, maxItems: 10 }),
    dimensions: maybe(list(object({ name: nonEmpty, grain: maybe(grain) }), { maxItems: 10 })),
    where: maybe(
      list(
        object({
          dimension: nonEmpty,
          operator: oneOf(filterOperators),
          values: maybe(list(text, { maxItems: 100 })),
        }),
        { maxItems: 20 },
      ),
    ),
    grain: maybe(described(text, 'of time: hour, day, week, month, quarter, year')),
    from: maybe(time),
    to: maybe(time),
    limit: maybe(Type.Integer({ minimum: 1, maximum: mcpBounds.rowsMax, default: mcpBounds.rows })),
    catalog: catalogInput,
  }),
  output: object({
    query_id: uuid,
    result: object({
      ...untrustedMark,
      columns: list(object({ name: text, type: text, kind: text, unit: maybe(text) })),
      rows: list(list(Type.Unsafe<unknown>({}))),
    }),
    row_count: wholeNumber,
    truncated: flag,
    restricted_by: list(text),
    masked: list(text),
    warnings: list(text),
  }),
  async run(context, { catalog, grain: wanted, limit = mcpBounds.rows, ...input }) {
    const { parts, reader, signal } = context
    parts.licensed.require('metrics')
    await assertBudgetLeft(context)
    // A metric over a table that may not be read answers like one that there is not.
    for (const name of input.metrics) await showMetric(askingOf(context), name)
    const chosen = await chosenCatalog(context, catalog)
    const on: QueryContext = { ...reader.queryContext('mcp', chosen, []), agent: context.agent }
    const sessionCheck = reader.openCheck()
    const request = metricRequest({
      ...input,
      limit,
      ...(wanted !== undefined && { grain: grainOf(wanted) }),
    })
    const bounds = {
      ...{ rowsMax: limit, bytesMax: mcpBounds.rowBytes, charsMax: charsMax.value },
      ...{ timeMs: mcpBounds.callMs, sessionCheck },
    }
    const { rows, columns, ...told } = await queryMetrics(parts, on, request, bounds, signal)
    sessionCheck.ask()
    await sessionCheck.passed
    return {
      query_id: told.query_id,
      result: {
        ...untrusted,
        columns: columns.map(({ name, type, kind, unit }) => ({
          ...{ name: cleanName(name), type, kind },
          ...(unit !== undefined && { unit: cleanName(unit) }),
        })),
        rows: rows.map((row) => [...row]),
      },
      row_count: rows.length,
      truncated: told.truncated,
      restricted_by: told.restricted_by.map((table) => cleanName(tableName(table))),
      masked: told.masked.map(({ table, column }) => cleanName(`${tableName(table)}.${column}`)),
      warnings: told.warnings.map(cleanName),
    }
  },
})

/** @throws Fault `bad_request` */
function grainOf(name: string): (typeof grains)[number] {
  const found = grains.find((one) => one === name)
  if (found === undefined) throw new Fault('bad_request', `\`grain\` must be one of ${grains.join(', ')}.`)
  return found
}
