/** Defines functions of arrays and JSON. Arrays start at 1 and have one dimension. */

import { quoteText } from '../../../base/sql-text.ts'
import { type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { asJson, inBrackets, jsonText, memberText } from './json-text.ts'

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

/** jsonb has its keys in the order of their lengths, then of their bytes. */
export function byKey(a: string, b: string): number {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length - right.length || Buffer.compare(left, right)
}

/** @param isRow of a row: `json` then has no blanks */
const jsonObject =
  (isRow: boolean): Template =>
  (args, { literals, types, type }) => {
    if (args.length % 2 === 1) throw new SqlError('22023', 'argument list must have even number of elements')
    const of = type === 'jsonb' ? 'jsonb' : 'json'
    const keys = literals.filter((_, index) => index % 2 === 0)
    const members = keys.map((key, place) => {
      if (typeof key !== 'string') throw notSupported('A key of a JSON object that is no literal')
      const index = 2 * place
      const value = memberText(args[index + 1] ?? '', types[index + 1] ?? 'text', of)
      const between = of === 'jsonb' ? ': ' : isRow ? ':' : ' : '
      return { key, written: `${quoteText(`${JSON.stringify(key)}${between}`)} || ${value}` }
    })
    // Of a key that is there twice jsonb has the last.
    const kept =
      of === 'json'
        ? members
        : members
            .filter(({ key }, index) => !members.slice(index + 1).some((later) => later.key === key))
            .sort((a, b) => byKey(a.key, b.key))
    const separator = of === 'json' && isRow ? ',' : ', '
    const inside = kept.map(({ written }) => written).join(` || '${separator}' || `)
    return asJson(inside === '' ? "'{}'" : `'{' || ${inside} || '}'`)
  }

/** Keys, each before its value, may be parameters. */
const members = { variadic: true, writesTexts: true, takesValue: (index: number) => index % 2 === 0 }

const jsonObjects = (['json', 'jsonb'] as const).flatMap((type) => [
  fn(`${type}_build_object`, 'any ...', type, jsonObject(false), null, members),
  fn(`${type}_build_object`, '', type, asJson("'{}'"), null),
])

/** A row as JSON: names of its columns as literals, each with its value. */
export const jsonOfRow = {
  json: fn('row_to_json', 'any ...', 'json', jsonObject(true), null, members),
  jsonb: fn('to_jsonb', 'any ...', 'jsonb', jsonObject(true), null, members),
} as const

/** A value as JSON; NULL stays NULL. */
const toJson: Template = ([value = ''], { types, type }) =>
  types[0] === 'json' || types[0] === 'jsonb'
    ? value
    : asJson(jsonText(value, types[0] ?? 'text', type === 'jsonb' ? 'jsonb' : 'json'))
const jsonArray: Template = (args, { types, type }) => {
  const of = type === 'jsonb' ? 'jsonb' : 'json'
  const members = args.map((arg, index) => memberText(arg, types[index] ?? 'text', of))
  return asJson(inBrackets(members.join(" || ', ' || ")))
}

const toJsons = [
  fn('to_json', 'any', 'json', toJson, null, { writesTexts: true }),
  fn('to_jsonb', 'any', 'jsonb', toJson, null, { writesTexts: true }),
  ...(['json', 'jsonb'] as const).flatMap((type) => [
    fn(`${type}_build_array`, 'any ...', type, jsonArray, null, { variadic: true, writesTexts: true }),
    fn(`${type}_build_array`, '', type, asJson("'[]'"), null),
  ]),
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
