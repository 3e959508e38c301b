/**
 * A warehouse like TPC-DS, small: sales and returns that share items, stores and customers, and an inventory that does
 * not add up over time. Its semantic layer, and the same metrics and dimensions by hand.
 */

import type { Principal } from '../../../src/core/principal.ts'
import type { SemanticModel } from '../../../src/core/semantic-model.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import { generator } from '../../support/generator.ts'
import type { Hand } from './hand.ts'
import { binder, type Value, type Warehouse, type WarehouseTable } from './warehouse.ts'

const readers: readonly Principal[] = [
  { sub: 'audit', roles: ['officer'] },
  { sub: 'bea', roles: ['buyer'] },
  { sub: 'sol', roles: ['store_1'] },
  { sub: 'nil', roles: [] },
]

const random = generator(11)
const below = (count: number) => Math.floor(random() * count)
const pick = (...from: readonly Value[]): Value => from[below(from.length)] ?? null
const money = (most: number) => Number((random() * most).toFixed(2))
const rows = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index + 1))

const days = 420
const dayOf = (key: number) =>
  new Date(Date.parse('2000-11-20') + key * 86_400_000).toISOString().slice(0, 10)
const dates = rows(days, (key): readonly Value[] => {
  const date = new Date(dayOf(key))
  return [key, dayOf(key), date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDay() % 6 === 0]
})
const items = 24
const customers = 40

const filter = (expression: string, ...exempt: readonly string[]) => ({
  ...{ expression, exempt: ['officer', ...exempt] },
})
const mask = (column: string, action: string, shown: string, ...exempt: readonly string[]) => ({
  ...{ column, action, shown, exempt: ['officer', ...exempt] },
})

const tables: readonly WarehouseTable[] = [
  { name: 'date_dim', columns: 'l d_date_sk, d d_date, i d_year, i d_moy, b d_weekend', rows: dates },
  {
    name: 'item',
    columns: 'l i_item_sk, t i_category, t i_brand, n i_wholesale_cost',
    rows: rows(items, (key) => [
      ...[key, pick('Books', 'Music', 'Sports', null), `brand ${below(5)}`, money(80)],
    ]),
    filters: [filter("i_category IS DISTINCT FROM 'Sports'", 'buyer')],
    masks: [mask('i_wholesale_cost', 'replace-with-null', 'null::numeric(12,2)', 'buyer')],
  },
  {
    name: 'store',
    columns: 'l s_store_sk, t s_state, t s_manager',
    rows: rows(4, (key) => [key, pick('TN', 'CA', 'NY'), `Manager ${key}`]),
    masks: [mask('s_manager', 'mask-to-fixed-value', "'XXXXXXXX'")],
  },
  {
    name: 'customer',
    columns: 'l c_customer_sk, t c_last_name, i c_birth_year, t c_preferred',
    rows: rows(customers, (key) => [...[key, `Name ${below(12)}`, 1940 + below(60), pick('Y', 'N', null)]]),
    masks: [
      mask(
        'c_last_name',
        'show-first-4',
        "left(c_last_name, 4) || regexp_replace(regexp_replace(substr(c_last_name, 5), '[^0-9(),.@-]', 'x', 'g'), '[0-9]', 'n', 'g')",
        'buyer',
      ),
    ],
  },
  {
    name: 'store_sales',
    columns:
      'l ss_sold_date_sk, d ss_sold_date, l ss_item_sk, l ss_customer_sk, l ss_store_sk, l ss_ticket_number, i ss_quantity, n ss_net_paid, n ss_net_profit',
    rows: rows(500, (ticket) => {
      const key = below(days) + 1
      return [
        ...[key, ticket % 41 === 0 ? null : dayOf(key), below(items) + 1, pick(below(customers) + 1, null)],
        ...[below(5) + 1, Math.ceil(ticket / 3), below(10) + 1, ticket % 29 === 0 ? null : money(500)],
        money(200) - 80,
      ]
    }),
    filters: [filter("has_role('buyer') OR has_role('store_1')"), filter('ss_store_sk = 1', 'buyer')],
    masks: [mask('ss_net_profit', 'mask-to-fixed-value', '0.00::numeric(12,2)', 'buyer')],
  },
  {
    name: 'store_returns',
    columns:
      'd sr_returned_date, l sr_item_sk, l sr_customer_sk, l sr_store_sk, i sr_return_quantity, n sr_return_amt, t sr_reason',
    rows: rows(160, () => [
      ...[dayOf(below(days) + 1), below(items) + 1, pick(below(customers) + 1, null), below(4) + 1],
      ...[below(4) + 1, money(300), pick('late', 'broken', null)],
    ]),
    filters: [filter('sr_store_sk < 3', 'buyer')],
  },
  {
    name: 'inventory',
    columns: 'l inv_date_sk, d inv_date, l inv_item_sk, l inv_warehouse_sk, i inv_quantity_on_hand',
    rows: rows(20, (week) => week * 20).flatMap((key) =>
      rows(items, (item) => item).flatMap((item) =>
        rows(2, (warehouse) => [key, dayOf(key), item, warehouse, pick(below(90), below(90), null)]).filter(
          // Not every item is counted each time.
          () => random() < 0.6,
        ),
      ),
    ),
    filters: [filter('inv_warehouse_sk = 1', 'buyer')],
  },
]

const namespace = 'tpcds'
export const tpcds: Warehouse = { namespace, tables, readers }

const { ref, fieldIds, dimension, metric, simple } = binder(tpcds)
const key = {
  date: ['date_dim', 'd_date_sk'],
  item: ['item', 'i_item_sk'],
  store: ['store', 's_store_sk'],
  customer: ['customer', 'c_customer_sk'],
} as const
const to = (table: string, name: keyof typeof key, column: string) => ({
  ...{ name, to: ref(key[name][0]), columns: fieldIds(table, [column]) },
  key: fieldIds(key[name][0], [key[name][1]]),
})
const of = (
  table: string,
  keys: readonly string[],
  dimensions: readonly ReturnType<typeof dimension>[],
  relationships: readonly ReturnType<typeof to>[] = [],
  timeDimension?: string,
) => ({
  ...{ table: ref(table), number: 1, key: fieldIds(table, keys), dimensions, relationships },
  ...(timeDimension !== undefined && { timeDimension }),
})

const models = [
  of(
    'date_dim',
    ['d_date_sk'],
    [
      dimension('date_dim', 'date', 'd_date', { kind: 'time' }),
      dimension('date_dim', 'year', 'd_year'),
      dimension('date_dim', 'month_of_year', 'd_moy'),
      dimension('date_dim', 'weekend', 'd_weekend'),
    ],
  ),
  of(
    'item',
    ['i_item_sk'],
    [
      dimension('item', 'category', 'i_category'),
      dimension('item', 'brand', 'i_brand'),
      dimension('item', 'cheap', 'i_wholesale_cost < 40'),
    ],
  ),
  of(
    'store',
    ['s_store_sk'],
    [dimension('store', 'state', 's_state'), dimension('store', 'manager', 's_manager')],
  ),
  of(
    'customer',
    ['c_customer_sk'],
    [
      dimension('customer', 'last_name', 'c_last_name'),
      dimension('customer', 'decade', 'c_birth_year / 10 * 10'),
      dimension('customer', 'preferred', 'c_preferred'),
    ],
  ),
  of(
    'store_sales',
    [],
    [dimension('store_sales', 'sold_on', 'ss_sold_date', { kind: 'time' })],
    [
      to('store_sales', 'date', 'ss_sold_date_sk'),
      to('store_sales', 'item', 'ss_item_sk'),
      to('store_sales', 'store', 'ss_store_sk'),
      to('store_sales', 'customer', 'ss_customer_sk'),
    ],
    'sold_on',
  ),
  of(
    'store_returns',
    [],
    [
      dimension('store_returns', 'returned_on', 'sr_returned_date', { kind: 'time' }),
      dimension('store_returns', 'reason', 'sr_reason'),
    ],
    [
      to('store_returns', 'item', 'sr_item_sk'),
      to('store_returns', 'store', 'sr_store_sk'),
      to('store_returns', 'customer', 'sr_customer_sk'),
    ],
    'returned_on',
  ),
  of(
    'inventory',
    ['inv_date_sk', 'inv_item_sk', 'inv_warehouse_sk'],
    [
      dimension('inventory', 'warehouse', 'inv_warehouse_sk'),
      dimension('inventory', 'item_key', 'inv_item_sk'),
      dimension('inventory', 'counted_on', 'inv_date', { kind: 'time' }),
    ],
    [to('inventory', 'date', 'inv_date_sk'), to('inventory', 'item', 'inv_item_sk')],
    'counted_on',
  ),
]

const semi = (name: string, dimensionName: string, take: 'first' | 'last', over: readonly string[] = []) => {
  const { definition } = simple(name, 'inventory', 'sum(inv_quantity_on_hand)')
  if (definition.computation.kind !== 'simple') throw new Error(name)
  return metric(name, {
    ...definition.computation,
    semiAdditive: { dimension: dimensionName, take, over },
  })
}

const metrics = [
  simple('net_paid', 'store_sales', 'sum(ss_net_paid)'),
  simple('quantity', 'store_sales', 'sum(ss_quantity)'),
  simple('profit', 'store_sales', 'sum(ss_net_profit)'),
  simple('tickets', 'store_sales', 'count(distinct ss_ticket_number)'),
  simple('sales', 'store_sales', 'count(*)'),
  simple('large_sales', 'store_sales', 'count(*)', 'ss_net_paid > 300'),
  simple('losses', 'store_sales', 'sum(ss_net_profit)', 'ss_net_profit < 0'),
  metric('basket', { kind: 'ratio', numerator: 'net_paid', denominator: 'tickets' }),
  metric('margin', { kind: 'ratio', numerator: 'profit', denominator: 'net_paid' }),
  simple('returns', 'store_returns', 'count(*)'),
  simple('returned_amount', 'store_returns', 'sum(sr_return_amt)'),
  simple('returned_pieces', 'store_returns', 'sum(sr_return_quantity)'),
  metric('return_share', { kind: 'ratio', numerator: 'returned_amount', denominator: 'net_paid' }),
  metric('kept', {
    kind: 'derived',
    expression: 'net_paid - coalesce(returned_amount, 0)',
    metrics: ['net_paid', 'returned_amount'],
  }),
  metric('paid_so_far', { kind: 'cumulative', metric: 'net_paid' }),
  metric('tickets_of_4_weeks', {
    ...{ kind: 'cumulative', metric: 'tickets', window: { count: 4, grain: 'week' } },
  }),
  metric('returns_of_quarter', { kind: 'cumulative', metric: 'returns', toDate: 'quarter' }),
  semi('on_hand', 'counted_on', 'last'),
  semi('on_hand_by_date', 'date__date', 'last'),
  semi('opening', 'counted_on', 'first', ['warehouse']),
  semi('newest_count', 'counted_on', 'last', ['item_key', 'warehouse']),
  simple('counts', 'inventory', 'count(inv_quantity_on_hand)'),
  metric('turnover', { kind: 'ratio', numerator: 'quantity', denominator: 'on_hand' }),
]

export const tpcdsModel: SemanticModel = {
  tables: new Map(models.map((each) => [tableKey(each.table), each])),
  metrics: new Map(metrics.map((each) => [each.name, each])),
  attestations: new Map(),
}

const ratio = (one: string, other: string) => `{${one}}::float8 / nullif({${other}}::float8, 0)`
const onSales = (sql: string) => ({ fact: 'store_sales', sql })
const onReturns = (sql: string) => ({ fact: 'store_returns', sql })
const onHand = (take: 'min' | 'max', of: string, over: readonly string[] = []) => ({
  ...{ fact: 'inventory', sql: 'sum(inv_quantity_on_hand)', edge: { take, of, over } },
})
const ofItems = {
  item__category: 'i_category',
  item__brand: 'i_brand',
  item__cheap: '(i_wholesale_cost < 40)',
}
const ofDates = { date__year: 'd_year', date__month_of_year: 'd_moy', date__weekend: 'd_weekend' }
const ofStores = { store__state: 's_state', store__manager: 's_manager' }
const ofCustomers = {
  customer__last_name: 'c_last_name',
  customer__decade: '(c_birth_year / 10 * 10)',
  customer__preferred: 'c_preferred',
}

export const tpcdsHand: Hand = {
  from: '2000-11-01',
  to: '2002-02-01',
  unordered: ['item__cheap', 'date__weekend'],
  facts: {
    store_sales: {
      from: `store_sales left join date_dim on ss_sold_date_sk = d_date_sk left join item on ss_item_sk = i_item_sk
        left join store on ss_store_sk = s_store_sk left join customer on ss_customer_sk = c_customer_sk`,
      time: 'ss_sold_date',
      dimensions: { ...ofItems, ...ofDates, ...ofStores, ...ofCustomers, sold_on: 'ss_sold_date' },
    },
    store_returns: {
      from: `store_returns left join item on sr_item_sk = i_item_sk left join store on sr_store_sk = s_store_sk
        left join customer on sr_customer_sk = c_customer_sk`,
      time: 'sr_returned_date',
      dimensions: { ...ofItems, ...ofStores, ...ofCustomers, reason: 'sr_reason' },
    },
    inventory: {
      from: 'inventory left join item on inv_item_sk = i_item_sk left join date_dim on inv_date_sk = d_date_sk',
      time: 'inv_date',
      dimensions: { ...ofItems, ...ofDates, warehouse: 'inv_warehouse_sk', item_key: 'inv_item_sk' },
    },
  },
  metrics: {
    net_paid: onSales('sum(ss_net_paid)'),
    quantity: onSales('sum(ss_quantity)'),
    profit: onSales('sum(ss_net_profit)'),
    tickets: onSales('count(distinct ss_ticket_number)'),
    sales: onSales('count(ss_item_sk)'),
    large_sales: onSales('count(case when ss_net_paid > 300 then 1 end)'),
    losses: onSales('sum(case when ss_net_profit < 0 then ss_net_profit end)'),
    basket: { made: ratio('net_paid', 'tickets') },
    margin: { made: ratio('profit', 'net_paid') },
    returns: onReturns('count(sr_item_sk)'),
    returned_amount: onReturns('sum(sr_return_amt)'),
    returned_pieces: onReturns('sum(sr_return_quantity)'),
    return_share: { made: ratio('returned_amount', 'net_paid') },
    kept: { made: '{net_paid} - coalesce({returned_amount}, 0)' },
    paid_so_far: { fact: 'store_sales', sql: 'sum(ss_net_paid)', since: undefined },
    tickets_of_4_weeks: {
      fact: 'store_sales',
      sql: 'count(distinct ss_ticket_number)',
      since: "date_trunc('week', p.hi - interval '1 second') - interval '3 weeks'",
    },
    returns_of_quarter: {
      fact: 'store_returns',
      sql: 'count(sr_item_sk)',
      since: "date_trunc('quarter', p.lo)",
    },
    on_hand: onHand('max', 'inv_date'),
    on_hand_by_date: onHand('max', 'd_date'),
    opening: onHand('min', 'inv_date', ['inv_warehouse_sk']),
    newest_count: onHand('max', 'inv_date', ['inv_item_sk', 'inv_warehouse_sk']),
    counts: { fact: 'inventory', sql: 'count(inv_quantity_on_hand)' },
    turnover: { made: ratio('quantity', 'on_hand') },
  },
  values: {
    item__category: ['Books', 'Sports'],
    item__brand: ['brand 1', 'brand 3'],
    item__cheap: ['t', 'f'],
    date__year: ['2000', '2001'],
    date__month_of_year: ['2', '7', '12'],
    date__weekend: ['t', 'f'],
    store__state: ['TN', 'CA', 'NY'],
    store__manager: ['Manager 2', 'XXXXXXXX'],
    customer__last_name: ['Name 3', 'Namexn', 'Name xn'],
    customer__decade: ['1950', '1990'],
    customer__preferred: ['Y', 'N'],
    sold_on: ['2001-01-01', '2001-08-17'],
    reason: ['late', 'broken'],
    warehouse: ['1', '2'],
    item_key: ['3', '17'],
  },
}
