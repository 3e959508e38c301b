/** Defines functions and operators that programs seldom write: of bits, bytes, arrays, numbers and quoted names. */

import { quoteText } from '../../../base/sql-text.ts'
import {
  aggregate,
  byName,
  type FunctionDef,
  fn,
  strictly,
  type Template,
} from '../base/function-definition.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'

const may = { fallible: true }

/** The bits of an integer's type. */
const bits = { int2: 16, int4: 32, int8: 64 } as const
const engineInteger = { int2: 'SMALLINT', int4: 'INTEGER', int8: 'BIGINT' } as const
const integers = ['int2', 'int4', 'int8'] as const

/** PostgreSQL shifts by the low bits of the count, as processors do; smallint is shifted as an integer. */
const shifts = integers.flatMap((type) => {
  const width = Math.max(32, bits[type])
  const [half, whole] = [2n ** BigInt(bits[type] - 1), 2n ** BigInt(bits[type])]
  const wide = (value: bigint) => `CAST('${value}' AS HUGEINT)`
  const count = `({1} & ${width - 1})`
  // Only the bits that stay are shifted, so that nothing overflows.
  const kept = `(CAST({0} AS HUGEINT) & ((CAST(1 AS HUGEINT) << CAST(greatest(${bits[type]} - ${count}, 0) AS HUGEINT)) - 1))`
  const shifted = `(${kept} << CAST(least(${count}, ${bits[type]}) AS HUGEINT))`
  const signed = `(((${shifted} % ${wide(whole)}) + ${wide(half)}) % ${wide(whole)} - ${wide(half)})`
  const trinoCount = `bitwise_and(CAST({1} AS BIGINT), ${width - 1})`
  return [
    fn(
      '<<',
      `${type} int4`,
      type,
      `CAST(${signed} AS ${engineInteger[type]})`,
      type === 'int2' ? null : `CAST(bitwise_left_shift({0}, ${trinoCount}) AS ${engineInteger[type]})`,
    ),
    fn(
      '>>',
      `${type} int4`,
      type,
      `CAST(CAST({0} AS HUGEINT) >> CAST(${count} AS HUGEINT) AS ${engineInteger[type]})`,
      type === 'int2'
        ? null
        : `CAST(bitwise_right_shift_arithmetic({0}, ${trinoCount}) AS ${engineInteger[type]})`,
    ),
  ]
})

const outOfRange = "error('input is out of range')"

export const moreOperators: readonly FunctionDef[] = [
  ...shifts,
  fn('^@', 'text text', 'bool', 'starts_with({0}, {1})'),
  fn(
    '|/',
    'float8',
    'float8',
    "sqrt(CASE WHEN {0} < 0 THEN error('cannot take square root of a negative number') ELSE {0} END)",
    null,
    may,
  ),
  fn('||/', 'float8', 'float8', 'cbrt({0})'),
  ...(['int2', 'int4', 'int8', 'numeric', 'float4', 'float8'] as const).map((type) =>
    fn('@', type, type, 'abs({0})', 'abs({0})', may),
  ),
  fn('||', 'bytea bytea', 'bytea', '({0} || {1})', 'concat({0}, {1})'),
]

const digest = (name: string | null | undefined, text: string): string => {
  if (name === 'hex') return `unhex(regexp_replace(${text}, '[ \\n\\t\\r]', '', 'g'))`
  if (name === 'base64') return `from_base64(regexp_replace(${text}, '[ \\n\\t\\r]', '', 'g'))`
  if (name === 'escape') throw notSupported('decode of the format escape')
  throw new SqlError('22023', 'unrecognized encoding')
}

const decoded: Template = ([text = ''], { literals }) => {
  const pattern =
    literals[1] === 'hex'
      ? '([ \\n\\t\\r]*[0-9a-fA-F]{2})*[ \\n\\t\\r]*'
      : '([ \\n\\t\\r]*[A-Za-z0-9+/][ \\n\\t\\r]*[A-Za-z0-9+/][ \\n\\t\\r]*[A-Za-z0-9+/=][ \\n\\t\\r]*[A-Za-z0-9+/=])*[ \\n\\t\\r]*'
  return `CASE WHEN ${text} IS NULL OR regexp_full_match(${text}, ${quoteText(pattern)}) THEN ${digest(literals[1], text)} ELSE error('invalid digits of bytes') END`
}

/** The bytes of a range, as pairs of hexadecimal digits. */
const bytesOf = (from: string, count?: string): string =>
  `unhex(substr(hex({0}), 2 * greatest(CAST(${from} AS BIGINT), 1) - 1${count === undefined ? '' : `, 2 * greatest(${count}, 0)`}))`

const negative = "error('negative substring length not allowed')"

const bytes: readonly FunctionDef[] = [
  fn('length', 'bytea', 'int4', 'CAST(octet_length({0}) AS INTEGER)', 'CAST(length({0}) AS INTEGER)'),
  fn(
    'bit_length',
    'bytea',
    'int4',
    'CAST(8 * octet_length({0}) AS INTEGER)',
    'CAST(8 * length({0}) AS INTEGER)',
  ),
  fn('md5', 'bytea', 'text', 'md5({0})', 'lower(to_hex(md5({0})))'),
  fn('decode', 'text text', 'bytea', decoded, null, { literal: [1], fallible: true }),
  ...['substr', 'substring'].flatMap((name) => [
    fn(name, 'bytea int4', 'bytea', strictly(bytesOf('{1}')), null),
    fn(
      name,
      'bytea int4 int4',
      'bytea',
      strictly(
        `CASE WHEN {2} < 0 THEN ${negative} ELSE ${bytesOf('{1}', '(CAST({2} AS BIGINT) + least(CAST({1} AS BIGINT) - 1, 0))')} END`,
      ),
      null,
      may,
    ),
  ]),
  fn(
    'get_byte',
    'bytea int4',
    'int4',
    strictly(
      `CASE WHEN {1} < 0 OR {1} >= octet_length({0}) THEN error('index out of valid range') ELSE CAST(CAST('0x' || substr(hex({0}), 2 * {1} + 1, 2) AS UTINYINT) AS INTEGER) END`,
    ),
    null,
    may,
  ),
  fn('convert_to', 'text text', 'bytea', utf8('encode({0})'), utf8('to_utf8({0})'), { literal: [1] }),
  fn('convert_from', 'bytea text', 'text', utf8('decode({0})'), null, { literal: [1], fallible: true }),
]

/** A conversion between text and bytes, which is of UTF-8 alone. */
function utf8(sql: string): Template {
  return ([value = ''], { literals }) => {
    if (!/^utf-?8$/i.test(String(literals[1]))) throw notSupported('An encoding other than UTF8')
    return sql.replaceAll('{0}', () => value)
  }
}

const quotes: readonly FunctionDef[] = [
  fn(
    'quote_literal',
    'text',
    'text',
    `(CASE WHEN contains({0}, '\\') THEN 'E' ELSE '' END || '''' || replace(replace({0}, '''', ''''''), '\\', '\\\\') || '''')`,
    null,
  ),
  fn(
    'quote_nullable',
    'text',
    'text',
    `coalesce(CASE WHEN contains({0}, '\\') THEN 'E' ELSE '' END || '''' || replace(replace({0}, '''', ''''''), '\\', '\\\\') || '''', 'NULL')`,
    null,
  ),
]

const arrays: readonly FunctionDef[] = [
  fn(
    'array_ndims',
    'anyarray',
    'int4',
    'CASE WHEN len({0}) > 0 THEN 1 END',
    'CASE WHEN cardinality({0}) > 0 THEN 1 END',
  ),
  fn(
    'array_dims',
    'anyarray',
    'text',
    `CASE WHEN len({0}) > 0 THEN '[1:' || len({0}) || ']' END`,
    `CASE WHEN cardinality({0}) > 0 THEN '[1:' || CAST(cardinality({0}) AS VARCHAR) || ']' END`,
  ),
  fn(
    'array_positions',
    'anyarray anyelement',
    'int4[]',
    `CASE WHEN {0} IS NOT NULL THEN list_filter(list_transform({0}, lambda e, i: CASE WHEN e IS NOT DISTINCT FROM {1} THEN CAST(i AS INTEGER) END), lambda i: i IS NOT NULL) END`,
    null,
  ),
  fn(
    'array_replace',
    'anyarray anyelement anyelement',
    'anyarray',
    'list_transform({0}, lambda e: CASE WHEN e IS NOT DISTINCT FROM {1} THEN {2} ELSE e END)',
    'transform({0}, e -> CASE WHEN e IS NOT DISTINCT FROM {1} THEN {2} ELSE e END)',
  ),
  fn('array_reverse', 'anyarray', 'anyarray', 'list_reverse({0})', 'reverse({0})'),
  fn('array_sort', 'anyarray', 'anyarray', "list_sort({0}, 'ASC', 'NULLS LAST')", 'array_sort({0})'),
  fn(
    'trim_array',
    'anyarray int4',
    'anyarray',
    strictly(
      `CASE WHEN {1} < 0 OR {1} > len({0}) THEN error('index out of valid range') ELSE list_slice({0}, 1, len({0}) - {1}) END`,
    ),
    null,
    may,
  ),
]

/** A slice of an array; its bounds are cut to those of the array. */
export const slice = fn(
  'slice',
  'anyarray int4 int4',
  'anyarray',
  'CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL AND {2} IS NOT NULL THEN list_slice({0}, greatest({1}, 1), greatest({2}, 0)) END',
  'slice({0}, greatest({1}, 1), greatest({2} - greatest({1}, 1) + 1, 0))',
)

const numbers: readonly FunctionDef[] = [
  fn('asinh', 'float8', 'float8', 'asinh({0})', null),
  fn('acosh', 'float8', 'float8', `acosh(CASE WHEN {0} < 1 THEN ${outOfRange} ELSE {0} END)`, null, may),
  fn(
    'atanh',
    'float8',
    'float8',
    `atanh(CASE WHEN abs({0}) > 1 AND NOT isnan({0}) THEN ${outOfRange} ELSE {0} END)`,
    null,
    may,
  ),
  ...(['int4', 'int8'] as const).map((type) =>
    fn('to_bin', type, 'text', type === 'int8' ? 'bin({0})' : 'bin(CAST({0} AS BIGINT) & 4294967295)', null),
  ),
  ...(['int4', 'int8'] as const).map((type) =>
    fn(
      'to_oct',
      type,
      'text',
      type === 'int8' ? `printf('%o', {0})` : `printf('%o', CAST({0} AS BIGINT) & 4294967295)`,
      null,
    ),
  ),
  fn(
    'gamma',
    'float8',
    'float8',
    `CASE WHEN isfinite({0}) AND NOT isfinite(gamma({0})) THEN ${outOfRange} ELSE gamma({0}) END`,
    null,
    may,
  ),
  fn('lgamma', 'float8', 'float8', 'lgamma({0})', null, may),
  fn('uuidv4', '', 'uuid', 'gen_random_uuid()', 'uuid()'),
  fn('uuidv7', '', 'uuid', 'uuidv7()', null),
  fn('num_nulls', 'any ...', 'int4', nulls('IS NULL'), nulls('IS NULL'), { variadic: true }),
  fn('num_nonnulls', 'any ...', 'int4', nulls('IS NOT NULL'), nulls('IS NOT NULL'), { variadic: true }),
  fn(
    'bit_count',
    'bytea',
    'int8',
    `CASE WHEN octet_length({0}) = 0 THEN 0 ELSE CAST(length(regexp_replace(list_aggregate(list_transform(regexp_extract_all(hex({0}), '.'), lambda h: bin(CAST('0x' || h AS UTINYINT))), 'string_agg', ''), '0', '', 'g')) AS BIGINT) END`,
    null,
  ),
]

function nulls(test: string): Template {
  return (args) =>
    `CAST(${args.map((arg) => `CASE WHEN ${arg} ${test} THEN 1 ELSE 0 END`).join(' + ')} AS INTEGER)`
}

export const moreFunctions: readonly FunctionDef[] = [...bytes, ...quotes, ...arrays, ...numbers]

const pairs = (name: string) =>
  aggregate(name, 'float8 float8', 'float8', `${name}[{0}, {1}]`, null, { fallible: true })

/** How many sort before a value, in the order of WITHIN GROUP. */
const before = {
  rank: '(count[CASE WHEN {test} THEN 1 END] + 1)',
  dense_rank: '(count[DISTINCT CASE WHEN {test} THEN {1} END] + 1)',
  percent_rank: '(CAST(count[CASE WHEN {test} THEN 1 END] AS DOUBLE) / greatest(count[*], 1))',
  cume_dist:
    '(CAST(count[CASE WHEN {test} OR {1} IS NOT DISTINCT FROM {0} THEN 1 END] + 1 AS DOUBLE) / (count[*] + 1))',
} as const
const ordering = [
  ...(['bool', 'int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'text', 'varchar'] as const),
  ...(['date', 'time', 'timestamp', 'timestamptz', 'interval', 'uuid', 'bytea'] as const),
]

/** Ranks of a value that is in no row. In descending order NULL sorts before it. */
const hypothetical = (descending: boolean) =>
  Object.entries(before).flatMap(([name, template]) =>
    ordering.flatMap((type) => {
      const result = name === 'rank' || name === 'dense_rank' ? 'int8' : 'float8'
      // NULL is one more rank, which a count of distinct values leaves out.
      if (descending && name === 'dense_rank') return []
      const test = descending
        ? '({0} IS NOT NULL AND ({1} > {0} OR {1} IS NULL))'
        : '({1} < {0} OR ({0} IS NULL AND {1} IS NOT NULL))'
      const written = template.replaceAll('{test}', test)
      return aggregate(name, `${type} ${type}`, result, written, written, { ordered: true })
    }),
  )

export const hypotheticalDescending = byName(hypothetical(true))

export const moreAggregates = [
  ...['regr_avgx', 'regr_avgy', 'regr_sxx', 'regr_syy', 'regr_sxy'].map(pairs),
  ...integers.map((type) => aggregate('bit_xor', type, type, 'bit_xor[{0}]', null)),
  ...hypothetical(false),
]
