/** Defines functions of dates, times and intervals. The time zone is UTC, weeks are ISO weeks, Sunday is day 0. */

import type { SqlType } from '../../../core/sql-type.ts'
import { zoneNamed } from '../../../core/time-zone.ts'
import {
  type FunctionDef,
  fn,
  strictly,
  type Template,
  type TemplateCall,
} from '../base/function-definition.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { spokenType } from '../base/types.ts'
import { digitsOfNumber, numberToChar } from './number-to-char.ts'
import { numberSql, readNumber, readTime, timeSql } from './parse-format.ts'
import { spanToChar, toCharTemplate } from './to-char.ts'

type Engine = 'duckdb' | 'trino'

const truncUnits: Readonly<Record<string, string>> = {
  second: 'second',
  minute: 'minute',
  hour: 'hour',
  day: 'day',
  week: 'week',
  month: 'month',
  quarter: 'quarter',
  year: 'year',
}
const duckdbTruncUnits: Readonly<Record<string, string>> = {
  ...truncUnits,
  microseconds: 'microseconds',
  milliseconds: 'milliseconds',
  decade: 'decade',
}
/** Units that an engine lacks or reads otherwise: DuckDB's centuries and millennia begin a year early. */
const otherTruncUnits = ['decade', 'century', 'millennium', 'microseconds', 'milliseconds']

/** The unit of date_trunc as a literal of an engine. @throws SqlError 0A000 for one that the engine lacks, 22023 for no unit */
export function dateTruncUnit(literal: string | null | undefined, engine: Engine): string {
  const name = String(literal ?? '').toLowerCase()
  const units = engine === 'duckdb' ? duckdbTruncUnits : truncUnits
  const unit = Object.hasOwn(units, name)
    ? units[name]
    : Object.hasOwn(units, name.replace(/s$/, ''))
      ? units[name.replace(/s$/, '')]
      : undefined
  if (unit !== undefined) return `'${unit}'`
  if (otherTruncUnits.includes(name)) throw notSupported(`date_trunc to ${name} on this engine`)
  throw new SqlError('22023', 'unit not recognized for date_trunc')
}

const dateTrunc =
  (engine: Engine) =>
  ([, value]: readonly string[], { literals }: TemplateCall): string =>
    `date_trunc(${dateTruncUnit(literals[0], engine)}, ${value})`

/**
 * A timestamp in UTC as an instant. DuckDB truncates instants by a calendar library, ten times slower than timestamps;
 * in UTC both give the same. @param otherwise replaces the result for infinities, which have no microseconds
 */
export const instantOf = (timestamp: string, otherwise: string): string =>
  `coalesce(make_timestamptz(epoch_us(${timestamp})), ${otherwise})`

/** A date truncated as a timestamp: grouping by it equals grouping by PostgreSQL's instant. */
const truncDateKey = dateTrunc('duckdb')
const truncDate: Readonly<Record<Engine, Template>> = {
  duckdb: (args, call) => {
    const timestamp = truncDateKey(args, call)
    return instantOf(timestamp, `timezone('UTC', ${timestamp})`)
  },
  trino: ([, value], { literals }) =>
    `with_timezone(date_trunc(${dateTruncUnit(literals[0], 'trino')}, CAST(${value} AS TIMESTAMP(6))), 'UTC')`,
}

/** The fraction of the second, in microseconds. */
const micros = {
  duckdb: '(microsecond({0}) % 1000000)',
  trino: `CAST(split_part(CAST(CAST({0} AS TIMESTAMP(6)) AS VARCHAR), '.', 2) AS BIGINT)`,
}

/** Microseconds as seconds, exactly: DuckDB divides decimals as doubles. */
const secondsOf = (micros: string): string =>
  `(CAST(${micros} AS DECIMAL(19,0)) * CAST('0.000001' AS DECIMAL(6,6)))`

/** SQL of each field, an integer or decimal, per engine; `null` where the engine lacks it. */
const fields: Readonly<Record<string, readonly [duckdb: string, trino: string | null]>> = {
  year: ['year({0})', 'year({0})'],
  quarter: ['quarter({0})', 'quarter({0})'],
  month: ['month({0})', 'month({0})'],
  week: ['week({0})', 'week({0})'],
  day: ['day({0})', 'day({0})'],
  hour: ['hour({0})', 'hour({0})'],
  minute: ['minute({0})', 'minute({0})'],
  second: [
    `CAST(second({0}) + CAST(${micros.duckdb} AS DECIMAL(7,0)) * CAST('0.000001' AS DECIMAL(7,6)) AS DECIMAL(8,6))`,
    `CAST(second({0}) + CAST(${micros.trino} AS DECIMAL(7,0)) * CAST('0.000001' AS DECIMAL(7,6)) AS DECIMAL(8,6))`,
  ],
  milliseconds: [
    'CAST(CAST(microsecond({0}) AS DECIMAL(11,3)) / 1000 AS DECIMAL(11,3))',
    `CAST(second({0}) * 1000 + CAST(${micros.trino} AS DECIMAL(7,0)) * CAST('0.001' AS DECIMAL(4,3)) AS DECIMAL(11,3))`,
  ],
  microseconds: ['microsecond({0})', `(second({0}) * 1000000 + ${micros.trino})`],
  dow: ['dayofweek({0})', '(day_of_week({0}) % 7)'],
  isodow: ['isodow({0})', 'day_of_week({0})'],
  doy: ['dayofyear({0})', 'day_of_year({0})'],
  isoyear: ['isoyear({0})', 'year_of_week({0})'],
  decade: ['(year({0}) // 10)', '(year({0}) / 10)'],
  century: ['((year({0}) + 99) // 100)', '((year({0}) + 99) / 100)'],
  millennium: ['((year({0}) + 999) // 1000)', '((year({0}) + 999) / 1000)'],
  epoch: [secondsOf('epoch_us({0})'), 'to_unixtime({0})'],
  julian: ['CAST(julian({0}) AS DOUBLE)', null],
}
const intervalFields = [
  'year',
  'month',
  'day',
  'hour',
  'minute',
  'second',
  'quarter',
  'decade',
  'century',
  'milliseconds',
  'microseconds',
  'epoch',
]
const timeFields = ['hour', 'minute', 'second', 'milliseconds', 'microseconds', 'epoch']
const dateFields = Object.keys(fields).filter((name) => !timeFields.includes(name) || name === 'epoch')
const aliases: Readonly<Record<string, string>> = {
  years: 'year',
  months: 'month',
  days: 'day',
  hours: 'hour',
  minutes: 'minute',
  seconds: 'second',
  weeks: 'week',
  quarters: 'quarter',
  millisecond: 'milliseconds',
  microsecond: 'microseconds',
}

const part =
  (engine: Engine, result: 'DECIMAL' | 'DOUBLE'): Template =>
  ([, value = ''], { literals, types, flat }) => {
    const given = String(literals[0] ?? '').toLowerCase()
    const name = Object.hasOwn(aliases, given) ? String(aliases[given]) : given
    const type = types[1] as SqlType
    const allowed =
      type === 'interval'
        ? intervalFields
        : type === 'time'
          ? timeFields
          : type === 'date'
            ? dateFields
            : Object.keys(fields)
    if (!Object.hasOwn(fields, name) && !/^timezone(_[hm]|_hour|_minute)?$/.test(name))
      throw new SqlError('22023', `unit not recognized for type ${spokenType(type)}`)
    if (!allowed.includes(name)) throw notSupported(`extract of this field from ${type}`)
    if (type === 'interval' && engine === 'trino')
      throw notSupported('extract from an interval on this engine')
    const template = fields[name]?.[engine === 'duckdb' ? 0 : 1]
    if (template === null || template === undefined) throw notSupported(`extract(${name}) on this engine`)
    const sql = intervalPart(name, type) ?? template
    // The replacement is a function, because `$` in a replacement text is special.
    const read =
      engine === 'trino' && type === 'timestamptz'
        ? `(${value} AT TIME ZONE 'UTC')`
        : engine === 'duckdb' && type === 'date' && name === 'epoch'
          ? flat(value)
          : value
    const written = sql.replaceAll('{0}', () => read)
    if (result === 'DOUBLE') return `CAST(${written} AS DOUBLE)`
    if (name === 'epoch') return `CAST(${written} AS DECIMAL(${type === 'date' ? '18,0' : '25,6'}))`
    return /^(second|milliseconds|julian)$/.test(name) ? written : `CAST(${written} AS DECIMAL(18,0))`
  }

/** SQL of an interval's field. In the epoch PostgreSQL counts a year as 365.25 days; DuckDB does not. */
function intervalPart(name: string, type: SqlType): string | undefined {
  if (type === 'time' && name === 'epoch') return secondsOf('epoch_us({0})')
  if (type !== 'interval') return undefined
  if (name === 'epoch')
    return `(year({0}) * 31557600 + month({0}) * 2592000 + day({0}) * 86400 + hour({0}) * 3600 + minute({0}) * 60 + ${secondsOf('microsecond({0})')})`
  if (name === 'quarter')
    return '(CASE WHEN year({0}) < 0 OR month({0}) < 0 THEN month({0}) // 3 - 1 ELSE month({0}) // 3 + 1 END)'
  if (name === 'century') return '(year({0}) // 100)'
  return undefined
}

/** A zone by its IANA name, which means the same to every engine. Abbreviations and offsets do not. */
export function zoneName(literal: string | null | undefined): string {
  const name = zoneNamed(String(literal ?? ''))
  if (name === undefined) throw new SqlError('22023', 'time zone not recognized: use an IANA name')
  return `'${name}'`
}

/** Refuses years before 1, which engines count differently. */
const ofOurEra = "CASE WHEN {0} < 1 THEN error('date field value out of range') ELSE {0} END"

const instantTypes = ['timestamp', 'timestamptz'] as const
const partTypes = ['timestamp', 'timestamptz', 'date', 'time', 'interval'] as const
const literal = { literal: [0] }
/** Functions that fail at the ends of an engine's range. */
const ranged = { ...literal, fallible: true }
/** Functions of a literal pattern that can fail. */
const numbered = { literal: [1], fallible: true }

const age: Template = ([later = '', earlier], { flat }) => `age(${flat(later)}, ${earlier})`

const ageToday =
  (today: string): Template =>
  ([earlier = ''], { flat }) =>
    `age(${today}, ${flat(earlier)})`

/** The arguments of make_interval, in their order. */
export const intervalUnits = ['years', 'months', 'weeks', 'days', 'hours', 'mins', 'secs'] as const
const intervalPieces: Readonly<Record<(typeof intervalUnits)[number], string>> = {
  years: 'to_years({})',
  months: 'to_months({})',
  weeks: 'to_days({} * 7)',
  days: 'to_days({})',
  hours: 'to_hours({})',
  mins: 'to_minutes({})',
  secs: 'to_microseconds(CAST(round_even({} * 1000000, 0) AS BIGINT))',
}

export const datetimeFunctions: readonly FunctionDef[] = [
  fn('date_trunc', 'text timestamp', 'timestamp', dateTrunc('duckdb'), dateTrunc('trino'), ranged),
  fn(
    'date_trunc',
    'text timestamptz',
    'timestamptz',
    ([, value = ''], { literals }) =>
      instantOf(
        `date_trunc(${dateTruncUnit(literals[0], 'duckdb')}, make_timestamp(epoch_us(${value})))`,
        value,
      ),
    dateTrunc('trino'),
    ranged,
  ),
  fn('date_trunc', 'text date', 'timestamptz', truncDate.duckdb, truncDate.trino, {
    ...literal,
    fallible: true,
    duckdbKey: truncDateKey,
  }),
  ...partTypes.flatMap((type) => [
    fn('extract', `text ${type}`, 'numeric', part('duckdb', 'DECIMAL'), part('trino', 'DECIMAL'), {
      ...literal,
      fallible: type === 'date',
    }),
    fn('date_part', `text ${type}`, 'float8', part('duckdb', 'DOUBLE'), part('trino', 'DOUBLE'), {
      ...literal,
      fallible: type === 'date',
    }),
  ]),
  fn(
    'timezone',
    'text timestamp',
    'timestamptz',
    ([, value], { literals }) => `timezone(${zoneName(literals[0])}, ${value})`,
    // Converted back to UTC, because Trino reads fields in the value's own zone.
    ([, value], { literals }) => `(with_timezone(${value}, ${zoneName(literals[0])}) AT TIME ZONE 'UTC')`,
    ranged,
  ),
  fn(
    'timezone',
    'text timestamptz',
    'timestamp',
    ([, value], { literals }) => `timezone(${zoneName(literals[0])}, ${value})`,
    ([, value], { literals }) => `CAST(${value} AT TIME ZONE ${zoneName(literals[0])} AS TIMESTAMP(6))`,
    ranged,
  ),
  ...instantTypes.map((type) =>
    fn('to_char', `${type} text`, 'text', toCharTemplate('duckdb'), toCharTemplate('trino'), {
      literal: [1],
    }),
  ),
  fn('to_char', 'interval text', 'text', spanToChar, null, { literal: [1] }),
  fn('to_char', 'time text', 'text', spanToChar, null, { literal: [1] }),
  fn('to_char', 'int4 text', 'text', numberToChar(digitsOfNumber.integer), null, numbered),
  fn('to_char', 'int8 text', 'text', numberToChar(digitsOfNumber.integer), null, numbered),
  fn('to_char', 'numeric text', 'text', numberToChar(digitsOfNumber.numeric), null, numbered),
  fn('to_char', 'float8 text', 'text', numberToChar(digitsOfNumber.float), null, numbered),
  fn(
    'to_timestamp',
    'text text',
    'timestamptz',
    (args, call) => `timezone('UTC', ${timeSql(args, call)})`,
    null,
    {
      ...numbered,
      fold: ([text = '', pattern = '']) => readTime(text, pattern),
    },
  ),
  fn('to_date', 'text text', 'date', (args, call) => `CAST(${timeSql(args, call)} AS DATE)`, null, {
    ...numbered,
    fold: ([text = '', pattern = '']) => readTime(text, pattern).slice(0, 10),
  }),
  fn('to_number', 'text text', 'numeric', numberSql, null, {
    ...numbered,
    fold: ([text = '', pattern = '']) => readNumber(text, pattern),
  }),
  fn('date', 'date', 'date', '{0}'),
  fn('date', 'timestamp', 'date', 'CAST({0} AS DATE)'),
  fn(
    'date',
    'timestamptz',
    'date',
    `CAST(timezone('UTC', {0}) AS DATE)`,
    `CAST(({0} AT TIME ZONE 'UTC') AS DATE)`,
  ),
  fn('date', 'text', 'date', 'CAST({0} AS DATE)', 'CAST(trim({0}) AS DATE)', {
    fallible: true,
    fold: ([text = '']) => text,
  }),
  fn('now', '', 'timestamptz', 'now()', 'current_timestamp(6)'),
  fn('transaction_timestamp', '', 'timestamptz', 'now()', 'current_timestamp(6)'),
  fn('statement_timestamp', '', 'timestamptz', 'now()', 'current_timestamp(6)'),
  fn('current_date', '', 'date', 'CAST(now() AS DATE)', 'CAST(current_timestamp(6) AS DATE)'),
  fn('current_timestamp', '', 'timestamptz', 'now()', 'current_timestamp(6)'),
  fn('localtimestamp', '', 'timestamp', 'CAST(now() AS TIMESTAMP)', 'localtimestamp(6)'),
  fn('age', 'timestamp timestamp', 'interval', age, null, { fallible: true }),
  fn('age', 'timestamptz timestamptz', 'interval', age, null, { fallible: true }),
  // Since midnight of today, as in PostgreSQL.
  fn('age', 'timestamp', 'interval', ageToday(`CAST(CAST(now() AS DATE) AS TIMESTAMP)`), null, {
    fallible: true,
  }),
  fn(
    'age',
    'timestamptz',
    'interval',
    ageToday(`timezone('UTC', CAST(CAST(now() AS DATE) AS TIMESTAMP))`),
    null,
    {
      fallible: true,
    },
  ),
  fn('clock_timestamp', '', 'timestamptz', 'now()', 'current_timestamp(6)'),
  ...intervalUnits.map((_, index) =>
    fn(
      'make_interval',
      intervalUnits
        .slice(0, index + 1)
        .map((unit) => (unit === 'secs' ? 'float8' : 'int4'))
        .join(' '),
      'interval',
      strictly(
        `(${intervalUnits
          .slice(0, index + 1)
          .map((unit, at) => intervalPieces[unit].replace('{}', `{${at}}`))
          .join(' + ')})`,
      ),
      null,
      { fallible: true },
    ),
  ),
  fn(
    'make_date',
    'int4 int4 int4',
    'date',
    strictly(`make_date(${ofOurEra}, {1}, {2})`),
    strictly(`CAST(format('%04d-%02d-%02d', {0}, {1}, {2}) AS DATE)`),
    { fallible: true },
  ),
  fn(
    'make_timestamp',
    'int4 int4 int4 int4 int4 float8',
    'timestamp',
    strictly(`make_timestamp(${ofOurEra}, {1}, {2}, {3}, {4}, {5})`),
    null,
    { fallible: true },
  ),
  fn(
    'to_timestamp',
    'float8',
    'timestamptz',
    ([seconds = ''], { flat }) => `to_timestamp(${flat(seconds)})`,
    'CAST(from_unixtime({0}) AS TIMESTAMP(6) WITH TIME ZONE)',
    { fallible: true },
  ),
  fn(
    'date_bin',
    'interval timestamp timestamp',
    'timestamp',
    strictly(
      `time_bucket(CASE WHEN year({0}) <> 0 OR month({0}) <> 0 THEN error('timestamps cannot be binned into intervals containing months or years') ELSE {0} END, {1}, {2})`,
    ),
    null,
    {
      fallible: true,
    },
  ),
  fn('isfinite', 'timestamp', 'bool', 'isfinite({0})', '({0} IS NOT NULL OR NULL)'),
]
