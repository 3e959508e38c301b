/** Defines functions and operators of JSON that PostgreSQL has and that DuckDB is asked for in parts. */

import { quoteText } from '../../../base/sql-text.ts'
import { type SqlType, scalarTypes } from '../../../core/sql-type.ts'
import { aggregate, type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { notSupported } from '../base/sql-error.ts'
import { asJson, type JsonType, keyText, memberText } from './json-text.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** How deep a document may be that another is tested for. */
const depthMax = 10

/** Whether a document holds a literal one. @param sql of JSON, which is no NULL */
function holds(sql: string, part: Json, depth: number, isTop = false): string {
  if (depth > depthMax) throw notSupported('@> of so deep a document')
  if (Array.isArray(part)) {
    const name = `e${depth}`
    const tests = part.map((each: Json) => {
      const held = holds(name, each, depth + 1)
      return `len(list_filter(json_extract(${sql}, '$[*]'), lambda ${name}: ${held})) > 0`
    })
    return `(${[`json_type(${sql}) = 'ARRAY'`, ...tests].join(' AND ')})`
  }
  if (typeof part === 'object' && part !== null) {
    const tests = Object.entries(part).map(([key, value]) => {
      if (key === '' || key === '*') throw notSupported('An empty key or * in JSON')
      const path = quoteText(`$."${key.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)
      const child = `json_extract(${sql}, ${path})`
      return `coalesce(${holds(child, value, depth + 1)}, FALSE)`
    })
    return `(${[`json_type(${sql}) = 'OBJECT'`, ...tests].join(' AND ')})`
  }
  const test = same(sql, part)
  if (!isTop) return test
  // An array holds a value that is one of its elements.
  const among = `(json_type(${sql}) = 'ARRAY' AND len(list_filter(json_extract(${sql}, '$[*]'), lambda e: ${same('e', part)})) > 0)`
  return `(${test} OR ${among})`
}

/** Whether JSON is this scalar. */
function same(sql: string, value: null | boolean | number | string | Json): string {
  if (value === null) return `(json_type(${sql}) = 'NULL')`
  if (typeof value === 'boolean')
    return `(json_type(${sql}) = 'BOOLEAN' AND json_extract_string(${sql}, '$') = '${value}')`
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) && Math.abs(value) >= 1e15)
      throw notSupported('@> of a number of more than 15 digits')
    return `CASE WHEN json_type(${sql}) IN ('BIGINT', 'UBIGINT', 'DOUBLE') THEN TRY_CAST(json_extract_string(${sql}, '$') AS DOUBLE) = CAST('${value}' AS DOUBLE) ELSE FALSE END`
  }
  return `(json_type(${sql}) = 'VARCHAR' AND json_extract_string(${sql}, '$') = ${quoteText(String(value))})`
}

const containing =
  (whole: 0 | 1): Template =>
  (args, { literals }) => {
    const part = literals[1 - whole]
    if (typeof part !== 'string') return 'CAST(NULL AS BOOLEAN)'
    const sql = args[whole] ?? ''
    const test = holds('d', JSON.parse(part) as Json, 0, true)
    return `list_extract(list_transform([${sql}], lambda d: CASE WHEN d IS NOT NULL THEN ${test} END), 1)`
  }

/** Whether a text is a key of an object, an element of an array, or the value itself. */
const hasKey = (sql: string, key: string): string =>
  `CASE json_type(${sql}) WHEN 'OBJECT' THEN list_contains(json_keys(${sql}), ${key}) WHEN 'ARRAY' THEN len(list_filter(json_extract(${sql}, '$[*]'), lambda e: json_type(e) = 'VARCHAR' AND json_extract_string(e, '$') = ${key})) > 0 WHEN 'VARCHAR' THEN json_extract_string(${sql}, '$') = ${key} ELSE FALSE END`

const known = (test: string): string => `CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN ${test} END`
const keysFound = `list_transform(list_filter({1}, lambda k: k IS NOT NULL), lambda k: ${hasKey('{0}', 'k')})`

export const jsonOperators: readonly FunctionDef[] = [
  fn('@>', 'jsonb jsonb', 'bool', containing(0), null, { literal: [1] }),
  fn('<@', 'jsonb jsonb', 'bool', containing(1), null, { literal: [0] }),
  fn('?', 'jsonb text', 'bool', known(hasKey('{0}', '{1}')), null),
  fn('?|', 'jsonb text[]', 'bool', known(`list_contains(${keysFound}, TRUE)`), null),
  fn('?&', 'jsonb text[]', 'bool', known(`NOT list_contains(${keysFound}, FALSE)`), null),
]

/** The members of an object, as arrays of keys and of values. */
const members = (path: string): Template =>
  `CASE json_type({0}) WHEN 'OBJECT' THEN ${path} ELSE CASE WHEN {0} IS NOT NULL THEN error('not an object') END END`

const may = { fallible: true }

const texts = `list_transform(json_extract({0}, '$.*'), lambda e: CASE WHEN json_type(e) = 'NULL' THEN NULL ELSE json_extract_string(e, '$') END)`

/** `json_each` and its like, by their keys as an array, and beside each the values. */
export const eachOf: readonly { readonly keys: FunctionDef; readonly values: FunctionDef }[] = (
  ['json', 'jsonb'] as const
).flatMap((type) =>
  [`${type}_each`, `${type}_each_text`].map((name) => ({
    keys: fn(name, type, 'text', members('json_keys({0})'), null, may),
    values: name.endsWith('_text')
      ? fn(`values of ${name}`, type, 'text', members(texts), null, may)
      : fn(`values of ${name}`, type, type, members(`json_extract({0}, '$.*')`), null, may),
  })),
)

/** A key and its value in a group. In jsonb keys are in the order of their lengths, then of their bytes. */
const gatheredMember = (type: SqlType, result: JsonType): string => {
  const named = `CASE WHEN {0} IS NULL THEN error('${result === 'json' ? 'null value not allowed for object key' : 'field name must not be null'}') ELSE {0} END`
  const member = `t := ${keyText('{0}', result)} || ${memberText('{1}', type, result)}`
  if (result === 'json') return `CASE WHEN ${named} IS NOT NULL THEN ${member.slice(5)} END`
  return `struct_pack(l := octet_length(encode(${named})), b := encode({0}), ${member})`
}

const gatheredObject = (type: SqlType, result: JsonType): string => {
  const list = `list[${gatheredMember(type, result)}]`
  if (result === 'json') return asJson(`('{ ' || array_to_string(${list}, ', ') || ' }')`)
  const texts = `list_transform(list_sort(${list}), lambda m: struct_extract(m, 't'))`
  return asJson(`('{' || array_to_string(${texts}, ', ') || '}')`)
}

const memberTypes = [...scalarTypes, ...scalarTypes.map((type): SqlType => `${type}[]`)]

/** An object of a group's keys and values. Of a key that is there twice a `jsonb` has the last in PostgreSQL. */
export const jsonAggregates = (['json', 'jsonb'] as const).flatMap((result) =>
  memberTypes.map((type) =>
    aggregate(`${result}_object_agg`, `text ${type}`, result, gatheredObject(type, result), null, {
      fallible: true,
      keepsOrder: result === 'json',
    }),
  ),
)
