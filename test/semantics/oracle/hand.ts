/**
 * Writes requests for metrics by hand, as PostgreSQL's SQL over the views of a reader: one subquery for each metric that
 * reads a table, joined on the list of all groups. It knows nothing of the compiler under test.
 */

import type { Grain } from '../../../src/core/metric.ts'
import {
  filterOperators,
  type MetricFilter,
  type MetricRequest,
} from '../../../src/query/compile/metrics/request.ts'

export interface Fact {
  /** Its rows, each beside the rows that it leads to. */
  readonly from: string
  readonly time?: string
  /** Each dimension as SQL. */
  readonly dimensions: Readonly<Record<string, string>>
}

export type HandMetric =
  | { readonly fact: string; readonly sql: string; readonly edge?: Edge }
  /** `{name}` stands for another metric. */
  | { readonly made: string }
  | { readonly fact: string; readonly sql: string; readonly since: Since }

/** The rows of one moment of each group count. */
export interface Edge {
  readonly take: 'min' | 'max'
  readonly of: string
  readonly over: readonly string[]
}

/** Where an accumulation begins, as SQL over a period `p` from `lo` up to `hi`. */
export type Since = string | undefined

export interface Hand {
  readonly facts: Readonly<Record<string, Fact>>
  readonly metrics: Readonly<Record<string, HandMetric>>
  /** Values to filter a dimension by. */
  readonly values: Readonly<Record<string, readonly string[]>>
  /** Dimensions that have no order. */
  readonly unordered: readonly string[]
  /** The range of the times. */
  readonly from: string
  readonly to: string
}

type Leaf = Exclude<HandMetric, { readonly made: string }>

const metricOf = ({ metrics }: Hand, name: string): HandMetric => {
  const found = metrics[name]
  if (found === undefined) throw new Error(`no metric ${name}`)
  return found
}
const factOf = ({ facts }: Hand, name: string): Fact => {
  const found = facts[name]
  if (found === undefined) throw new Error(`no fact ${name}`)
  return found
}

/** The metrics that read a table, of which a metric is made. */
function leavesOf(hand: Hand, name: string): readonly string[] {
  const found = metricOf(hand, name)
  if (!('made' in found)) return [name]
  return [...found.made.matchAll(/\{(\w+)\}/g)].flatMap(([, part = '']) => leavesOf(hand, part))
}

const leafOf = (hand: Hand, name: string): Leaf => {
  const found = metricOf(hand, name)
  if ('made' in found) throw new Error(`${name} reads no table`)
  return found
}

const isCumulative = (leaf: Leaf): boolean => 'since' in leaf

const grains = ['day', 'week', 'month', 'quarter', 'year'] as const satisfies readonly Grain[]

/** A request for which there is an answer. */
export function randomRequest(hand: Hand, random: () => number): MetricRequest {
  const pick = <T>(from: readonly T[]): T => {
    const found = from[Math.floor(random() * from.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
  const some = <T>(from: readonly T[], atMost: number) =>
    from.length === 0
      ? []
      : [...new Set(Array.from({ length: Math.floor(random() * (atMost + 1)) }, () => pick(from)))]
  const names = Object.keys(hand.metrics)
  const metrics = [...new Set([pick(names), ...some(names, 3)])]
  const leaves = metrics.flatMap((name) => leavesOf(hand, name)).map((name) => leafOf(hand, name))
  const facts = [...new Set(leaves.map(({ fact }) => fact))].map((name) => factOf(hand, name))
  const hasTime = facts.every(({ time }) => time !== undefined)
  const isRanged = leaves.some(isCumulative)
  // An accumulation goes along the time that all have.
  if (isRanged && !hasTime) return randomRequest(hand, random)
  const shared = Object.keys(facts[0]?.dimensions ?? {}).filter((name) =>
    facts.every(({ dimensions }) => name in dimensions),
  )
  const where = some(shared, 2).map((dimension): MetricFilter => {
    const isOrdered = !hand.unordered.includes(dimension)
    const operator = pick(
      filterOperators.filter((each) => isOrdered || !['<', '<=', '>', '>='].includes(each)),
    )
    const values = hand.values[dimension] ?? []
    if (operator.startsWith('is')) return { dimension, operator, values: [] }
    if (operator.endsWith('in')) return { dimension, operator, values: [pick(values), pick(values)] }
    return { dimension, operator, values: [pick(values)] }
  })
  const days = (Date.parse(hand.to) - Date.parse(hand.from)) / 86_400_000
  const moment = (least: number, most: number) =>
    new Date(Date.parse(hand.from) + Math.floor(least + random() * (most - least)) * 86_400_000)
  const from = moment(0, days / 3)
  const grain = pick(grains)
  // Every day of an accumulation counts all rows before it, so a month of them is enough.
  const isShort = isRanged && grain === 'day'
  const to = isShort ? new Date(from.getTime() + 30 * 86_400_000) : moment((2 * days) / 3, days)
  const dimensions = some(shared, 3).map((name) => ({ name }))
  // By a key, because keys tell all rows apart and so what a limit cuts.
  const isCut = dimensions.length > 0 && random() < 0.25
  return {
    metrics,
    dimensions,
    where,
    ...(hasTime && (isRanged || random() < 0.5) && { grain }),
    ...(hasTime && (isRanged || random() < 0.3) && { from }),
    ...(hasTime && (isRanged || random() < 0.3) && { to }),
    orderBy: isCut ? [{ name: pick(dimensions).name, descending: random() < 0.5 }] : [],
    limit: isCut ? 5 : 1_000_000,
  }
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
const dayOf = (moment: Date) => literal(moment.toISOString().slice(0, 10))

function conditionOf(sql: string, { operator, values }: MetricFilter): string {
  if (operator.startsWith('is')) return `${sql} ${operator}`
  if (operator.endsWith('in')) return `${sql} ${operator} (${values.map(literal).join(', ')})`
  return `${sql} ${operator} ${literal(values[0] ?? '')}`
}

/** The request as PostgreSQL's SQL over the tables by their names. */
export function byHand(hand: Hand, request: MetricRequest): string {
  const { metrics, dimensions, grain } = request
  const names = [...(grain ? ['metric_time'] : []), ...dimensions.map(({ name }) => name)]
  const columns = names.map((_, index) => `k${index}`)
  const leaves = [...new Set(metrics.flatMap((name) => leavesOf(hand, name)))]
  // The keys as one text: PostgreSQL joins by it at once, and it tells NULL from an empty text.
  const parts = leaves.map(
    (name) =>
      `select s.*, row(${columns.map((column) => `s.${column}`).join(', ')})::text as k from (${leafSql(hand, request, names, leafOf(hand, name))}) s`,
  )
  const all = parts.map((sql) => `select ${[...columns, 'k'].join(', ')} from (${sql}) p`)
  const value = (name: string): string => {
    const found = metricOf(hand, name)
    if (!('made' in found)) return `p${leaves.indexOf(name)}.v`
    return `(${found.made.replaceAll(/\{(\w+)\}/g, (_, part: string) => value(part))})`
  }
  const outputs = [...columns.map((column) => `g.${column}`), ...metrics.map(value)]
  const joins = parts.map((sql, index) => ` left join (${sql}) p${index} on g.k = p${index}.k`)
  const first = request.orderBy.map(
    ({ name, descending }) => `g.k${names.indexOf(name)}${descending ? ' desc' : ''} nulls last`,
  )
  const order = [...first, ...columns.map((column) => `g.${column} nulls last`)]
  const sorted = order.length > 0 ? ` order by ${order.join(', ')}` : ''
  return `select ${outputs.join(', ')} from (${all.join(' union ')}) g${joins.join('')}${sorted} limit ${request.limit}`
}

/** One metric by its groups: the keys `k0` and so on, and its value `v`. */
function leafSql(hand: Hand, request: MetricRequest, names: readonly string[], leaf: Leaf): string {
  const fact = factOf(hand, leaf.fact)
  const { grain = 'day', from, to, where } = request
  const isAccumulated = isCumulative(leaf)
  const keys = names.map((name) => {
    if (name !== 'metric_time') return fact.dimensions[name] ?? 'missing'
    return isAccumulated ? 'p.lo::date' : `date_trunc('${grain}', ${fact.time}::timestamp)::date`
  })
  const conditions = where.map((filter) =>
    conditionOf(fact.dimensions[filter.dimension] ?? 'missing', filter),
  )
  if (!isAccumulated && from) conditions.push(`${fact.time} >= ${dayOf(from)}`)
  if (!isAccumulated && to) conditions.push(`${fact.time} < ${dayOf(to)}`)
  const keyed = keys.map((key, index) => `${key} as k${index}`)
  const group = keys.length > 0 ? ` group by ${keys.map((_, index) => index + 1).join(', ')}` : ''
  const kept = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''
  if ('edge' in leaf && leaf.edge !== undefined) {
    const { take, of, over } = leaf.edge
    const within = [...keys, ...over]
    const partition = within.length > 0 ? `partition by ${within.join(', ')}` : ''
    const rows = `select *, ${[...keyed, `${of} = ${take}(${of}) over (${partition}) as here`].join(', ')} from ${fact.from}${kept}`
    const columns = keys.map((_, index) => `k${index}`)
    const outer = columns.length > 0 ? ` group by ${columns.join(', ')}` : ''
    return `select ${[...columns, `${leaf.sql} filter (where here) as v`].join(', ')} from (${rows}) r${outer}`
  }
  const periods =
    'since' in leaf && from && to
      ? `(select lo, lo + interval '${grain === 'quarter' ? '3 months' : `1 ${grain}`}' as hi from generate_series(date_trunc('${grain}', ${dayOf(from)}::timestamp), ${dayOf(to)}::timestamp - interval '1 second', interval '${grain === 'quarter' ? '3 months' : `1 ${grain}`}') lo) p join (${fact.from}) on ${'since' in leaf && leaf.since !== undefined ? `${fact.time} >= ${leaf.since} and ` : ''}${fact.time} < p.hi`
      : fact.from
  return `select ${[...keyed, `${leaf.sql} as v`].join(', ')} from ${periods}${kept}${group}`
}
