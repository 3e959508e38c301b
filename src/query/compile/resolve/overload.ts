/** Picks the overload of a call (PostgreSQL manual, 10.2 and 10.3, for the supported types). */

import { elementOf, isArray, isScalar, type SqlType } from '../../../core/sql-type.ts'
import type { ArgType, FunctionDef } from '../base/function-definition.ts'
import type { CallExpr, Expr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { convertsImplicitly, isPreferred, isString } from '../base/types.ts'
import { coerce, joinedLiteral, literalIn, literalOf, nullOf, typed } from './coerce.ts'

export interface Callable {
  readonly args: readonly ArgType[]
  readonly variadic: boolean
  readonly returns: FunctionDef['returns']
  readonly literalArgs: readonly number[]
  readonly takesValue?: FunctionDef['takesValue']
}

export interface Match<D> {
  readonly def: D
  readonly types: readonly SqlType[]
  readonly element: SqlType | undefined
}

/**
 * Picks the overload for argument types.
 *
 * @returns undefined where none accepts them
 */
export function pickOverload<D extends Callable>(
  defs: readonly D[],
  types: readonly SqlType[],
): Match<D> | undefined {
  let best: (Match<D> & { readonly score: number }) | undefined
  for (const def of defs) {
    const match = matchTypes(def, types)
    if (match === undefined) continue
    const score = types.reduce((sum, type, index) => sum + scoreOf(type, match.types[index] ?? type), 0)
    if (best === undefined || score > best.score) best = { ...match, score }
  }
  return best
}

/** Exact beats preferred beats convertible. An untyped literal is preferably text. */
function scoreOf(from: SqlType, to: SqlType): number {
  if (from === to) return 100
  if (from === 'unknown') return isString(to) ? 11 : isPreferred(to) ? 10 : 0
  return isPreferred(to) ? 10 : 1
}

function matchTypes<D extends Callable>(def: D, types: readonly SqlType[]): Match<D> | undefined {
  const { args, variadic } = def
  if (variadic ? types.length < args.length : types.length !== args.length) return undefined
  const wanted = (index: number) => args[Math.min(index, args.length - 1)] ?? 'any'
  const element = args.some(isElementwise)
    ? elementType(
        types.map((_, index) => wanted(index)),
        types,
      )
    : undefined
  const targets: SqlType[] = []
  for (let index = 0; index < types.length; index++) {
    const type = types[index] ?? 'unknown'
    const target = targetType(wanted(index), type, element)
    if (target === undefined || !convertsImplicitly(type, target)) return undefined
    targets.push(target)
  }
  return { def, types: targets, element }
}

const isElementwise = (type: ArgType) => type === 'anyarray' || type === 'anyelement'

function elementType(wanted: readonly ArgType[], types: readonly SqlType[]): SqlType | undefined {
  let element: SqlType | undefined
  for (const [index, want] of wanted.entries()) {
    const type = types[index]
    if (type === undefined || type === 'unknown') continue
    if (want === 'anyarray' && isArray(type)) element = elementOf(type)
    if (want === 'anyelement' && (element === undefined || convertsImplicitly(element, type)))
      element ??= type
  }
  return element
}

function targetType(want: ArgType, type: SqlType, element: SqlType | undefined): SqlType | undefined {
  if (want === 'any') return type === 'unknown' ? 'text' : type
  if (want === 'anyelement') return element ?? (type === 'unknown' ? 'text' : type)
  if (want === 'anyarray') {
    if (element === undefined || !isScalar(element)) return undefined
    return `${element}[]`
  }
  return want
}

/** The type of a call's result. */
export function returnType(def: Callable, match: Match<unknown>): SqlType {
  const { returns } = def
  if (typeof returns === 'function') return returns(match.types)
  if (returns === 'any') return match.types[0] ?? 'text'
  if (returns === 'anyelement') return match.element ?? match.types[0] ?? 'text'
  if (returns === 'anyarray') {
    const element = match.element ?? match.types[0] ?? 'text'
    if (!isScalar(element)) throw notSupported('An array of arrays')
    return `${element}[]`
  }
  return returns
}

/**
 * The arguments in the types of the overload.
 *
 * @throws SqlError 0A000 where an argument must be a literal and is not
 */
export function bindArguments(
  def: Callable,
  match: Match<unknown>,
  args: readonly Expr[],
  name: string,
): Expr[] {
  return args.map((arg, index) => {
    const bound = coerce(arg, match.types[index] ?? typed(arg).type)
    if (!def.literalArgs.includes(index))
      return def.takesValue?.(index) === true ? (literalIn(bound) ?? bound) : bound
    const literal = literalIn(bound) ?? joinedLiteral(bound)
    if (literal === undefined) throw notSupported(`${name} with a non-literal argument ${index + 1}`)
    return literal
  })
}

/** A call, or its result where its arguments already decide it. */
export function reduced(call: CallExpr): Expr {
  const { def, args, type } = call
  if (def.fold === undefined) return nullOfNull(call)
  const values = args.map((arg) => (arg.kind === 'literal' ? arg.value : undefined))
  const texts = values.filter((value) => typeof value === 'string')
  return texts.length === args.length ? literalOf(def.fold(texts), type) : nullOfNull(call)
}

/**
 * A call whose argument must be a literal and is NULL: the result is NULL, as of every such function. The other
 * arguments stay, because they may be aggregates or may fail.
 */
function nullOfNull({ def, args, type, ...call }: CallExpr): Expr {
  const isNull = (arg: Expr | undefined) => arg?.kind === 'literal' && arg.value === null
  if (!def.literalArgs.some((index) => isNull(args[index]))) return { ...call, def, args, type }
  const others = args.filter((arg) => arg.kind !== 'literal')
  if (others.length === 0) return nullOf(type)
  const whens = others.map((arg) => ({
    when: { kind: 'is', type: 'bool', test: 'NULL', arg } as const,
    result: nullOf(type),
  }))
  return { kind: 'case', type, whens }
}

/**
 * The error for a function or an operator that there is not for these types.
 * @param call as `function upper(integer)` or `operator integer + text`
 */
export function absent(call: string, position?: number): SqlError {
  const [, operands] = /^operator (.*)$/s.exec(call) ?? []
  const kind = operands === undefined ? 'function' : 'operator'
  const message = operands === undefined ? `${call} does not exist` : `operator does not exist: ${operands}`
  const hint = `No ${kind} matches the given name and argument types. You might need to add explicit type casts.`
  return new SqlError('42883', message, position, { hint })
}

/**
 * Resolves a call of a function or operator.
 *
 * @param spoken the call in messages, as `upper(integer)`
 * @throws SqlError 42883 where no overload accepts the arguments
 */
export function callOverload(
  defs: readonly FunctionDef[] | undefined,
  args: readonly Expr[],
  spoken: () => string,
  position?: number,
): CallExpr {
  const match = pickOverload(
    defs ?? [],
    args.map((arg) => arg.type),
  )
  if (match === undefined) throw absent(spoken(), position)
  const { def } = match
  return {
    kind: 'call',
    def,
    args: bindArguments(def, match, args, def.name),
    type: returnType(def, match),
  }
}
