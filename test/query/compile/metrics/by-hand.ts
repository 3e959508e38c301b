/**
 * Writes requests for metrics by hand: one subquery for each metric and group, joined on a list of all groups. It knows
 * nothing of the compiler under test.
 */

import {
  filterOperators,
  type MetricFilter,
  type MetricRequest,
} from '../../../../src/query/compile/metrics/request.ts'

export interface Reader {
  readonly name: string
  /** Where PostgreSQL has what the reader sees of a table. */
  readonly from: (table: string) => string
}

/** The facts: what their rows are, and each dimension as SQL. */
const facts = {
  orders: {
    from: (at: Reader['from']) =>
      `${at('sales.orders')} o left join ${at('sales.customers')} c on o.customer_id = c.id`,
    time: 'o.ordered_on',
    dimensions: {
      status: 'o.status',
      region: 'o.region',
      is_large: '(o.amount > 50)',
      note: 'o.note',
      order: 'o.id',
      customer: 'o.customer_id',
      customer__customer: 'c.id',
      customer__city: 'c.city',
      customer__country: 'c.country',
      customer__email: 'c.email',
      customer__vip: 'c.vip',
    },
  },
  items: {
    // The compiler joins only what it needs; the key is unique, so joining all is the same.
    from: (at: Reader['from']) =>
      `${at('sales.items')} i left join ${at('sales.orders')} o on i.order_id = o.id left join ${at('sales.customers')} c on i.order_id = c.id left join ${at('sales.customers')} oc on o.customer_id = oc.id`,
    time: undefined,
    dimensions: {
      sku: 'i.sku',
      line: 'i.line',
      order: 'i.order_id',
      customer: 'i.order_id',
      order__customer: 'o.customer_id',
      order__status: 'o.status',
      order__region: 'o.region',
      order__customer__city: 'oc.city',
      customer__city: 'c.city',
      customer__country: 'c.country',
      customer__email: 'c.email',
      customer__vip: 'c.vip',
    },
  },
  customers: {
    from: (at: Reader['from']) => `${at('sales.customers')} c`,
    time: undefined,
    dimensions: { customer: 'c.id', city: 'c.city' },
  },
  employees: {
    from: (at: Reader['from']) =>
      `${at('hr.employees')} e left join ${at('hr.employees')} m on e.manager_id = m.id`,
    time: undefined,
    dimensions: { dept: 'e.dept', name: 'e.name', manager: 'e.manager_id' },
  },
} as const
type Fact = keyof typeof facts

interface HandMetric {
  readonly fact: Fact
  readonly sql: string
  /** The rows that count, given the group keys. */
  readonly edge?: { readonly of: string; readonly over: readonly string[] }
  readonly cumulative?: (time: string) => string
}

const hand: Readonly<Record<string, HandMetric>> = {
  revenue: { fact: 'orders', sql: 'sum(o.amount)' },
  paid_revenue: { fact: 'orders', sql: "sum(o.amount) filter (where o.status = 'paid')" },
  orders: { fact: 'orders', sql: 'count(o.id)' },
  buyers: { fact: 'orders', sql: 'count(distinct o.customer_id)' },
  net: {
    fact: 'orders',
    sql: 'sum(o.amount) - sum(o.quantity) filter (where o.amount is not null)',
  },
  clients: { fact: 'customers', sql: 'count(*)' },
  notes: { fact: 'orders', sql: 'count(o.note)' },
  pieces: { fact: 'items', sql: 'sum(i.qty)' },
  turnover: { fact: 'items', sql: 'sum(i.price * i.qty)' },
  french_revenue: { fact: 'orders', sql: "sum(o.amount) filter (where c.country like 'F%')" },
  of_ada: { fact: 'orders', sql: "count(*) filter (where c.email = 'CANARY.ada@example.com')" },
  vips_paid: { fact: 'orders', sql: "count(*) filter (where o.status = 'paid' and c.vip)" },
  parisian_pieces: { fact: 'items', sql: "sum(i.qty) filter (where oc.city = 'Paris')" },
  french_share: {
    fact: 'orders',
    sql: "(sum(o.amount) filter (where c.country like 'F%'))::float8 / nullif(sum(o.amount), 0)::float8",
  },
  salaries: { fact: 'employees', sql: 'sum(e.salary)' },
  heads: { fact: 'employees', sql: 'count(e.id)' },
  basket: { fact: 'orders', sql: 'sum(o.amount)::float8 / nullif(count(o.id), 0)' },
  share: {
    fact: 'orders',
    sql: "(sum(o.amount) filter (where o.status = 'paid'))::float8 / nullif(sum(o.amount), 0)::float8",
  },
  unpaid: {
    fact: 'orders',
    sql: "sum(o.amount) - coalesce(sum(o.amount) filter (where o.status = 'paid'), 0)",
  },
  stock: { fact: 'orders', sql: 'sum(o.quantity)', edge: { of: 'max', over: [] } },
  first_by_region: { fact: 'orders', sql: 'sum(o.quantity)', edge: { of: 'min', over: ['o.region'] } },
}

const groups: readonly { readonly metrics: readonly string[]; readonly facts: readonly Fact[] }[] = [
  {
    metrics: [
      'revenue',
      'paid_revenue',
      'orders',
      'buyers',
      'net',
      'notes',
      'basket',
      'share',
      'unpaid',
      'stock',
      'first_by_region',
      'french_revenue',
      'vips_paid',
      'of_ada',
      'french_share',
    ],
    facts: ['orders'],
  },
  { metrics: ['pieces', 'turnover', 'parisian_pieces'], facts: ['items'] },
  { metrics: ['salaries', 'heads'], facts: ['employees'] },
  { metrics: ['clients', 'revenue', 'orders', 'pieces'], facts: ['customers', 'orders', 'items'] },
  {
    metrics: [
      'revenue',
      'buyers',
      'french_revenue',
      'parisian_pieces',
      'pieces',
      'turnover',
      'basket',
      'pieces_per_order',
    ],
    facts: ['orders', 'items'],
  },
]

const grains = ['day', 'week', 'month', 'quarter', 'year'] as const

const filterValues: Readonly<Record<string, readonly string[]>> = {
  status: ['paid', 'open', 'cancelled'],
  region: ['EU', 'US', 'APAC', 'SECRET'],
  is_large: ['t', 'f'],
  note: ['CANARY-n1', 'x'],
  sku: ['A-100', 'B-200'],
  line: ['1', '2'],
  order: ['1', '2'],
  customer: ['1', '2', '99'],
  customer__customer: ['1', '3'],
  order__customer: ['1', '2'],
  manager: ['1'],
  dept: ['eng', 'ops', 'board'],
  name: ['amy', 'root'],
  order__status: ['paid'],
  order__region: ['EU', 'SECRET'],
  order__customer__city: ['Paris', 'Hidden'],
  customer__city: ['Paris', 'Berlin', 'Hidden'],
  customer__country: ['FRA', 'Gernxxxxxxxxx'],
  customer__email: ['e@CANARY.io'],
  customer__vip: ['t', 'f'],
}

/** A request for which there is an answer. */
export function randomRequest(random: () => number): MetricRequest {
  const pick = <T>(from: readonly T[]): T => {
    const found = from[Math.floor(random() * from.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
  const some = <T>(from: readonly T[], atMost: number) => [
    ...new Set(Array.from({ length: Math.floor(random() * (atMost + 1)) }, () => pick(from))),
  ]
  const group = pick(groups)
  const shared = Object.keys(facts[group.facts[0] ?? 'orders'].dimensions).filter((name) =>
    group.facts.every((fact) => name in facts[fact].dimensions),
  )
  const hasTime = group.facts.every((fact) => facts[fact].time !== undefined)
  const where = some(shared, 2).map((dimension): MetricFilter => {
    const operator = pick(
      filterOperators.filter((each) => dimension !== 'is_large' || !['<', '<=', '>', '>='].includes(each)),
    )
    const values = filterValues[dimension] ?? []
    if (operator.startsWith('is')) return { dimension, operator, values: [] }
    if (operator.endsWith('in')) return { dimension, operator, values: [pick(values), pick(values)] }
    return { dimension, operator, values: [pick(values)] }
  })
  return {
    metrics: [...new Set([pick(group.metrics), ...some(group.metrics, 3)])],
    dimensions: some(shared, 3).map((name) => ({ name })),
    where,
    ...(hasTime && random() < 0.5 && { grain: pick(grains) }),
    ...(hasTime && random() < 0.3 && { from: new Date('2024-01-20') }),
    ...(hasTime && random() < 0.3 && { to: new Date('2024-03-11') }),
    orderBy: [],
    limit: 1_000,
  }
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

function conditionOf(sql: string, { operator, values }: MetricFilter): string {
  if (operator.startsWith('is')) return `${sql} ${operator}`
  if (operator.endsWith('in')) return `${sql} ${operator} (${values.map(literal).join(', ')})`
  return `${sql} ${operator} ${literal(values[0] ?? '')}`
}

/** The request as PostgreSQL's SQL. */
export function byHand(request: MetricRequest, { from }: Reader): string {
  const { metrics, dimensions, where, grain } = request
  const names = [...(grain ? ['metric_time'] : []), ...dimensions.map(({ name }) => name)]
  const leaves = [
    ...new Set(metrics.flatMap((name) => (name === 'pieces_per_order' ? ['pieces', 'orders'] : [name]))),
  ]
  const keysOf = (fact: Fact) =>
    names.map((name) =>
      name === 'metric_time'
        ? `date_trunc('${grain}', ${facts[fact].time}::timestamp)::date`
        : ((facts[fact].dimensions as Readonly<Record<string, string>>)[name] ?? 'missing'),
    )
  const rowsOf = (fact: Fact) => {
    const { time, dimensions: known } = facts[fact]
    const conditions = where.map((filter) =>
      conditionOf((known as Readonly<Record<string, string>>)[filter.dimension] ?? 'missing', filter),
    )
    if (request.from) conditions.push(`${time} >= ${literal(request.from.toISOString().slice(0, 10))}`)
    if (request.to) conditions.push(`${time} < ${literal(request.to.toISOString().slice(0, 10))}`)
    return `${facts[fact].from(from)}${conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''}`
  }
  const columns = names.map((_, index) => `k${index}`)
  const parts = leaves.map((name) => {
    const { fact, sql, edge } = hand[name] ?? { fact: 'orders' as const, sql: 'missing' }
    const keys = keysOf(fact)
    const group = keys.length > 0 ? ` group by ${keys.map((_, index) => index + 1).join(', ')}` : ''
    const keyed = keys.map((key, index) => `${key} as k${index}`)
    if (edge === undefined)
      return `select ${[...keyed, `${sql} as v`].join(', ')} from ${rowsOf(fact)}${group}`
    const within = [...keys, ...edge.over]
    const over = within.length > 0 ? `partition by ${within.join(', ')}` : ''
    const rows = `select ${[...keyed, 'o.quantity as q', `o.ordered_on = ${edge.of}(o.ordered_on) over (${over}) as here`].join(', ')} from ${rowsOf(fact)}`
    const outer = columns.length > 0 ? ` group by ${columns.join(', ')}` : ''
    return `select ${[...columns, 'sum(q) filter (where here) as v'].join(', ')} from (${rows}) r${outer}`
  })
  const same = (left: string, right: string) =>
    columns.length > 0
      ? columns.map((column) => `${left}.${column} is not distinct from ${right}.${column}`).join(' and ')
      : 'true'
  const all = parts.map((sql) => `select ${columns.join(', ') || '1 as one'} from (${sql}) p`).join(' union ')
  const value = (name: string) =>
    name === 'pieces_per_order'
      ? `p${leaves.indexOf('pieces')}.v::float8 / nullif(p${leaves.indexOf('orders')}.v, 0)`
      : `p${leaves.indexOf(name)}.v`
  const outputs = [...columns.map((column) => `g.${column}`), ...metrics.map(value)]
  const joins = parts.map((sql, index) => ` left join (${sql}) p${index} on ${same('g', `p${index}`)}`)
  return `select ${outputs.join(', ')} from (${all}) g${joins.join('')}`
}
