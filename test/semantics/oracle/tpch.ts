/** A warehouse like TPC-H, small, with its semantic layer, and the same metrics and dimensions by hand. */

import type { Principal } from '../../../src/core/principal.ts'
import type { SemanticModel } from '../../../src/core/semantic-model.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import { generator } from '../../support/generator.ts'
import type { Hand } from './hand.ts'
import { binder, type Value, type Warehouse, type WarehouseTable } from './warehouse.ts'

const readers: readonly Principal[] = [
  { sub: 'audit', roles: ['officer'] },
  { sub: 'ann', roles: ['analyst', 'finance'] },
  { sub: 'ivy', roles: ['intern'] },
  { sub: 'nil', roles: [] },
]

const random = generator(7)
const below = (count: number) => Math.floor(random() * count)
const pick = (...from: readonly Value[]): Value => from[below(from.length)] ?? null
/** A decimal of two digits, from 0 up to `most`. */
const money = (most: number) => Number((random() * most).toFixed(2))
const day = (from: string, days: number) =>
  new Date(Date.parse(from) + below(days) * 86_400_000).toISOString().slice(0, 10)
const rows = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index + 1))

const regionNames = ['AFRICA', 'AMERICA', 'EUROPE']
const nationNames = ['KENYA', 'PERU', 'CANADA', 'FRANCE', 'GERMANY', 'ROMANIA']
const suppliers = 8
const parts = 20
const customers = 30
const orders = 160

const supplied = rows(parts, (part) => [part, (part % suppliers) + 1]).flatMap(([part = 0, one = 0]) => [
  [part, one],
  [part, (one % suppliers) + 1],
])

const mask = (column: string, action: string, shown: string, ...exempt: readonly string[]) => ({
  ...{ column, action, shown, exempt: ['officer', ...exempt] },
})
const filter = (expression: string, ...exempt: readonly string[]) => ({
  ...{ expression, exempt: ['officer', ...exempt] },
})

const tables: readonly WarehouseTable[] = [
  {
    name: 'region',
    columns: 'l r_regionkey, t r_name',
    rows: regionNames.map((name, index) => [index, name]),
  },
  {
    name: 'nation',
    columns: 'l n_nationkey, t n_name, l n_regionkey',
    rows: nationNames.map((name, index) => [index, name, index < 1 ? 0 : index < 3 ? 1 : 2]),
    filters: [filter("n_name <> 'PERU'", 'finance')],
  },
  {
    name: 'supplier',
    columns: 'l s_suppkey, t s_name, l s_nationkey',
    rows: rows(suppliers, (key) => [key, `Supplier ${key}`, below(nationNames.length)]),
    masks: [mask('s_name', 'sha-256-global', "encode(sha256(convert_to(s_name, 'UTF8')), 'hex')", 'finance')],
  },
  {
    name: 'part',
    columns: 'l p_partkey, t p_brand, i p_size',
    rows: rows(parts, (key) => [key, pick('Brand A', 'Brand B', 'Brand C', null), below(50)]),
  },
  {
    name: 'partsupp',
    columns: 'l ps_partkey, l ps_suppkey, i ps_availqty, n ps_supplycost',
    rows: supplied.map(([part = 0, one = 0]) => [part, one, below(100), money(100)]),
    masks: [mask('ps_supplycost', 'mask-to-fixed-value', '0.00::numeric(12,2)', 'finance')],
  },
  {
    name: 'customer',
    columns: 'l c_custkey, t c_name, l c_nationkey, t c_phone, n c_acctbal, t c_mktsegment',
    rows: rows(customers, (key) => [
      ...[key, `Customer ${key}`, pick(0, 1, 2, 3, 4, 5, 77), `10-${1000 + below(4)}`, money(9_000)],
      pick('BUILDING', 'MACHINERY', 'HOUSEHOLD', null),
    ]),
    filters: [filter("c_mktsegment <> 'MACHINERY'")],
    masks: [
      mask('c_name', 'replace-with-null', 'null::text'),
      mask('c_phone', 'show-last-4', "'nn-' || right(c_phone, 4)"),
      mask('c_acctbal', 'replace-with-null', 'null::numeric(12,2)', 'finance'),
    ],
  },
  {
    name: 'orders',
    columns:
      'l o_orderkey, l o_custkey, t o_orderstatus, n o_totalprice, d o_orderdate, t o_orderpriority, b o_paid',
    rows: rows(orders, (key) => [
      ...[key, pick(below(customers) + 1, below(customers) + 1, null), pick('O', 'F', 'P', null)],
      ...[key % 17 === 0 ? null : money(50_000), key % 23 === 0 ? null : day('1995-11-20', 500)],
      ...[pick('1-URGENT', '3-MEDIUM', '5-LOW'), pick(true, false, null)],
    ]),
    filters: [
      filter("has_role('analyst') OR has_role('intern')"),
      filter("current_principal() <> 'ivy' OR o_orderpriority <> '5-LOW'"),
    ],
    masks: [
      mask('o_totalprice', 'replace-with-null', 'null::numeric(12,2)', 'finance'),
      mask(
        'o_orderdate',
        'truncate-to-month',
        "date_trunc('month', o_orderdate::timestamp)::date",
        'analyst',
      ),
    ],
  },
  {
    name: 'lineitem',
    columns:
      'l l_orderkey, l l_partkey, l l_suppkey, i l_linenumber, n l_quantity, n l_extendedprice, n l_discount, n l_tax, t l_returnflag, t l_linestatus, d l_shipdate, d l_commitdate, d l_receiptdate, t l_shipmode',
    rows: rows(orders, (key) => key).flatMap((key) =>
      rows(below(5), (line) => {
        const [part = 0, one = 0] = supplied[below(supplied.length)] ?? []
        return [
          ...[key % 31 === 0 ? 9_999 : key, part, one, line, below(50) + 1, money(1_000)],
          ...[pick(0, 0.05, 0.1, null), pick(0, 0.02, 0.08), pick('R', 'A', 'N'), pick('O', 'F')],
          ...[day('1995-12-01', 480), day('1995-12-20', 480), day('1995-12-20', 480)],
          pick('AIR', 'RAIL', 'SHIP', null),
        ]
      }),
    ),
    filters: [filter("l_shipmode IS DISTINCT FROM 'AIR' AND l_quantity < 45", 'analyst')],
    masks: [mask('l_discount', 'mask-to-fixed-value', '0.00::numeric(12,2)', 'analyst')],
  },
]

const namespace = 'tpch'
export const tpch: Warehouse = { namespace, tables, readers }

const { ref, fieldIds, dimension, metric, simple } = binder(tpch)
const relationship = (
  table: string,
  name: string,
  to: string,
  columns: readonly string[],
  key: readonly string[],
) => ({ name, to: ref(to), columns: fieldIds(table, columns), key: fieldIds(to, key) })
const of = (
  table: string,
  key: readonly string[],
  dimensions: readonly ReturnType<typeof dimension>[],
  relationships: readonly ReturnType<typeof relationship>[] = [],
  timeDimension?: string,
) => ({
  ...{ table: ref(table), number: 1, key: fieldIds(table, key), dimensions, relationships },
  ...(timeDimension !== undefined && { timeDimension }),
})

const models = [
  of('region', ['r_regionkey'], [dimension('region', 'name', 'r_name')]),
  of(
    'nation',
    ['n_nationkey'],
    [dimension('nation', 'name', 'n_name')],
    [relationship('nation', 'region', 'region', ['n_regionkey'], ['r_regionkey'])],
  ),
  of(
    'supplier',
    ['s_suppkey'],
    [dimension('supplier', 'name', 's_name')],
    [relationship('supplier', 'nation', 'nation', ['s_nationkey'], ['n_nationkey'])],
  ),
  of(
    'part',
    ['p_partkey'],
    [
      dimension('part', 'brand', 'p_brand'),
      dimension('part', 'size_class', "case when p_size < 25 then 'small' else 'large' end"),
    ],
  ),
  of(
    'partsupp',
    ['ps_partkey', 'ps_suppkey'],
    [dimension('partsupp', 'scarce', 'ps_availqty < 30')],
    [
      relationship('partsupp', 'part', 'part', ['ps_partkey'], ['p_partkey']),
      relationship('partsupp', 'supplier', 'supplier', ['ps_suppkey'], ['s_suppkey']),
    ],
  ),
  of(
    'customer',
    ['c_custkey'],
    [
      dimension('customer', 'segment', 'c_mktsegment'),
      dimension('customer', 'phone', 'c_phone'),
      dimension('customer', 'name', 'c_name'),
    ],
    [relationship('customer', 'nation', 'nation', ['c_nationkey'], ['n_nationkey'])],
  ),
  of(
    'orders',
    ['o_orderkey'],
    [
      dimension('orders', 'status', 'o_orderstatus', { term: 'status' }),
      dimension('orders', 'priority', 'o_orderpriority'),
      dimension('orders', 'paid', 'o_paid'),
      dimension('orders', 'ordered_on', 'o_orderdate', { kind: 'time' }),
    ],
    [relationship('orders', 'customer', 'customer', ['o_custkey'], ['c_custkey'])],
    'ordered_on',
  ),
  of(
    'lineitem',
    ['l_orderkey', 'l_linenumber'],
    [
      dimension('lineitem', 'status', 'l_linestatus', { term: 'status' }),
      dimension('lineitem', 'flag', 'l_returnflag'),
      dimension('lineitem', 'mode', "coalesce(l_shipmode, 'none')"),
      dimension('lineitem', 'late', 'l_receiptdate > l_commitdate'),
      dimension('lineitem', 'shipped_on', 'l_shipdate', { kind: 'time' }),
    ],
    [
      relationship('lineitem', 'order', 'orders', ['l_orderkey'], ['o_orderkey']),
      relationship('lineitem', 'part', 'part', ['l_partkey'], ['p_partkey']),
      relationship('lineitem', 'supplier', 'supplier', ['l_suppkey'], ['s_suppkey']),
      relationship(
        'lineitem',
        'supply',
        'partsupp',
        ['l_partkey', 'l_suppkey'],
        ['ps_partkey', 'ps_suppkey'],
      ),
    ],
    'shipped_on',
  ),
]

const metrics = [
  simple('revenue', 'lineitem', 'sum(l_extendedprice * (1 - l_discount))'),
  simple('charge', 'lineitem', 'sum(l_extendedprice * (1 - l_discount) * (1 + l_tax))'),
  simple('quantity', 'lineitem', 'sum(l_quantity)'),
  simple('lines', 'lineitem', 'count(*)'),
  simple('parts_sold', 'lineitem', 'count(distinct l_partkey)'),
  simple('returned', 'lineitem', 'sum(l_quantity)', "l_returnflag = 'R'"),
  simple('late_lines', 'lineitem', 'count(*)', 'l_receiptdate > l_commitdate'),
  simple('discount', 'lineitem', 'avg(l_discount)'),
  simple('last_receipt', 'lineitem', 'max(l_receiptdate)'),
  metric('return_rate', { kind: 'ratio', numerator: 'returned', denominator: 'quantity' }),
  metric('tax', { kind: 'derived', expression: 'charge - revenue', metrics: ['charge', 'revenue'] }),
  simple('order_count', 'orders', 'count(*)'),
  simple('order_value', 'orders', 'sum(o_totalprice)'),
  simple('buyers', 'orders', 'count(distinct o_custkey)'),
  simple('urgent', 'orders', 'count(*)', "o_orderpriority = '1-URGENT'"),
  simple('spread', 'orders', 'max(o_totalprice) - min(o_totalprice)'),
  metric('order_average', { kind: 'ratio', numerator: 'order_value', denominator: 'order_count' }),
  metric('urgent_percent', {
    kind: 'derived',
    expression: '100 * urgent / order_count',
    metrics: ['urgent', 'order_count'],
  }),
  metric('lines_by_order', { kind: 'ratio', numerator: 'lines', denominator: 'order_count' }),
  metric('value_so_far', { kind: 'cumulative', metric: 'order_value' }),
  metric('orders_of_year', { kind: 'cumulative', metric: 'order_count', toDate: 'year' }),
  metric('buyers_of_quarter', {
    ...{ kind: 'cumulative', metric: 'buyers', window: { count: 3, grain: 'month' } },
  }),
  simple('available', 'partsupp', 'sum(ps_availqty)'),
  simple('stock_value', 'partsupp', 'sum(ps_supplycost * ps_availqty)'),
  simple('balance', 'customer', 'sum(c_acctbal)'),
  simple('customers', 'customer', 'count(*)'),
]

export const tpchModel: SemanticModel = {
  tables: new Map(models.map((each) => [tableKey(each.table), each])),
  metrics: new Map(metrics.map((each) => [each.name, each])),
  attestations: new Map(),
}

const ratio = (one: string, other: string) => `{${one}}::float8 / nullif({${other}}::float8, 0)`
const onLines = (sql: string) => ({ fact: 'lineitem', sql })
const onOrders = (sql: string) => ({ fact: 'orders', sql })

export const tpchHand: Hand = {
  from: '1995-11-01',
  to: '1997-06-01',
  unordered: ['paid', 'late', 'supply__scarce', 'scarce', 'order__paid'],
  facts: {
    lineitem: {
      from: `lineitem left join orders on l_orderkey = o_orderkey left join customer on o_custkey = c_custkey
        left join nation cn on c_nationkey = cn.n_nationkey left join part on l_partkey = p_partkey
        left join supplier on l_suppkey = s_suppkey left join nation sn on s_nationkey = sn.n_nationkey
        left join region sr on sn.n_regionkey = sr.r_regionkey
        left join partsupp on l_partkey = ps_partkey and l_suppkey = ps_suppkey`,
      time: 'l_shipdate',
      dimensions: {
        status: 'l_linestatus',
        flag: 'l_returnflag',
        mode: "coalesce(l_shipmode, 'none')",
        late: '(l_receiptdate > l_commitdate)',
        order__paid: 'o_paid',
        order__priority: 'o_orderpriority',
        order__ordered_on: 'o_orderdate',
        order__customer__segment: 'c_mktsegment',
        order__customer__nation__name: 'cn.n_name',
        part__brand: 'p_brand',
        part__size_class: "case when p_size < 25 then 'small' else 'large' end",
        supplier__name: 's_name',
        supplier__nation__region__name: 'sr.r_name',
        supply__scarce: '(ps_availqty < 30)',
      },
    },
    orders: {
      from: `orders left join customer on o_custkey = c_custkey left join nation cn on c_nationkey = cn.n_nationkey
        left join region cr on cn.n_regionkey = cr.r_regionkey`,
      time: 'o_orderdate',
      dimensions: {
        status: 'o_orderstatus',
        priority: 'o_orderpriority',
        paid: 'o_paid',
        customer__segment: 'c_mktsegment',
        customer__phone: 'c_phone',
        customer__name: 'c_name',
        customer__nation__region__name: 'cr.r_name',
      },
    },
    partsupp: {
      from: `partsupp left join part on ps_partkey = p_partkey left join supplier on ps_suppkey = s_suppkey
        left join nation sn on s_nationkey = sn.n_nationkey left join region sr on sn.n_regionkey = sr.r_regionkey`,
      dimensions: {
        scarce: '(ps_availqty < 30)',
        part__brand: 'p_brand',
        supplier__name: 's_name',
        supplier__nation__region__name: 'sr.r_name',
      },
    },
    customer: {
      from: 'customer left join nation on c_nationkey = n_nationkey left join region on n_regionkey = r_regionkey',
      dimensions: { segment: 'c_mktsegment', phone: 'c_phone', nation__region__name: 'r_name' },
    },
  },
  metrics: {
    revenue: onLines('sum(l_extendedprice * (1 - l_discount))'),
    charge: onLines('sum(l_extendedprice * (1 - l_discount) * (1 + l_tax))'),
    quantity: onLines('sum(l_quantity)'),
    lines: onLines('count(l_orderkey)'),
    parts_sold: onLines('count(distinct l_partkey)'),
    returned: onLines("sum(case when l_returnflag = 'R' then l_quantity end)"),
    late_lines: onLines('count(case when l_receiptdate > l_commitdate then 1 end)'),
    discount: onLines('sum(l_discount) / nullif(count(l_discount), 0)'),
    last_receipt: onLines('max(l_receiptdate)'),
    return_rate: { made: ratio('returned', 'quantity') },
    tax: { made: '{charge} - {revenue}' },
    order_count: onOrders('count(o_orderkey)'),
    order_value: onOrders('sum(o_totalprice)'),
    buyers: onOrders('count(distinct o_custkey)'),
    urgent: onOrders("count(case when o_orderpriority = '1-URGENT' then 1 end)"),
    spread: onOrders('max(o_totalprice) - min(o_totalprice)'),
    order_average: { made: ratio('order_value', 'order_count') },
    urgent_percent: { made: '100 * {urgent} / nullif({order_count}, 0)' },
    lines_by_order: { made: ratio('lines', 'order_count') },
    value_so_far: { fact: 'orders', sql: 'sum(o_totalprice)', since: undefined },
    orders_of_year: { fact: 'orders', sql: 'count(o_orderkey)', since: "date_trunc('year', p.lo)" },
    buyers_of_quarter: {
      fact: 'orders',
      sql: 'count(distinct o_custkey)',
      since: "date_trunc('month', p.hi - interval '1 second') - interval '2 months'",
    },
    available: { fact: 'partsupp', sql: 'sum(ps_availqty)' },
    stock_value: { fact: 'partsupp', sql: 'sum(ps_supplycost * ps_availqty)' },
    balance: { fact: 'customer', sql: 'sum(c_acctbal)' },
    customers: { fact: 'customer', sql: 'count(c_custkey)' },
  },
  values: {
    status: ['O', 'F', 'P'],
    flag: ['R', 'A', 'N'],
    mode: ['AIR', 'RAIL', 'none'],
    late: ['t', 'f'],
    paid: ['t', 'f'],
    scarce: ['t', 'f'],
    order__paid: ['t', 'f'],
    supply__scarce: ['t', 'f'],
    priority: ['1-URGENT', '5-LOW'],
    order__priority: ['1-URGENT', '5-LOW'],
    order__ordered_on: ['1996-03-01', '1996-08-17', '1997-01-05'],
    segment: ['BUILDING', 'MACHINERY'],
    customer__segment: ['BUILDING', 'MACHINERY'],
    order__customer__segment: ['HOUSEHOLD', 'MACHINERY'],
    phone: ['nn-1002', '10-1001'],
    customer__phone: ['nn-1002', '10-1001'],
    customer__name: ['Customer 3', 'Customer 12'],
    order__customer__nation__name: ['PERU', 'FRANCE'],
    customer__nation__region__name: ['AMERICA', 'EUROPE'],
    nation__region__name: ['AMERICA', 'EUROPE'],
    part__brand: ['Brand A', 'Brand C'],
    part__size_class: ['small', 'large'],
    supplier__name: ['Supplier 3', 'Supplier 5'],
    supplier__nation__region__name: ['AFRICA', 'EUROPE'],
  },
}
