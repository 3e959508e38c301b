/**
 * Defines functions of instants in a time zone that is named by a literal: what a session's time zone means. The zone is
 * the first argument, except in `date_trunc`, which PostgreSQL has itself.
 */

import { type FunctionDef, fn, type Template } from '../base/function-definition.ts'
import { notSupported } from '../base/sql-error.ts'
import { dateTruncUnit, zoneName } from './datetime.ts'

type Engine = 'duckdb' | 'trino'

const may = { literal: [0], fallible: true }

/** Units within which no zone changes its offset, so that the offset of the value stays. */
const withinHour = /^'(hour|minute|second|milliseconds|microseconds)'$/

/** Truncates what the clocks of the zone show. */
const truncIn =
  (engine: Engine): Template =>
  ([, value = ''], { literals }) => {
    const unit = dateTruncUnit(literals[0], engine)
    const zone = zoneName(literals[2])
    if (engine === 'trino') return `(date_trunc(${unit}, (${value} AT TIME ZONE ${zone})) AT TIME ZONE 'UTC')`
    const local = `timezone(${zone}, ${value})`
    if (withinHour.test(unit))
      return `(${value} - to_microseconds(epoch_us(${local}) - epoch_us(date_trunc(${unit}, ${local}))))`
    return `timezone(${zone}, date_trunc(${unit}, ${local}))`
  }

export const truncateIn = fn(
  'date_trunc',
  'text timestamptz text',
  'timestamptz',
  truncIn('duckdb'),
  truncIn('trino'),
  { literal: [0, 2], fallible: true },
)

/** Months and days are added to what the clocks show, the rest to the instant. */
const moved =
  (sign: '+' | '-'): Template =>
  ([, instant = '', interval = ''], { literals }) => {
    const zone = zoneName(literals[0])
    const [months, days, micros] =
      typeof literals[2] === 'string'
        ? literals[2].split(' ')
        : [
            `(year(${interval}) * 12 + month(${interval}))`,
            `day(${interval})`,
            `((hour(${interval}) * 60 + minute(${interval})) * 60000000 + microsecond(${interval}))`,
          ]
    const isLiteral = typeof literals[2] === 'string'
    const isShort = isLiteral && months === '0' && days === '0'
    const local = `timezone(${zone}, ${instant})`
    const start = isShort
      ? instant
      : `timezone(${zone}, (${local} ${sign} to_months(CAST(${months} AS INTEGER)) ${sign} to_days(CAST(${days} AS INTEGER))))`
    return isLiteral && micros === '0'
      ? start
      : `(${start} ${sign} to_microseconds(CAST(${micros} AS BIGINT)))`
  }

/** Trino adds months in the value's zone, and counts a day as 24 hours. */
const onTrino =
  (sign: '+' | '-'): Template =>
  ([, instant = '', interval = ''], { literals }) => {
    const [, days] = String(literals[2] ?? '').split(' ')
    if (days !== '0')
      throw notSupported('An interval of days beside an instant, on this engine and in this zone,')
    return `(((${instant} AT TIME ZONE ${zoneName(literals[0])}) ${sign} ${interval}) AT TIME ZONE 'UTC')`
  }

export const moveIn = {
  '+': fn('+ in a zone', 'text timestamptz interval', 'timestamptz', moved('+'), onTrino('+'), may),
  '-': fn('- in a zone', 'text timestamptz interval', 'timestamptz', moved('-'), onTrino('-'), may),
} as const

const two = (sql: string): string => `lpad(CAST(${sql} AS VARCHAR), 2, '0')`

/** The offset behind a time: with seconds where it has them, and in JSON with minutes always. */
const offsetOf = (o: string, inJson: boolean): string => {
  const size = `abs(${o})`
  const minutes = `':' || ${two(`${size} // 60 % 60`)}`
  const seconds = `CASE WHEN ${o} % 60 = 0 THEN '' ELSE ':' || ${two(`${size} % 60`)} END`
  const rest = inJson
    ? `${minutes} || ${seconds}`
    : `CASE WHEN ${o} % 3600 = 0 THEN '' ELSE ${minutes} || ${seconds} END`
  return `CASE WHEN ${o} < 0 THEN '-' ELSE '+' END || ${two(`${size} // 3600`)} || ${rest}`
}

const textOf =
  (inJson: boolean): Template =>
  ([, instant = ''], { literals }) => {
    const local = `timezone(${zoneName(literals[0])}, ${instant})`
    const text = inJson ? `replace(CAST(l AS VARCHAR), ' ', 'T')` : 'CAST(l AS VARCHAR)'
    const offset = `list_extract(list_transform([(epoch_us(l) - epoch_us(${instant})) // 1000000], lambda o: coalesce(${offsetOf('o', inJson)}, '')), 1)`
    return `list_extract(list_transform([${local}], lambda l: ${text} || ${offset}), 1)`
  }

/** An instant as text, and as JSON has it, with the offset of the zone. */
export const textIn = fn('text in a zone', 'text timestamptz', 'text', textOf(false), null, may)
export const jsonTextIn = fn('JSON in a zone', 'text timestamptz', 'text', textOf(true), null, may)

/** A text as an instant; without an offset it is what the clocks of the zone show. */
const read: Template = ([, text = ''], { literals }) => {
  const offset = `regexp_matches(${text}, '(?i)([:T ]\\d+(\\.\\d*)?\\s*[+-]\\d[\\d:]*|z|utc|gmt)\\s*$')`
  // DuckDB reads no offset behind a time without seconds.
  const whole = `regexp_replace(${text}, '([ T]\\d+:\\d+)(\\s*[+-])', '\\1:00\\2')`
  return `CASE WHEN ${offset} THEN CAST(${whole} AS TIMESTAMPTZ) ELSE timezone(${zoneName(literals[0])}, CAST(${text} AS TIMESTAMP)) END`
}
export const readIn = fn('read in a zone', 'text text', 'timestamptz', read, null, may)

/** A series by days or months of what the clocks show. */
const series: Template = ([, start = '', stop = '', step = ''], { literals }) => {
  const zone = zoneName(literals[0])
  const locals = `generate_series(timezone(${zone}, ${start}), timezone(${zone}, ${stop}), ${step})`
  return `list_transform(${locals}, lambda t: timezone(${zone}, t))`
}
export const seriesIn = fn(
  'series in a zone',
  'text timestamptz timestamptz interval',
  'timestamptz[]',
  series,
  null,
  may,
)

/** Functions that no statement names. */
export const zonedFunctions: readonly FunctionDef[] = [
  moveIn['+'],
  moveIn['-'],
  textIn,
  jsonTextIn,
  readIn,
  seriesIn,
]
