/** The PostgreSQL types that the read path serves, with their OIDs. */

export const scalarTypes = [
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
/** `unknown` is a string literal, NULL or parameter whose context has not given it a type yet. */
export type SqlType = ScalarType | ArrayType | 'unknown'

/** Precision and scale of a numeric, where the type has them. */
export type NumericSize = readonly [precision: number, scale: number]

/** OIDs of PostgreSQL's pg_type: of the type and of its array. */
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

/** The type of an OID that a client named in Parse; undefined for an unsupported one, and for 0. */
export function typeOfOid(oid: number): SqlType | undefined {
  for (const type of scalarTypes) {
    if (oids[type][0] === oid) return type
    if (oids[type][1] === oid) return `${type}[]`
  }
  return undefined
}

/** Whether a type is an array. */
export function isArray(type: SqlType): type is ArrayType {
  return type.endsWith('[]')
}

/** The type of an array's elements. */
export function elementOf(type: ArrayType): ScalarType {
  return type.slice(0, -2) as ScalarType
}

/** Whether a name is that of a supported scalar type. */
export function isScalar(type: string): type is ScalarType {
  return (scalarTypes as readonly string[]).includes(type)
}

/** The SQL dialects that the read path generates, by the engine that runs them. */
export type DialectName = 'duckdb' | 'trino'
