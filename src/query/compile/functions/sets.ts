/**
 * Defines functions that return rows, by the array of their values: `unnest` and `generate_series` are the forms to which
 * all others are reduced. `returns` is the type of one value.
 */

import { byName, type FunctionDef, fn } from '../base/function-definition.ts'
import { eachOf } from './jsonb.ts'
import { matches } from './regex.ts'
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

/** A function's array, one element a row. */
const elementsOf = (name: string, array: string): readonly FunctionDef[] =>
  (functions.get(array) ?? []).map((def) => ({ ...def, id: `${name}${def.id}`, name, returns: 'text' }))

export const setFunctions: ReadonlyMap<string, readonly FunctionDef[]> = byName([
  ...json,
  fn('regexp_matches', 'text text', 'text[]', matches, null, { literal: [1] }),
  fn('regexp_matches', 'text text text', 'text[]', matches, null, { literal: [1, 2] }),
  ...elementsOf('regexp_split_to_table', 'regexp_split_to_array'),
  ...elementsOf('string_to_table', 'string_to_array'),
  fn(
    'generate_subscripts',
    'anyarray int4',
    'int4',
    'CASE WHEN {0} IS NOT NULL AND {1} = 1 THEN list_transform(range(1, len({0}) + 1), lambda i: CAST(i AS INTEGER)) END',
    'CASE WHEN {1} = 1 AND cardinality({0}) > 0 THEN CAST(sequence(1, cardinality({0})) AS ARRAY(INTEGER)) END',
  ),
  ...eachOf.map(({ keys }) => keys),
])
