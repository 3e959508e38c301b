/**
 * Writes a numeric of the outermost select list so that it is shown with PostgreSQL's digits, which no engine's decimal
 * has: a decimal has one scale for all rows, a numeric one for each value. What the value is computed from becomes a text
 * in reverse Polish notation, by which core/exact-numeric.ts computes it. Where the scale is the engine's own, or the text
 * does not tell it (columns of subqueries), nothing is written.
 */

import { quoteText } from '../../../base/sql-text.ts'
import { type AggregateExpr, type CallExpr, type Expr, exprKey } from '../base/ir.ts'
import { isInteger } from '../base/types.ts'
import { aggregates } from '../functions/aggregates.ts'
import { operators } from '../functions/operators.ts'
import { operandShape } from '../resolve/decimal.ts'
import { textScaleOf } from '../resolve/text-scale.ts'
import { isVolatile } from '../resolve/volatile.ts'
import { type Emitter, emitExpression } from './expression.ts'

/** SQL of a text, and the digits after the point that each of its values has; undefined where rows differ. */
interface Shown {
  readonly sql: string
  readonly scale: number | undefined
  /** Whether it is no more than the engine's own value. */
  readonly isOwn: boolean
}

/**
 * The text of a target.
 * @param keys of GROUP BY, as exprKey has them: what they hold is not to be read by itself
 * @returns undefined where the engine's own value is shown as PostgreSQL's
 */
export function shownNumeric(emitter: Emitter, target: Expr, keys: ReadonlySet<string>): string | undefined {
  if (target.type !== 'numeric' || target.size !== undefined) return undefined
  const shown = shownOf({ emitter, keys }, target)
  return shown === undefined || shown.isOwn ? undefined : shown.sql
}

interface Place {
  readonly emitter: Emitter
  readonly keys: ReadonlySet<string>
}

/** The engine's own digits. */
function own({ emitter }: Place, expr: Expr): Shown | undefined {
  const shape = operandShape(expr)
  if (typeof shape !== 'object' || textScaleOf(expr) !== undefined) return undefined
  return {
    sql: `CAST(${emitExpression(emitter, expr)} AS VARCHAR)`,
    scale: shape[1],
    isOwn: true,
  }
}

function shownOf(place: Place, expr: Expr): Shown | undefined {
  const { emitter, keys } = place
  const isKey = emitter.grouped?.(expr) !== undefined || keys.has(exprKey(expr))
  if (isKey || expr.size !== undefined || expr.type !== 'numeric')
    return expr.type === 'numeric' || isInteger(expr.type) ? own(place, expr) : undefined
  switch (expr.kind) {
    case 'literal':
      return expr.value === null
        ? { sql: 'CAST(NULL AS VARCHAR)', scale: undefined, isOwn: true }
        : { sql: quoteText(expr.value), scale: /\.(\d+)$/.exec(expr.value)?.[1]?.length ?? 0, isOwn: true }
    case 'cast':
      return expr.arg.type === 'numeric' ? shownOf(place, expr.arg) : own(place, expr)
    case 'case':
      return chosen(
        place,
        expr,
        [...expr.whens.map(({ result }) => result), ...(expr.otherwise ? [expr.otherwise] : [])],
        (texts) => {
          const whens = expr.whens.map(
            ({ when }, index) => `WHEN ${emitExpression(emitter, when)} THEN ${texts[index]}`,
          )
          return `CASE ${whens.join(' ')}${expr.otherwise ? ` ELSE ${texts.at(-1)}` : ''} END`
        },
      )
    case 'call':
      return ofCall(place, expr)
    case 'aggregate':
      return ofAggregate(place, expr, expr, (aggregate) => aggregate)
    case 'window': {
      const { call } = expr
      return call.kind === 'aggregate'
        ? ofAggregate(place, call, expr, (aggregate) => ({
            ...expr,
            type: aggregate.type,
            size: undefined,
            call: aggregate,
          }))
        : own(place, expr)
    }
    default:
      return own(place, expr)
  }
}

/** One of several values. NULL has no digits. */
function chosen(
  place: Place,
  expr: Expr,
  options: readonly Expr[],
  write: (texts: readonly string[]) => string,
): Shown | undefined {
  const isNull = (each: Expr) => each.kind === 'literal' && each.value === null
  const shown = options.map((each) => shownOf(place, each))
  if (shown.some((each) => each === undefined)) return undefined
  const scales = new Set(
    shown.flatMap((each, index) => (isNull(options[index] ?? expr) ? [] : [each?.scale])),
  )
  if (shown.every((each) => each?.isOwn) && scales.size === 1 && !scales.has(undefined)) {
    const [scale] = scales
    return { sql: `CAST(${emitExpression(place.emitter, expr)} AS VARCHAR)`, scale, isOwn: true }
  }
  return { sql: write(shown.map((each) => each?.sql ?? '')), scale: undefined, isOwn: false }
}

const joined = (parts: readonly string[]): string => `(${parts.join(" || ' ' || ")})`

function ofCall(place: Place, expr: CallExpr): Shown | undefined {
  const { emitter } = place
  const { args, def } = expr
  const [first, second] = args
  if (first === undefined) return own(place, expr)
  const shownArgs = () => args.map((arg) => shownOf(place, arg))
  /** An operation of which the engine's own digits are right where its operands' are. */
  const computed = (token: string, isExact = true): Shown | undefined => {
    const shown = shownArgs()
    if (shown.some((each) => each === undefined)) return undefined
    if (isExact && shown.every((each) => each?.isOwn)) return own(place, expr)
    return {
      sql: joined([...shown.map((each) => each?.sql ?? ''), quoteText(token)]),
      scale: undefined,
      isOwn: false,
    }
  }
  switch (def.name) {
    case '+':
    case '-':
      if (args.length > 1) return computed(def.name)
      return def.name === '+' ? shownOf(place, first) : computed('neg')
    case '*':
    case '%':
      return computed(def.name)
    case 'mod':
      return computed('%')
    case '/':
      return computed('/', false)
    case 'abs':
      return computed('abs')
    case 'floor':
      return computed('floor')
    case 'ceil':
    case 'ceiling':
      return computed('ceil')
    case 'round':
    case 'trunc': {
      const shown = shownOf(place, first)
      const digits = second === undefined ? 0 : second.kind === 'literal' ? Number(second.value) : Number.NaN
      if (shown === undefined || !Number.isInteger(digits) || Math.abs(digits) > 1_000) return undefined
      if (shown.isOwn && shown.scale !== undefined && shown.scale >= digits) return own(place, expr)
      return {
        sql: joined([shown.sql, quoteText(`${def.name}${digits}`)]),
        scale: Math.max(0, digits),
        isOwn: false,
      }
    }
    case 'coalesce':
      return chosen(place, expr, args, (texts) => `coalesce(${texts.join(', ')})`)
    case 'greatest':
    case 'least': {
      if (args.some(isVolatile)) return undefined
      const value = emitExpression(emitter, expr)
      return chosen(place, expr, args, (texts) => {
        const whens = args.map(
          (arg, index) => `WHEN ${emitExpression(emitter, arg)} = ${value} THEN ${texts[index]}`,
        )
        return `CASE ${whens.join(' ')} END`
      })
    }
    case 'nullif':
      if (args.some(isVolatile)) return undefined
      return chosen(
        place,
        expr,
        [first],
        ([text]) => `CASE WHEN ${emitExpression(emitter, expr)} IS NOT NULL THEN ${text} END`,
      )
    default:
      return own(place, expr)
  }
}

/** The aggregates of which PostgreSQL computes these, by their names. */
const spreads: ReadonlyMap<string, string> = new Map([
  ['variance', 'var_samp'],
  ['var_samp', 'var_samp'],
  ['var_pop', 'var_pop'],
  ['stddev', 'stddev_samp'],
  ['stddev_samp', 'stddev_samp'],
  ['stddev_pop', 'stddev_pop'],
])
/** Squares of so many digits leave room for the sum of a hundred million rows. */
const squaredDigits = 15

function ofAggregate(
  place: Place,
  expr: AggregateExpr,
  whole: Expr,
  placed: (aggregate: AggregateExpr) => Expr,
): Shown | undefined {
  const [arg] = expr.args
  const { name } = expr.def
  const write = (aggregate: AggregateExpr) =>
    `CAST(${emitExpression(place.emitter, placed(aggregate))} AS VARCHAR)`
  const other = (called: string, of: Expr): AggregateExpr | undefined => {
    const def = aggregates.get(called)?.find(({ args }) => args[0] === of.type || args[0] === 'any')
    const type = def?.returns
    if (
      def === undefined ||
      typeof type !== 'string' ||
      type === 'any' ||
      type === 'anyelement' ||
      type === 'anyarray'
    )
      return undefined
    return { ...expr, def, type, args: [of] }
  }
  if (arg === undefined) return undefined
  const spread = spreads.get(name)
  if (name === 'avg' || spread !== undefined) {
    const shape = operandShape(arg)
    // They are written as several aggregates of the argument.
    if (isVolatile(arg) || textScaleOf(arg) !== undefined || typeof shape !== 'object') return undefined
    const [sum, count] = [other('sum', arg), other('count', arg)]
    if (sum === undefined || count === undefined) return undefined
    if (spread === undefined)
      return {
        sql: joined([write(sum), `nullif(${write(count)}, '0')`, "'/'"]),
        scale: undefined,
        isOwn: false,
      }
    if (shape[0] > squaredDigits || expr.distinct) return undefined
    const times = operators.get('*')?.find(({ args }) => args.join() === 'numeric,numeric')
    if (times === undefined) return undefined
    const number: Expr = isInteger(arg.type) ? { kind: 'cast', type: 'numeric', arg } : arg
    const squares = other('sum', { kind: 'call', def: times, type: 'numeric', args: [number, number] })
    if (squares === undefined) return undefined
    return {
      sql: joined([write(count), write(sum), write(squares), quoteText(spread)]),
      scale: undefined,
      isOwn: false,
    }
  }
  // What they choose or add has the scale of the column, where that is the engine's own.
  return own(place, whole)
}
