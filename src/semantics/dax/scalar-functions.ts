/** Functions of scalars: each takes values of one row and gives one. */

import { refuseDax } from '../../wire/dax/tokens.ts'
import { momentOfDay, monthsAfter } from '../cube/periods.ts'
import {
  compareForOrder,
  compareValues,
  type DaxDate,
  type DaxType,
  type DaxValue,
  dateFromMs,
  dateFromText,
  dateOfNumber,
  identityOfValue,
  isDate,
  joinTexts,
  numberOf,
  textOfValue,
  truthOf,
} from './values.ts'

interface ScalarFunction {
  /** `first`: that of the argument that is given as its value. */
  readonly type: DaxType | { readonly of: number }
  readonly itemsMin: number
  readonly itemsMax: number
  readonly of: (values: readonly DaxValue[], nowMs: number) => DaxValue
}

const f = (
  type: ScalarFunction['type'],
  [itemsMin, itemsMax]: readonly [number, number],
  of: ScalarFunction['of'],
): ScalarFunction => ({ type, itemsMin, itemsMax, of })

const dayMs = 86_400_000

const dateOf = (value: DaxValue): DaxDate =>
  isDate(value) ? value : typeof value === 'string' ? dateOfText(value) : dateOfNumber(numberOf(value))

function dateOfText(text: string): DaxDate {
  const found = dateFromText(text.replace('T', ' '))
  return Number.isFinite(found.ms) ? found : refuseDax('a text is used as a date')
}

const partOf = (value: DaxValue, read: (date: Date) => number): DaxValue =>
  value === undefined ? undefined : read(new Date(dateOf(value).ms))

const monthsLater = (value: DaxValue, count: DaxValue, isLast: boolean): DaxDate =>
  dateFromMs(monthsAfter(dateOf(value).ms, Math.trunc(numberOf(count)), isLast))

/** The place of a text within another, from 1, without case; 0 for none. */
function search(what: DaxValue, within: DaxValue, from: number, isExact: boolean): number {
  const [needle, hay] = [textOfValue(what), textOfValue(within)]
  return isExact
    ? hay.indexOf(needle, from - 1) + 1
    : hay.toLowerCase().indexOf(needle.toLowerCase(), from - 1) + 1
}

function found(isExact: boolean): ScalarFunction['of'] {
  return ([what, within, from, otherwise]) => {
    const place = search(what, within, from === undefined ? 1 : Math.max(1, numberOf(from)), isExact)
    return place === 0 ? (otherwise ?? refuseDax('a text was searched for and not found')) : place
  }
}

/** Whether a row of values comes after another, each pair with its order. */
function after(values: readonly DaxValue[], isEqualAfter: boolean): boolean {
  if (values.length % 3 !== 0) return refuseDax('ISONORAFTER takes a value, another and an order, each time')
  for (let place = 0; place < values.length; place += 3) {
    const order = compareForOrder(values[place], values[place + 1])
    if (order !== 0) return values[place + 2] === 'DESC' ? order < 0 : order > 0
  }
  return isEqualAfter
}

const rounded = (value: number, digits: number) => {
  const scale = 10 ** Math.trunc(digits)
  const found = (Math.sign(value) * Math.round(Math.abs(value) * scale * (1 + Number.EPSILON))) / scale
  return Number.isFinite(found) ? found : value
}

/** A multiple of a step that is a whole number of times, by what rounds. */
const stepped = (value: DaxValue, step: DaxValue, round: (count: number) => number): DaxValue => {
  if (value === undefined) return undefined
  const by = numberOf(step)
  // Of a count that is whole but for how binary numbers are written, the count.
  const count = Number((numberOf(value) / by).toPrecision(15))
  return by === 0 ? 0 : round(count) * by
}

const today = (nowMs: number) => dateFromMs(Math.floor(nowMs / dayMs) * dayMs)
const smaller = (one: DaxValue, other: DaxValue) => (compareValues(one, other) <= 0 ? one : other)
const many = [1, 1_000] as const

/** By name. */
const functions: Readonly<Record<string, ScalarFunction>> = {
  ABS: f({ of: 0 }, [1, 1], ([value]) => (value === undefined ? undefined : Math.abs(numberOf(value)))),
  AND: f('boolean', [2, 2], ([one, other]) => truthOf(one) && truthOf(other)),
  BLANK: f('variant', [0, 0], () => undefined),
  CEILING: f('number', [2, 2], ([value, step]) => stepped(value, step, Math.ceil)),
  COALESCE: f({ of: 0 }, many, (values) => values.find((value) => value !== undefined)),
  CONCATENATE: f('text', [2, 2], ([one, other]) => joinTexts(one, other)),
  CONTAINSSTRING: f('boolean', [2, 2], ([within, what]) => search(what, within, 1, false) > 0),
  CONTAINSSTRINGEXACT: f('boolean', [2, 2], ([within, what]) => search(what, within, 1, true) > 0),
  DATE: f('date', [3, 3], ([year, month, day]) =>
    dateFromMs(
      momentOfDay(Math.trunc(numberOf(year)), Math.trunc(numberOf(month)), Math.trunc(numberOf(day))),
    ),
  ),
  DATEVALUE: f('date', [1, 1], ([value]) => dateOf(value)),
  DAY: f('integer', [1, 1], ([value]) => partOf(value, (date) => date.getUTCDate())),
  DIVIDE: f('number', [2, 3], ([above, below, otherwise]) =>
    numberOf(below) === 0 ? otherwise : above === undefined ? undefined : numberOf(above) / numberOf(below),
  ),
  EDATE: f('date', [2, 2], ([value, count]) => monthsLater(value, count, false)),
  EOMONTH: f('date', [2, 2], ([value, count]) => monthsLater(value, count, true)),
  EXACT: f('boolean', [2, 2], ([one, other]) => textOfValue(one) === textOfValue(other)),
  FALSE: f('boolean', [0, 0], () => false),
  FIND: f('integer', [2, 4], found(true)),
  FLOOR: f('number', [2, 2], ([value, step]) => stepped(value, step, Math.floor)),
  IF: f({ of: 1 }, [2, 3], ([condition, yes, no]) => (truthOf(condition) ? yes : no)),
  INT: f('integer', [1, 1], ([value]) => (value === undefined ? undefined : Math.floor(numberOf(value)))),
  ISAFTER: f('boolean', [3, 300], (values) => after(values, false)),
  ISBLANK: f('boolean', [1, 1], ([value]) => value === undefined),
  ISONORAFTER: f('boolean', [3, 300], (values) => after(values, true)),
  LEFT: f('text', [1, 2], ([value, count]) =>
    textOfValue(value).slice(0, Math.max(0, count === undefined ? 1 : numberOf(count))),
  ),
  LEN: f('integer', [1, 1], ([value]) => textOfValue(value).length),
  LOWER: f('text', [1, 1], ([value]) => textOfValue(value).toLowerCase()),
  MAX: f({ of: 0 }, [2, 2], ([one, other]) => (smaller(one, other) === one ? other : one)),
  MID: f('text', [3, 3], ([value, from, count]) =>
    textOfValue(value).slice(numberOf(from) - 1, numberOf(from) - 1 + numberOf(count)),
  ),
  MIN: f({ of: 0 }, [2, 2], ([one, other]) => smaller(one, other)),
  MONTH: f('integer', [1, 1], ([value]) => partOf(value, (date) => date.getUTCMonth() + 1)),
  NOT: f('boolean', [1, 1], ([value]) => !truthOf(value)),
  NOW: f('date', [0, 0], (_, nowMs) => dateFromMs(Math.floor(nowMs / 1_000) * 1_000)),
  OR: f('boolean', [2, 2], ([one, other]) => truthOf(one) || truthOf(other)),
  RIGHT: f('text', [1, 2], ([value, count]) => {
    const text = textOfValue(value)
    return text.slice(text.length - Math.min(text.length, count === undefined ? 1 : numberOf(count)))
  }),
  ROUND: f('number', [2, 2], ([value, digits]) =>
    value === undefined ? undefined : rounded(numberOf(value), numberOf(digits)),
  ),
  SEARCH: f('integer', [2, 4], found(false)),
  SQRT: f('number', [1, 1], ([value]) => {
    const number = numberOf(value)
    if (number < 0) return refuseDax('SQRT takes no number below zero')
    return value === undefined ? undefined : Math.sqrt(number)
  }),
  SWITCH: f({ of: 2 }, [3, 1_000], ([value, ...cases]) => {
    for (let place = 0; place + 1 < cases.length; place += 2)
      if (identityOfValue(value) === identityOfValue(cases[place])) return cases[place + 1]
    return cases.length % 2 === 1 ? cases.at(-1) : undefined
  }),
  TIME: f('date', [3, 3], ([hour, minute, second]) =>
    dateOfNumber((numberOf(hour) * 3_600 + numberOf(minute) * 60 + numberOf(second)) / 86_400),
  ),
  TODAY: f('date', [0, 0], (_, nowMs) => today(nowMs)),
  TRIM: f('text', [1, 1], ([value]) => textOfValue(value).trim().replace(/ +/g, ' ')),
  TRUE: f('boolean', [0, 0], () => true),
  UPPER: f('text', [1, 1], ([value]) => textOfValue(value).toUpperCase()),
  UTCNOW: f('date', [0, 0], (_, nowMs) => dateFromMs(Math.floor(nowMs / 1_000) * 1_000)),
  UTCTODAY: f('date', [0, 0], (_, nowMs) => today(nowMs)),
  YEAR: f('integer', [1, 1], ([value]) => partOf(value, (date) => date.getUTCFullYear())),
}

/** The function of a name in upper case; undefined for none. */
export function scalarFunction(name: string): ScalarFunction | undefined {
  return Object.hasOwn(functions, name) ? functions[name] : undefined
}

/** Their names. */
export const scalarFunctionNames: readonly string[] = Object.keys(functions)
