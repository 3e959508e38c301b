/** Writes to_char of times, for listed patterns only, from fields, so that every engine returns the same text. */

import { quoteText } from '../../../base/sql-text.ts'
import type { Template } from '../base/function-definition.ts'
import { notSupported } from '../base/sql-error.ts'

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
  const numbers: readonly (readonly [name: string, sql: string, width: number])[] = [
    ['IYYY', isoYear, 4],
    ['YYYY', 'year({0})', 4],
    ['YYY', '(year({0}) % 1000)', 3],
    ['YY', '(year({0}) % 100)', 2],
    ['Y', '(year({0}) % 10)', 1],
    ['HH24', 'hour({0})', 2],
    ['HH12', hour12, 2],
    ['HH', hour12, 2],
    ['DDD', doy, 3],
    ['DD', 'day({0})', 2],
    ['ID', isoDow, 1],
    ['D', `(${dow} + 1)`, 1],
    ['MM', 'month({0})', 2],
    ['MI', 'minute({0})', 2],
    ['MS', `(${micros} ${div} 1000)`, 3],
    ['US', micros, 6],
    ['SSSS', '(hour({0}) * 3600 + minute({0}) * 60 + second({0}))', 1],
    ['SS', 'second({0})', 2],
    ['IW', 'week({0})', 2],
    ['WW', `((${doy} - 1) ${div} 7 + 1)`, 2],
    ['W', `((day({0}) - 1) ${div} 7 + 1)`, 1],
    ['Q', 'quarter({0})', 1],
    ['CC', `((year({0}) + 99) ${div} 100)`, 2],
  ]
  const since2000 =
    engine === 'duckdb'
      ? "(CAST({0} AS DATE) - DATE '2000-01-01')"
      : "date_diff('day', DATE '2000-01-01', CAST({0} AS DATE))"
  const roman = 'I II III IV V VI VII VIII IX X XI XII'.split(' ')
  const fractions = [1, 2, 3, 4, 5, 6].flatMap((count) =>
    ['FF', 'ff'].map((name) => [`${name}${count}`, `substr(${pad(micros, 6)}, 1, ${count})`] as const),
  )
  const digits = numbers.flatMap(([name, sql, width]) => {
    const [padded, bare] = [pad(sql, width), `CAST(${sql} AS VARCHAR)`]
    // Fractions of a second keep their zeros.
    const plain = name === 'MS' || name === 'US' ? padded : bare
    const written = width === 1 ? bare : padded
    return [name, name.toLowerCase()].flatMap((each) => [
      [`FM${each}`, plain] as const,
      [each, written] as const,
    ])
  })
  return [
    ...both(['MONTH', 'Month', 'month'], 'month({0})', months, 1),
    ...both(['DAY', 'Day', 'day'], dow, days, 0),
    ['MON', names('month({0})', months, 1, (name) => upper(short(name)))],
    ['Mon', names('month({0})', months, 1, short)],
    ['mon', names('month({0})', months, 1, (name) => lower(short(name)))],
    ['DY', names(dow, days, 0, (name) => upper(short(name)))],
    ['Dy', names(dow, days, 0, short)],
    ['dy', names(dow, days, 0, (name) => lower(short(name)))],
    ...fractions,
    ['RM', names('month({0})', roman, 1, (name) => name.padEnd(4))],
    ['rm', names('month({0})', roman, 1, (name) => name.toLowerCase().padEnd(4))],
    ['FMRM', names('month({0})', roman, 1, same)],
    ['FMrm', names('month({0})', roman, 1, lower)],
    ...digits,
    ['J', `CAST(${since2000} + 2451545 AS VARCHAR)`],
    ['AM', half('AM', 'PM')],
    ['PM', half('AM', 'PM')],
    ['am', half('am', 'pm')],
    ['pm', half('am', 'pm')],
    ['A.M.', half('A.M.', 'P.M.')],
    ['P.M.', half('A.M.', 'P.M.')],
    ['a.m.', half('a.m.', 'p.m.')],
    ['p.m.', half('a.m.', 'p.m.')],
  ]
}

/** The zone of an instant is UTC; a timestamp has none. */
const zonePieces: readonly (readonly [name: string, ofInstant: string, ofTimestamp: string])[] = [
  ['TZH', '+00', '+00'],
  ['TZM', '00', '00'],
  ['TZ', 'UTC', ''],
  ['tzh', '+00', '+00'],
  ['tzm', '00', '00'],
  ['tz', 'utc', ''],
  ['OF', '+00', '+00'],
]
const zoneTable = (isInstant: boolean): readonly (readonly [string, string])[] =>
  zonePieces.map(([name, ofInstant, ofTimestamp]) => [name, `'${isInstant ? ofInstant : ofTimestamp}'`])

const tables = { duckdb: pieces('duckdb'), trino: pieces('trino') }

/** Writes `{0}` in the literal pattern `{1}`. Refuses anything unlisted in a pattern. */
export function toCharTemplate(engine: Engine): Template {
  return ([value = ''], { literals, types }) => {
    const pattern = literals[1]
    if (typeof pattern !== 'string') return 'CAST(NULL AS VARCHAR)'
    const inUtc = engine === 'trino' && types[0] === 'timestamptz' ? `(${value} AT TIME ZONE 'UTC')` : value
    const table = [...zoneTable(types[0] === 'timestamptz'), ...tables[engine]]
    const joined = parts(pattern, table, inUtc).reduce((text, part) => `${text} || ${part}`, `''`)
    // Text alone would be written for NULL as well.
    return joined.includes(inUtc) ? `(${joined})` : `CASE WHEN ${value} IS NOT NULL THEN ${joined} END`
  }
}

/** Patterns of whole numbers, behind which a suffix of ordinals may stand. */
const ordinals = /^(?:FM)?(?:YYYY|YYY|YY|Y|HH24|HH12|HH|DDD|DD|ID|D|MM|MI|MS|US|SSSS|SS|IW|WW|W|Q|CC|J)$/i

/** st, nd, rd or th. @param number text of a whole number */
function ordinal(number: string, isUpper: boolean): string {
  const forms = ['th', 'st', 'nd', 'rd'].map((form) => `'${isUpper ? form.toUpperCase() : form}'`)
  const value = `CAST(${number} AS BIGINT)`
  return `CASE WHEN ${value} % 100 BETWEEN 11 AND 13 THEN ${forms[0]} WHEN ${value} % 10 = 1 THEN ${forms[1]} WHEN ${value} % 10 = 2 THEN ${forms[2]} WHEN ${value} % 10 = 3 THEN ${forms[3]} ELSE ${forms[0]} END`
}

/** A number in a width to which zeros fill it, and one more for a sign. */
const signed = (sql: string, width: number): string =>
  `CASE WHEN ${sql} < 0 THEN '-' ELSE '' END || lpad(CAST(abs(${sql}) AS VARCHAR), greatest(${width}, CAST(length(CAST(abs(${sql}) AS VARCHAR)) AS INTEGER)), '0')`

const ofInterval: readonly (readonly [name: string, sql: string, width: number])[] = [
  ['YYYY', 'year({0})', 4],
  ['HH24', 'hour({0})', 2],
  ['HH12', '(CASE WHEN hour({0}) % 12 = 0 THEN 12 ELSE hour({0}) % 12 END)', 2],
  ['HH', '(CASE WHEN hour({0}) % 12 = 0 THEN 12 ELSE hour({0}) % 12 END)', 2],
  ['MM', 'month({0})', 2],
  ['MI', 'minute({0})', 2],
  ['MS', '(microsecond({0}) % 1000000 // 1000)', 3],
  ['US', '(microsecond({0}) % 1000000)', 6],
  ['SS', 'second({0})', 2],
]
const spans = ofInterval.flatMap(([name, sql, width]) => {
  const bare = `CAST(${sql} AS VARCHAR)`
  const padded = signed(sql, width)
  const plain = width === 3 || width === 6 ? padded : bare
  return [name, name.toLowerCase()].flatMap((each) => [
    [`FM${each}`, plain] as const,
    [each, padded] as const,
  ])
})
const dayOfSpan = [
  ['FMDD', 'CAST(day({0}) AS VARCHAR)'],
  ['FMdd', 'CAST(day({0}) AS VARCHAR)'],
  ['DD', "CASE WHEN day({0}) BETWEEN 0 AND 9 THEN '0' ELSE '' END || day({0})"],
  ['dd', "CASE WHEN day({0}) BETWEEN 0 AND 9 THEN '0' ELSE '' END || day({0})"],
] as const

/** Writes an interval, or a time, in a literal pattern of fields alone, for DuckDB. */
export const spanToChar: Template = ([value = ''], { literals, types }) => {
  const pattern = literals[1]
  if (typeof pattern !== 'string') return 'CAST(NULL AS VARCHAR)'
  const table =
    types[0] === 'time' ? spans.filter(([name]) => !/YYYY|MM/i.test(name)) : [...spans, ...dayOfSpan]
  const joined = parts(pattern, table, value).reduce((text, part) => `${text} || ${part}`, `''`)
  return `CASE WHEN ${value} IS NOT NULL THEN ${joined} END`
}

function parts(pattern: string, table: readonly (readonly [string, string])[], value: string): string[] {
  const out: string[] = []
  let rest = pattern
  while (rest !== '') {
    const quoted = /^"([^"]*)"/.exec(rest)
    if (rest.startsWith('fm')) rest = `FM${rest.slice(2)}`
    // Names are in English, as in the locale C; translated ones are not padded.
    if (/^TM(?:month|mon|day|dy)/i.test(rest)) rest = `FM${rest.slice(2)}`.replace(/^FM(mon|dy)(?!th)/i, '$1')
    const found = table.find(([name]) => rest.startsWith(name))
    if (quoted) {
      out.push(quoteText(quoted[1] ?? ''))
      rest = rest.slice(quoted[0].length)
    } else if (found) {
      out.push(found[1].replaceAll('{0}', () => value))
      rest = rest.slice(found[0].length)
      const suffix = /^(TH|th)/.exec(rest)?.[0]
      const number = out.at(-1) ?? ''
      if (suffix !== undefined) {
        if (!ordinals.test(found[0])) throw notSupported('This to_char pattern')
        rest = rest.slice(2)
        out.push(ordinal(number, suffix === 'TH'))
      }
      if (/^SP/.test(rest)) throw notSupported('This to_char pattern')
    } else {
      const plain = /^[^A-Za-z"\\{}]/.exec(rest)?.[0]
      if (plain === undefined) throw notSupported('This to_char pattern')
      out.push(plain === "'" ? `''''` : `'${plain}'`)
      rest = rest.slice(plain.length)
    }
  }
  return out
}
