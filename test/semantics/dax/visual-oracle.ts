/** What requests for metrics give for a visual of random-visual.ts: one request for each set of its groups. */

import { systemClock } from '../../../src/base/clock.ts'
import type { MetricRequest } from '../../../src/query/compile/metrics/request.ts'
import { queryMetrics } from '../../../src/semantics/query-metrics.ts'
import type { Lake } from '../../support/lake.ts'
import { contextOf, type Reader } from '../mdx/cube-lake.ts'

export interface Field {
  /** In DAX. */
  readonly dax: string
  readonly dimension: MetricRequest['dimensions'][number]
}

/** A filter as a table of DAX, and as a filter of a request. */
export interface FilterPair {
  readonly dax: string
  readonly where: MetricRequest['where']
}

/** The request, and what it is in DAX. */
export interface Visual {
  readonly query: string
  readonly metrics: readonly string[]
  readonly fields: readonly Field[]
  /** Places of the fields that groups have: all of them, and those of subtotals. */
  readonly sets: readonly (readonly number[])[]
  readonly where: MetricRequest['where']
  /** Whether it has one row, also without rows to measure. */
  readonly isCard?: boolean
  /** Only groups with the most, or with more orders than that. */
  readonly only?: { readonly top: number } | { readonly above: number }
  /** Only rows that have a value of this field with the most orders. */
  readonly topOf?: { readonly field: Field; readonly top: number }
  /** Orders of each group under a filter more, and orders of all there is, as last columns. */
  readonly highlight?: FilterPair
  readonly hasAll?: boolean
  /** How the rows of the groups become those of the result. */
  readonly shape?: 'values' | 'matrix' | 'bounds'
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

/** The rows of a visual by requests for metrics, one for each set of its groups. */
export async function rowsByRequests(ask: AskMetrics, visual: Visual): Promise<readonly Row[]> {
  const { fields: own, sets } = visual
  const where = [...visual.where, ...(await topFilter(ask, visual))]
  const all = visual.hasAll === true ? (await ask({ metrics: ['orders'] }))[0]?.[0] : undefined
  const found: { readonly set: readonly number[]; readonly row: Row }[] = []
  for (const set of sets) {
    const dimensions = set.flatMap((place) => own[place]?.dimension ?? [])
    const keysOf = (row: Row) => comparable([row.slice(0, set.length)]).join()
    const more = visual.highlight && (await ask(ordersOf(dimensions, [...where, ...visual.highlight.where])))
    const highlighted = new Map(more?.map((row) => [keysOf(row), row[set.length] ?? null]))
    for (const row of await ask({ metrics: visual.metrics, dimensions, where })) {
      // A total of no rows is not shown.
      if (set.length === 0 && Number(row[0]) === 0) continue
      const keys = own.map((_, place) => (set.includes(place) ? (row[set.indexOf(place)] ?? null) : null))
      const values = [
        ...row.slice(set.length),
        ...(more === undefined ? [] : [blankForZero(highlighted.get(keysOf(row)))]),
        ...(all === undefined ? [] : [all]),
      ]
      found.push({ set, row: [...keys, ...values] })
    }
  }
  const rows = found.map(({ row }) => row)
  if (visual.isCard === true && rows.length === 0) return [visual.metrics.map(() => null)]
  if (visual.shape === 'values') return rows.map((row) => row.slice(0, own.length))
  if (visual.shape === 'bounds') return boundsOf(rows.map((row) => row[own.length] ?? null))
  if (visual.shape === 'matrix') return matrixOf(found, own.length)
  const { only } = visual
  const orders = (row: Row) => Number(row[own.length])
  if (only === undefined) return rows
  if ('above' in only) return rows.filter((row) => orders(row) > only.above)
  const least = rows.map(orders).sort((one, other) => other - one)[only.top - 1] ?? 0
  return rows.filter((row) => orders(row) >= least)
}

const ordersOf = (dimensions: MetricRequest['dimensions'], where: MetricRequest['where']) => ({
  ...{ metrics: ['orders'], dimensions, where },
})

const blankForZero = (value: Row[number] | undefined) =>
  value === undefined || value === null || Number(value) === 0 ? null : value

/** The filter by the values of a field that have the most orders. */
async function topFilter(ask: AskMetrics, { topOf, where }: Visual): Promise<MetricRequest['where']> {
  if (topOf === undefined) return []
  const groups = await ask(ordersOf([topOf.field.dimension], where))
  const least = groups.map((row) => Number(row[1])).sort((one, other) => other - one)[topOf.top - 1] ?? 0
  const values = groups.filter((row) => Number(row[1]) >= least).map((row) => String(row[0]))
  // Nothing is the top of nothing.
  const { name } = topOf.field.dimension
  return [{ dimension: name, operator: 'in', values: values.length > 0 ? values : ['nothing at all'] }]
}

function boundsOf(values: Row): readonly Row[] {
  const sorted = values.map(Number).sort((one, other) => one - other)
  return sorted.length === 0 ? [] : [[sorted[0] ?? null, sorted.at(-1) ?? null]]
}

/** The last field becomes the place of its value among all of them, BLANK first and the total last. */
function matrixOf(
  found: readonly { readonly set: readonly number[]; readonly row: Row }[],
  width: number,
): readonly Row[] {
  const last = width - 1
  const keyOf = (row: Row) => comparable([[row[last] ?? null]])[0] ?? ''
  const columns = new Map<string, Row[number]>()
  for (const { set, row } of found) if (set.includes(last)) columns.set(keyOf(row), row[last] ?? null)
  const order = [...columns.entries()].sort(([, one], [, other]) => compare(one, other)).map(([key]) => key)
  return found.map(({ set, row }) => [
    ...row.slice(0, last),
    ...row.slice(width),
    set.includes(last) ? order.indexOf(keyOf(row)) : order.length,
  ])
}

function compare(one: Row[number], other: Row[number]): number {
  if (one === null || other === null) return Number(other === null) - Number(one === null)
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : Number(one > other)
  return Number(one) - Number(other)
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
