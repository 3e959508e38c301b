/**
 * Builds expressions for GROUP BY over the fixture's tables: one for every scalar function and operator of the
 * registry, and for the special forms. A function that takes none of the arguments here gets none.
 */

import type { SqlType } from '../../../src/core/sql-type.ts'
import type { ArgType, FunctionDef } from '../../../src/query/compile/base/function-definition.ts'
import { operators } from '../../../src/query/compile/functions/operators.ts'
import { functions } from '../../../src/query/compile/functions/registry.ts'

export interface GroupExpression {
  readonly table: 'orders' | 'items'
  readonly sql: string
}

/** A column, or what is made of one, by type. */
const orders: Readonly<Partial<Record<SqlType, string>>> = {
  bool: 'priority',
  int2: '(quantity::int2)',
  int4: 'quantity',
  int8: 'big',
  numeric: 'amount',
  float4: '(discount::float4)',
  float8: 'discount',
  text: 'status',
  varchar: '(region::varchar)',
  date: 'ordered_on',
  time: '(created_at::time)',
  timestamp: 'created_at',
  timestamptz: 'shipped_at',
  interval: `(interval '1 day' * quantity)`,
  json: '(payload::json)',
  jsonb: '(payload::jsonb)',
  bytea: '(sha256(status::bytea))',
  'text[]': 'tags',
  'int4[]': '(ARRAY[id, quantity])',
}
const items: Readonly<Partial<Record<SqlType, string>>> = {
  int2: '(line::int2)',
  int4: 'line',
  int8: 'qty',
  numeric: 'price',
  float4: 'weight',
  float8: '(weight::float8)',
  text: 'sku',
  uuid: 'uid',
}

/** Literals to try where an argument must be one, or takes few values: the first that PostgreSQL takes counts. */
const literals: Readonly<Partial<Record<SqlType, readonly string[]>>> = {
  text: [`'month'`, `'a'`, `'UTC'`, `'hex'`, `'YYYY-MM'`, `'NFC'`],
  int4: ['1', '2'],
  int8: ['2'],
  int2: ['2::int2'],
  numeric: ['2', '1.5'],
  float8: ['2::float8', '0.5::float8'],
  float4: ['2::float4'],
  'text[]': [`'{a}'`],
  'int4[]': [`'{1,2}'`],
  interval: [`interval '1 day'`],
}

type Source = Readonly<Partial<Record<SqlType, string>>>

/** The ways to fill a definition's arguments: columns where they may stand, and each literal in the other places. */
function fillings(def: FunctionDef, source: Source, element: SqlType): readonly (readonly string[])[] {
  const concrete = (arg: ArgType): SqlType => {
    if (arg === 'any' || arg === 'anyelement') return element
    return arg === 'anyarray' ? (`${element}[]` as SqlType) : arg
  }
  const choices = def.args.map((arg, index) => {
    const type = concrete(arg)
    const column = source[type]
    const constants = literals[type] ?? []
    if (def.literalArgs.includes(index)) return constants
    return [...(column === undefined ? [] : [column]), ...constants]
  })
  const all = choices.reduce<readonly (readonly string[])[]>(
    (lefts, options) => lefts.flatMap((left) => options.map((right) => [...left, right])),
    [[]],
  )
  const columns = new Set(Object.values(source))
  return all.filter((args) => args.some((arg) => columns.has(arg))).slice(0, 24)
}

function callOf(name: string, args: readonly string[]): string {
  if (/^[a-z_0-9]+$/.test(name)) {
    if (name === 'extract') return `extract(${args[0]?.slice(1, -1)} FROM ${args[1]})`
    return `${name}(${args.join(', ')})`
  }
  return args.length === 1 ? `(${name} ${args[0]})` : `(${args[0]} ${name} ${args[1]})`
}

/** Forms of the grammar, which no registry holds. */
const forms: readonly GroupExpression[] = [
  ...[
    `CASE WHEN amount > 50 THEN status ELSE region END`,
    `CASE status WHEN 'paid' THEN 1 ELSE 2 END`,
    `coalesce(status, region)`,
    `nullif(status, 'paid')`,
    `greatest(quantity, id)`,
    `least(amount, 50)`,
    `status LIKE 'p%'`,
    `status ILIKE region`,
    `status SIMILAR TO 'p%'`,
    `status IN ('paid', 'open')`,
    `quantity BETWEEN 1 AND id`,
    `quantity BETWEEN SYMMETRIC 5 AND 1`,
    `(status IS DISTINCT FROM region)`,
    `priority IS TRUE`,
    `(priority AND quantity > 3)`,
    `NOT priority`,
    `amount IS NULL`,
    `tags[1]`,
    `tags[quantity]`,
    `ARRAY[quantity, id]`,
    `'a' = ANY (tags)`,
    `quantity = ANY (ARRAY[1, id])`,
    `quantity <> ALL (ARRAY[1, id])`,
    `amount::int4`,
    `amount::numeric(10,1)`,
    `amount::text`,
    `discount::text`,
    `discount::numeric`,
    `ordered_on::timestamp`,
    `ordered_on::timestamptz`,
    `created_at::date`,
    `shipped_at::date`,
    `shipped_at::timestamp`,
    `created_at::text`,
    `status::varchar(2)`,
    `quantity::bool`,
    `priority::int`,
    `status || '-' || region`,
    `extract(year FROM ordered_on) * 100 + extract(month FROM ordered_on)`,
    `date_trunc('month', ordered_on)`,
    `date_trunc('month', ordered_on)::date`,
    `date_trunc('month', ordered_on + 1)`,
    `date_trunc('week', date_trunc('month', ordered_on))`,
    `upper(left(status, 2))`,
    `payload::json ->> 's'`,
    `round(amount / 10) * 10`,
    `width_bucket(amount::float8, 0, 100, 4)`,
    `power(amount, 2)`,
    `power(amount, 0.5)`,
    `amount ^ 2`,
    `power(amount, quantity)`,
    `(SELECT max(line) FROM items WHERE order_id = id)`,
    `EXISTS (SELECT 1 FROM items WHERE order_id = id)`,
    `(id, quantity) = (1, 3)`,
    `(current_date - ordered_on > 0)`,
  ].map((sql): GroupExpression => ({ table: 'orders', sql })),
]

/** The forms, and of each registered function, in their order, the ways to call it. */
export function groupExpressions(): {
  readonly forms: readonly GroupExpression[]
  readonly registered: readonly (readonly GroupExpression[])[]
} {
  const defs = [...functions.values(), ...operators.values()].flat()
  const made = defs.flatMap((def) =>
    (['orders', 'items'] as const).map((table) => {
      const source = table === 'orders' ? orders : items
      const elements: readonly SqlType[] = table === 'orders' ? ['text', 'int4'] : []
      const generic = def.args.some((arg) => arg.startsWith('any'))
      const filled = (generic ? elements : (['text'] as const)).flatMap((element) =>
        fillings(def, source, element),
      )
      return filled.map((args) => ({ table, sql: callOf(def.name, args) }))
    }),
  )
  return { forms, registered: made.filter((each) => each.length > 0) }
}
