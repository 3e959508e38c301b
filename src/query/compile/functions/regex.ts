/** Defines functions that tell what a literal regular expression matches. */

import { quoteText } from '../../../base/sql-text.ts'
import { type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { portableRegex } from './pattern.ts'

/** The groups that a pattern captures, or 0 for the whole of what it matches. */
function groupsOf(pattern: string): readonly number[] {
  const plain = pattern.replace(/\\[\s\S]|\[\^?\]?(?:\[:\w+:\]|\\[\s\S]|[^\]\\])*\]/g, '')
  const count = plain.match(/\((?!\?)/g)?.length ?? 0
  return count === 0 ? [0] : Array.from({ length: count }, (_, index) => index + 1)
}

function matchesEmpty(pattern: string): boolean {
  try {
    return new RegExp(pattern.replace(/\[:\w+:\]/g, 'a')).test('')
  } catch {
    throw notSupported('regexp_matches with this pattern')
  }
}

/** Each match of a literal pattern as an array of its groups; without the flag `g` the first match alone. */
export const matches: Template = ([text = ''], { literals }) => {
  const [, pattern, flags = ''] = literals
  if (typeof pattern !== 'string' || flags === null) return 'CAST(NULL AS VARCHAR[][])'
  if (!/^[gi]*$/.test(flags)) throw notSupported('A flag of regexp_matches other than g and i')
  const portable = portableRegex(pattern)
  if (matchesEmpty(pattern)) throw notSupported('regexp_matches with a pattern that matches empty text')
  const written = quoteText(`(?s${flags.includes('i') ? 'i' : ''})${portable}`)
  const groups = groupsOf(pattern)
  const found = groups.map((group) => `regexp_extract_all(${text}, ${written}, ${group})`)
  const members = groups.map((_, index) => `m[${index + 1}]`)
  const all =
    groups.length === 1
      ? `list_transform(${found.join('')}, lambda m: [m])`
      : `list_transform(list_zip(${found.join(', ')}), lambda m: [${members.join(', ')}])`
  return flags.includes('g') ? all : `list_slice(${all}, 1, 1)`
}

const firstMatch: Template = (args, call) => {
  if (call.literals[2]?.includes('g'))
    throw new SqlError('22023', 'regexp_match() does not support the "global" option')
  if (typeof call.literals[1] !== 'string' || call.literals[2] === null) return 'CAST(NULL AS VARCHAR[])'
  return typeof matches === 'function' ? `list_extract(${matches(args, call)}, 1)` : ''
}

/** The first place of a match: what is before it is the shortest text behind which the pattern matches. */
const firstPlace =
  (engine: 'duckdb' | 'trino'): Template =>
  ([text = ''], { literals }) => {
    const pattern = portableRegex(literals[1] ?? '')
    const [whole, before] = [quoteText(`(?s)${pattern}`), quoteText(`(?s)^(.*?)(?:${pattern})`)]
    const test = engine === 'duckdb' ? 'regexp_matches' : 'regexp_like'
    return `CAST(CASE WHEN ${test}(${text}, ${whole}) THEN length(regexp_extract(${text}, ${before}, 1)) + 1 WHEN ${text} IS NOT NULL THEN 0 END AS INTEGER)`
  }

export const regexFunctions: readonly FunctionDef[] = [
  fn('regexp_match', 'text text', 'text[]', firstMatch, null, { literal: [1] }),
  fn('regexp_match', 'text text text', 'text[]', firstMatch, null, { literal: [1, 2] }),
  fn('regexp_instr', 'text text', 'int4', firstPlace('duckdb'), firstPlace('trino'), { literal: [1] }),
]
