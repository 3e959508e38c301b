/** The PostgreSQL types that the read path knows, how Iceberg's map to them, and which convert to which. */

import type { IcebergType } from '../core/iceberg-type.ts'

const scalarTypes = [
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
] as const
export type ScalarType = (typeof scalarTypes)[number]
export type ArrayType = `${ScalarType}[]`
/** `unknown` is a string literal, NULL or parameter that its place has not given a type yet. */
export type SqlType = ScalarType | ArrayType | 'unknown'

/** Precision and scale of a numeric, where the type says them. */
export type NumericSize = readonly [precision: number, scale: number]

/** Type OIDs of PostgreSQL's pg_type, of the type and of its array. */
const oids: Readonly<Record<ScalarType, readonly [number, number]>> = {
  bool: [16, 1000],
  bytea: [17, 1001],
  int8: [20, 1016],
  int2: [21, 1005],
  int4: [23, 1007],
  text: [25, 1009],
  json: [114, 199],
  float4: [700, 1021],
  float8: [701, 1022],
  varchar: [1043, 1015],
  date: [1082, 1182],
  time: [1083, 1183],
  timestamp: [1114, 1115],
  timestamptz: [1184, 1185],
  interval: [1186, 1187],
  numeric: [1700, 1231],
  uuid: [2950, 2951],
  jsonb: [3802, 3807],
}

/** The OID of a type for RowDescription and ParameterDescription; text for `unknown`. */
export function typeOid(type: SqlType): number {
  if (type === 'unknown') return oids.text[0]
  return isArray(type) ? oids[elementOf(type)][1] : oids[type][0]
}

/** The type of an OID that a client named in Parse; undefined for one that is not served, and for 0. */
export function typeOfOid(oid: number): SqlType | undefined {
  for (const type of scalarTypes) {
    if (oids[type][0] === oid) return type
    if (oids[type][1] === oid) return `${type}[]`
  }
  return undefined
}

/** Whether a type is an array's. */
export function isArray(type: SqlType): type is ArrayType {
  return type.endsWith('[]')
}

/** The type of an array's elements. */
export function elementOf(type: ArrayType): ScalarType {
  return type.slice(0, -2) as ScalarType
}

/** Whether a name is that of a scalar type served. */
export function isScalar(type: string): type is ScalarType {
  return (scalarTypes as readonly string[]).includes(type)
}

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
  // Nanoseconds are cut to PostgreSQL's microseconds where the table is read.
  timestamp_ns: 'timestamp',
  timestamptz_ns: 'timestamptz',
  uuid: 'uuid',
  binary: 'bytea',
}

/** The PostgreSQL type as which a column is served; undefined where it is not served. */
export function servedType(type: IcebergType): { type: SqlType; size?: NumericSize } | undefined {
  if (typeof type !== 'string') {
    if (type.type !== 'list') return undefined
    const element = servedType(type.element)
    if (element === undefined || element.type === 'unknown' || isArray(element.type)) return undefined
    return { type: `${element.type}[]`, ...(element.size && { size: element.size }) }
  }
  const decimal = /^decimal\((\d+),\s*(\d+)\)$/.exec(type)
  if (decimal) return { type: 'numeric', size: [Number(decimal[1]), Number(decimal[2])] }
  if (/^fixed\[\d+\]$/.test(type)) return { type: 'bytea' }
  const scalar = Object.hasOwn(icebergTypes, type) ? icebergTypes[type] : undefined
  return scalar && { type: scalar }
}

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

/** The type that a name in a cast means, pg_catalog's spelling or ours; undefined for one not served. */
export function namedType(name: string): ScalarType | undefined {
  return Object.hasOwn(typeNames, name) ? typeNames[name] : undefined
}

/** PostgreSQL's name of a type for messages. */
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
export function isInteger(type: SqlType): boolean {
  return integers.includes(type)
}

/** Whether a type is text or varchar. */
export function isString(type: SqlType): boolean {
  return strings.includes(type)
}

/** Whether a type is a date or timestamp. */
export function isTime(type: SqlType): boolean {
  return times.includes(type)
}

/** Whether PostgreSQL converts without being asked, as of an argument of a function. */
export function convertsImplicitly(from: SqlType, to: SqlType): boolean {
  if (from === to || from === 'unknown') return true
  for (const chain of [numbers, strings, times])
    if (chain.includes(from) && chain.includes(to))
      return chain === strings || chain.indexOf(from) < chain.indexOf(to)
  return false
}

/** PostgreSQL's preferred type of each category: the one an ambiguity is settled for. */
export function isPreferred(type: SqlType): boolean {
  return ['float8', 'text', 'timestamptz', 'bool', 'interval'].includes(type)
}

/** Whether an explicit cast exists in PostgreSQL and is served. */
export function casts(from: SqlType, to: SqlType): boolean {
  if (from === to || from === 'unknown' || convertsImplicitly(from, to)) return true
  if (to === 'unknown') return false
  if (isArray(from) || isArray(to))
    return isArray(from) && isArray(to) && casts(elementOf(from), elementOf(to))
  if (isNumber(from) && isNumber(to)) return true
  if (isTime(from) && isTime(to)) return true
  // Engines write intervals and JSON their own way, so their text is not served.
  if (isString(from)) return to !== 'bytea'
  if (isString(to)) return from !== 'interval'
  if (from === 'bool' || to === 'bool') return from === 'int4' || to === 'int4'
  if (to === 'time') return from === 'timestamp' || from === 'timestamptz'
  return (from === 'json' && to === 'jsonb') || (from === 'jsonb' && to === 'json')
}

/**
 * The type that UNION, CASE, ARRAY, COALESCE and IN bring several to (PostgreSQL manual, 10.5).
 *
 * @returns undefined where they have none in common
 */
export function commonType(types: readonly SqlType[]): SqlType | undefined {
  const known = types.filter((type) => type !== 'unknown')
  const [first] = known
  if (first === undefined) return 'text'
  let chosen: SqlType = first
  for (const type of known) {
    if (type === chosen) continue
    if (convertsImplicitly(chosen, type) && !(isString(chosen) && isString(type))) chosen = type
    else if (isString(chosen) && isString(type)) chosen = chosen === type ? chosen : 'text'
    else if (!convertsImplicitly(type, chosen)) return undefined
  }
  return chosen
}
