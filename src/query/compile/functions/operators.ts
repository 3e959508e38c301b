/** Defines operators by PostgreSQL's overloads, except comparison and logic. */

import { quoteText } from '../../../base/sql-text.ts'
import { byName, type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { notSupported } from '../base/sql-error.ts'
import { appended, joined, prepended } from './collections.ts'
import { instantOf } from './datetime.ts'
import { checked, quotient, remainder, wideEnough } from './decimal-arithmetic.ts'
import { intervalOperators } from './interval.ts'
import { jsonOperators } from './jsonb.ts'
import { numericPower, power } from './math.ts'
import { moreOperators } from './more.ts'
import { regexTemplate } from './pattern.ts'

const integers = ['int2', 'int4', 'int8'] as const
const engineInteger = { int2: 'SMALLINT', int4: 'INTEGER', int8: 'BIGINT' } as const
const may = { fallible: true }

const arithmetic = integers.flatMap((type) => {
  const cast = engineInteger[type]
  return [
    fn('+', `${type} ${type}`, type, '({0} + {1})', '({0} + {1})', may),
    fn('-', `${type} ${type}`, type, '({0} - {1})', '({0} - {1})', may),
    fn('*', `${type} ${type}`, type, '({0} * {1})', '({0} * {1})', may),
    fn(
      '/',
      `${type} ${type}`,
      type,
      checked((a, b) => `CAST((${a} // ${b}) AS ${cast})`),
      '({0} / {1})',
      may,
    ),
    fn(
      '%',
      `${type} ${type}`,
      type,
      checked((a, b) => `CAST((${a} % ${b}) AS ${cast})`),
      '({0} % {1})',
      may,
    ),
    fn('-', type, type, '(-{0})', '(-{0})', may),
    fn('+', type, type, '{0}'),
    fn('&', `${type} ${type}`, type, '({0} & {1})', `CAST(bitwise_and({0}, {1}) AS ${cast})`),
    fn('|', `${type} ${type}`, type, '({0} | {1})', `CAST(bitwise_or({0}, {1}) AS ${cast})`),
    fn('#', `${type} ${type}`, type, 'xor({0}, {1})', `CAST(bitwise_xor({0}, {1}) AS ${cast})`),
    fn('~', type, type, '(~{0})', `CAST(bitwise_not({0}) AS ${cast})`),
  ]
})

const decimals: FunctionDef[] = [
  fn('+', 'numeric numeric', 'numeric', wideEnough('+'), wideEnough('+', 'trino'), may),
  fn('-', 'numeric numeric', 'numeric', wideEnough('-'), wideEnough('-', 'trino'), may),
  fn('*', 'numeric numeric', 'numeric', wideEnough('*'), wideEnough('*', 'trino'), may),
  fn('/', 'numeric numeric', 'numeric', quotient('duckdb'), quotient('trino'), may),
  fn('%', 'numeric numeric', 'numeric', remainder, '({0} % {1})', may),
  fn('^', 'numeric numeric', 'numeric', numericPower.duckdb, numericPower.trino, may),
  fn('-', 'numeric', 'numeric', '(-{0})'),
  fn('+', 'numeric', 'numeric', '{0}'),
]

const powers = [fn('^', 'float8 float8', 'float8', power.duckdb, power.trino, may)]

/** PostgreSQL's operators of mixed float types, by which a float4 beside an integer becomes a float8. */
const mixed = (['float4 float8', 'float8 float4'] as const).flatMap((types) =>
  (['+', '-', '*'] as const).map((sign) =>
    fn(sign, types, 'float8', `(CAST({0} AS DOUBLE) ${sign} CAST({1} AS DOUBLE))`),
  ),
)

const floats = (['float4', 'float8'] as const).flatMap((type) => [
  fn('+', `${type} ${type}`, type, '({0} + {1})'),
  fn('-', `${type} ${type}`, type, '({0} - {1})'),
  fn('*', `${type} ${type}`, type, '({0} * {1})'),
  fn(
    '/',
    `${type} ${type}`,
    type,
    checked((a, b) => `(${a} / ${b})`),
    `({0} / CASE WHEN {1} = 0 THEN CAST(fail('division by zero') AS ${type === 'float4' ? 'REAL' : 'DOUBLE'}) ELSE {1} END)`,
    may,
  ),
  fn('-', type, type, '(-{0})'),
  fn('+', type, type, '{0}'),
])

/**
 * Adds an interval to an instant as to a timestamp in UTC, because DuckDB adds hours and days to an instant before
 * months. @param place index of the instant among the arguments
 */
const instantMoved =
  (place: 0 | 1, sign: '+' | '-'): Template =>
  (args, { flat }) => {
    const [instant = '', interval = ''] = place === 0 ? args : args.toReversed()
    return instantOf(
      `(make_timestamp(epoch_us(${instant})) ${sign} ${interval})`,
      `(${flat(instant)} ${sign} ${interval})`,
    )
  }

/** A date becomes a timestamp before an interval is added, because Trino adds only days to a date. */
const dates: FunctionDef[] = [
  fn('+', 'date int4', 'date', '({0} + {1})', `CAST(date_add('day', {1}, {0}) AS DATE)`, may),
  fn('+', 'int4 date', 'date', '({1} + {0})', `CAST(date_add('day', {0}, {1}) AS DATE)`, may),
  fn('-', 'date int4', 'date', '({0} - {1})', `CAST(date_add('day', -({1}), {0}) AS DATE)`, may),
  fn(
    '-',
    'date date',
    'int4',
    'CAST(({0} - {1}) AS INTEGER)',
    `CAST(date_diff('day', {1}, {0}) AS INTEGER)`,
    may,
  ),
  fn('+', 'timestamp interval', 'timestamp', '({0} + {1})', '({0} + {1})', may),
  fn('+', 'interval timestamp', 'timestamp', '({1} + {0})', '({1} + {0})', may),
  fn('-', 'timestamp interval', 'timestamp', '({0} - {1})', '({0} - {1})', may),
  fn('+', 'timestamptz interval', 'timestamptz', instantMoved(0, '+'), '({0} + {1})', may),
  fn('+', 'interval timestamptz', 'timestamptz', instantMoved(1, '+'), '({1} + {0})', may),
  fn('-', 'timestamptz interval', 'timestamptz', instantMoved(0, '-'), '({0} - {1})', may),
  fn(
    '+',
    'date interval',
    'timestamp',
    '(CAST({0} AS TIMESTAMP) + {1})',
    '(CAST({0} AS TIMESTAMP(6)) + {1})',
    may,
  ),
  fn(
    '+',
    'interval date',
    'timestamp',
    '(CAST({1} AS TIMESTAMP) + {0})',
    '(CAST({1} AS TIMESTAMP(6)) + {0})',
    may,
  ),
  fn('+', 'time date', 'timestamp', '({1} + {0})', null, may),
  fn('+', 'interval time', 'time', '({1} + {0})', null),
  fn(
    '-',
    'date interval',
    'timestamp',
    '(CAST({0} AS TIMESTAMP) - {1})',
    '(CAST({0} AS TIMESTAMP(6)) - {1})',
    may,
  ),
  fn('-', 'timestamp timestamp', 'interval', '({0} - {1})', '({0} - {1})', may),
  fn(
    '-',
    'timestamptz timestamptz',
    'interval',
    ([later = '', earlier], { flat }) => `(${flat(later)} - ${earlier})`,
    '({0} - {1})',
    may,
  ),
  fn('+', 'date time', 'timestamp', '({0} + {1})', null, may),
  fn('+', 'time interval', 'time', '({0} + {1})', null),
  fn('-', 'time interval', 'time', '({0} - {1})', null),
  fn('+', 'interval interval', 'interval', '({0} + {1})', '({0} + {1})', may),
  fn('-', 'interval interval', 'interval', '({0} - {1})', '({0} - {1})', may),
  fn('*', 'interval int4', 'interval', '({0} * {1})', '({0} * {1})', may),
  fn('*', 'int4 interval', 'interval', '({1} * {0})', '({0} * {1})', may),
  fn('*', 'interval int8', 'interval', '({0} * {1})', '({0} * {1})', may),
  fn('-', 'interval', 'interval', '(-{0})', '(-{0})', may),
]

/**
 * An interval times a number, as PostgreSQL rounds it: fractions of months become days of 30 to the month, and those
 * of days become microseconds.
 */
function scaledInterval(interval: string, factor: string, given: string | null | undefined): string {
  const micros = (value: string) => `CAST(round_even(${value}, 0) AS BIGINT)`
  const [months = 0, days = 0, rest = 0] = given ? given.split(' ').map(Number) : []
  if (given && months === 0 && days === 0)
    return `to_microseconds(${micros(`CAST(${rest} AS DOUBLE) * ${factor}`)})`
  const rounded = (value: string) => `(round_even((${value}) * 1000000, 0) / 1000000)`
  const one = (value: string, name: string, read: string) =>
    `list_extract(list_transform([${value}], lambda ${name}: ${read}), 1)`
  const days30 = rounded('(s.m - trunc(s.m)) * 30')
  const seconds = rounded('(s.d - trunc(s.d) + r - trunc(r)) * 86400')
  const total = [
    'to_months(CAST(trunc(s.m) AS INTEGER))',
    'to_days(CAST(trunc(s.d) + trunc(r) + trunc(t / 86400) AS INTEGER))',
    `to_microseconds(${micros('s.u + (t - trunc(t / 86400) * 86400) * 1000000')})`,
  ].join(' + ')
  const parts = [
    "{'m': (year(v.i) * 12 + month(v.i)) * v.f",
    "'d': day(v.i) * v.f",
    "'u': ((hour(v.i) * 60 + minute(v.i)) * 60000000 + microsecond(v.i)) * v.f}",
  ].join(', ')
  const read = one(parts, 's', one(days30, 'r', one(seconds, 't', total)))
  return one(
    `{'i': ${interval}, 'f': ${factor}}`,
    'v',
    `CASE WHEN v.i IS NOT NULL AND v.f IS NOT NULL THEN ${read} END`,
  )
}

/** Trino's intervals are of months or of milliseconds, and fractions of its months are not days. */
function scaledOnTrino(interval: string, factor: string, given: string | null | undefined): string {
  if (!given?.startsWith('0 ')) throw notSupported('This interval times a fraction on this engine')
  return `(${interval} * ${factor})`
}

const scaledIntervals: FunctionDef[] = [
  fn(
    '*',
    'interval float8',
    'interval',
    ([i = '', f = ''], { literals }) => scaledInterval(i, f, literals[0]),
    ([i = '', f = ''], { literals }) => scaledOnTrino(i, f, literals[0]),
    may,
  ),
  fn(
    '*',
    'float8 interval',
    'interval',
    ([f = '', i = ''], { literals }) => scaledInterval(i, f, literals[1]),
    ([f = '', i = ''], { literals }) => scaledOnTrino(i, f, literals[1]),
    may,
  ),
]

const texts: FunctionDef[] = [
  fn('||', 'text text', 'text', '({0} || {1})'),
  fn('||', 'bytea bytea', 'bytea', '({0} || {1})', 'concat({0}, {1})'),
  // The resolver casts the other side to text as PostgreSQL's anynonarray operators do.
  fn('~', 'text text', 'bool', regexTemplate('duckdb', ''), regexTemplate('trino', ''), { literal: [1] }),
  fn('~*', 'text text', 'bool', regexTemplate('duckdb', 'i'), regexTemplate('trino', 'i'), { literal: [1] }),
  fn('!~', 'text text', 'bool', regexTemplate('duckdb', '', true), regexTemplate('trino', '', true), {
    literal: [1],
  }),
  fn('!~*', 'text text', 'bool', regexTemplate('duckdb', 'i', true), regexTemplate('trino', 'i', true), {
    literal: [1],
  }),
]

/** Whether an array contains another; NULL is never contained. */
const holds = (all: string, some: string) => ({
  duckdb: `CASE WHEN ${all} IS NOT NULL AND ${some} IS NOT NULL THEN list_has_all(${all}, ${some}) AND len(${some}) = list_count(${some}) END`,
  trino: `(cardinality(array_except(${some}, ${all})) = 0 AND none_match(${some}, e -> e IS NULL))`,
})

const arrays: FunctionDef[] = [
  fn('||', 'anyarray anyarray', 'anyarray', joined('({0} || {1})'), joined('concat({0}, {1})')),
  fn('||', 'anyarray anyelement', 'anyarray', 'list_append({0}, {1})', appended),
  fn('||', 'anyelement anyarray', 'anyarray', 'list_prepend({0}, {1})', prepended),
  fn('@>', 'anyarray anyarray', 'bool', holds('{0}', '{1}').duckdb, holds('{0}', '{1}').trino),
  fn('<@', 'anyarray anyarray', 'bool', holds('{1}', '{0}').duckdb, holds('{1}', '{0}').trino),
  fn(
    '&&',
    'anyarray anyarray',
    'bool',
    'list_has_any({0}, {1})',
    '(cardinality(filter(array_intersect({0}, {1}), e -> e IS NOT NULL)) > 0)',
  ),
]

/** One literal step of a JSON path, quoted because each engine has its own path language. */
const step = (literal: string | null | undefined, engine: 'duckdb' | 'trino', numeric: boolean): string => {
  const text = String(literal ?? '')
  if (numeric) return `[${Number(text)}]`
  // DuckDB accepts neither as a key, not even in quotes.
  if (text === '' || text === '*') throw notSupported('An empty key or * in JSON')
  return engine === 'duckdb' ? `."${escapeKey(text)}"` : `["${escapeKey(text)}"]`
}
const escapeKey = (key: string): string => key.replaceAll('\\', '\\\\').replaceAll('"', '\\"')

/** A step of a path. Digits are an array index; only PostgreSQL counts from the end. */
function pathStep(text: string, engine: 'duckdb' | 'trino'): string {
  if (/^-\d+$/.test(text)) throw notSupported('A negative place in a JSON path')
  return step(text, engine, /^\d+$/.test(text))
}

const jsonStep =
  (engine: 'duckdb' | 'trino', asText: boolean, many: boolean): Template =>
  ([document = ''], { literals, types }) => {
    const steps = many
      ? (JSON.parse(literals[1] ?? '[]') as string[]).map((each) => pathStep(each, engine))
      : [step(literals[1], engine, types[1] === 'int4')]
    const path = quoteText(`$${steps.join('')}`)
    if (engine === 'duckdb') {
      if (!asText) return `json_extract(${document}, ${path})`
      // A JSON null becomes NULL.
      return `CASE WHEN json_type(${document}, ${path}) = 'NULL' THEN NULL ELSE json_extract_string(${document}, ${path}) END`
    }
    if (!asText) return `json_extract(${document}, ${path})`
    return `coalesce(json_extract_scalar(${document}, ${path}), nullif(json_format(json_extract(${document}, ${path})), 'null'))`
  }

const json = (['json', 'jsonb'] as const).flatMap((type) =>
  (['text', 'int4'] as const)
    .flatMap((key) => [
      fn('->', `${type} ${key}`, type, jsonStep('duckdb', false, false), jsonStep('trino', false, false), {
        literal: [1],
      }),
      fn('->>', `${type} ${key}`, 'text', jsonStep('duckdb', true, false), jsonStep('trino', true, false), {
        literal: [1],
      }),
    ])
    .concat([
      fn('#>', `${type} text[]`, type, jsonStep('duckdb', false, true), jsonStep('trino', false, true), {
        literal: [1],
      }),
      fn('#>>', `${type} text[]`, 'text', jsonStep('duckdb', true, true), jsonStep('trino', true, true), {
        literal: [1],
      }),
    ]),
)

/** Every supported operator, by its sign. */
export const operators: ReadonlyMap<string, readonly FunctionDef[]> = byName([
  ...arithmetic,
  ...decimals,
  ...floats,
  ...powers,
  ...mixed,
  ...dates,
  ...scaledIntervals,
  ...texts,
  ...arrays,
  ...json,
  ...intervalOperators,
  ...jsonOperators,
  ...moreOperators,
])
