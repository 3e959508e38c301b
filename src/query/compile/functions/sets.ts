/**
 * Defines functions that return rows, by the array of their values: `unnest` and `generate_series` are the forms to which
 * all others are reduced. `returns` is the type of one value.
 */

import { quoteText } from '../../../base/sql-text.ts'
import { byName, type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { notSupported } from '../base/sql-error.ts'
import { portableRegex } from './pattern.ts'
import { functions } from './registry.ts'

const may = { fallible: true }

/** JSON as an array of its elements, `{0}` of which is read once. A NULL has no rows. */
const elementsOfJson = (path: string): string =>
  `CASE json_type({0}) WHEN 'ARRAY' THEN ${path}({0}, '$[*]') ELSE CASE WHEN {0} IS NOT NULL THEN error('not an array') END END`

/** A JSON value's text as `->>` gives it. */
const textOfJson = `CASE json_format(e) WHEN 'null' THEN NULL ELSE coalesce(json_extract_scalar(e, '$'), json_format(e)) END`

const json = (['json', 'jsonb'] as const).flatMap((type) => [
  fn(`${type}_array_elements`, type, type, elementsOfJson('json_extract'), 'CAST({0} AS ARRAY(JSON))', may),
  fn(
    `${type}_array_elements_text`,
    type,
    'text',
    elementsOfJson('json_extract_string'),
    `transform(CAST({0} AS ARRAY(JSON)), e -> ${textOfJson})`,
    may,
  ),
  fn(
    `${type}_object_keys`,
    type,
    'text',
    `CASE json_type({0}) WHEN 'OBJECT' THEN json_keys({0}) ELSE CASE WHEN {0} IS NOT NULL THEN error('not an object') END END`,
    null,
    may,
  ),
])

/** The groups that a pattern captures, or 0 for the whole of what it matches. */
function groupsOf(pattern: string): readonly number[] {
  const plain = pattern.replace(/\\[\s\S]|\[\^?\]?(?:\[:\w+:\]|\\[\s\S]|[^\]\\])*\]/g, '')
  const count = plain.match(/\((?!\?)/g)?.length ?? 0
  return count === 0 ? [0] : Array.from({ length: count }, (_, index) => index + 1)
}

/** Each match as an array of its groups; without the flag `g` the first match alone. */
const matches: Template = ([text = ''], { literals }) => {
  const [, pattern, flags = ''] = literals
  if (typeof pattern !== 'string' || flags === null) return 'CAST(NULL AS VARCHAR[][])'
  if (!/^[gi]*$/.test(flags)) throw notSupported('A flag of regexp_matches other than g and i')
  if (new RegExp(pattern.replace(/\[:\w+:\]/g, 'a')).test(''))
    throw notSupported('regexp_matches with a pattern that matches empty text')
  const written = quoteText(`(?s${flags.includes('i') ? 'i' : ''})${portableRegex(pattern)}`)
  const groups = groupsOf(pattern)
  const found = groups.map((group) => `regexp_extract_all(${text}, ${written}, ${group})`)
  const members = groups.map((_, index) => `m[${index + 1}]`)
  const all =
    groups.length === 1
      ? `list_transform(${found.join('')}, lambda m: [m])`
      : `list_transform(list_zip(${found.join(', ')}), lambda m: [${members.join(', ')}])`
  return flags.includes('g') ? all : `list_slice(${all}, 1, 1)`
}

/** A function's array, one element a row. */
const elementsOf = (name: string, array: string): readonly FunctionDef[] =>
  (functions.get(array) ?? []).map((def) => ({ ...def, id: `${name}${def.id}`, name, returns: 'text' }))

export const setFunctions: ReadonlyMap<string, readonly FunctionDef[]> = byName([
  ...json,
  fn('regexp_matches', 'text text', 'text[]', matches, null, { literal: [1] }),
  fn('regexp_matches', 'text text text', 'text[]', matches, null, { literal: [1, 2] }),
  ...elementsOf('regexp_split_to_table', 'regexp_split_to_array'),
  ...elementsOf('string_to_table', 'string_to_array'),
])
