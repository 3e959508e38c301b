/** Lists statements with parameters of every type, as drivers bind them; each number stands once, in order. */

/** A value and the type as which a driver binds it. */
interface TypedValue {
  readonly type: string
  readonly value: string | readonly string[] | null
}

interface TypedCase {
  readonly step: string
  readonly sql: string
  readonly values: readonly TypedValue[]
}

const v = (type: string, value: TypedValue['value']): TypedValue => ({ type, value })
const integers = ['int2', 'int4', 'int8'] as const
const numbers = [...integers, 'numeric', 'float4', 'float8'] as const
const from = 'from sales.orders'

const counted = integers.flatMap((type): TypedCase[] => [
  { step: `limit ${type}`, sql: `select id ${from} order by id limit $1`, values: [v(type, '3')] },
  {
    step: `limit and offset ${type}`,
    sql: `select id ${from} order by id limit $1 offset $2`,
    values: [v(type, '3'), v(type, '2')],
  },
  {
    step: `fetch ${type}`,
    sql: `select id ${from} order by id fetch first $1 rows only`,
    values: [v(type, '2')],
  },
  { step: `limit null ${type}`, sql: `select count(*) ${from} limit $1`, values: [v(type, null)] },
  {
    step: `days ${type}`,
    sql: `select id, day + $1::int as later ${from} order by id limit 3`,
    values: [v(type, '7')],
  },
  {
    step: `times an interval ${type}`,
    sql: `select id ${from} where created > timestamp '2024-01-01' + $1 * interval '1 day' order by id limit 3`,
    values: [v(type, '5')],
  },
])

const compared = numbers.flatMap((type) =>
  ['id', 'qty', 'amount', 'ratio'].flatMap((column): TypedCase[] => [
    {
      step: `${column} compared with ${type}`,
      sql: `select count(*), min(${column}) ${from} where ${column} >= $1`,
      values: [v(type, '10')],
    },
    {
      step: `${column} in ${type}`,
      sql: `select id ${from} where ${column} in ($1, $2) order by id limit 5`,
      values: [v(type, '1'), v(type, '12')],
    },
    {
      step: `${column} between ${type}`,
      sql: `select count(*) ${from} where ${column} between $1 and $2`,
      values: [v(type, '1'), v(type, '50')],
    },
    {
      step: `${column} plus ${type}`,
      sql: `select ${column} + $1 as sum ${from} order by id limit 3`,
      values: [v(type, '2')],
    },
    {
      step: `${column} or ${type}`,
      sql: `select coalesce(nullif(${column}, $1), $2) as x ${from} order by id limit 3`,
      values: [v(type, '1'), v(type, null)],
    },
  ]),
)

const texts = ['text', 'varchar'].flatMap((type): TypedCase[] => [
  {
    step: `equal ${type}`,
    sql: `select id ${from} where region = $1 order by id limit 3`,
    values: [v(type, 'east')],
  },
  {
    step: `like ${type}`,
    sql: `select id ${from} where region like $1 order by id limit 3`,
    values: [v(type, 'e%')],
  },
  {
    step: `begins with ${type}`,
    sql: `select id ${from} where region like $1 || '%' order by id limit 3`,
    values: [v(type, 'e')],
  },
  {
    step: `contains ${type}`,
    sql: `select id ${from} where region like concat('%', $1::text, '%') order by id limit 3`,
    values: [v(type, 'as')],
  },
  {
    step: `interval of ${type}`,
    sql: `select id, placed_at - ($1 || ' days')::interval as earlier ${from} order by id limit 2`,
    values: [v(type, '3')],
  },
  {
    step: `interval as ${type}`,
    sql: `select id, created + $1::interval as later ${from} order by id limit 2`,
    values: [v(type, '1 day 02:00')],
  },
  {
    step: `cast of ${type} to a date`,
    sql: `select count(*) ${from} where day >= $1::date`,
    values: [v(type, '2024-03-01')],
  },
  {
    step: `cast of ${type} to a number`,
    sql: `select count(*) ${from} where amount >= $1::numeric`,
    values: [v(type, '20.50')],
  },
  {
    step: `unit in ${type}`,
    sql: `select date_trunc($1, created) as unit ${from} order by id limit 2`,
    values: [v(type, 'month')],
  },
  { step: `null ${type}`, sql: `select count(*) ${from} where region = $1`, values: [v(type, null)] },
  {
    step: `coalesce ${type}`,
    sql: `select coalesce($1, region) as x ${from} order by id limit 2`,
    values: [v(type, null)],
  },
  {
    step: `case of ${type}`,
    sql: `select case when region = $1 then $2 else region end as x ${from} order by id limit 3`,
    values: [v(type, 'east'), v(type, 'E')],
  },
  { step: `alone ${type}`, sql: `select $1 as x`, values: [v(type, 'a')] },
])

const moments = (
  [
    ['date', '2024-03-01'],
    ['timestamp', '2024-03-01T12:30:00'],
    ['timestamptz', '2024-03-01T12:30:00+00:00'],
  ] as const
).flatMap(([type, value]) =>
  ['day', 'created', 'placed_at'].flatMap((column): TypedCase[] => [
    {
      step: `${column} from ${type}`,
      sql: `select count(*), min(${column}) ${from} where ${column} >= $1`,
      values: [v(type, value)],
    },
    {
      step: `${column} in ${type}`,
      sql: `select count(*) ${from} where ${column} in ($1, $2)`,
      values: [v(type, value), v(type, null)],
    },
    {
      step: `${column} less a day of ${type}`,
      sql: `select count(*) ${from} where ${column} >= $1 - interval '1 day'`,
      values: [v(type, value)],
    },
  ]),
)

const others: readonly TypedCase[] = [
  { step: 'boolean', sql: `select count(*) ${from} where paid = $1`, values: [v('bool', 'true')] },
  { step: 'boolean alone', sql: `select count(*) ${from} where $1 or paid`, values: [v('bool', 'false')] },
  { step: 'null boolean', sql: `select count(*) ${from} where paid = $1`, values: [v('bool', null)] },
  {
    step: 'uuid',
    sql: `select id ${from} where uid = $1`,
    values: [v('uuid', '00000000-0000-4000-8000-000000000007')],
  },
  {
    step: 'any of int4',
    sql: `select id ${from} where qty = any($1) order by id limit 4`,
    values: [v('int4[]', ['1', '2', '3'])],
  },
  {
    step: 'any of int8',
    sql: `select region ${from} where id = any($1) order by id`,
    values: [v('int8[]', ['1', '2', '3'])],
  },
  {
    step: 'any of text',
    sql: `select id ${from} where region = any($1) order by id limit 4`,
    values: [v('text[]', ['east', 'west'])],
  },
  {
    step: 'not all of text',
    sql: `select id ${from} where region <> all($1) order by id limit 4`,
    values: [v('text[]', ['east'])],
  },
  {
    step: 'no element',
    sql: `select count(*) ${from} where region = any($1)`,
    values: [v('text[]', [])],
  },
]

export const typedCases: readonly TypedCase[] = [...counted, ...compared, ...texts, ...moments, ...others]
