/** Parses PostgreSQL's interval input, in the forms of people and BI tools, to months, days and microseconds. */

import { SqlError } from './sql-error.ts'

interface IntervalLiteral {
  readonly months: bigint
  readonly days: bigint
  readonly micros: bigint
}

type Part = 'months' | 'days' | 'micros'

const second = 1_000_000
const units: Readonly<Record<string, readonly [Part, number]>> = {
  microsecond: ['micros', 1],
  us: ['micros', 1],
  millisecond: ['micros', 1_000],
  ms: ['micros', 1_000],
  second: ['micros', second],
  sec: ['micros', second],
  s: ['micros', second],
  minute: ['micros', 60 * second],
  min: ['micros', 60 * second],
  m: ['micros', 60 * second],
  hour: ['micros', 3_600 * second],
  hr: ['micros', 3_600 * second],
  h: ['micros', 3_600 * second],
  day: ['days', 1],
  d: ['days', 1],
  week: ['days', 7],
  w: ['days', 7],
  month: ['months', 1],
  mon: ['months', 1],
  year: ['months', 12],
  yr: ['months', 12],
  y: ['months', 12],
  quarter: ['months', 3],
  decade: ['months', 120],
  century: ['months', 1_200],
}

const daysPerMonth = 30
const microsPerDay = 86_400 * second

/**
 * Reads `1 year 2 mons -3 days 04:05:06`, `90 minutes`, `P1DT2H` and the like.
 *
 * @param unit the unit of a bare number, as in INTERVAL '3' DAY
 * @throws SqlError 22007
 */
export function parseIntervalLiteral(text: string, unit?: string): IntervalLiteral {
  const total = { months: 0, days: 0, micros: 0 }
  const wrong = () => new SqlError('22007', 'invalid input syntax for type interval')
  const add = (amount: number, name: string) => {
    const key = name.toLowerCase()
    const found = Object.hasOwn(units, key) ? units[key] : units[key.replace(/s$/, '')]
    if (found === undefined || !Number.isFinite(amount)) throw wrong()
    addAmount(total, amount, found)
  }
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.length > 200) throw wrong()
  const iso =
    /^P(?=.)(?:(-?[\d.]+)Y)?(?:(-?[\d.]+)M)?(?:(-?[\d.]+)W)?(?:(-?[\d.]+)D)?(?:T(?:(-?[\d.]+)H)?(?:(-?[\d.]+)M)?(?:(-?[\d.]+)S)?)?$/.exec(
      trimmed,
    )
  if (iso) {
    for (const [index, name] of ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'].entries())
      if (iso[index + 1] !== undefined) add(Number(iso[index + 1]), name)
    return exact(total)
  }
  const ago = /\s+ago$/i.test(trimmed)
  let rest = trimmed.replace(/\s+ago$/i, '').replace(/^@\s*/, '')
  while (rest !== '') {
    const clock = /^([+-]?)(\d{1,9}):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,6})?))?(?=\s|$)\s*/.exec(rest)
    const amount = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-zA-Z]+)(?=[\s\d+-]|$)\s*/.exec(rest)
    // A bare number before a time of day counts days.
    const days = /^([+-]?\d{1,10})\s+(?=[+-]?\d{1,9}:)/.exec(rest)
    const bare = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))$/.exec(rest)
    if (clock) {
      const [all, sign, hours, minutes, seconds] = clock
      if (Number(minutes) > 59 || Number(seconds ?? 0) >= 60) throw wrong()
      const micros =
        (Number(hours) * 3_600 + Number(minutes) * 60) * second + Math.round(Number(seconds ?? 0) * second)
      total.micros += sign === '-' ? -micros : micros
      rest = rest.slice(all.length)
    } else if (days) {
      total.days += Number(days[1])
      rest = rest.slice(days[0].length)
    } else if (amount) {
      add(Number(amount[1]), amount[2] ?? '')
      rest = rest.slice(amount[0].length)
    } else if (bare) {
      add(Number(bare[1]), unit ?? 'second')
      rest = ''
    } else throw wrong()
  }
  if (ago) for (const part of ['months', 'days', 'micros'] as const) total[part] = -total[part]
  return exact(total)
}

/** Adds an amount. A fraction goes to the next smaller part: half a month is 15 days, half a day 12 hours. */
function addAmount(
  total: Record<Part, number>,
  amount: number,
  [part, factor]: readonly [Part, number],
): void {
  const scaled = amount * factor
  if (part === 'micros') {
    total.micros += Math.round(scaled)
    return
  }
  const whole = Math.trunc(scaled)
  total[part] += whole
  const rest = Number((scaled - whole).toFixed(9))
  if (rest !== 0)
    addAmount(total, rest, part === 'months' ? ['days', daysPerMonth] : ['micros', microsPerDay])
}

function exact(total: Record<Part, number>): IntervalLiteral {
  const { months, days, micros } = total
  if (
    ![months, days, micros].every(Number.isSafeInteger) ||
    Math.abs(months) > 0x7fffffff ||
    Math.abs(days) > 0x7fffffff
  )
    throw new SqlError('22008', 'interval field value out of range')
  return { months: BigInt(months), days: BigInt(days), micros: BigInt(micros) }
}
