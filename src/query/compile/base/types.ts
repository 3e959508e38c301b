/** Lists the PostgreSQL types that the read path supports, their Iceberg types, and which convert to which. */

import { fieldsIn, type IcebergType } from '../../../core/iceberg-type.ts'
import {
  elementOf,
  isArray,
  type NumericSize,
  type ScalarType,
  type SqlType,
  scalarTypes,
} from '../../../core/sql-type.ts'

/** Bounds of one column: what is nested more deeply, or has more fields, is not served. */
const nestingMax = 12
const nestedFieldsMax = 1_000

const icebergTypes: Readonly<Record<string, ScalarType>> = {
  boolean: 'bool',
  int: 'int4',
  long: 'int8',
  float: 'float4',
  double: 'float8',
  string: 'text',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  // Nanoseconds are truncated to PostgreSQL's microseconds when the table is read.
  timestamp_ns: 'timestamp',
  timestamptz_ns: 'timestamptz',
  uuid: 'uuid',
  binary: 'bytea',
}

/**
 * The PostgreSQL type of a column; undefined for a type that is not supported. A struct or map is jsonb, and a list of
 * them an array of jsonb (docs/adr/0032-nested-values-are-jsonb.md).
 */
export function servedType(type: IcebergType): { type: SqlType; size?: NumericSize } | undefined {
  if (typeof type !== 'string') {
    if (type.type === 'list') {
      const element = typeof type.element === 'string' ? servedType(type.element) : undefined
      if (element !== undefined && element.type !== 'unknown' && !isArray(element.type))
        return { type: `${element.type}[]`, ...(element.size && { size: element.size }) }
    }
    return isNestedServed(type) ? { type: type.type === 'list' ? 'jsonb[]' : 'jsonb' } : undefined
  }
  const decimal = /^decimal\((\d+),\s*(\d+)\)$/.exec(type)
  if (decimal) return { type: 'numeric', size: [Number(decimal[1]), Number(decimal[2])] }
  if (/^fixed\[\d+\]$/.test(type)) return { type: 'bytea' }
  const scalar = Object.hasOwn(icebergTypes, type) ? icebergTypes[type] : undefined
  return scalar && { type: scalar }
}

/** Whether a column is shown as JSON: a struct, a map, or a list of nested values. */
export function isNested(type: IcebergType): type is Exclude<IcebergType, string> {
  if (typeof type === 'string') return false
  return type.type !== 'list' || typeof type.element !== 'string'
}

const nestedServed = new WeakMap<object, boolean>()

/** Whether each field inside is served, and they are not too many or too deep. */
function isNestedServed(type: Exclude<IcebergType, string>): boolean {
  const cached = nestedServed.get(type)
  if (cached !== undefined) return cached
  const fields = { left: nestedFieldsMax }
  const served = isServedInside(type, nestingMax, fields)
  nestedServed.set(type, served)
  return served
}

function isServedInside(type: IcebergType, levels: number, fields: { left: number }): boolean {
  if (--fields.left < 0) return false
  if (typeof type === 'string') return servedType(type) !== undefined
  const inside = fieldsIn(type)
  if (levels === 0 || inside.length === 0) return false
  // Names of JSON's members are texts.
  if (type.type === 'map' && typeof type.key !== 'string') return false
  const names = inside.map(({ name }) => name)
  if (new Set(names).size < names.length || names.some((name) => name === '' || !isText(name))) return false
  return inside.every((field) => isServedInside(field.type, levels - 1, fields))
}

const isText = (name: string) => !name.includes('\0') && name.isWellFormed()

const typeNames: Readonly<Record<string, ScalarType>> = {
  boolean: 'bool',
  smallint: 'int2',
  integer: 'int4',
  int: 'int4',
  bigint: 'int8',
  decimal: 'numeric',
  real: 'float4',
  ...Object.fromEntries(scalarTypes.map((type) => [type, type])),
}

/** The type that a name in a cast means, in pg_catalog's spelling or ours; undefined for an unsupported one. */
export function namedType(name: string): ScalarType | undefined {
  return Object.hasOwn(typeNames, name) ? typeNames[name] : undefined
}

/** PostgreSQL's name of a type, for messages. */
export function spokenType(type: SqlType): string {
  const names: Partial<Record<SqlType, string>> = {
    bool: 'boolean',
    int2: 'smallint',
    int4: 'integer',
    int8: 'bigint',
    float4: 'real',
    float8: 'double precision',
    varchar: 'character varying',
    time: 'time without time zone',
    timestamp: 'timestamp without time zone',
    timestamptz: 'timestamp with time zone',
  }
  return isArray(type) ? `${spokenType(elementOf(type))}[]` : (names[type] ?? type)
}

const numbers: readonly SqlType[] = ['int2', 'int4', 'int8', 'numeric', 'float4', 'float8']
const integers: readonly SqlType[] = ['int2', 'int4', 'int8']
const strings: readonly SqlType[] = ['text', 'varchar']
const times: readonly SqlType[] = ['date', 'timestamp', 'timestamptz']

/** Whether a type is numeric: integers, numeric and floats. */
export function isNumber(type: SqlType): boolean {
  return numbers.includes(type)
}

/** Whether a type is one of the three integers. */
export function isInteger(type: SqlType): type is 'int2' | 'int4' | 'int8' {
  return integers.includes(type)
}

/** Whether a type is real or double precision. */
export function isFloat(type: SqlType): boolean {
  return type === 'float4' || type === 'float8'
}

/** Whether a type is text or varchar. */
export function isString(type: SqlType): boolean {
  return strings.includes(type)
}

/** Whether a type is a date or timestamp. */
function isTime(type: SqlType): boolean {
  return times.includes(type)
}

/** Whether PostgreSQL converts implicitly, as for an argument of a function. */
export function convertsImplicitly(from: SqlType, to: SqlType): boolean {
  if (from === to || from === 'unknown') return true
  for (const chain of [numbers, strings, times])
    if (chain.includes(from) && chain.includes(to))
      return chain === strings || chain.indexOf(from) < chain.indexOf(to)
  return false
}

/** Whether a type is the preferred one of its category, which PostgreSQL chooses in an ambiguity. */
export function isPreferred(type: SqlType): boolean {
  return ['float8', 'text', 'timestamptz', 'bool', 'interval'].includes(type)
}

/** Whether an explicit cast exists in PostgreSQL and is supported. */
export function casts(from: SqlType, to: SqlType): boolean {
  if (from === to || from === 'unknown' || convertsImplicitly(from, to)) return true
  if (to === 'unknown') return false
  if (isArray(from) && isArray(to)) return casts(elementOf(from), elementOf(to))
  if (isArray(from)) return isString(to) && !['json', 'jsonb', 'bytea'].includes(elementOf(from))
  if (isArray(to)) return isString(from) && !['json', 'jsonb', 'bytea'].includes(elementOf(to))
  if (isNumber(from) && isNumber(to)) return true
  if (isTime(from) && isTime(to)) return true
  // Engines read bytea in different forms, so that cast is not supported.
  if (isString(from)) return to !== 'bytea'
  if (isString(to)) return true
  if (from === 'bool' || to === 'bool') return from === 'int4' || to === 'int4'
  if (to === 'time') return from === 'timestamp' || from === 'timestamptz'
  return (from === 'json' && to === 'jsonb') || (from === 'jsonb' && to === 'json')
}

/**
 * The common type of several in UNION, CASE, ARRAY, COALESCE and IN (PostgreSQL manual, 10.5).
 *
 * @returns undefined where there is none
 */
export function commonType(types: readonly SqlType[]): SqlType | undefined {
  const typed = types.filter((type) => type !== 'unknown')
  const [first] = typed
  if (first === undefined) return 'text'
  let chosen: SqlType = first
  for (const type of typed) {
    if (type === chosen) continue
    // Of text and varchar the first stays, as each is read as the other.
    if (isString(chosen) && isString(type)) continue
    if (convertsImplicitly(chosen, type)) chosen = type
    else if (!convertsImplicitly(type, chosen)) return undefined
  }
  return chosen
}
