/**
 * Rewrites a resolved statement for a session whose time zone is not UTC. Up to here, and in the SQL of engines, times
 * are in UTC. Filters and masks are no part of the statement, so they stay in UTC for everybody.
 */

import { elementOf, isArray, type SqlType } from '../../../core/sql-type.ts'
import type { TimeZone } from '../../../core/time-zone.ts'
import type { FunctionDef } from '../base/function-definition.ts'
import type {
  AggregateExpr,
  CallExpr,
  Expr,
  FunctionItem,
  LiteralExpr,
  Query,
  WindowExpr,
} from '../base/ir.ts'
import { instantText, localText } from '../base/local-time.ts'
import { mapExpressions } from '../base/map-expressions.ts'
import { notSupported } from '../base/sql-error.ts'
import { isString } from '../base/types.ts'
import { aggregates } from '../functions/aggregates.ts'
import { jsonOfRow } from '../functions/collections.ts'
import { functions } from '../functions/registry.ts'
import { jsonTextIn, moveIn, readIn, seriesIn as seriesOf, textIn, truncateIn } from '../functions/zoned.ts'
import { literalOf } from './coerce.ts'

/** @throws SqlError 0A000 for what is served in UTC only */
export function inSessionZone(query: Query, zone: TimeZone): Query {
  return mapExpressions(query, {
    expr: (expr) => rewrite(zone, expr),
    item: (item) => seriesIn(zone, item),
  })
}

function rewrite(zone: TimeZone, expr: Expr): Expr {
  switch (expr.kind) {
    case 'literal':
      return literalIn(zone, expr)
    case 'cast':
      return castIn(zone, expr)
    case 'call':
      return callIn(zone, expr)
    case 'aggregate':
      return aggregateIn(zone, expr)
    case 'window':
      return windowIn(zone, expr)
    default:
      return expr
  }
}

const elsewhere = 'in a session time zone other than UTC'

function literalIn(zone: TimeZone, expr: LiteralExpr): Expr {
  if (expr.type === 'timestamptz[]' && expr.value !== null)
    throw notSupported(`A constant array of timestamps with time zone, ${elsewhere},`)
  if (expr.moment === undefined || expr.value === null) return expr
  const { moment: _, ...rest } = expr
  const move = expr.moment === 'local' ? instantText : localText
  return { ...rest, value: move(expr.value, zone) }
}

function call(def: FunctionDef | undefined, type: SqlType, args: readonly Expr[]): Expr {
  if (def === undefined) throw notSupported(`This function ${elsewhere}`)
  return { kind: 'call', def, type, args }
}

function overload(name: string, args: string): FunctionDef | undefined {
  return functions.get(name)?.find((def) => def.args.join(' ') === args)
}

const nameOf = ({ name }: TimeZone): LiteralExpr => ({ kind: 'literal', type: 'text', value: name })

/** What the clocks of the zone show at an instant. */
function localOf(zone: TimeZone, arg: Expr): Expr {
  if (arg.kind === 'literal' && arg.value !== null)
    return { kind: 'literal', type: 'timestamp', value: localText(arg.value, zone) }
  return call(overload('timezone', 'text timestamptz'), 'timestamp', [nameOf(zone), arg])
}

/** The instant at which the clocks of the zone show a timestamp. */
function instantOf(zone: TimeZone, arg: Expr): Expr {
  const plain = plainLiteral(arg)
  if (plain !== undefined) return { kind: 'literal', type: 'timestamptz', value: instantText(plain, zone) }
  return call(overload('timezone', 'text timestamp'), 'timestamptz', [nameOf(zone), arg])
}

/** The text of a literal timestamp, or of one that a literal date becomes. */
function plainLiteral(arg: Expr): string | undefined {
  if (arg.kind === 'literal') return arg.value ?? undefined
  const { kind } = arg
  const isDate = kind === 'cast' && arg.arg.kind === 'literal' && arg.arg.type === 'date'
  return isDate && arg.arg.kind === 'literal' && arg.arg.value !== null
    ? `${arg.arg.value} 00:00:00`
    : undefined
}

function cast(arg: Expr, type: SqlType): Expr {
  return arg.type === type ? arg : { kind: 'cast', type, arg }
}

const isZoned = (type: SqlType): boolean => type === 'timestamptz' || type === 'timestamptz[]'

function castIn(zone: TimeZone, expr: Extract<Expr, { readonly kind: 'cast' }>): Expr {
  const { arg, type } = expr
  if (arg.type === type || !(isZoned(arg.type) || isZoned(type))) return expr
  if (isArray(type) || isArray(arg.type))
    throw notSupported(`A cast of an array of timestamps with time zone, ${elsewhere},`)
  if (arg.type === 'timestamptz') {
    if (isString(type)) {
      const text = call(textIn, 'text', [nameOf(zone), arg])
      return expr.length === undefined ? text : { ...expr, arg: text }
    }
    return cast(localOf(zone, arg), type)
  }
  if (isString(arg.type)) return call(readIn, 'timestamptz', [nameOf(zone), arg])
  return instantOf(zone, cast(arg, 'timestamp'))
}

const utc = literalOf('UTC', 'text')
const jsonMakers: ReadonlySet<string> = new Set([
  ...['json_build_object', 'jsonb_build_object', 'json_build_array', 'jsonb_build_array'],
  ...['to_json', 'to_jsonb'],
  ...Object.values(jsonOfRow).map(({ name }) => name),
])

function callIn(zone: TimeZone, expr: CallExpr): Expr {
  const { def, args } = expr
  const [first, second] = args
  const types = args.map(({ type }) => type)
  if (jsonMakers.has(def.name)) return { ...expr, args: args.map((arg) => jsonIn(zone, arg)) }
  if (args.length === 0) return momentIn(zone, expr)
  if (first === undefined) return expr
  if (def.name === 'age' && args.length === 1) {
    const today = cast(localOf(zone, now), 'date')
    const of = types[0] === 'timestamptz' ? localOf(zone, first) : first
    return call(overload('age', 'timestamp timestamp'), 'interval', [cast(today, 'timestamp'), of])
  }
  const isMove = (def.name === '+' || def.name === '-') && types.includes('interval')
  if (isMove && types.includes('timestamptz') && second !== undefined) {
    const [instant, interval] = types[0] === 'timestamptz' ? [first, second] : [second, first]
    return call(moveIn[def.name as '+' | '-'], 'timestamptz', [nameOf(zone), instant, interval])
  }
  if (def.name === 'to_timestamp' && types[1] === 'text') return instantOf(zone, asUtc(expr))
  if (def.name === 'make_timestamptz' && args.length === 6) return instantOf(zone, asUtc(expr))
  if (def.name === 'date_trunc' && args.length === 2 && second !== undefined) {
    if (types[1] === 'timestamptz') return call(truncateIn, 'timestamptz', [first, second, nameOf(zone)])
    if (types[1] !== 'date') return expr
    const local = call(overload('date_trunc', 'text timestamp'), 'timestamp', [
      first,
      cast(second, 'timestamp'),
    ])
    return instantOf(zone, local)
  }
  if (!types.includes('timestamptz')) return expr
  if (def.name === 'date') return cast(localOf(zone, first), 'date')
  if (def.name === 'age')
    return call(
      overload('age', 'timestamp timestamp'),
      'interval',
      args.map((arg) => localOf(zone, arg)),
    )
  if ((def.name === 'extract' || def.name === 'date_part') && second !== undefined) {
    if (first.kind === 'literal' && /^epoch$/i.test(first.value ?? '')) return expr
    return call(overload(def.name, 'text timestamp'), expr.type, [first, localOf(zone, second)])
  }
  if (def.name === 'to_char' && second !== undefined) {
    const pattern = second.kind === 'literal' ? (second.value ?? '') : ''
    if (/tz|of/i.test(pattern.replaceAll(/"[^"]*"/g, '')))
      throw notSupported(`TZ and OF in a pattern of to_char, ${elsewhere},`)
    return call(overload('to_char', 'timestamp text'), 'text', [localOf(zone, first), second])
  }
  return expr
}

/** What an instant that was made as in UTC shows there. */
function asUtc(expr: Expr): Expr {
  return call(overload('timezone', 'text timestamptz'), 'timestamp', [utc, expr])
}

const now: Expr = { kind: 'call', def: overload('now', '') as FunctionDef, type: 'timestamptz', args: [] }

function momentIn(zone: TimeZone, expr: CallExpr): Expr {
  if (expr.def.name === 'current_date') return cast(localOf(zone, now), 'date')
  return expr.def.name === 'localtimestamp' ? localOf(zone, now) : expr
}

function jsonIn(zone: TimeZone, arg: Expr): Expr {
  if (isArray(arg.type) && elementOf(arg.type) === 'timestamptz')
    throw notSupported(`An array of timestamps with time zone as JSON, ${elsewhere},`)
  return arg.type === 'timestamptz' ? call(jsonTextIn, 'text', [nameOf(zone), arg]) : arg
}

function aggregateIn(zone: TimeZone, expr: AggregateExpr): Expr {
  const [first, ...rest] = expr.args
  if (!/^jsonb?_(object_)?agg$/.test(expr.def.name) || first === undefined) return expr
  if (!expr.args.some(({ type }) => type === 'timestamptz')) return expr
  const args = [first, ...rest].map((arg) => jsonIn(zone, arg))
  const def = aggregates
    .get(expr.def.name)
    ?.find((each) => each.args.every((type, index) => type === 'any' || type === args[index]?.type))
  if (def === undefined) throw notSupported(`${expr.def.name} of this, ${elsewhere},`)
  return { ...expr, def, args }
}

/** Bounds of frames add their offsets in UTC, which differs by days and months. */
function windowIn(_: TimeZone, expr: WindowExpr): Expr {
  const [key] = expr.orderBy
  const offsets = [expr.frame?.start.offset, expr.frame?.end.offset].filter((each) => each !== undefined)
  if (key?.expr.type !== 'timestamptz' || !offsets.some((each) => each.type === 'interval' && hasDays(each)))
    return expr
  throw notSupported(`A frame of days or months of timestamps with time zone, ${elsewhere},`)
}

/** Whether an interval may hold days or months. */
function hasDays(interval: Expr): boolean {
  return interval.kind !== 'literal' || !(interval.value ?? '').startsWith('0 0 ')
}

/** A series of days is one of what the clocks show; one of hours is one of instants. */
function seriesIn(zone: TimeZone, item: FunctionItem): FunctionItem {
  const [start, stop, step] = item.args
  if (item.name !== 'generate_series' || item.outputs[0]?.type !== 'timestamptz') return item
  if (start === undefined || stop === undefined || step === undefined || !hasDays(step)) return item
  if (step.kind !== 'literal' || !(step.value ?? '').endsWith(' 0'))
    throw notSupported(`generate_series of timestamps with time zone by such a step, ${elsewhere},`)
  const series = call(seriesOf, 'timestamptz[]', [nameOf(zone), start, stop, step])
  return { ...item, name: 'unnest', args: [series] }
}
