/** Defines what DuckDB does not do with intervals as PostgreSQL does: their text, sums, quotients and justification. */

import { aggregate, type FunctionDef, fn, strictly, type Template } from '../base/function-definition.ts'

const may = { fallible: true }

const bound = (value: string, name: string, read: string): string =>
  `list_extract(list_transform(list_value(${value}), lambda ${name}: ${read}), 1)`

/** Months, days and microseconds of an interval. */
const parts = (sql: string): string =>
  `{'m': year(${sql}) * 12 + month(${sql}), 'd': day(${sql}), 'u': (hour(${sql}) * 60 + minute(${sql})) * 60000000 + microsecond(${sql})}`

/** An interval of months, days and microseconds. */
const made = (months: string, days: string, micros: string): string =>
  `(to_months(CAST(${months} AS INTEGER)) + to_days(CAST(${days} AS INTEGER)) + to_microseconds(CAST(${micros} AS BIGINT)))`

const two = (sql: string): string =>
  `lpad(CAST(${sql} AS VARCHAR), CAST(greatest(2, length(CAST(${sql} AS VARCHAR))) AS INTEGER), '0')`

/** One part of the text, with a plus where the part before is negative. */
const part = (value: string, unit: string, before: string): string =>
  `CASE WHEN ${value} = 0 THEN '' ELSE CASE WHEN ${value} > 0 AND ${before} THEN '+' ELSE '' END || ${value} || CASE WHEN ${value} = 1 THEN ' ${unit} ' ELSE ' ${unit}s ' END END`

/** The text of an interval in the style `postgres`. @param sql written once */
export function intervalToText(sql: string): string {
  const [years, months] = ['(p.m // 12)', '(p.m % 12)']
  const yearsBefore = `${years} < 0`
  const monthsBefore = `(CASE WHEN ${months} <> 0 THEN ${months} < 0 ELSE ${yearsBefore} END)`
  const daysBefore = `(CASE WHEN p.d <> 0 THEN p.d < 0 ELSE ${monthsBefore} END)`
  const size = 'abs(p.u)'
  const fraction = `CASE WHEN ${size} % 1000000 = 0 THEN '' ELSE '.' || rtrim(lpad(CAST(${size} % 1000000 AS VARCHAR), 6, '0'), '0') END`
  const clock = `CASE WHEN p.u < 0 THEN '-' WHEN ${daysBefore} THEN '+' ELSE '' END || ${two(`${size} // 3600000000`)} || ':' || ${two(`${size} // 60000000 % 60`)} || ':' || ${two(`${size} // 1000000 % 60`)} || ${fraction}`
  const text = [
    part(years, 'year', 'FALSE'),
    part(months, 'mon', yearsBefore),
    part('p.d', 'day', monthsBefore),
    `CASE WHEN p.u <> 0 OR (p.m = 0 AND p.d = 0) THEN ${clock} ELSE '' END`,
  ].join(' || ')
  return `CASE WHEN ${sql} IS NOT NULL THEN ${bound(parts(sql), 'p', `rtrim(${text})`)} END`
}

const justified =
  (read: string): Template =>
  ([interval = '']) =>
    `CASE WHEN ${interval} IS NOT NULL THEN ${bound(parts(interval), 'p', read)} END`

const day = '86400000000'
/** Whole days of the time become days, and whole months of 30 days become months; the rest has one sign with it. */
const hours = `{'d': p.d + p.u // ${day}, 'u': p.u % ${day}}`
const hoursSigned = bound(
  hours,
  'h',
  made(
    'p.m',
    'CASE WHEN h.d > 0 AND h.u < 0 THEN h.d - 1 WHEN h.d < 0 AND h.u > 0 THEN h.d + 1 ELSE h.d END',
    `CASE WHEN h.d > 0 AND h.u < 0 THEN h.u + ${day} WHEN h.d < 0 AND h.u > 0 THEN h.u - ${day} ELSE h.u END`,
  ),
)
const days = `{'m': p.m + p.d // 30, 'd': p.d % 30}`
const daysSigned = bound(
  days,
  'h',
  made(
    'CASE WHEN h.m > 0 AND h.d < 0 THEN h.m - 1 WHEN h.m < 0 AND h.d > 0 THEN h.m + 1 ELSE h.m END',
    'CASE WHEN h.m > 0 AND h.d < 0 THEN h.d + 30 WHEN h.m < 0 AND h.d > 0 THEN h.d - 30 ELSE h.d END',
    'p.u',
  ),
)

/** Divides as PostgreSQL does: fractions of months become days, and those of days become microseconds. */
const divided: Template = ([interval = '', divisor = '']) => {
  const rounded = (value: string) => `(round_even((${value}) * 1000000, 0) / 1000000)`
  const fields = `{'m': (year(v.i) * 12 + month(v.i)) / v.f, 'd': day(v.i) / v.f, 'u': ((hour(v.i) * 60 + minute(v.i)) * 60000000 + microsecond(v.i)) / v.f}`
  const ofMonths = rounded('(s.m - trunc(s.m)) * 30')
  const seconds = rounded('(s.d - trunc(s.d) + r - trunc(r)) * 86400')
  const total = made(
    'trunc(s.m)',
    'trunc(s.d) + trunc(r) + trunc(t / 86400)',
    'round_even(s.u + (t - trunc(t / 86400) * 86400) * 1000000, 0)',
  )
  const read = bound(fields, 's', bound(ofMonths, 'r', bound(seconds, 't', total)))
  const checked = `CASE WHEN ${divisor} = 0 THEN error('division by zero') ELSE ${divisor} END`
  return bound(
    `{'i': ${interval}, 'f': CAST(${checked} AS DOUBLE)}`,
    'v',
    `CASE WHEN v.i IS NOT NULL AND v.f IS NOT NULL THEN ${read} END`,
  )
}

const micros = (sql: string): string => `epoch_us(${sql})`

export const intervalFunctions: readonly FunctionDef[] = [
  fn('justify_hours', 'interval', 'interval', justified(hoursSigned), null, may),
  fn('justify_days', 'interval', 'interval', justified(daysSigned), null, may),
  fn('isfinite', 'interval', 'bool', '({0} IS NOT NULL OR NULL)', '({0} IS NOT NULL OR NULL)'),
  fn('isfinite', 'date', 'bool', 'isfinite({0})', '({0} IS NOT NULL OR NULL)'),
  fn('isfinite', 'timestamptz', 'bool', 'isfinite({0})', '({0} IS NOT NULL OR NULL)'),
  fn('make_time', 'int4 int4 float8', 'time', `make_time({0}, {1}, {2})`, null, may),
  fn(
    'make_timestamptz',
    'int4 int4 int4 int4 int4 float8',
    'timestamptz',
    strictly(
      `timezone('UTC', make_timestamp(CASE WHEN {0} < 1 THEN error('date field value out of range') ELSE {0} END, {1}, {2}, {3}, {4}, {5}))`,
    ),
    null,
    may,
  ),
  fn(
    'date_bin',
    'interval timestamptz timestamptz',
    'timestamptz',
    strictly(
      ([stride = '', value = '', origin = ''], { flat }) =>
        `timezone('UTC', time_bucket(CASE WHEN year(${stride}) <> 0 OR month(${stride}) <> 0 THEN error('timestamps cannot be binned into intervals containing months or years') ELSE ${stride} END, timezone('UTC', ${flat(value)}), timezone('UTC', ${origin})))`,
    ),
    null,
    may,
  ),
]

export const intervalOperators: readonly FunctionDef[] = [
  fn('/', 'interval float8', 'interval', divided, null, may),
  fn('-', 'time time', 'interval', `to_microseconds(${micros('{0}')} - ${micros('{1}')})`, '({0} - {1})'),
]

/** A sum of intervals is one of their parts. */
export const intervalAggregates = [
  aggregate(
    'sum',
    'interval',
    'interval',
    `CASE WHEN count[{0}] > 0 THEN ${made(
      'sum[year({0}) * 12 + month({0})]',
      'sum[day({0})]',
      'sum[(hour({0}) * 60 + minute({0})) * 60000000 + microsecond({0})]',
    )} END`,
    'sum[{0}]',
    may,
  ),
]
