/** Generates the calls of the matrix: operators by pairs of types, casts, and functions by the types of their arguments. */

import { aggregates } from '../../../src/query/compile/functions/aggregates.ts'
import { operators } from '../../../src/query/compile/functions/operators.ts'
import { functions } from '../../../src/query/compile/functions/registry.ts'
import { type EdgeColumn, edgeColumns, relationOf } from './columns.ts'

export interface Call {
  /** What differs is listed under it: an operator's sign, `cast`, or a function's name. */
  readonly name: string
  /** The types of the operands, in their order. */
  readonly types: readonly string[]
  readonly expression: string
  /** The columns that stand as `a.v` and `b.v`. */
  readonly columns: readonly EdgeColumn[]
  readonly isAggregate?: boolean
}

const aliases = ['a', 'b', 'c'] as const

/** The statement of a call: of all pairs of rows, or of those with these ids. */
export function statementOf({ expression, columns, isAggregate }: Call, ids?: readonly number[]): string {
  const from = columns.map((column, index) => relationOf(column, aliases[index] ?? 'z')).join(', ')
  const keys = columns.map((_, index) => `${aliases[index]}.id`)
  const where =
    ids === undefined ? '' : ` WHERE ${ids.map((id, index) => `${aliases[index]}.id = ${id}`).join(' AND ')}`
  const source = from === '' ? '' : ` FROM ${from}${where}`
  if (isAggregate || keys.length === 0) return `SELECT ${expression}${source}`
  return `SELECT ${expression} AS v${source} ORDER BY ${keys.join(', ')}`
}

const comparisonSigns = ['=', '<>', '<', '<=', '>', '>=']
const signs = [
  ...new Set([...operators.keys(), ...comparisonSigns, '~~', '~~*', '^@', '<<', '>>', '?']),
].filter((sign) => sign !== '~')
const forms: readonly (readonly [string, (a: string, b: string) => string])[] = [
  ...signs.map((sign) => [sign, (a: string, b: string) => `${a} ${sign} ${b}`] as const),
  ['IS DISTINCT FROM', (a, b) => `${a} IS DISTINCT FROM ${b}`],
  ['IN', (a, b) => `${a} IN (${b})`],
  ['BETWEEN', (a, b) => `${a} BETWEEN ${b} AND ${b}`],
  ['CASE', (a, b) => `CASE WHEN a.id < 4 THEN ${a} ELSE ${b} END`],
  ['COALESCE', (a, b) => `COALESCE(${a}, ${b})`],
  ['GREATEST', (a, b) => `GREATEST(${a}, ${b})`],
  ['LEAST', (a, b) => `LEAST(${a}, ${b})`],
  ['NULLIF', (a, b) => `NULLIF(${a}, ${b})`],
  ['ARRAY', (a, b) => `ARRAY[${a}, ${b}]`],
  ['= ANY', (a, b) => `${a} = ANY (${b})`],
]

/** Literals without a type beside each type. */
const untyped: Readonly<Record<string, readonly string[]>> = {
  bool: ["'yes'"],
  date: ["'2024-02-29'", "'2024-02-30'"],
  time: ["'12:30'"],
  timestamp: ["'2024-02-29 12:34:56.789'"],
  timestamptz: ["'2024-02-29 12:34:56.789+00'"],
  interval: ["'1 month'"],
  uuid: ["'11111111-2222-3333-4444-555555555555'"],
  bytea: ["'\\x616263'"],
  json: [`'{"a": 1}'`, "'a'"],
  jsonb: [`'{"a": 1}'`, "'a'"],
  int4s: ["'{1}'"],
  texts: ["'{1}'"],
  n12s: ["'{1.5}'"],
}
const everywhere = ["'1'", "'x'", "''", 'NULL', '1', '2.5', '1e0', '3000000000']

export const binaryOperators: readonly Call[] = forms.flatMap(([name, write]) =>
  edgeColumns.flatMap((left) => [
    ...edgeColumns.map(
      (right): Call => ({
        name,
        types: [left.name, right.name],
        expression: write('a.v', 'b.v'),
        columns: [left, right],
      }),
    ),
    ...[...everywhere, ...(untyped[left.name] ?? [])].flatMap((literal): Call[] => [
      { name, types: [left.name, literal], expression: write('a.v', literal), columns: [left] },
      ...(name === 'CASE'
        ? []
        : [{ name, types: [literal, left.name], expression: write(literal, 'a.v'), columns: [left] }]),
    ]),
  ]),
)

export const unaryOperators: readonly Call[] = ['-', '+', '~', 'NOT ', '@'].flatMap((sign) =>
  edgeColumns.map(
    (column): Call => ({
      name: sign.trim(),
      types: [column.name],
      expression: `${sign}a.v`,
      columns: [column],
    }),
  ),
)

const targets = [
  ...edgeColumns.map(({ type }) => type).filter((type) => !/numeric.*\[\]/.test(type)),
  ...[
    'numeric',
    'numeric(5,1)',
    'numeric[]',
    'varchar(2)',
    'int8[]',
    'float8[]',
    'timestamp(0)',
    'char(3)',
    'date[]',
  ],
]

export const casts: readonly Call[] = edgeColumns.flatMap((column) =>
  [...new Set(targets)].map(
    (target): Call => ({
      name: 'cast',
      types: [column.name, target],
      expression: `a.v::${target}`,
      columns: [column],
    }),
  ),
)

/** Literals of arguments that engines need, by function and place; `1` is the first. */
const literalArguments: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  date_trunc: { 1: ["'day'", "'month'", "'year'", "'foo'"] },
  date_part: { 1: ["'year'", "'epoch'", "'second'", "'dow'", "'foo'"] },
  extract: { 1: ['year', 'epoch', 'second', 'dow', 'milliseconds', 'foo'] },
  timezone: { 1: ["'UTC'", "'America/New_York'", "'nowhere'"] },
  to_char: { 2: ["'YYYY-MM-DD HH24:MI:SS'", "'FM999,990.00'"] },
  to_date: { 2: ["'YYYY-MM-DD'"] },
  to_timestamp: { 2: ["'YYYY-MM-DD'"] },
  to_number: { 2: ["'999.9'"] },
  round: { 2: ['2', '0', '-1'] },
  trunc: { 2: ['1'] },
  encode: { 2: ["'hex'", "'base64'", "'foo'"] },
  regexp_count: { 2: ["'[a-z]'"] },
  regexp_like: { 2: ["'[a-z]'"] },
  regexp_substr: { 2: ["'[a-z]'"] },
  regexp_replace: { 2: ["'[a-z]'"], 3: ["'X'"], 4: ["'g'"] },
  regexp_split_to_array: { 2: ["'b'"], 3: ["'i'"] },
  string_agg: { 2: ["','"] },
  format: { 1: ["'%s'"] },
  array_length: { 2: ['1', '2'] },
  array_lower: { 2: ['1'] },
  array_upper: { 2: ['1'] },
  array_to_string: { 2: ["','"], 3: ["'*'"] },
  json_build_object: { 1: ["'k'"] },
  jsonb_build_object: { 1: ["'k'"] },
  percentile_cont: { 1: ['0.5', '1.5', 'NULL'] },
  percentile_disc: { 1: ['0.5', '1.5'] },
}

/** Constants in places that no column takes. */
const constants: Readonly<Record<string, string>> = {
  text: "'a'",
  int4: '2',
  int8: '2',
  float8: '2',
  numeric: '2',
  interval: "'1 day'",
  timestamp: "'2020-01-01'",
}

/** Functions whose value no statement repeats. */
const moving = new Set([
  'random',
  'gen_random_uuid',
  'uuidv4',
  'uuidv7',
  'now',
  'transaction_timestamp',
  'statement_timestamp',
  'clock_timestamp',
  'current_date',
  'current_timestamp',
  'localtimestamp',
  'age',
])
const grammatical = new Set(['current_date', 'current_timestamp', 'localtimestamp'])

const aritiesOf = (defs: readonly { readonly args: readonly unknown[]; readonly variadic: boolean }[]) => [
  ...new Set(
    defs.flatMap(({ args, variadic }) => (variadic ? [args.length, args.length + 1] : [args.length])),
  ),
]

/** The arguments of a call: at most two columns, the first places, others are constants. */
function argumentsOf(
  name: string,
  arity: number,
  defs: readonly { readonly args: readonly string[] }[],
): readonly Call[] {
  const known = literalArguments[name] ?? {}
  const def = defs.find(({ args }) => args.length === arity) ?? defs[0]
  let lists: {
    readonly sql: readonly string[]
    readonly types: readonly string[]
    readonly columns: readonly EdgeColumn[]
  }[] = [{ sql: [], types: [], columns: [] }]
  let columnPlaces = 0
  for (let place = 1; place <= arity; place++) {
    const literals = known[place]
    const takesColumn = literals === undefined && columnPlaces < 2
    if (takesColumn) columnPlaces++
    lists = lists.flatMap((list) => {
      if (literals !== undefined)
        return literals.map((sql) => ({ ...list, sql: [...list.sql, sql], types: [...list.types, sql] }))
      if (!takesColumn) {
        const sql = constants[String(def?.args[Math.min(place, def.args.length) - 1])] ?? '1'
        return [{ ...list, sql: [...list.sql, sql], types: [...list.types, sql] }]
      }
      const alias = aliases[list.columns.length]
      return [
        ...edgeColumns.map((column) => ({
          sql: [...list.sql, `${alias}.v`],
          types: [...list.types, column.name],
          columns: [...list.columns, column],
        })),
        ...(arity <= 2 ? ["'1'", 'NULL', '2.5'] : []).map((sql) => ({
          ...list,
          sql: [...list.sql, sql],
          types: [...list.types, sql],
        })),
      ]
    })
  }
  return lists.map(({ sql, types, columns }) => ({ name, types, columns, expression: sql.join('\0') }))
}

export const scalarCalls: readonly Call[] = [...functions].flatMap(([name, defs]) => {
  if (moving.has(name)) return []
  return aritiesOf(defs).flatMap((arity) =>
    argumentsOf(name, arity, defs as never).map((call) => {
      const args = call.expression.split('\0')
      const written = grammatical.has(name)
        ? name
        : name === 'extract'
          ? `extract(${args[0]} FROM ${args[1]})`
          : name === 'position'
            ? `position(${args[1]} IN ${args[0]})`
            : name === 'overlay'
              ? `overlay(${args[0]} PLACING ${args[1]} FROM ${args.slice(2).join(' FOR ')})`
              : `${name}(${arity === 0 ? '' : args.join(', ')})`
      return { ...call, expression: written }
    }),
  )
})

export const aggregateCalls: readonly Call[] = [...aggregates].flatMap(([name, defs]) =>
  aritiesOf(defs).flatMap((arity) =>
    argumentsOf(name, arity, defs as never).map((call): Call => {
      const args = call.expression.split('\0')
      const keys = call.columns.map((_, index) => `${aliases[index]}.id`)
      const ordered = defs.some((def) => def.ordered)
      const order =
        defs.some((def) => def.keepsOrder) && keys.length > 0 ? ` ORDER BY ${keys.join(', ')}` : ''
      const written = ordered
        ? `${name}(${args.slice(0, -1).join(', ')}) WITHIN GROUP (ORDER BY ${args.at(-1)})`
        : arity === 0
          ? `${name}(*)`
          : `${name}(${args.join(', ')}${order})`
      return { ...call, expression: written, isAggregate: true }
    }),
  ),
)
