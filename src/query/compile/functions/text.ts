/** Defines functions of text and bytes. Positions and lengths count code points, as PostgreSQL's do in UTF-8. */

import { quoteText } from '../../../base/sql-text.ts'
import { type FunctionDef, fn, strictly, type Template } from '../base/function-definition.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { spokenType } from '../base/types.ts'
import { matchesEmptyAfterMatch, portableRegex } from './pattern.ts'

/** Hexadecimal of the two's complement, as PostgreSQL writes negative numbers. */
const hexOf = (bytes: string): string => `regexp_replace(lower(to_hex(${bytes}({0}))), '^0+(?=.)', '')`

const may = { fallible: true }

/** A letter or digit of any script, of which initcap's words consist. */
const wordCharacter = String.raw`\p{L}\p{Nd}\p{Nl}`

/** PostgreSQL counts positions before the text's start: substring('abc' from -1 for 3) is 'a'. */
const substring =
  (fault: string): Template =>
  ([text = '', from = '', length], { literals }) => {
    const start = Number(literals[1])
    const isConstant = (index: number) => typeof literals[index] === 'string'
    if (isConstant(1) && start >= 1) {
      if (length === undefined) return `substr(${text}, ${from})`
      if (isConstant(2) && Number(literals[2]) >= 0) return `substr(${text}, ${from}, ${length})`
    }
    const first = `CASE WHEN ${from} < 1 THEN 1 ELSE ${from} END`
    if (length === undefined) return `substr(${text}, ${first})`
    const end = `CAST(${from} AS BIGINT) + (${length})`
    return `substr(${text}, ${first}, CASE WHEN ${length} < 0 THEN ${fault} WHEN ${end} <= ${first} THEN 0 ELSE ${end} - ${first} END)`
  }
const substrings = [
  substring("error('negative substring length not allowed')"),
  substring("CAST(fail('negative substring length not allowed') AS INTEGER)"),
] as const

const replaceRegex =
  (engine: 'duckdb' | 'trino'): Template =>
  ([text = ''], { literals }) => {
    const [, pattern, replacement, flags = ''] = literals
    if (typeof pattern !== 'string' || typeof replacement !== 'string' || flags === null)
      return 'CAST(NULL AS VARCHAR)'
    if (!/^[gi]*$/.test(flags)) throw notSupported('A flag of regexp_replace other than g and i')
    if (/\\[^1-9\\]/.test(replacement.replaceAll('\\\\', '')))
      throw notSupported('This replacement of regexp_replace')
    const all = flags.includes('g')
    const written = `(?s${flags.includes('i') ? 'i' : ''})${portableRegex(pattern)}`
    if (engine === 'duckdb' && all && matchesEmptyAfterMatch(pattern))
      throw notSupported('regexp_replace with the flag g and a pattern that matches empty text')
    if (engine === 'duckdb')
      return `regexp_replace(${text}, ${quoteText(written)}, ${quoteText(replacement)}${all ? ", 'g'" : ''})`
    if (!all) throw notSupported('regexp_replace without the flag g on this engine')
    const groups = replacement.replace(/\$|\\(.)/g, (found, of) =>
      /[1-9]/.test(of) ? `$${of}` : `\\${found.at(-1)}`,
    )
    return `regexp_replace(${text}, ${quoteText(written)}, ${quoteText(groups)})`
  }

const extractRegex =
  (engine: 'duckdb' | 'trino'): Template =>
  ([text = ''], { literals }) => {
    const pattern = literals[1]
    if (typeof pattern !== 'string') return 'CAST(NULL AS VARCHAR)'
    const group = /(?<!\\)\((?!\?)/.test(pattern) ? 1 : 0
    const written = quoteText(`(?s)${portableRegex(pattern)}`)
    if (engine === 'trino') return `regexp_extract(${text}, ${written}, ${group})`
    return `CASE WHEN regexp_matches(${text}, ${written}) THEN regexp_extract(${text}, ${written}, ${group}) END`
  }

/** chr, which fails for surrogates and for code points that no text can hold. */
const chr = (fault: string, negative: string): string =>
  `chr(CASE WHEN {0} < 0 THEN ${negative} WHEN {0} < 1 OR {0} BETWEEN 55296 AND 57343 OR {0} > 1114111 THEN ${fault} ELSE {0} END)`

/** Bound on the length of lpad and rpad, and on the count of repeat. */
export const padsMax = 10_000

/** How long the result becomes is checked before the run, for which a parameter is its value. */
const counted = { ...may, takesValue: (index: number) => index === 1 }

/** lpad or rpad. With an empty fill the text is only truncated. */
const padded = (name: string, tooLong: string): string =>
  `CASE WHEN {1} > ${padsMax} THEN ${tooLong} WHEN {2} = '' THEN substr({0}, 1, CASE WHEN {1} < 0 THEN 0 ELSE {1} END) ELSE ${name}({0}, {1}, {2}) END`
const filled = (name: string, tooLong: string): string =>
  `CASE WHEN {1} > ${padsMax} THEN ${tooLong} ELSE ${name}({0}, {1}, ' ') END`
const pads = (['lpad', 'rpad'] as const).flatMap((name) => {
  const message = `${name}: at most ${padsMax}`
  const [duckdb, trino] = [`error('${message}')`, `CAST(fail('${message}') AS VARCHAR)`]
  return [
    fn(name, 'text int4', 'text', strictly(filled(name, duckdb)), filled(name, trino), counted),
    fn(name, 'text int4 text', 'text', strictly(padded(name, duckdb)), padded(name, trino), counted),
  ]
})

const trims = (
  [
    ['btrim', 'trim', 'BOTH'],
    ['ltrim', 'ltrim', 'LEADING'],
    ['rtrim', 'rtrim', 'TRAILING'],
  ] as const
).flatMap(([name, duckdb, side]) => [
  fn(name, 'text', 'text', `${duckdb}({0}, ' ')`, `trim(${side} ' ' FROM {0})`),
  fn(name, 'text text', 'text', `${duckdb}({0}, {1})`, `trim(${side} {1} FROM {0})`),
])

/** overlay: the new text stands for so many characters from a place on. */
const overlaid = (length: string): string =>
  `(left({0}, CASE WHEN {2} < 1 THEN error('negative substring length not allowed') ELSE {2} - 1 END) || {1} || substr({0}, greatest({2} + ${length}, 1)))`

/** format by a literal with `%s` alone. NULL is written as nothing. */
const formatted: Template = ([, ...values], { literals }) => {
  let next = 0
  const pieces = String(literals[0] ?? '').split(/(%%|%(?:\d+\$)?s|%)/)
  const written = pieces.map((piece, index) => {
    if (index % 2 === 0) return quoteText(piece)
    if (piece === '%%') return quoteText('%')
    const place = /^%(\d+)\$s$/.exec(piece)?.[1]
    if (piece !== '%s' && place === undefined) throw notSupported('A directive of format other than %s')
    next = place === undefined ? next + 1 : Number(place)
    const value = values[next - 1]
    if (value === undefined) throw new SqlError('22023', 'too few arguments for format()')
    return `coalesce(${value}, '')`
  })
  return `(${written.join(' || ')})`
}

/** @throws SqlError 0A000 for a pattern that matches empty text, by which engines split in other places */
const splitRegex: Template = ([text = ''], { literals }) => {
  const [, pattern, flags = ''] = literals
  if (typeof pattern !== 'string' || flags === null) return 'CAST(NULL AS VARCHAR[])'
  if (flags !== '' && flags !== 'i') throw notSupported('A flag of regexp_split_to_array other than i')
  const portable = portableRegex(pattern)
  if (new RegExp(pattern.replace(/\[:\w+:\]/g, 'a')).test(''))
    throw notSupported('regexp_split_to_array with a pattern that matches empty text')
  return `string_split_regex(${text}, ${quoteText(`(?s${flags})${portable}`)})`
}

export const textFunctions: readonly FunctionDef[] = [
  ...trims,
  fn('length', 'text', 'int4', 'CAST(length({0}) AS INTEGER)'),
  fn('char_length', 'text', 'int4', 'CAST(length({0}) AS INTEGER)'),
  fn('character_length', 'text', 'int4', 'CAST(length({0}) AS INTEGER)'),
  fn('octet_length', 'text', 'int4', 'CAST(strlen({0}) AS INTEGER)', 'CAST(length(to_utf8({0})) AS INTEGER)'),
  fn(
    'bit_length',
    'text',
    'int4',
    'CAST(strlen({0}) * 8 AS INTEGER)',
    'CAST(length(to_utf8({0})) * 8 AS INTEGER)',
  ),
  fn('octet_length', 'bytea', 'int4', 'CAST(octet_length({0}) AS INTEGER)', 'CAST(length({0}) AS INTEGER)'),
  fn('lower', 'text', 'text', 'lower({0})'),
  fn('upper', 'text', 'text', 'upper({0})'),
  fn(
    'initcap',
    'text',
    'text',
    `array_to_string(list_transform(regexp_extract_all({0}, '[${wordCharacter}]+|[^${wordCharacter}]+'), lambda w: upper(w[1]) || lower(w[2:])), '')`,
    `regexp_replace(lower({0}), '([${wordCharacter}])([${wordCharacter}]*)', m -> upper(m[1]) || m[2])`,
  ),
  fn('substring', 'text int4', 'text', ...substrings),
  fn('substring', 'text int4 int4', 'text', ...substrings, may),
  fn('substr', 'text int4', 'text', ...substrings),
  fn('substr', 'text int4 int4', 'text', ...substrings, may),
  fn('substring', 'text text', 'text', extractRegex('duckdb'), extractRegex('trino'), { literal: [1] }),
  fn(
    'left',
    'text int4',
    'text',
    'left({0}, {1})',
    'CASE WHEN {1} >= 0 THEN substr({0}, 1, {1}) WHEN length({0}) + {1} <= 0 THEN substr({0}, 1, 0) ELSE substr({0}, 1, length({0}) + {1}) END',
  ),
  fn(
    'right',
    'text int4',
    'text',
    'right({0}, {1})',
    `CASE WHEN {1} = 0 THEN substr({0}, 1, 0) WHEN {1} < 0 THEN substr({0}, 1 - ({1})) WHEN {1} >= length({0}) THEN {0} ELSE substr({0}, -({1})) END`,
  ),
  ...pads,
  fn(
    'repeat',
    'text int4',
    'text',
    strictly(`CASE WHEN {1} > ${padsMax} THEN error('repeat: at most ${padsMax}') ELSE repeat({0}, {1}) END`),
    strictly(
      `CASE WHEN {1} > ${padsMax} THEN CAST(fail('repeat: at most ${padsMax}') AS VARCHAR) WHEN {1} <= 0 THEN substr({0}, 1, 0) ELSE array_join(repeat({0}, CAST({1} AS INTEGER)), '') END`,
    ),
    counted,
  ),
  fn(
    'replace',
    'text text text',
    'text',
    'replace({0}, {1}, {2})',
    `CASE WHEN {1} = '' THEN {0} ELSE replace({0}, {1}, {2}) END`,
  ),
  fn('translate', 'text text text', 'text', 'translate({0}, {1}, {2})'),
  // DuckDB's reverse keeps grapheme clusters together.
  fn(
    'reverse',
    'text',
    'text',
    `CASE WHEN strlen({0}) = length({0}) THEN reverse({0}) ELSE array_to_string(list_reverse(regexp_extract_all({0}, '(?s).')), '') END`,
    'reverse({0})',
  ),
  fn('strpos', 'text text', 'int4', 'CAST(strpos({0}, {1}) AS INTEGER)'),
  fn('position', 'text text', 'int4', 'CAST(strpos({0}, {1}) AS INTEGER)'),
  fn('starts_with', 'text text', 'bool', 'starts_with({0}, {1})'),
  fn(
    'split_part',
    'text text int4',
    'text',
    `CASE WHEN {2} IS NULL THEN NULL WHEN {2} = 0 THEN error('field position must not be zero') WHEN {1} = '' THEN CASE WHEN {2} IN (1, -1) THEN {0} ELSE left({0}, 0) END ELSE split_part({0}, {1}, {2}) END`,
    `CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL THEN NULL WHEN {2} = 0 THEN CAST(fail('field position must not be zero') AS VARCHAR) WHEN {1} = '' THEN CASE WHEN {2} IN (1, -1) THEN {0} ELSE '' END ELSE coalesce(element_at(split({0}, {1}), {2}), '') END`,
    may,
  ),
  fn(
    'ascii',
    'text',
    'int4',
    `CASE WHEN {0} = '' THEN 0 ELSE ascii({0}) END`,
    `CASE WHEN {0} = '' THEN 0 ELSE codepoint(CAST(substr({0}, 1, 1) AS VARCHAR(1))) END`,
  ),
  fn(
    'chr',
    'int4',
    'text',
    chr("error('requested character not valid')", "error('character number must be positive')"),
    chr(
      "CAST(fail('requested character not valid') AS BIGINT)",
      "CAST(fail('character number must be positive') AS BIGINT)",
    ),
    may,
  ),
  fn('md5', 'text', 'text', 'md5({0})', 'lower(to_hex(md5(to_utf8({0}))))'),
  fn('sha256', 'bytea', 'bytea', 'unhex(sha256({0}))', 'sha256({0})'),
  fn(
    'to_hex',
    'int4',
    'text',
    `lower(to_hex(CAST({0} AS BIGINT) & 4294967295))`,
    hexOf('to_big_endian_32'),
    may,
  ),
  fn('to_hex', 'int8', 'text', `lower(to_hex({0}))`, hexOf('to_big_endian_64'), may),
  fn(
    'encode',
    'bytea text',
    'text',
    (args, { literals }) =>
      encoding(literals[1], { hex: `lower(hex(${args[0]}))`, base64: `to_base64(${args[0]})` }),
    (args, { literals }) =>
      encoding(literals[1], { hex: `lower(to_hex(${args[0]}))`, base64: `to_base64(${args[0]})` }),
    { literal: [1] },
  ),
  // The resolver casts the arguments to text. NULLs are skipped.
  fn(
    'concat',
    'text ...',
    'text',
    'concat({*})',
    (args) => args.map((arg) => `coalesce(${arg}, '')`).join(' || '),
    { variadic: true },
  ),
  fn('concat_ws', 'text text ...', 'text', 'concat_ws({*})', 'concat_ws({*})', { variadic: true }),
  fn('regexp_replace', 'text text text', 'text', replaceRegex('duckdb'), replaceRegex('trino'), {
    literal: [1, 2],
  }),
  fn('regexp_replace', 'text text text text', 'text', replaceRegex('duckdb'), replaceRegex('trino'), {
    literal: [1, 2, 3],
  }),
  fn('overlay', 'text text int4', 'text', overlaid('length({1})'), null, may),
  fn('overlay', 'text text int4 int4', 'text', overlaid('{3}'), null, may),
  // The resolver casts the arguments to text.
  fn('format', 'text text ...', 'text', formatted, null, { literal: [0], variadic: true }),
  fn('gen_random_uuid', '', 'uuid', 'gen_random_uuid()', 'uuid()'),
  fn('pg_typeof', 'any', 'text', ([value], { types }) => {
    const name = quoteText(spokenType(types[0] ?? 'text'))
    return `CASE WHEN ${value} IS NULL THEN ${name} ELSE ${name} END`
  }),
  fn('regexp_split_to_array', 'text text', 'text[]', splitRegex, null, { literal: [1] }),
  fn('regexp_split_to_array', 'text text text', 'text[]', splitRegex, null, { literal: [1, 2] }),
  fn('regexp_substr', 'text text', 'text', extractWhole('duckdb'), extractWhole('trino'), { literal: [1] }),
  fn(
    'regexp_count',
    'text text',
    'int4',
    ([text], { literals }) =>
      `CAST(len(regexp_extract_all(${text}, ${quoteText(`(?s)${portableRegex(literals[1] ?? '')}`)})) AS INTEGER)`,
    ([text], { literals }) =>
      `CAST(regexp_count(${text}, ${quoteText(`(?s)${portableRegex(literals[1] ?? '')}`)}) AS INTEGER)`,
    { literal: [1] },
  ),
  fn(
    'regexp_like',
    'text text',
    'bool',
    ([text], { literals }) =>
      `regexp_matches(${text}, ${quoteText(`(?s)${portableRegex(literals[1] ?? '')}`)})`,
    ([text], { literals }) => `regexp_like(${text}, ${quoteText(`(?s)${portableRegex(literals[1] ?? '')}`)})`,
    { literal: [1] },
  ),
]

function extractWhole(engine: 'duckdb' | 'trino'): Template {
  return ([text = ''], { literals }) => {
    const written = quoteText(`(?s)${portableRegex(literals[1] ?? '')}`)
    if (engine === 'trino') return `regexp_extract(${text}, ${written})`
    return `CASE WHEN regexp_matches(${text}, ${written}) THEN regexp_extract(${text}, ${written}) END`
  }
}

function encoding(name: string | null | undefined, forms: { hex: string; base64: string }): string {
  if (name === 'hex') return forms.hex
  if (name === 'base64') return forms.base64
  if (name === 'escape') throw notSupported('encode to the format escape')
  throw new SqlError('22023', 'unrecognized encoding')
}
