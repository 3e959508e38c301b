/** Defines functions that PostgreSQL's grammar writes as syntax, such as LIKE, COALESCE and subscripts. */

import { quoteText } from '../../../base/sql-text.ts'
import { type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { similarRegex } from './pattern.ts'

/** The signs of comparisons. */
export const comparisonSigns = ['=', '<>', '<', '<=', '>', '>='] as const

/** Comparisons of two values of one type. */
export const comparisons: ReadonlyMap<string, FunctionDef> = new Map(
  comparisonSigns.map((sign) => [sign, fn(sign, 'any any', 'bool', `({0} ${sign} {1})`)]),
)

const distinctTemplate = (not: boolean): Template => `({0} IS ${not ? 'NOT ' : ''}DISTINCT FROM {1})`

export const isDistinct = fn('is distinct from', 'any any', 'bool', distinctTemplate(false))
export const isNotDistinct = fn('is not distinct from', 'any any', 'bool', distinctTemplate(true))
export const between = fn('between', 'any any any', 'bool', '({0} BETWEEN {1} AND {2})')
export const coalesce = fn('coalesce', 'any ...', 'any', 'coalesce({*})', 'coalesce({*})', { variadic: true })
export const nullIf = fn('nullif', 'any any', 'any', 'nullif({0}, {1})')

/** GREATEST or LEAST. NULLs are ignored as in PostgreSQL and DuckDB; Trino's own would return NULL. */
const extremum = (name: 'greatest' | 'least') =>
  fn(
    name,
    'any ...',
    'any',
    (args) => (args.length === 1 ? (args[0] ?? '') : `${name}(${args.join(', ')})`),
    (args) => args.reduce((left, right) => `coalesce(${name}(${left}, ${right}), ${left}, ${right})`),
    { variadic: true },
  )

export const greatest = extremum('greatest')
export const least = extremum('least')

/** The pattern's escape is always a backslash here. A computed pattern is marked, because it may be malformed. */
const likeTemplate =
  (operator: 'LIKE' | 'ILIKE'): Template =>
  ([text, pattern = ''], { literals, flat }) =>
    `(${text} ${operator} ${literals[1] === undefined ? flat(pattern) : pattern} ESCAPE '\\')`

export const like = fn('like', 'text text', 'bool', likeTemplate('LIKE'), `({0} LIKE {1} ESCAPE '\\')`)
export const iLike = fn(
  'ilike',
  'text text',
  'bool',
  likeTemplate('ILIKE'),
  `(lower({0}) LIKE lower({1}) ESCAPE '\\')`,
)

/** LIKE with a computed pattern and an escape of its own, which is a literal of one byte. */
const likeInTemplate =
  (operator: 'LIKE' | 'ILIKE'): Template =>
  ([text, pattern = '', mark], { flat }) =>
    `(${text} ${operator} ${flat(pattern)} ESCAPE ${mark})`

const escaped = { literal: [2], fallible: true }
export const likeIn = fn(
  'like escape',
  'text text text',
  'bool',
  likeInTemplate('LIKE'),
  '({0} LIKE {1} ESCAPE {2})',
  escaped,
)
export const iLikeIn = fn(
  'ilike escape',
  'text text text',
  'bool',
  likeInTemplate('ILIKE'),
  '(lower({0}) LIKE lower({1}) ESCAPE {2})',
  escaped,
)

const similarTemplate =
  (engine: 'duckdb' | 'trino'): Template =>
  ([text], { literals }) => {
    const [, pattern, mark = '\\'] = literals
    if (typeof pattern !== 'string' || typeof mark !== 'string') return 'CAST(NULL AS BOOLEAN)'
    const regex = quoteText(`(?s)${similarRegex(pattern, mark)}`)
    return engine === 'duckdb' ? `regexp_matches(${text}, ${regex})` : `regexp_like(${text}, ${regex})`
  }

export const similar = fn(
  'similar',
  'text text text',
  'bool',
  similarTemplate('duckdb'),
  similarTemplate('trino'),
  {
    literal: [1, 2],
  },
)

/** A row as one value, for counting distinct rows only. It is no text: its type is not looked at. */
export const rowValue = fn('row', 'any ...', 'text', 'row({*})', 'ROW({*})', { variadic: true })

/** An element of an array by its index. An index outside the array, also below 1, is NULL. */
export const subscript = fn(
  'subscript',
  'anyarray int4',
  'anyelement',
  (args, { literals }) =>
    Number(literals[1]) >= 1
      ? `${args[0]}[${args[1]}]`
      : `${args[0]}[CASE WHEN ${args[1]} < 1 THEN NULL ELSE ${args[1]} END]`,
  (args, { literals }) =>
    Number(literals[1]) >= 1
      ? `element_at(${args[0]}, ${args[1]})`
      : `CASE WHEN ${args[1]} >= 1 THEN element_at(${args[0]}, ${args[1]}) END`,
)

/** `x < ANY (array)` and the like by sign: decided by one element, else NULL where an element is NULL. */
const comparedWithElements = (sign: string, all: boolean): FunctionDef => {
  const [decisive, other] = all ? ['FALSE', 'TRUE'] : ['TRUE', 'FALSE']
  const found = `list_contains(list_transform({1}, lambda e: {0} ${sign} e), ${decisive})`
  return fn(
    `${sign} ${all ? 'all' : 'any'}`,
    'anyelement anyarray',
    'bool',
    `CASE WHEN len({1}) = 0 THEN ${other} WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN ${found} THEN ${decisive} WHEN len({1}) > list_count({1}) THEN NULL ELSE ${other} END`,
    `${all ? 'all_match' : 'any_match'}({1}, e -> {0} ${sign} e)`,
  )
}
const withElements = (all: boolean) =>
  new Map<string, FunctionDef>(comparisonSigns.map((sign) => [sign, comparedWithElements(sign, all)]))
export const comparedWithAny: ReadonlyMap<string, FunctionDef> = withElements(false)
export const comparedWithAll: ReadonlyMap<string, FunctionDef> = withElements(true)

/** `x = ANY (array)`: NULL where only a NULL element could match; FALSE for an empty array, whatever `x` is. */
export const anyElement = fn(
  'any',
  'anyelement anyarray',
  'bool',
  `CASE WHEN len({1}) = 0 THEN FALSE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN list_contains({1}, {0}) THEN TRUE WHEN len({1}) > list_count({1}) THEN NULL ELSE FALSE END`,
  'any_match({1}, e -> e = {0})',
)
