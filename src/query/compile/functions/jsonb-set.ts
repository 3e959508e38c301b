/** Defines jsonb_set for DuckDB, which has no such function: it writes the objects and arrays along a literal path again. */

import { quoteText } from '../../../base/sql-text.ts'
import { type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { notSupported } from '../base/sql-error.ts'

/** Steps of a path; each writes the document once more. */
const stepsMax = 6

/** What is set: the SQL of the value, and whether it may be added where nothing is. */
interface Setting {
  readonly value: string
  readonly isCreated: boolean
}

interface Step extends Setting {
  /** The variable that holds the document at this depth. */
  readonly doc: string
  readonly key: string
  readonly depth: number
  /** What becomes of the value that the step finds. */
  readonly changed: (old: string) => string
  readonly isLast: boolean
}

function ofObject({ doc, key, depth, changed, isLast, value, isCreated }: Step): string {
  const [member, name] = [`m${depth}`, quoteText(key)]
  const members = `list_zip(json_keys(${doc}), json_extract(${doc}, '$.*'))`
  const written = (sql: string) => `CAST(to_json(${member}[1]) AS VARCHAR) || ':' || CAST(${sql} AS VARCHAR)`
  const [old, set] = [written(`${member}[2]`), written(changed(`${member}[2]`))]
  const texts = `list_transform(${members}, lambda ${member}: CASE WHEN ${member}[1] = ${name} THEN ${set} ELSE ${old} END)`
  const added = `CAST(to_json(${name}) AS VARCHAR) || ':' || CAST(${value} AS VARCHAR)`
  const isThere = `list_contains(json_keys(${doc}), ${name})`
  const all = `CASE WHEN ${isThere} THEN ${texts} ELSE list_append(${texts}, ${added}) END`
  return `CAST('{' || array_to_string(${isLast && isCreated ? all : texts}, ',') || '}' AS JSON)`
}

/** Elements are counted from 0, or from the end where negative. */
function ofArray({ doc, key, depth, changed, isLast, value, isCreated }: Step): string {
  const at = /^\s*[+-]?\d+\s*$/.test(key) ? Number(key) : Number.NaN
  if (!(Math.abs(at) < 2 ** 31)) return `error('invalid input syntax')`
  const [element, elements] = [`m${depth}`, `json_extract(${doc}, '$[*]')`]
  const place = at < 0 ? `len(${elements}) + ${at + 1}` : String(at + 1)
  const numbered = `list_zip(${elements}, range(1, len(${elements}) + 1))`
  const texts = `list_transform(${numbered}, lambda ${element}: CAST(CASE WHEN ${element}[2] = ${place} THEN ${changed(`${element}[1]`)} ELSE ${element}[1] END AS VARCHAR))`
  const text = `CAST(${value} AS VARCHAR)`
  const added = at < 0 ? `list_prepend(${text}, ${texts})` : `list_append(${texts}, ${text})`
  const all = `CASE WHEN ${place} BETWEEN 1 AND len(${elements}) THEN ${texts} ELSE ${added} END`
  return `CAST('[' || array_to_string(${isLast && isCreated ? all : texts}, ',') || ']' AS JSON)`
}

/** The document of a depth: a member of what is given, then what the step before found. */
const documentAt = (depth: number) => (depth === 0 ? given('d') : `d${depth}`)
const given = (member: 'd' | 'v') => `struct_extract(g, '${member}')`

/** The document with what the path names set. Each depth has a variable, so that what leads to it is written once. */
function setAt(
  document: string,
  [key = '', ...rest]: readonly string[],
  depth: number,
  set: Setting,
): string {
  const doc = documentAt(depth)
  const isLast = rest.length === 0
  const changed = (old: string) => (isLast ? set.value : setAt(old, rest, depth + 1, set))
  const step: Step = { ...set, doc, key, depth, changed, isLast }
  const scalar = depth === 0 ? `error('cannot set path in scalar')` : doc
  const test = `CASE json_type(${doc}) WHEN 'OBJECT' THEN ${ofObject(step)} WHEN 'ARRAY' THEN ${ofArray(step)} ELSE ${scalar} END`
  return depth === 0
    ? test
    : `list_extract(list_transform(list_value(${document}), lambda ${doc}: ${test}), 1)`
}

const template: Template = ([document = '', , value = ''], { literals }) => {
  const [, written, , isCreated = 'true'] = literals
  if (typeof written !== 'string' || isCreated === null) return 'CAST(NULL AS JSON)'
  const path = JSON.parse(written) as readonly (string | null)[]
  if (path.length > stepsMax) throw notSupported(`jsonb_set with a path of more than ${stepsMax} steps`)
  if (path.includes(null)) throw notSupported('A path with NULL')
  const set = { value: given('v'), isCreated: isCreated === 'true' }
  const sql = path.length === 0 ? given('d') : setAt(given('d'), path as readonly string[], 0, set)
  const changed = `CASE WHEN ${given('d')} IS NOT NULL AND ${given('v')} IS NOT NULL THEN ${sql} END`
  // Both are written once, because each may be a call of its own.
  const both = `list_value(struct_pack(d := ${document}, v := ${value}))`
  return `list_extract(list_transform(${both}, lambda g: ${changed}), 1)`
}

const options = (literal: readonly number[]) => ({ literal, fallible: true })

export const jsonbSet: readonly FunctionDef[] = [
  fn('jsonb_set', 'jsonb text[] jsonb', 'jsonb', template, null, options([1])),
  fn('jsonb_set', 'jsonb text[] jsonb bool', 'jsonb', template, null, options([1, 3])),
]
