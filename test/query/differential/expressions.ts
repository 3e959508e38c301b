/**
 * Builds random expressions of a wanted type over the columns of the fixtures. They use every function, operator,
 * special form and cast of the compiler's registry, typed so that nearly all of them compile.
 */

import { quoteText } from '../../../src/base/sql-text.ts'
import { elementOf, isArray, type ScalarType, type SqlType } from '../../../src/core/sql-type.ts'
import type { ArgType, FunctionDef } from '../../../src/query/compile/base/function-definition.ts'
import { casts, spokenType } from '../../../src/query/compile/base/types.ts'
import { operators } from '../../../src/query/compile/functions/operators.ts'
import { functions } from '../../../src/query/compile/functions/registry.ts'
import type { Random } from '../fuzz.ts'
import { columns } from './columns.ts'
import { constantOf, literalArgument } from './constants.ts'

/** What an expression may name, by type. */
export type Names = ReadonlyMap<SqlType, readonly string[]>

/** The columns of a relation, each after `alias` and a dot. */
export function namesOf(
  alias: string,
  of: readonly { readonly name: string; readonly sql: SqlType }[] = columns,
): Names {
  const names = new Map<SqlType, string[]>()
  for (const { name, sql } of of) names.set(sql, [...(names.get(sql) ?? []), `${alias}.${name}`])
  return names
}

/** Their result says nothing of the row, or is another at each run. */
const leftOut = new Set([
  'random',
  'gen_random_uuid',
  'clock_timestamp',
  'now',
  'transaction_timestamp',
  'statement_timestamp',
  'current_date',
  'current_timestamp',
  'localtimestamp',
  'pi',
])
const scalars: readonly ScalarType[] = [
  'bool',
  'int2',
  'int4',
  'int8',
  'numeric',
  'float4',
  'float8',
  'text',
  'varchar',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'interval',
  'uuid',
  'bytea',
  'json',
  'jsonb',
]
const elements: readonly ScalarType[] = [
  'text',
  'int4',
  'int8',
  'numeric',
  'float8',
  'date',
  'timestamp',
  'timestamptz',
]
/** Types that a result column, a key or an argument may have; JSON cannot be compared. */
export const comparable: readonly SqlType[] = [
  'bool',
  'int4',
  'int8',
  'numeric',
  'float4',
  'float8',
  'text',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
  'bytea',
  ...elements.map((each) => `${each}[]` as const),
]
export const anyType: readonly SqlType[] = [...comparable, 'int2', 'varchar', 'interval', 'json', 'jsonb']

interface Maker {
  readonly def: FunctionDef
  readonly operator: boolean
}

const makers: readonly Maker[] = [
  ...[...functions.values()]
    .flat()
    .flatMap((def) => (leftOut.has(def.name) || def.duckdb === null ? [] : [{ def, operator: false }])),
  ...[...operators.values()].flat().flatMap((def) => (def.duckdb === null ? [] : [{ def, operator: true }])),
]

/** What gives a type, found once for each. */
const byType = new Map<SqlType, readonly Maker[]>()
function makersOf(type: SqlType): readonly Maker[] {
  const found = byType.get(type) ?? makers.filter(({ def }) => gives(def.returns, type))
  byType.set(type, found)
  return found
}

function gives(returns: FunctionDef['returns'], type: SqlType): boolean {
  if (typeof returns === 'function') return false
  if (returns === 'anyarray') return isArray(type)
  if (returns === 'anyelement') return !isArray(type) && elements.includes(type as ScalarType)
  return returns === type
}

/** An expression of a type, at most `depth` calls deep. */
export function expression(random: Random, names: Names, type: SqlType, depth: number): string {
  const own = names.get(type) ?? []
  if (depth <= 0 || random.below(6) === 0) {
    if (own.length > 0 && random.below(8) > 0) return random.pick(own)
    return leaf(random, names, type)
  }
  const sub = (wanted: SqlType) => expression(random, names, wanted, depth - 1 - random.below(2))
  const forms: (() => string)[] = [
    () => call(random, type, sub),
    () => call(random, type, sub),
    () => call(random, type, sub),
    () => cast(random, type, sub),
    () => special(random, type, sub),
    () => (own.length > 0 ? random.pick(own) : leaf(random, names, type)),
  ]
  if (type === 'bool')
    forms.push(
      () => test(random, sub),
      () => test(random, sub),
      () => like(random, sub),
    )
  return random.pick(forms)()
}

/** A column cast to the type, or a constant. */
function leaf(random: Random, names: Names, type: SqlType): string {
  const from = [...names].filter(([other]) => other !== type && castsWell(other, type))
  if (random.below(3) > 0 && from.length > 0) {
    const [, of] = random.pick(from)
    return `CAST(${random.pick(of)} AS ${spokenType(type)})`
  }
  return constantOf(random, type)
}

/** Casts that visible values mostly pass. */
function castsWell(from: SqlType, to: SqlType): boolean {
  if (from === 'bool' || to === 'bool' || to === 'uuid' || from === 'unknown') return false
  if (from === 'text' && !isArray(to)) return ['int4', 'numeric', 'varchar', 'jsonb', 'json'].includes(to)
  return casts(from, to)
}

function call(random: Random, type: SqlType, sub: (type: SqlType) => string): string {
  const among = makersOf(type)
  if (among.length === 0) return cast(random, type, sub)
  const { def, operator } = random.pick(among)
  const element =
    isArray(type) && def.returns === 'anyarray'
      ? elementOf(type)
      : def.returns === 'anyelement'
        ? (type as ScalarType)
        : random.pick(elements)
  const wanted = def.args.map((arg) => typeOf(random, arg, element))
  if (def.variadic) for (let more = random.below(2); more > 0; more--) wanted.push(wanted.at(-1) ?? 'text')
  const args = wanted.map((each, index) =>
    def.literalArgs.includes(index)
      ? literalArgument(random, def, index, each)
      : index > 0 && random.below(2) === 0
        ? constantOf(random, each)
        : sub(each),
  )
  const [first = '', second = '', third] = args
  if (operator) return second === '' ? `(${def.name} ${first})` : `(${first} ${def.name} ${second})`
  if (def.name === 'extract') return `extract(${first.slice(1, -1)} FROM ${second})`
  if (def.name === 'position') return `position(${second} IN ${first})`
  if (def.name === 'timezone') return `(${second} AT TIME ZONE ${first})`
  return third === undefined && second === '' ? `${def.name}(${first})` : `${def.name}(${args.join(', ')})`
}

function typeOf(random: Random, arg: ArgType, element: ScalarType): SqlType {
  if (arg === 'any') return random.pick(comparable)
  if (arg === 'anyelement') return element
  return arg === 'anyarray' ? `${element}[]` : arg
}

function cast(random: Random, type: SqlType, sub: (type: SqlType) => string): string {
  const from = anyType.filter((other) => other !== type && castsWell(other, type))
  if (from.length === 0) return sub(type)
  const size = type === 'numeric' && random.below(2) === 0 ? random.pick(['(10,2)', '(5,1)', '(38,20)']) : ''
  return `CAST(${sub(random.pick(from))} AS ${spokenType(type)}${size})`
}

function special(random: Random, type: SqlType, sub: (type: SqlType) => string): string {
  const forms = [
    () => `CASE WHEN ${sub('bool')} THEN ${sub(type)} ELSE ${sub(type)} END`,
    () => `CASE WHEN ${sub('bool')} THEN ${sub(type)} END`,
    () => `coalesce(${sub(type)}, ${sub(type)})`,
  ]
  if (scalars.includes(type as ScalarType) && type !== 'json' && type !== 'jsonb') {
    forms.push(
      () => `nullif(${sub(type)}, ${sub(type)})`,
      () => `${random.pick(['greatest', 'least'])}(${sub(type)}, ${sub(type)})`,
    )
    if (elements.includes(type as ScalarType))
      forms.push(() => `(${sub(`${type as ScalarType}[]`)})[${1 + random.below(2)}]`)
  }
  if (isArray(type)) forms.push(() => `ARRAY[${sub(elementOf(type))}, ${sub(elementOf(type))}]`)
  return random.pick(forms)()
}

function test(random: Random, sub: (type: SqlType) => string): string {
  const type = random.pick(comparable)
  const sign = random.pick(['=', '<>', '<', '<=', '>', '>='])
  const forms = [
    () => `(${sub(type)} ${sign} ${sub(type)})`,
    () => `(${sub(type)} ${sign} ${constantOf(random, type)})`,
    () => `(${sub(type)} IS ${random.pick(['', 'NOT '])}DISTINCT FROM ${sub(type)})`,
    () => `(${sub(type)} IS ${random.pick(['', 'NOT '])}NULL)`,
    () => `(${sub(type)} ${random.pick(['', 'NOT '])}BETWEEN ${constantOf(random, type)} AND ${sub(type)})`,
    () => `(${sub(type)} ${random.pick(['', 'NOT '])}IN (${constantOf(random, type)}, ${sub(type)}))`,
    () => `(${sub('bool')} ${random.pick(['AND', 'OR'])} ${sub('bool')})`,
    () => `(NOT ${sub('bool')})`,
  ]
  if (elements.includes(type as ScalarType))
    forms.push(() => `(${sub(type)} = ANY (${sub(`${type as ScalarType}[]`)}))`)
  return random.pick(forms)()
}

/** The pattern comes from the row as often as not: that reads arbitrary text. */
function like(random: Random, sub: (type: SqlType) => string): string {
  const sign = `${random.pick(['', 'NOT '])}${random.pick(['LIKE', 'ILIKE'])}`
  const forms = [
    () => `(${sub('text')} ${sign} ${sub('text')})`,
    () => `(${constantOf(random, 'text')} ${sign} ${sub('text')})`,
    () => `(${sub('text')} ${sign} ${quoteText(random.pick(['%a%', 'b_b', 'SECRET%', '\\\\%', '']))})`,
    () => `(${sub('text')} SIMILAR TO ${quoteText(random.pick(['%(a|b)%', '[a-d]+', 'SECRET%', '_']))})`,
  ]
  return random.pick(forms)()
}
