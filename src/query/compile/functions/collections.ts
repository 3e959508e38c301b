/** Defines functions of arrays and JSON. Arrays start at 1 and have one dimension. */

import { elementOf, isArray, type SqlType } from '../../../core/sql-type.ts'
import { type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'

/** Joining to a NULL array yields the other operand. */
export const joined = (both: string): string =>
  `CASE WHEN {0} IS NULL THEN {1} WHEN {1} IS NULL THEN {0} ELSE ${both} END`
export const appended = 'CASE WHEN {0} IS NULL THEN ARRAY[{1}] ELSE concat({0}, ARRAY[{1}]) END'
export const prepended = 'CASE WHEN {1} IS NULL THEN ARRAY[{0}] ELSE concat(ARRAY[{0}], {1}) END'

const json = (['json', 'jsonb'] as const).flatMap((type) => [
  fn(
    `${type}_array_length`,
    type,
    'int4',
    `CAST(CASE WHEN json_type({0}) <> 'ARRAY' THEN error('not an array') ELSE json_array_length({0}) END AS INTEGER)`,
    'CAST(json_array_length({0}) AS INTEGER)',
    { fallible: true },
  ),
  fn(
    `${type}_typeof`,
    type,
    'text',
    `CASE json_type({0}) WHEN 'OBJECT' THEN 'object' WHEN 'ARRAY' THEN 'array' WHEN 'VARCHAR' THEN 'string' WHEN 'BOOLEAN' THEN 'boolean' WHEN 'NULL' THEN 'null' ELSE CASE WHEN {0} IS NULL THEN NULL ELSE 'number' END END`,
    null,
  ),
])

/** DuckDB's array_to_string requires a constant separator, and reads NULL as a comma. */
const elementsJoined: Template = ([array, separator], { literals }) =>
  typeof literals[1] === 'string'
    ? `array_to_string(${array}, ${separator})`
    : `CASE WHEN ${array} IS NULL OR ${separator} IS NULL THEN NULL WHEN list_count(${array}) = 0 THEN '' ELSE list_reduce(list_filter(${array}, lambda e: e IS NOT NULL), lambda a, b: a || ${separator} || b) END`

/** A value as JSON has it: moments with a T, an instant with its zone. */
export function jsonValue(value: string, type: SqlType): string {
  if (type === 'timestamp') return `replace(CAST(${value} AS VARCHAR), ' ', 'T')`
  if (type === 'timestamptz')
    return `(replace(CAST(timezone('UTC', ${value}) AS VARCHAR), ' ', 'T') || '+00:00')`
  if (isArray(type)) {
    const element = jsonValue('e', elementOf(type))
    return element === 'e' ? value : `list_transform(${value}, lambda e: ${element})`
  }
  if (type === 'interval' || type === 'bytea') throw notSupported(`${type} in JSON`)
  return ['date', 'time', 'uuid'].includes(type) ? `CAST(${value} AS VARCHAR)` : value
}

/** jsonb has its keys in the order of their lengths, then of their bytes. */
function byKey(a: string, b: string): number {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length - right.length || Buffer.compare(left, right)
}

const jsonObject: Template = (args, { literals, types, type }) => {
  if (args.length % 2 === 1) throw new SqlError('22023', 'argument list must have even number of elements')
  const keys = literals.filter((_, index) => index % 2 === 0)
  const members = keys.map((key, place) => {
    if (typeof key !== 'string') throw notSupported('A key of a JSON object that is no literal')
    const index = 2 * place
    const value = jsonValue(args[index + 1] ?? '', types[index + 1] ?? 'text')
    return { key, written: `${args[index]}, ${value}` }
  })
  if (type === 'jsonb') members.sort((a, b) => byKey(a.key, b.key))
  return `json_object(${members.map(({ written }) => written).join(', ')})`
}

const jsonObjects = (['json', 'jsonb'] as const).map((type) =>
  fn(`${type}_build_object`, 'any ...', type, jsonObject, null, { variadic: true }),
)

/** A row as JSON: names of its columns as literals, each with its value. */
export const jsonOfRow = {
  json: fn('row_to_json', 'any ...', 'json', jsonObject, null, { variadic: true }),
  jsonb: fn('to_jsonb', 'any ...', 'jsonb', jsonObject, null, { variadic: true }),
} as const

/** A value as JSON; NULL stays NULL. */
const toJson: Template = ([value = ''], { types }) =>
  `CASE WHEN ${value} IS NOT NULL THEN to_json(${jsonValue(value, types[0] ?? 'text')}) END`
const jsonArray: Template = (args, { types }) =>
  `json_array(${args.map((arg, index) => jsonValue(arg, types[index] ?? 'text')).join(', ')})`

const toJsons = [
  fn('to_json', 'any', 'json', toJson, null),
  fn('to_jsonb', 'any', 'jsonb', toJson, null),
  ...(['json', 'jsonb'] as const).map((type) =>
    fn(`${type}_build_array`, 'any ...', type, jsonArray, null, { variadic: true }),
  ),
]

export const collectionFunctions: readonly FunctionDef[] = [
  ...json,
  ...jsonObjects,
  ...toJsons,
  fn('cardinality', 'anyarray', 'int4', 'CAST(len({0}) AS INTEGER)', 'CAST(cardinality({0}) AS INTEGER)'),
  fn(
    'array_length',
    'anyarray int4',
    'int4',
    'CASE WHEN {1} = 1 AND len({0}) > 0 THEN CAST(len({0}) AS INTEGER) END',
    'CASE WHEN {1} = 1 AND cardinality({0}) > 0 THEN CAST(cardinality({0}) AS INTEGER) END',
  ),
  fn(
    'array_lower',
    'anyarray int4',
    'int4',
    'CASE WHEN {1} = 1 AND len({0}) > 0 THEN 1 END',
    'CASE WHEN {1} = 1 AND cardinality({0}) > 0 THEN 1 END',
  ),
  fn(
    'array_upper',
    'anyarray int4',
    'int4',
    'CASE WHEN {1} = 1 AND len({0}) > 0 THEN CAST(len({0}) AS INTEGER) END',
    'CASE WHEN {1} = 1 AND cardinality({0}) > 0 THEN CAST(cardinality({0}) AS INTEGER) END',
  ),
  fn('array_append', 'anyarray anyelement', 'anyarray', 'list_append({0}, {1})', appended),
  fn('array_prepend', 'anyelement anyarray', 'anyarray', 'list_prepend({0}, {1})', prepended),
  fn('array_cat', 'anyarray anyarray', 'anyarray', joined('({0} || {1})'), joined('concat({0}, {1})')),
  fn(
    'array_position',
    'anyarray anyelement',
    'int4',
    'CAST(nullif(list_position({0}, {1}), 0) AS INTEGER)',
    'CAST(nullif(array_position({0}, {1}), 0) AS INTEGER)',
  ),
  fn(
    'array_remove',
    'anyarray anyelement',
    'anyarray',
    'list_filter({0}, lambda e: e IS DISTINCT FROM {1})',
    'filter({0}, e -> e IS DISTINCT FROM {1})',
  ),
  fn('array_to_string', 'text[] text', 'text', elementsJoined, 'array_join({0}, {1})'),
  fn(
    'array_to_string',
    'text[] text text',
    'text',
    'array_to_string(list_filter(list_transform({0}, lambda e: coalesce(e, {2})), lambda e: e IS NOT NULL), {1})',
    'array_join(transform({0}, e -> coalesce(e, {2})), {1})',
    { literal: [1] },
  ),
  fn(
    'string_to_array',
    'text text',
    'text[]',
    `CASE WHEN {0} IS NULL THEN NULL WHEN {0} = '' THEN CAST([] AS VARCHAR[]) WHEN {1} = '' THEN [{0}] WHEN {1} IS NULL THEN regexp_extract_all({0}, '(?s).') ELSE string_split({0}, {1}) END`,
    `CASE WHEN {0} IS NULL THEN NULL WHEN {0} = '' THEN CAST(ARRAY[] AS ARRAY(VARCHAR)) WHEN {1} = '' THEN ARRAY[CAST({0} AS VARCHAR)] WHEN {1} IS NULL THEN regexp_extract_all({0}, '(?s).') ELSE split({0}, {1}) END`,
  ),
]
