/** Declares list_metrics and query_metric: the tenant's metrics, and their numbers as the caller may see the columns. */

import { Type } from '@sinclair/typebox'
import { cleanText } from '../../../base/clean-text.ts'
import { Fault } from '../../../base/fault.ts'
import { parseRfc3339 } from '../../../base/rfc3339.ts'
import { askedWords } from '../../../contract/asked-words.ts'
import { grains } from '../../../core/metric.ts'
import { type TableRef, tableKey, tableName } from '../../../core/table-ref.ts'
import {
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  text,
  uuid,
  wholeNumber,
} from '../../../http/schemas.ts'
import { filterOperators } from '../../../query/compile/metrics/request.ts'
import { listMetricViews, type MetricView, showMetric } from '../../../semantics/describe-metric.ts'
import { calculationsOfTables, type TableCalculations } from '../../../semantics/list-calculations.ts'
import { queryMetrics } from '../../../semantics/query-metrics.ts'
import { metricRequest } from '../../../semantics/query-operation.ts'
import { type AskedWord, type PlacedText, rankTexts, wordsIn } from '../../../store/search/rank-texts.ts'
import { mcpBounds } from '../bounds.ts'
import { assertBudgetLeft } from '../byte-budget.ts'
import { cursorInput, cursorsOf } from '../cursor.ts'
import { fitting, listBytes } from '../fitting.ts'
import { type ToolContext, tool } from '../tool.ts'
import { charsMax, cleanName, untrusted, untrustedMark } from '../untrusted.ts'
import { catalogInput, chosenCatalog } from './catalogs.ts'
import { purposeInput, queryContextOf } from './query.ts'

const listedDefault = 20
/** Metrics that one search looks at, those that it loads together, and dimensions that are shown of one. */
const lookedAtMax = 2_000
const pageMax = 200
const dimensionsShown = 50
/** KPIs, and named sets, that are shown of one metric. */
const calculationsShown = 20

const askingOf = ({ parts: { store, clock }, caller: { tenant, principal } }: ToolContext) => ({
  ...{ store, clock, tenant, principal },
})

export const listMetrics = tool({
  name: 'list_metrics',
  description:
    'List metrics that you may ask for, best first for words of yours: name, meaning, unit. With `names`: also tables, KPIs, named sets, and the dimensions that query_metric needs. Prefer metrics to SQL of your own.',
  hints: {
    not_found: 'List the metrics without `names`.',
  },
  scope: 'mcp:read',
  gives: { visible: ['existence', 'description', 'columns'] },
  input: object({
    query: maybe(
      Type.String({
        maxLength: 200,
        description: 'words; stems and synonyms of the glossary count, and one word is enough',
      }),
    ),
    names: maybe(list(nonEmpty, { maxItems: 10, description: 'metrics to tell all of' })),
    limit: maybe(Type.Integer({ minimum: 1, maximum: 50, default: listedDefault })),
    cursor: cursorInput,
  }),
  output: object({
    metrics: list(
      object({
        ...untrustedMark,
        name: text,
        description: maybe(text),
        unit: maybe(text),
        masked: maybe(flag),
        term: maybe(text),
        tables: maybe(list(text)),
        dimensions: maybe(list(object({ name: text, kind: text }))),
        kpis: maybe(
          described(
            list(
              object({
                ...{ name: text, table: text, description: maybe(text), value: text },
                ...{ goal: maybe(text), status: maybe(text), trend: maybe(text) },
              }),
            ),
            'of which it is a part; each part is a metric or MDX',
          ),
        ),
        sets: maybe(
          described(
            list(object({ name: text, table: text, description: maybe(text), expression: text })),
            'named sets of its tables, in MDX',
          ),
        ),
      }),
    ),
    next_cursor: maybe(text),
    hint: maybe(described(text, 'what to do where nothing was found')),
  }),
  async run(context, { query, names, limit: given, cursor }) {
    context.parts.licensed.require('metrics')
    if (names !== undefined && names.length > 0) {
      const views = await Promise.all(names.map((name) => showMetric(askingOf(context), name)))
      const placed = await calculationsOf(context, views)
      const whole = views.map((view) => ({ ...wholeView(view), ...calculationsView(view, placed) }))
      return { metrics: [...fitting(whole, listBytes(given))] }
    }
    const limit = given ?? listedDefault
    const cursors = await cursorsOf(context, 'list_metrics', { query })
    const words = await askedWords(context.parts.store, context.caller.tenant, query)
    const after = cursors.open(cursor)
    const page = await (words.length === 0
      ? metricsByName(context, limit, after)
      : metricsByRank(context, words, limit, after))
    const shown = fitting(
      page.found.map(({ view }) => shortView(view)),
      listBytes(given),
    )
    const end = shown.length < page.found.length ? page.found[shown.length - 1]?.position : page.next
    return {
      metrics: [...shown],
      next_cursor: cursors.seal(end),
      ...(shown.length === 0 && end === undefined && { hint: nothingFound }),
    }
  },
})

const nothingFound =
  'No metric that you may ask for has one of these words. Try other words, call without any to list all metrics, or find tables with find_datasets.'

interface MetricPage {
  readonly found: readonly { readonly view: MetricView; readonly position: string }[]
  readonly next: string | undefined
}

async function metricsByName(
  context: ToolContext,
  limit: number,
  after: string | undefined,
): Promise<MetricPage> {
  const page = { limit, inForce: true, ...(after !== undefined && { after }) }
  const { items, next_page_token: next } = await listMetricViews(askingOf(context), page)
  return { found: items.map((view) => ({ view, position: view.name })), next }
}

/** The best of all metrics, up to a bound. A position is a place in their order. */
async function metricsByRank(
  context: ToolContext,
  words: readonly AskedWord[],
  limit: number,
  after = '0',
): Promise<MetricPage> {
  const views: MetricView[] = []
  let from: string | undefined
  do {
    const page = { limit: pageMax, inForce: true, ...(from !== undefined && { after: from }) }
    const { items, next_page_token: next } = await listMetricViews(askingOf(context), page)
    views.push(...items)
    from = next
  } while (from !== undefined && views.length < lookedAtMax)
  const { store } = context.parts
  const ranks = await rankTexts(store, context.caller.tenant, views.map(textsOf), words)
  const start = Number(after)
  const found = ranks.slice(start, start + limit).flatMap(({ index }, at) => {
    const view = views[index]
    return view === undefined ? [] : [{ view, position: String(start + at + 1) }]
  })
  return { found, next: ranks.length > start + limit ? String(start + limit) : undefined }
}

function textsOf({
  name,
  label = '',
  term = '',
  description = '',
  dimensions,
}: MetricView): readonly PlacedText[] {
  return [
    { place: 'name', weight: 'A', text: wordsIn(name) },
    { place: 'label', weight: 'A', text: label },
    { place: 'term', weight: 'B', text: wordsIn(term) },
    { place: 'dimension', weight: 'C', text: dimensions.map((one) => wordsIn(one.name)).join('\n') },
    { place: 'description', weight: 'D', text: description },
  ]
}

function shortView({ name, label, description, unit, problems }: MetricView) {
  const meaning = [label, description].filter((one) => one !== undefined).join(': ')
  return {
    ...untrusted,
    name,
    ...(meaning !== '' && { description: cleanText(meaning, charsMax.name) }),
    ...(unit !== undefined && { unit: cleanName(unit) }),
    ...(problems.some(({ kind }) => kind === 'masked') && { masked: true }),
  }
}

function wholeView(metric: MetricView) {
  const { term, tables, dimensions } = metric
  return {
    ...shortView(metric),
    ...(term !== undefined && { term }),
    tables: tables.map((table) => cleanName(tableName(table))),
    dimensions: dimensions
      .slice(0, dimensionsShown)
      .map(({ name: dimension, kind }) => ({ name: dimension, kind })),
  }
}

/** What the caller's cubes have of the tables of metrics, by tableKey. */
async function calculationsOf(
  context: ToolContext,
  metrics: readonly MetricView[],
): Promise<ReadonlyMap<string, TableCalculations>> {
  const tables = metrics.flatMap((metric) => metric.tables)
  if (!hasSemanticLayer(context.parts)) return new Map()
  const found = await calculationsOfTables(askingOf(context), tables)
  return new Map(tables.map((table, place) => [tableKey(table), found[place] ?? { kpis: [], sets: [] }]))
}

/** Without a license for the models of tables none of it is shown. */
function hasSemanticLayer({ licensed }: ToolContext['parts']): boolean {
  try {
    licensed.require('semantic-layer')
    return true
  } catch {
    return false
  }
}

const partText = (text: string | undefined) =>
  text === undefined ? undefined : cleanText(text, charsMax.description)

/** The KPIs of which a metric is a part, and the named sets of its tables. */
function calculationsView({ name, tables }: MetricView, placed: ReadonlyMap<string, TableCalculations>) {
  const of = <T>(pick: (found: TableCalculations) => readonly T[]) =>
    tables
      .flatMap((table: TableRef) => {
        const found = placed.get(tableKey(table))
        const title = cleanName(tableName(table))
        return found === undefined ? [] : pick(found).map((one) => ({ one, table: title }))
      })
      .slice(0, calculationsShown)
  const member = `[Measures].[${name}]`
  const isPart = (text: string | undefined) => text !== undefined && (text === name || text.includes(member))
  const kpis = of((found) =>
    found.kpis.filter(({ value, goal, status, trend, weight }) =>
      [value, goal, status, trend, weight].some(isPart),
    ),
  )
  const sets = of((found) => found.sets)
  const meaning = ({ label, description }: { readonly label?: string; readonly description?: string }) => {
    const said = [label, description].filter((each) => each !== undefined).join(': ')
    return said === '' ? {} : { description: cleanText(said, charsMax.name) }
  }
  return {
    ...(kpis.length > 0 && {
      kpis: kpis.map(({ one, table }) => ({
        ...{ name: one.name, table, ...meaning(one), value: partText(one.value) ?? '' },
        ...{ goal: partText(one.goal), status: partText(one.status), trend: partText(one.trend) },
      })),
    }),
    ...(sets.length > 0 && {
      sets: sets.map(({ one, table }) => ({
        ...{ name: one.name, table, ...meaning(one), expression: partText(one.expression) ?? '' },
      })),
    }),
  }
}

const grain = oneOf(grains)

export const queryMetric = tool({
  name: 'query_metric',
  description:
    'Compute metrics by dimensions, without SQL. Masks and row filters apply; `restricted_by` names tables whose rows are filtered for you.',
  hints: {
    not_found: 'Find metrics with list_metrics.',
    bad_request: 'See the dimensions of a metric by list_metrics with `names`.',
    unprocessable: 'See the dimensions of a metric by list_metrics with `names`.',
    '0A000': 'Ask for other dimensions, or write SQL for query.',
    '42601': 'See the dimensions of a metric by list_metrics with `names`.',
    '42703': 'See the dimensions of a metric by list_metrics with `names`.',
    '42501': 'Its table may not be read: list_metrics has the metrics that you may ask for.',
  },
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
    from: maybe(described(text, 'a date, or a time as in RFC 3339, of metric_time; included')),
    to: maybe(described(text, 'as `from`; excluded')),
    limit: maybe(Type.Integer({ minimum: 1, maximum: mcpBounds.rowsMax, default: mcpBounds.rows })),
    catalog: catalogInput,
    purpose: purposeInput,
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
  async run(context, { catalog, purpose, grain: wanted, from, to, limit = mcpBounds.rows, ...input }) {
    const { parts, reader, signal } = context
    parts.licensed.require('metrics')
    await assertBudgetLeft(context)
    // A metric over a table that may not be read answers like one that there is not.
    for (const name of input.metrics) await showMetric(askingOf(context), name)
    const chosen = await chosenCatalog(context, catalog)
    const on = queryContextOf(context, chosen, purpose)
    const sessionCheck = reader.openCheck()
    const request = metricRequest({
      ...input,
      limit,
      ...(wanted !== undefined && { grain: grainOf(wanted) }),
      ...(from !== undefined && { from: timeOf('from', from) }),
      ...(to !== undefined && { to: timeOf('to', to) }),
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

/** A day begins at midnight in UTC. @throws Fault `bad_request` */
function timeOf(member: string, written: string): Date {
  const time = parseRfc3339(/^\d{4}-\d\d-\d\d$/.test(written) ? `${written}T00:00:00Z` : written)
  if (time !== undefined) return time
  throw new Fault(
    'bad_request',
    `\`${member}\` must be a date, such as 2026-01-31, or a time as in RFC 3339.`,
  )
}

/** @throws Fault `bad_request` */
function grainOf(name: string): (typeof grains)[number] {
  const found = grains.find((one) => one === name)
  if (found === undefined) throw new Fault('bad_request', `\`grain\` must be one of ${grains.join(', ')}.`)
  return found
}
