/** Writes to_char of times, for listed patterns only, from fields, so that every engine returns the same text. */

import { quoteText } from '../../base/sql-text.ts'
import { notSupported } from '../sql-error.ts'
import type { Template } from './definition.ts'

type Engine = 'duckdb' | 'trino'

const months = 'January February March April May June July August September October November December'.split(
  ' ',
)
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

const pad = (sql: string, width: number): string => `lpad(CAST(${sql} AS VARCHAR), ${width}, '0')`
const pick = (index: string, names: readonly string[], first: number): string =>
  `CASE ${index} ${names.map((name, at) => `WHEN ${at + first} THEN '${name}'`).join(' ')} END`

/** SQL of each pattern. Names are PostgreSQL's (manual, 9.8), a longer name before its prefix. */
function pieces(engine: Engine): readonly (readonly [string, string])[] {
  const dow = engine === 'duckdb' ? 'dayofweek({0})' : '(day_of_week({0}) % 7)'
  const doy = engine === 'duckdb' ? 'dayofyear({0})' : 'day_of_year({0})'
  const isoYear = engine === 'duckdb' ? 'isoyear({0})' : 'year_of_week({0})'
  const isoDow = engine === 'duckdb' ? 'isodow({0})' : 'day_of_week({0})'
  const div = engine === 'duckdb' ? '//' : '/'
  const micros =
    engine === 'duckdb'
      ? '(microsecond({0}) % 1000000)'
      : `CAST(split_part(CAST(CAST({0} AS TIMESTAMP(6)) AS VARCHAR), '.', 2) AS BIGINT)`
  const hour12 = '((hour({0}) + 11) % 12 + 1)'
  const half = (am: string, pm: string) => `CASE WHEN hour({0}) < 12 THEN '${am}' ELSE '${pm}' END`
  const names = (index: string, list: readonly string[], first: number, form: (name: string) => string) =>
    pick(index, list.map(form), first)
  const same = (name: string) => name
  const upper = (name: string) => name.toUpperCase()
  const lower = (name: string) => name.toLowerCase()
  const wide = (name: string) => name.padEnd(9)
  const short = (name: string) => name.slice(0, 3)
  const both = (
    base: readonly [string, string, string],
    index: string,
    list: readonly string[],
    first: number,
  ) => [
    [`FM${base[0]}`, names(index, list, first, upper)] as const,
    [`FM${base[1]}`, names(index, list, first, same)] as const,
    [`FM${base[2]}`, names(index, list, first, lower)] as const,
    [base[0], names(index, list, first, (name) => wide(upper(name)))] as const,
    [base[1], names(index, list, first, wide)] as const,
    [base[2], names(index, list, first, (name) => wide(lower(name)))] as const,
  ]
  return [
    ...both(['MONTH', 'Month', 'month'], 'month({0})', months, 1),
    ...both(['DAY', 'Day', 'day'], dow, days, 0),
    ['MON', names('month({0})', months, 1, (name) => upper(short(name)))],
    ['Mon', names('month({0})', months, 1, short)],
    ['mon', names('month({0})', months, 1, (name) => lower(short(name)))],
    ['DY', names(dow, days, 0, (name) => upper(short(name)))],
    ['Dy', names(dow, days, 0, short)],
    ['dy', names(dow, days, 0, (name) => lower(short(name)))],
    ['IYYY', pad(isoYear, 4)],
    ['YYYY', pad('year({0})', 4)],
    ['YY', pad('(year({0}) % 100)', 2)],
    ['FMMM', 'CAST(month({0}) AS VARCHAR)'],
    ['FMDD', 'CAST(day({0}) AS VARCHAR)'],
    ['FMHH24', 'CAST(hour({0}) AS VARCHAR)'],
    ['FMHH12', `CAST(${hour12} AS VARCHAR)`],
    ['HH24', pad('hour({0})', 2)],
    ['HH12', pad(hour12, 2)],
    ['HH', pad(hour12, 2)],
    ['DDD', pad(doy, 3)],
    ['DD', pad('day({0})', 2)],
    ['ID', `CAST(${isoDow} AS VARCHAR)`],
    ['D', `CAST(${dow} + 1 AS VARCHAR)`],
    ['MM', pad('month({0})', 2)],
    ['MI', pad('minute({0})', 2)],
    ['MS', pad(`(${micros} ${div} 1000)`, 3)],
    ['US', pad(micros, 6)],
    ['SS', pad('second({0})', 2)],
    ['IW', pad('week({0})', 2)],
    ['WW', pad(`((${doy} - 1) ${div} 7 + 1)`, 2)],
    ['W', `CAST(((day({0}) - 1) ${div} 7 + 1) AS VARCHAR)`],
    ['Q', 'CAST(quarter({0}) AS VARCHAR)'],
    ['AM', half('AM', 'PM')],
    ['PM', half('AM', 'PM')],
    ['am', half('am', 'pm')],
    ['pm', half('am', 'pm')],
  ]
}

const tables = { duckdb: pieces('duckdb'), trino: pieces('trino') }

/** Writes `{0}` in the literal pattern `{1}`. Refuses anything unlisted in a pattern. */
export function toCharTemplate(engine: Engine): Template {
  return ([value = ''], { literals, types }) => {
    const pattern = literals[1]
    if (typeof pattern !== 'string') return 'CAST(NULL AS VARCHAR)'
    const inUtc = engine === 'trino' && types[0] === 'timestamptz' ? `(${value} AT TIME ZONE 'UTC')` : value
    return parts(pattern, tables[engine], inUtc)
      .reduce((joined, part) => `${joined} || ${part}`, `''`)
      .replace(/^(.*)$/s, '($1)')
  }
}

function parts(pattern: string, table: readonly (readonly [string, string])[], value: string): string[] {
  const out: string[] = []
  let rest = pattern
  while (rest !== '') {
    const quoted = /^"([^"]*)"/.exec(rest)
    const found = table.find(([name]) => rest.startsWith(name))
    if (quoted) {
      out.push(quoteText(quoted[1] ?? ''))
      rest = rest.slice(quoted[0].length)
    } else if (found) {
      out.push(found[1].replaceAll('{0}', () => value))
      rest = rest.slice(found[0].length)
      if (/^(TH|th|SP)/.test(rest)) throw notSupported('This to_char pattern')
    } else {
      const plain = /^[^A-Za-z"\\{}]/.exec(rest)?.[0]
      if (plain === undefined) throw notSupported('This to_char pattern')
      out.push(plain === "'" ? `''''` : `'${plain}'`)
      rest = rest.slice(plain.length)
    }
  }
  return out
}
