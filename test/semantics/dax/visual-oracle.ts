/**
 * Random queries in DAX of the shapes that reports write, and what requests for metrics give for each: groups with
 * subtotals, slicers, ranges, top rows, filters by values, cards.
 */

import { systemClock } from '../../../src/base/clock.ts'
import type { MetricRequest } from '../../../src/query/compile/metrics/request.ts'
import { queryMetrics } from '../../../src/semantics/query-metrics.ts'
import type { Lake } from '../../support/lake.ts'
import { contextOf, type Reader } from '../mdx/cube-lake.ts'

interface Field {
  /** In DAX. */
  readonly dax: string
  readonly dimension: MetricRequest['dimensions'][number]
}

const field = (dax: string, name: string, grain?: 'month' | 'quarter' | 'year'): Field => ({
  dax,
  dimension: { name, grain },
})

const fields: readonly Field[] = [
  field("'orders'[region]", 'region'),
  field("'orders'[paid]", 'paid'),
  field("'orders'[initial]", 'initial'),
  field("'orders'[day (Month)]", 'day', 'month'),
  field("'orders'[day (Quarter)]", 'day', 'quarter'),
  field("'orders'[day (Year)]", 'day', 'year'),
  field("'area'[name]", 'area__name'),
  // An address, a number or a note for many rows, some of them NULL.
  field("'orders'[qty]", 'qty'),
  field("'orders'[email]", 'email'),
  field("'orders'[note]", 'note'),
]
const narrow = 7
const metrics = ['revenue', 'buyers', 'basket', 'stock'] as const

/** A filter as a table of DAX, and as a filter of a request. */
interface FilterPair {
  readonly dax: string
  readonly where: MetricRequest['where']
}

/** The request, and what it is in DAX. */
export interface Visual {
  readonly query: string
  readonly metrics: readonly string[]
  readonly fields: readonly Field[]
  /** Counts of fields that groups have: all of them, and those of subtotals. */
  readonly levels: readonly number[]
  readonly where: MetricRequest['where']
  /** Only groups with the most, or with more orders than that. */
  /** Whether it has one row, also without rows to measure. */
  readonly isCard?: boolean
  readonly only?: { readonly top: number } | { readonly above: number }
}

export type Row = readonly (string | number | boolean | bigint | null)[]

/** Reads a request as the principal. */
export type AskMetrics = (request: Partial<MetricRequest>) => Promise<readonly Row[]>

/** Asks for metrics of a lake as one of its readers. */
export function askingMetrics(
  lake: Pick<Lake, 'app' | 'store' | 'tenant' | 'catalog'>,
  who: Reader,
): AskMetrics {
  const parts = { store: lake.store, clock: systemClock, queries: lake.app.queries }
  const bounds = { rowsMax: 10_000, bytesMax: 1e8, charsMax: 1e8 }
  return async (given) => {
    const request: MetricRequest = {
      metrics: [],
      dimensions: [],
      where: [],
      orderBy: [],
      limit: 10_000,
      ...given,
    }
    const { rows } = await queryMetrics(
      parts,
      contextOf(lake, who),
      request,
      bounds,
      new AbortController().signal,
    )
    return rows as readonly Row[]
  }
}

const day = (number: number) => new Date(Date.UTC(2024, 0, 1 + number)).toISOString().slice(0, 10)
const dateOf = (text: string) => `DATE(${text.split('-').map(Number).join(', ')})`

function randomFilter(random: () => number): FilterPair {
  const below = (count: number) => Math.floor(random() * count)
  const regions = ['north', 'south', 'east', 'west', 'nowhere'].filter(() => random() < 0.5)
  const list = regions.map((region) => `"${region}"`).join(', ')
  const from = below(365)
  const span = [day(from), day(from + 1 + below(120))] as const
  const where = (
    dimension: string,
    operator: MetricRequest['where'][number]['operator'],
    ...values: string[]
  ) => ({
    ...{ dimension, operator, values },
  })
  switch (below(8)) {
    case 0:
      if (regions.length === 0) break
      return {
        dax: `TREATAS({${list}}, 'orders'[region])`,
        where: [where('region', 'in', ...regions)],
      }
    case 1:
      if (regions.length === 0) break
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[region])), NOT('orders'[region] IN {${list}}))`,
        where: [where('region', 'not in', ...regions)],
      }
    case 2:
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[day])), AND('orders'[day] >= ${dateOf(span[0])}, 'orders'[day] < ${dateOf(span[1])}))`,
        where: [where('day', '>=', span[0]), where('day', '<', span[1])],
      }
    case 3:
      return { dax: `TREATAS({TRUE()}, 'orders'[paid])`, where: [where('paid', '=', 't')] }
    case 4: {
      const least = below(60) - 30
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[qty])), 'orders'[qty] > ${least})`,
        where: [where('qty', '>', String(least))],
      }
    }
    case 5:
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT(ISBLANK('orders'[note])))`,
        where: [where('note', 'is not null')],
      }
    case 6:
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[initial])), OR(SEARCH("N", 'orders'[initial], 1, 0) >= 1, LEFT('orders'[initial], 1) = "w"))`,
        where: [where('initial', 'in', 'n', 'w')],
      }
  }
  return {
    dax: `TREATAS({"east", "west"}, 'area'[name])`,
    where: [where('area__name', 'in', 'east', 'west')],
  }
}

/** A visual over the cube of cube-lake.ts. */
export function randomVisual(random: () => number): Visual {
  const below = (count: number) => Math.floor(random() * count)
  const left = [...fields.slice(0, random() < 0.2 ? fields.length : narrow)]
  const picked = Array.from({ length: below(4) }, () => left.splice(below(left.length), 1)).flat()
  // Several grains of one time are one dimension of a request.
  const own = picked.filter(
    (each, place) => picked.findIndex(({ dimension }) => dimension.name === each.dimension.name) === place,
  )
  const shown = ['orders', ...metrics.filter(() => random() < 0.4)]
  const filters = Array.from({ length: below(3) }, () => randomFilter(random))
  // A column that two variables filter is filtered by both.
  const names = filters.map((_, place) => `__DS0FilterTable${place === 0 ? '' : place + 1}`)
  const define = filters.map(({ dax }, place) => `VAR ${names[place]} = ${dax}`)
  const measures = shown.map((name, place) => {
    const written =
      below(3) === 0 ? `CALCULATE([${name}])` : below(2) === 0 ? `[${name}]` : `'orders'[${name}]`
    return `"v${place}", ${written}`
  })
  const base = { metrics: shown, fields: own, where: filters.flatMap(({ where }) => where) }
  const columns = own.map(({ dax }) => dax)
  const core = (groups: readonly string[]) =>
    `SUMMARIZECOLUMNS(${[...groups, ...names, ...measures].join(', ')})`
  const written = (body: string, more: readonly string[] = []) =>
    `${define.length + more.length > 0 ? `DEFINE ${[...define, ...more].join(' ')} ` : ''}EVALUATE ${body}`
  const plain = { ...base, levels: [own.length] }
  if (own.length === 0)
    return random() < 0.5
      ? { ...plain, query: written(core([])) }
      : {
          ...plain,
          query: written(`CALCULATETABLE(ROW(${measures.join(', ')}), ${names.join(', ') || 'ALL()'})`),
          isCard: true,
        }
  switch (below(6)) {
    case 0:
    case 1: {
      // Subtotals of each column, or one total of all.
      const isGroup = random() < 0.5 && own.length > 1
      const units = isGroup
        ? `ROLLUPGROUP(${columns.join(', ')}), "IsGrandTotalRowTotal"`
        : columns.map((column, place) => `${column}, "IsTotal${place}"`).join(', ')
      const levels = isGroup ? [own.length, 0] : [own.length, ...columns.keys()]
      const query = written(`TOPN(100000, __DS0Core, [v0], 0)`, [
        `VAR __DS0Core = ${core([`ROLLUPADDISSUBTOTAL(${units})`])}`,
      ])
      return { ...base, query: `${query} ORDER BY [v0] DESC`, levels }
    }
    case 2: {
      const top = 1 + below(4)
      return {
        ...plain,
        query: written(`TOPN(${top}, __DS0Core, [v0], 0)`, [`VAR __DS0Core = ${core(columns)}`]),
        only: { top },
      }
    }
    case 3: {
      const above = below(60)
      const query = written(
        `SUMMARIZECOLUMNS(${[...columns, ...names, '__ValueFilterDM1', ...measures].join(', ')})`,
        [
          `VAR __ValueFilterDM1 = FILTER(KEEPFILTERS(SUMMARIZECOLUMNS(${[...columns, ...names, '"x", [orders]'].join(', ')})), [x] > ${above})`,
        ],
      )
      return { ...plain, query, only: { above } }
    }
    case 4: {
      const table = `SUMMARIZE('orders', ${columns.join(', ')})`
      const added = `ADDCOLUMNS(${table}, ${measures.join(', ')})`
      return {
        ...plain,
        query: written(names.length > 0 ? `CALCULATETABLE(${added}, ${names.join(', ')})` : added),
      }
    }
    default:
      return { ...plain, query: written(core(columns)) }
  }
}

/** The rows of a visual by requests for metrics, one for each subtotal. */
export async function rowsByRequests(ask: AskMetrics, visual: Visual): Promise<readonly Row[]> {
  const { fields: own, levels, where } = visual
  const found: Row[] = []
  for (const level of levels) {
    const dimensions = own.slice(0, level).map(({ dimension }) => dimension)
    const rows = await ask({ metrics: visual.metrics, dimensions, where })
    for (const row of rows) {
      // A total of no rows is not shown.
      if (level === 0 && Number(row[0]) === 0) continue
      const absent = own.slice(level).map(() => null)
      found.push([...row.slice(0, level), ...absent, ...row.slice(level)])
    }
  }
  if (visual.isCard === true && found.length === 0) return [visual.metrics.map(() => null)]
  const { only } = visual
  const orders = (row: Row) => Number(row[own.length])
  if (only === undefined) return found
  if ('above' in only) return found.filter((row) => orders(row) > only.above)
  const least = found.map(orders).sort((one, other) => other - one)[only.top - 1] ?? 0
  return found.filter((row) => orders(row) >= least)
}

/** Rows as texts that can be compared, in any order. */
export function comparable(rows: readonly Row[]): readonly string[] {
  return rows.map((row) => row.map(textOf).join(' | ')).sort()
}

/** The rows of a result without what says which are subtotals. */
export function withoutFlags({
  titles,
  rows,
}: {
  readonly titles: readonly string[]
  readonly rows: readonly Row[]
}) {
  const places = titles.flatMap((title, place) => (/^\[Is\w*Total/.test(title) ? [] : [place]))
  return rows.map((row) => places.map((place) => row[place] ?? null))
}

function textOf(value: Row[number]): string {
  if (value === null) return '~'
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (typeof value !== 'string') return Number(value).toPrecision(11)
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value).toPrecision(11) : value
}
