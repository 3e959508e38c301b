/** Builds a call of every function, operator, special form and cast of the read path, on one column. */

import { elementOf, isArray, type SqlType, scalarTypes } from '../../../../../src/core/sql-type.ts'
import type { ArgType, FunctionDef } from '../../../../../src/query/compile/base/function-definition.ts'
import type { Expr } from '../../../../../src/query/compile/base/ir.ts'
import { casts } from '../../../../../src/query/compile/base/types.ts'
import { eachOf } from '../../../../../src/query/compile/functions/jsonb.ts'
import { slice } from '../../../../../src/query/compile/functions/more.ts'
import { operators } from '../../../../../src/query/compile/functions/operators.ts'
import { functions } from '../../../../../src/query/compile/functions/registry.ts'
import { rowText } from '../../../../../src/query/compile/functions/row-text.ts'
import { setFunctions } from '../../../../../src/query/compile/functions/sets.ts'
import * as special from '../../../../../src/query/compile/functions/special.ts'
import { integerOfBits } from '../../../../../src/query/compile/functions/wide.ts'
import { zonedFunctions } from '../../../../../src/query/compile/functions/zoned.ts'
import { castTo, literalOf } from '../../../../../src/query/compile/resolve/coerce.ts'
import { hiddenColumns } from './hidden-rows.ts'

export interface RegistryCall {
  readonly name: string
  /** The column that it reads, and the call with something else in the column's place. */
  readonly column: Expr
  readonly of: (arg: Expr) => Expr
}

/** Constants of a type that stand beside a column. */
const constants: Partial<Record<SqlType, readonly string[]>> = {
  bool: ['true'],
  int2: ['1', '3'],
  int4: ['1', '3'],
  int8: ['1', '3'],
  numeric: ['1.5', '100000'],
  float4: ['0.5'],
  float8: ['0.5', '1e300'],
  text: ['1', 'x', 'SECRET', '%'],
  varchar: ['1'],
  date: ['2020-01-01'],
  time: ['01:02:03'],
  timestamp: ['2020-01-01 00:00:00'],
  timestamptz: ['2020-01-01 00:00:00+00'],
  interval: ['1 month 1 day', '1000 years'],
  uuid: ['11111111-1111-1111-1111-111111111111'],
  bytea: ['\\x6162'],
  json: ['{"a": 1}'],
  jsonb: ['{"a": 1}'],
}

/** Literals that stand where a function wants one, by its name; else the constants of the type. */
const literalsOf: Record<string, readonly string[]> = {
  date_trunc: ['day', 'week', 'month', 'year'],
  extract: ['year', 'month', 'day', 'epoch', 'dow', 'doy', 'isoyear', 'week', 'second', 'hour', 'julian'],
  date_part: ['year', 'epoch', 'dow', 'isoyear', 'microseconds'],
  timezone: ['UTC', 'America/New_York'],
  to_char: ['YYYY-MM-DD HH24:MI:SS.US', 'IYYY IW Q Day', 'FM999,990.00', '999PR'],
  to_date: ['YYYY-MM-DD', 'MonDDYYYY'],
  to_number: ['9,999.99S', '9'],
  to_timestamp: ['YYYY-MM-DD HH24:MI:SS.US', 'YYMMDD'],
  regexp_matches: ['S', '(S)(E)', 'g'],
  regexp_split_to_table: ['E'],
  '~': ['^S.*$'],
  '!~': ['^S'],
  decode: ['hex', 'base64'],
  convert_to: ['UTF8'],
  convert_from: ['UTF8'],
  'like escape': ['!'],
  '#>': ['{a}'],
  jsonb_set: ['{a}', '{a,0,b}', '{-1}'],
  '#>>': ['{a,b}'],
}

const zone = ['America/New_York']
for (const { name } of zonedFunctions) literalsOf[name] = zone
/** Literals in a later place than the first that a function wants as one. */
const laterLiteralsOf: Readonly<Record<string, readonly string[]>> = {
  date_trunc: zone,
}

const elements: readonly SqlType[] = ['int4', 'int8', 'float8', 'numeric', 'text', 'date', 'timestamp']
const columnTypes = hiddenColumns.slice(2).map(({ type }) => type)
const anyTypes = [...new Set(columnTypes)]

function columnOf(type: SqlType): Expr | undefined {
  const index = hiddenColumns.findIndex((each, at) => at > 1 && each.type === type)
  const column = hiddenColumns[index]
  if (column === undefined) return undefined
  const size = type.startsWith('numeric') ? ([20, 4] as const) : undefined
  return { kind: 'column', relation: 't1', index, levelsUp: 0, type, ...(size && { size }) }
}

/** A value of a type made from a column of another, where no column has the type. */
function derived(type: SqlType, arg: Expr): Expr {
  if (arg.type === type || !casts(arg.type, type)) return arg
  return castTo(arg, type)
}

const sources: Partial<Record<SqlType, SqlType>> = {
  int2: 'int4',
  varchar: 'text',
  json: 'text',
  jsonb: 'text',
}

function constantsOf(type: SqlType): readonly Expr[] {
  if (isArray(type)) {
    const element = elementOf(type)
    return constantsOf(element)
      .slice(0, 1)
      .map((each) => ({ kind: 'array', type, elements: [each] }))
  }
  return (constants[type] ?? []).map((text) => literalOf(text, type))
}

/** The types that a signature's arguments take together. */
function signatures(args: readonly ArgType[]): readonly (readonly SqlType[])[] {
  const isPoly = args.some((arg) => arg === 'anyelement' || arg === 'anyarray')
  const poly = isPoly ? elements : (['text'] as const)
  const free = args.includes('any') ? anyTypes : (['text'] as const)
  return poly.flatMap((element) =>
    free.map((any) =>
      args.map((arg): SqlType => {
        if (arg === 'any') return any
        if (arg === 'anyelement') return element
        return arg === 'anyarray' ? (`${element}[]` as SqlType) : arg
      }),
    ),
  )
}

const specials: readonly FunctionDef[] = [
  ...special.comparisons.values(),
  special.isDistinct,
  special.between,
  special.coalesce,
  special.nullIf,
  special.greatest,
  special.least,
  special.like,
  special.iLike,
  special.subscript,
  special.anyElement,
  ...special.comparedWithAny.values(),
  ...special.comparedWithAll.values(),
  rowText,
]

/** Every overload that DuckDB has. */
export const registry: readonly FunctionDef[] = [
  ...[...functions.values()].flat(),
  ...[...operators.values()].flat(),
  ...[...setFunctions.values()].flat(),
  ...specials,
  ...Object.values(integerOfBits),
  ...zonedFunctions,
  ...eachOf.map(({ values }) => values),
  slice,
  special.likeIn,
].filter(({ duckdb, args }) => duckdb !== null && args.length > 0)

/** The calls of one overload: each argument in turn a column, the others constants. */
export function callsOf(def: FunctionDef): readonly RegistryCall[] {
  return signatures(def.args).flatMap((types) =>
    types.flatMap((type, place) => {
      if (def.literalArgs.includes(place)) return []
      const column = columnOf(type) ?? columnOf(sources[type] ?? 'timestamp')
      if (column === undefined) return []
      return beside(def, types, place).map((others): RegistryCall => {
        const of = (arg: Expr): Expr => ({
          kind: 'call',
          def,
          type: resultType(def, types),
          args: others.map((other) => other ?? made(type, arg)),
        })
        return { name: `${def.id}(${types.join(', ')}) at ${place + 1}`, column, of }
      })
    }),
  )
}

function made(type: SqlType, arg: Expr): Expr {
  if (type !== 'interval') return derived(type, arg)
  const minus = operators.get('-')?.find(({ args }) => args.join() === 'timestamp,timestamp')
  const since = literalOf('2000-01-01 00:00:00', 'timestamp')
  return { kind: 'call', def: minus as FunctionDef, type: 'interval', args: [arg, since] }
}

/** What stands in the other places, undefined in the column's: every constant of each at least once. */
function beside(
  def: FunctionDef,
  types: readonly SqlType[],
  place: number,
): readonly (readonly (Expr | undefined)[])[] {
  const choices = types.map((type, index) => {
    if (index === place) return []
    const isFirst = index === def.literalArgs[0]
    const isLater = !isFirst && def.literalArgs.includes(index)
    const named = isFirst ? literalsOf[def.name] : isLater ? laterLiteralsOf[def.name] : undefined
    return named === undefined ? constantsOf(type) : named.map((text) => literalOf(text, type))
  })
  const count = Math.max(1, ...choices.map(({ length }) => length))
  return Array.from({ length: count }, (_, at) => choices.map((each) => each[at % each.length]))
}

function resultType({ returns }: FunctionDef, types: readonly SqlType[]): SqlType {
  if (typeof returns === 'function') return returns(types)
  const element = types.find((type) => !isArray(type)) ?? 'text'
  const array = types.find((type) => isArray(type)) ?? (`${element}[]` as SqlType)
  if (returns === 'anyarray') return array
  return returns === 'any' || returns === 'anyelement' ? element : returns
}

/** Every cast of a column's type to another. */
export function castCalls(): readonly RegistryCall[] {
  const targets: readonly SqlType[] = [
    ...scalarTypes,
    ...elements.map((each): SqlType => `${each as 'text'}[]`),
  ]
  return columnTypes.flatMap((from) =>
    targets.flatMap((to) => {
      const column = columnOf(from)
      if (column === undefined || from === to || !casts(from, to)) return []
      const sizes = to === 'numeric' ? ([undefined, [5, 1]] as const) : ([undefined] as const)
      return sizes.map(
        (size): RegistryCall => ({
          name: `cast(${from} as ${to}${size ?? ''})`,
          column,
          of: (arg) => castTo(arg, to, size),
        }),
      )
    }),
  )
}
