/** Functions of texts, conversions, and those that read a name or a set out of a text. */

import type { MdxExpression } from '../../wire/mdx/ast.ts'
import { parseMdxText } from '../../wire/mdx/parse-expression.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { type Arguments, atMost, type RunFunction, required } from './arguments.ts'
import { stepsOfText } from './bounds.ts'
import { type Context, deeper, type Result, type Value } from './context.ts'
import { tuplesOf, valueAt } from './sets.ts'
import type { Tuple } from './space.ts'
import {
  aMember,
  aValue,
  memberOfResult,
  numberOf,
  setOfResult,
  textOfValue,
  tupleOfResult,
  valueOfResult,
} from './values.ts'

const textAt = (context: Context, given: Arguments, index: number) =>
  textOfValue(valueAt(context, required(given, index)))
const numberAt = (context: Context, given: Arguments, index: number) =>
  Math.trunc(numberOf(valueAt(context, required(given, index))))

const ofText =
  (compute: (text: string) => Value): RunFunction =>
  (context, given) => {
    atMost(given, 1)
    return aValue(compute(textAt(context, given, 0)))
  }

/** INSTR([start,] text, wanted [, compare]): the place of the first, from 1; without regard to case. */
function inStr(context: Context, given: Arguments): Value {
  atMost(given, 4)
  const values = given.expressions.map((_, index) => valueAt(context, required(given, index)))
  const hasStart = typeof values[0] === 'number'
  const [text, wanted, compare] = hasStart ? values.slice(1) : values
  const start = hasStart ? Number(values[0]) : 1
  if (text === undefined || wanted === undefined || start < 1)
    return refuseMdx('InStr takes a text and what is looked for')
  const binary = compare !== undefined && numberOf(compare) === 0
  const cased = (value: Value) => (binary ? textOfValue(value) : textOfValue(value).toLowerCase())
  return cased(text).indexOf(cased(wanted), start - 1) + 1
}

const dates: readonly (readonly [RegExp, (found: RegExpExecArray) => readonly [string, string, string]])[] = [
  [/^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].*)?$/, ([, year = '', month = '', day = '']) => [year, month, day]],
  [/^(\d{1,2})\/(\d{1,2})\/(\d{4})(?: .*)?$/, ([, month = '', day = '', year = '']) => [year, month, day]],
]

/** A date as YYYY-MM-DD, as the keys of dates are written. @throws Fault `bad_request` for a text that is none */
function dateOf(text: string): string {
  for (const [pattern, parts] of dates) {
    const found = pattern.exec(text.trim())
    if (found === null) continue
    const [year, month, day] = parts(found)
    const written = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    if (!Number.isNaN(Date.parse(`${written}T00:00:00Z`))) return written
  }
  return refuseMdx('a date is YYYY-MM-DD or MM/DD/YYYY')
}

/** What a text stands for. @param isConstrained whether it may hold names, sets and tuples alone */
function read(context: Context, given: Arguments): { readonly inner: Context; readonly result: Result } {
  atMost(given, 1, ['CONSTRAINED'])
  const expression = parseMdxText(textAt(context, given, 0))
  if (given.flags.includes('CONSTRAINED') && !isPlain(expression))
    refuseMdx('CONSTRAINED takes names of members alone')
  const inner = deeper(context)
  return { inner, result: inner.environment.evaluate(inner, expression) }
}

function isPlain(expression: MdxExpression): boolean {
  if (expression.kind === 'set' || expression.kind === 'tuple') return expression.items.every(isPlain)
  return expression.kind === 'name'
}

/** The tuples as one text, whose parts count before it is made. */
function writeTuples({ environment }: Context, tuples: readonly Tuple[]): string {
  const written = tuples.map((tuple) => {
    const names = tuple.map(({ uniqueName }) => uniqueName).join(',')
    environment.step(stepsOfText(names))
    return tuple.length === 1 ? names : `(${names})`
  })
  return written.join(',')
}

export const textFunctions = {
  INSTR: (context, given) => aValue(inStr(context, given)),
  LEFT: (context, given) => {
    atMost(given, 2)
    return aValue(textAt(context, given, 0).slice(0, Math.max(0, numberAt(context, given, 1))))
  },
  RIGHT: (context, given) => {
    atMost(given, 2)
    const count = Math.max(0, numberAt(context, given, 1))
    return aValue(count === 0 ? '' : textAt(context, given, 0).slice(-count))
  },
  MID: (context, given) => {
    atMost(given, 3)
    const start = numberAt(context, given, 1)
    if (start < 1) refuseMdx('Mid counts from 1')
    const length = given.expressions[2] === undefined ? undefined : Math.max(0, numberAt(context, given, 2))
    const text = textAt(context, given, 0)
    return aValue(text.slice(start - 1, length === undefined ? undefined : start - 1 + length))
  },
  LEN: ofText((text) => text.length),
  LCASE: ofText((text) => text.toLowerCase()),
  UCASE: ofText((text) => text.toUpperCase()),
  TRIM: ofText((text) => text.trim()),
  CSTR: ofText((text) => text),
  CDATE: ofText(dateOf),
  CDBL: ofText((text) => (text === '' ? null : numberOf(text))),
  CINT: ofText((text) => (text === '' ? null : Math.round(numberOf(text)))),
  VAL: ofText((text) => Number.parseFloat(text) || 0),
  STRTOMEMBER: (context, given) => {
    const { inner, result } = read(context, given)
    return aMember(memberOfResult(inner, result))
  },
  STRTOTUPLE: (context, given) => {
    const { inner, result } = read(context, given)
    const tuple = tupleOfResult(inner, result)
    return tuple === undefined ? aMember(undefined) : { is: 'tuple', tuple }
  },
  STRTOSET: (context, given) => {
    const { inner, result } = read(context, given)
    return { is: 'set', set: setOfResult(inner, result) }
  },
  STRTOVALUE: (context, given) => {
    const { inner, result } = read(context, given)
    return aValue(valueOfResult(inner, result))
  },
  MEMBERTOSTR: (context, given) => {
    atMost(given, 1)
    const member = memberOfResult(context, context.environment.evaluate(context, required(given, 0)))
    return aValue(member?.uniqueName ?? '')
  },
  TUPLETOSTR: (context, given) => {
    atMost(given, 1)
    return aValue(writeTuples(context, tuplesOf(context, required(given, 0))))
  },
  SETTOSTR: (context, given) => {
    atMost(given, 1)
    return aValue(`{${writeTuples(context, tuplesOf(context, required(given, 0)))}}`)
  },
} satisfies Record<string, RunFunction>
