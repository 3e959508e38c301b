/** Translates LIKE, SIMILAR TO and regular expressions to literals that all engines read with the same meaning. */

import { quoteText } from '../../../base/sql-text.ts'
import type { Template } from '../base/function-definition.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'

/**
 * Translates a POSIX regular expression to one that RE2 and Java read with the same meaning.
 *
 * @throws SqlError 0A000 for what they lack or read differently (look-around, back references, PostgreSQL's own
 *   escapes and prefixes), 2201B for a malformed one
 */
export function portableRegex(pattern: string): string {
  if (pattern.length > 1_000) throw notSupported('A regular expression of more than 1000 characters')
  if (/^(\*\*\*|\(\?)/.test(pattern)) throw notSupported('A regular expression with an embedded option')
  if (/\(\?(?!:)/.test(pattern.replace(/\\./gs, '')))
    throw notSupported('Look-around in a regular expression')
  for (const [, escaped = ''] of pattern.matchAll(/\\([\s\S])/g))
    if (/[a-zA-Z0-9]/.test(escaped) && !'dDsSwWtnr'.includes(escaped))
      throw notSupported(`\\${escaped} in a regular expression`)
  if (/\[[.=]|\[\[:[<>]:\]\]/.test(pattern)) throw notSupported('A collating element in a regular expression')
  if (/&&|\[[^\]]*\[(?!:)/.test(pattern)) throw notSupported('A nested class in a regular expression')
  try {
    new RegExp(pattern.replace(/\[:\w+:\]/g, 'a'))
  } catch {
    throw new SqlError('2201B', 'invalid regular expression')
  }
  return withLettersOfAllScripts(pattern)
}

/**
 * Whether a pattern may match empty text right after a match. PostgreSQL counts that as another match, RE2 does not.
 *
 * @param pattern one that portableRegex accepts
 */
export function matchesEmptyAfterMatch(pattern: string): boolean {
  if (pattern === '' || pattern === '$') return false
  const parts = /\\[\s\S]|\[\^?\]?(?:\[:\w+:\]|\\[\s\S]|[^\]\\])*\]|\^/g
  const behind = pattern.replace(parts, (part) => (part === '^' ? '(?!)' : part.startsWith('[') ? 'a' : part))
  return new RegExp(`^(?:${behind})$`).test('')
}

const letters = String.raw`\p{L}\p{Nl}`
const digits = String.raw`\p{Nd}`
const classes: Readonly<Record<string, string>> = {
  alpha: letters,
  alnum: letters + digits,
  upper: String.raw`\p{Lu}`,
  lower: String.raw`\p{Ll}`,
}

/** Replaces character classes, because the engines' classes hold only ASCII letters. */
function withLettersOfAllScripts(pattern: string): string {
  let inClass = false
  return pattern.replace(/\\([\s\S])|\[:(\w+):\]|[[\]]/g, (found, escaped?: string, name?: string) => {
    if (name !== undefined) return (Object.hasOwn(classes, name) ? classes[name] : undefined) ?? found
    if (found === '[') inClass = true
    if (found === ']') inClass = false
    if (escaped === 'w') return inClass ? `${letters}${digits}_` : `[${letters}${digits}_]`
    if (escaped !== 'W') return found
    if (inClass) throw notSupported('\\W in a class of a regular expression')
    return `[^${letters}${digits}_]`
  })
}

const wordStart = /^(?:\\[ym]|\[\[:<:\]\])/
const wordEnd = /(?:\\[yM]|\[\[:>:\]\])$/
const noLetter = `[^${letters}${digits}_]`

/**
 * A pattern whose ends are those of words, for a test alone: what stands around the word is matched too, because the
 * engines know only words of ASCII. Boundaries elsewhere are refused.
 */
function portableTest(pattern: string): string {
  const isStart = wordStart.test(pattern)
  // A backslash before the last one makes it an escaped backslash.
  const isEnd = wordEnd.test(pattern) && !/\\\\[yM]$/.test(pattern)
  if (!isStart && !isEnd) return portableRegex(pattern)
  const body = pattern.replace(wordStart, '').replace(isEnd ? wordEnd : /$^/, '')
  const plain = /^\w(?:.*\w)?$/s.test(body) && !/[|\\]/.test(body.replace(/\([^()]*\)/g, ''))
  if (!plain || (isEnd && /\\\w$/.test(body)))
    throw notSupported('A boundary of words beside anything but a letter or digit, in a regular expression')
  const [before, behind] = [isStart ? `(?:^|${noLetter})` : '', isEnd ? `(?:$|${noLetter})` : '']
  return `${before}${portableRegex(body)}${behind}`
}

/** Tests `{0}` against the literal regular expression `{1}`. A dot matches line ends, as in PostgreSQL. */
export function regexTemplate(engine: 'duckdb' | 'trino', flags: string, negated = false): Template {
  return ([text = ''], { literals }) => {
    const literal = literals[1]
    if (literal === null || literal === undefined) return 'CAST(NULL AS BOOLEAN)'
    const pattern = quoteText(`(?s${flags})${portableTest(literal)}`)
    const test =
      engine === 'duckdb' ? `regexp_matches(${text}, ${pattern})` : `regexp_like(${text}, ${pattern})`
    return negated ? `(NOT ${test})` : test
  }
}

/**
 * Translates a SIMILAR TO pattern to an anchored regular expression. An escape at its end is ignored, as in PostgreSQL.
 *
 * @param mark the escape character, or '' for none
 * @throws SqlError 22025 for a longer escape, 2201B for a malformed pattern, 0A000 as portableRegex does
 */
export function similarRegex(pattern: string, mark: string): string {
  assertEscape(mark)
  let out = ''
  let inClass = false
  const characters = [...pattern]
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    if (character === mark) {
      const next = characters[++at]
      if (next === undefined) break
      out += `\\${next}`.replace(/^\\([A-Za-z0-9])$/, '$1')
    } else if (inClass) {
      if (character === ']') inClass = false
      out += character === '\\' ? '\\\\' : character
    } else if (character === '[') {
      inClass = true
      out += character
    } else if (character === '%') out += '.*'
    else if (character === '_') out += '.'
    else if (character === '(') out += '(?:'
    else if ('\\.^$'.includes(character)) out += `\\${character}`
    else out += character
  }
  if (inClass) throw new SqlError('2201B', 'invalid SIMILAR TO pattern')
  return portableRegex(`^(?:${out})$`)
}

/**
 * Translates a LIKE pattern to one whose escape is a backslash before `%`, `_` or itself, the only form that all
 * engines accept.
 *
 * @throws SqlError 22025 for an escape of more than one character, and for a pattern that ends in its escape.
 *   PostgreSQL refuses the latter only if a text matches up to its end
 */
export function plainLike(pattern: string, mark: string): string {
  assertEscape(mark)
  let out = ''
  const characters = [...pattern]
  for (let at = 0; at < characters.length; at++) {
    let character = characters[at] ?? ''
    if (character === mark) {
      character = characters[++at] ?? ''
      if (character === '') throw new SqlError('22025', 'LIKE pattern must not end with escape character')
      out += '%_\\'.includes(character) ? `\\${character}` : character
    } else out += character === '\\' ? '\\\\' : character
  }
  return out
}

function assertEscape(mark: string): void {
  if ([...mark].length > 1) throw new SqlError('22025', 'invalid escape string')
}
