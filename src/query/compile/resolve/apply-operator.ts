/** Applies an operator to resolved operands: it chooses PostgreSQL's operator, then what engines have for it. */

import { elementOf, isArray, type SqlType } from '../../../core/sql-type.ts'
import type { FunctionDef } from '../base/function-definition.ts'
import type { CallExpr, Expr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { casts, commonType, convertsImplicitly, isInteger, isString, spokenType } from '../base/types.ts'
import { operators } from '../functions/operators.ts'
import { plainLike } from '../functions/pattern.ts'
import { functions } from '../functions/registry.ts'
import * as special from '../functions/special.ts'
import { arraysAtOneScale } from './array-scale.ts'
import { arrayAs, castTo, coerce, literalIn, literalOf, unify } from './coerce.ts'
import { chooseOperator } from './operator-choice.ts'
import { absent, callOverload, pickOverload, reduced, returnType } from './overload.ts'
import { wideOperator } from './wide.ts'

/** `NOT` of an expression. */
export function not(arg: Expr): Expr {
  return { kind: 'logic', type: 'bool', op: 'NOT', args: [arg] }
}

/** AND or OR of one or more. */
export function logic(op: 'AND' | 'OR', args: readonly Expr[]): Expr {
  const [only] = args
  return args.length === 1 && only ? only : { kind: 'logic', type: 'bool', op, args }
}

/** The signs that PostgreSQL writes for LIKE and ILIKE. */
const likeSigns: ReadonlyMap<string, { readonly def: FunctionDef; readonly negated: boolean }> = new Map([
  ['~~', { def: special.like, negated: false }],
  ['!~~', { def: special.like, negated: true }],
  ['~~*', { def: special.iLike, negated: false }],
  ['!~~*', { def: special.iLike, negated: true }],
])

/** Applies a sign to resolved operands, comparison and LIKE included. */
export function applyOperator(sign: string, args: readonly Expr[], position?: number): Expr {
  const name = sign === '!=' ? '<>' : sign
  const [left] = args
  // A minus sign before a number becomes part of the literal.
  if (name === '-' && args.length === 1 && left?.kind === 'literal' && left.value !== null)
    if (isInteger(left.type) || left.type === 'numeric')
      return literalOf(`-${left.value}`.replace('--', ''), left.type)
  const wide = wideOperator(name, args, position)
  if (wide !== undefined) return wide
  const spoken = () => spokenOperator(sign, args)
  const choice = chooseOperator(name, args)
  if (choice === 'none') throw absent(spoken(), position)
  if (choice === 'ambiguous') throw ambiguous(sign, args, position)
  if (choice === undefined) return applyWritten(name, args, spoken, position)
  if (choice.isPolymorphic) {
    const texts = args.map((arg) =>
      arg.type === 'unknown' || isString(arg.type) ? coerce(arg, 'text') : arg,
    )
    if (texts.some(({ type }) => !casts(type, 'text')))
      throw notSupported(spoken().replace('operator', 'The operator'), position)
    return applyWritten(name, texts, spoken, position)
  }
  const types = choice.served
  if (types === undefined) throw notSupported(spoken().replace('operator', 'The operator'), position)
  const coerced = args.map((arg, index) => operandOf(arg, types[index] ?? arg.type, spoken, position))
  if (likeSigns.has(name) || special.comparisons.has(name))
    return applyWritten(name, coerced, spoken, position)
  const found = engineOverload(name, args, types, choice.result)
  if (found === 'none') throw notSupported(spoken().replace('operator', 'The operator'), position)
  return reduced(callOverload([found.def], found.isOwn ? args : coerced, spoken, position))
}

interface EngineOverload {
  readonly def: FunctionDef
  /** Whether it takes the operands as they are, without a conversion to PostgreSQL's types. */
  readonly isOwn: boolean
}

/** By sign and the operands' types. */
const engineOverloads = new Map<string, EngineOverload | 'none'>()

/** What engines have for an operator: preferably for the operands as they are, else in PostgreSQL's types. */
function engineOverload(
  name: string,
  args: readonly Expr[],
  types: readonly SqlType[],
  result: string,
): EngineOverload | 'none' {
  const given = args.map(({ type }) => type)
  const key = `${name} ${given.join(' ')}`
  const last = engineOverloads.get(key)
  if (last !== undefined) return last
  const defs = operators.get(name) ?? []
  const own = defs.filter((def) => def.args.every((type, index) => type === given[index]))
  const isOwn = own.some(({ returns, args: wanted }) => returns === result && wanted.length === args.length)
  const match = isOwn ? pickOverload(own, given) : pickOverload(defs, types)
  const found =
    match === undefined || returnType(match.def, match) !== result
      ? ('none' as const)
      : { def: match.def, isOwn }
  engineOverloads.set(key, found)
  return found
}

/** An operand as PostgreSQL's operator takes it. */
function operandOf(arg: Expr, type: SqlType, spoken: () => string, position?: number): Expr {
  if (arg.type !== 'unknown' && !convertsImplicitly(arg.type, type))
    throw notSupported(spoken().replace('operator', 'The operator'), position)
  return coerce(arg, type)
}

function spokenOperator(sign: string, args: readonly Expr[]): string {
  const types = args.map((arg) => spokenType(arg.type))
  return `operator ${[...types.slice(0, -1), sign, types.at(-1) ?? 'unknown'].join(' ')}`
}

function ambiguous(sign: string, args: readonly Expr[], position?: number): SqlError {
  const hint = 'Could not choose a best candidate operator. You might need to add explicit type casts.'
  const message = spokenOperator(sign, args).replace('operator', 'operator is not unique:')
  return new SqlError('42725', message, position, { hint })
}

/** Applies a sign to operands that the engines' overloads decide about: of the types of PostgreSQL's operator, or arrays. */
function applyWritten(name: string, args: readonly Expr[], spoken: () => string, position?: number): Expr {
  const [left, right] = args
  const like = likeSigns.get(name)
  if (like && left && right) return resolveLike([left, right], like.def, like.negated)
  const comparison = special.comparisons.get(name)
  if (comparison && left && right) return compareWith(comparison, [left, right], name)
  const operands = name === '||' ? arraysAtOneScale(concatenated(args)) : keysAsText(name, args)
  return reduced(callOverload(sameType(name, operands), operands, spoken, position))
}

/** The keys of `?|` and `?&` are texts, as which PostgreSQL reads a varchar[]. */
function keysAsText(name: string, args: readonly Expr[]): Expr[] {
  const isOfKeys = name === '?|' || name === '?&'
  return args.map((arg) => (isOfKeys && arg.type === 'varchar[]' ? arrayAs(arg, 'text[]') : arg))
}

/** The overloads that read an untyped literal as the type of the other operand, as PostgreSQL tries first. */
function sameType(name: string, args: readonly Expr[]): readonly FunctionDef[] | undefined {
  const defs = operators.get(name)
  const [left, right] = args
  if (defs === undefined || left === undefined || right === undefined) return defs
  if ((left.type === 'unknown') === (right.type === 'unknown')) return defs
  const type = left.type === 'unknown' ? right.type : left.type
  const match = pickOverload(
    defs.filter((def) => def.args[0] === type && def.args[1] === type),
    [type, type],
  )
  return match ? [match.def] : defs
}

/** Arrays and elements with the one type that PostgreSQL finds for their elements; as they are where it finds none. */
function elementsAlike(args: readonly Expr[]): Expr[] {
  const elements = args.map(({ type }) => (isArray(type) ? elementOf(type) : type))
  const common = new Set(elements).size > 1 ? commonType(elements) : undefined
  if (common === undefined || isArray(common) || common === 'unknown') return [...args]
  return args.map((arg) => (isArray(arg.type) ? arrayAs(arg, `${common}[]`) : coerce(arg, common)))
}

/** Operands of `||`: beside text, other values are cast to text. */
function concatenated(args: readonly Expr[]): Expr[] {
  const types = args.map((arg) => arg.type)
  const array = types.find(isArray)
  // PostgreSQL reads a literal beside an array as an array, never as an element.
  if (array !== undefined)
    return elementsAlike(args.map((arg) => (arg.type === 'unknown' ? coerce(arg, array) : arg)))
  if (types.includes('bytea') && !types.some(isString))
    return args.map((arg) => (arg.type === 'unknown' ? coerce(arg, 'bytea') : arg))
  if (!types.some((type) => isString(type) || type === 'unknown')) return [...args]
  return args.map((arg) =>
    isString(arg.type) || arg.type === 'unknown' || !casts(arg.type, 'text') ? arg : castTo(arg, 'text'),
  )
}

/** Operands in the types of PostgreSQL's `=` of them, by which DISTINCT and NULLIF compare. */
export function comparable(args: readonly [Expr, Expr], position?: number): readonly [Expr, Expr] {
  const choice = chooseOperator('=', args)
  if (choice === undefined) return args
  const spoken = () => spokenOperator('=', args)
  if (choice === 'none') throw absent(spoken(), position)
  if (choice === 'ambiguous') throw ambiguous('=', args, position)
  const [left, right] = choice.served ?? []
  if (left === undefined || right === undefined) return args
  return [operandOf(args[0], left, spoken, position), operandOf(args[1], right, spoken, position)]
}

/** An instant beside a timestamp, as a timestamp, because engines prune by timestamps. */
function besideTimestamp(arg: Expr, other: Expr | undefined): Expr {
  const isInstant = arg.kind === 'literal' && arg.type === 'timestamptz' && arg.value !== null
  if (!isInstant || other?.type !== 'timestamp') return arg
  return { ...literalOf(arg.value, 'timestamp'), ...(arg.moment !== 'local' && { moment: 'instant' }) }
}

/** Types that PostgreSQL does not compare, or that engines compare otherwise. */
export const incomparable: readonly SqlType[] = ['json', 'jsonb']

/** A comparison of operands in their common type. */
export function compareWith(def: FunctionDef, given: readonly Expr[], name: string): CallExpr {
  const args = given.map((arg, index) => besideTimestamp(arg, given[1 - index]))
  const types = args.map((arg) => arg.type)
  const unified = () => unify(args, name, true)
  let result: ReturnType<typeof unify>
  try {
    result = unified()
  } catch (cause) {
    if (cause instanceof SqlError && cause.sqlState === '42804')
      throw absent(`operator ${types.map(spokenType).join(` ${name} `)}`)
    throw cause
  }
  if (incomparable.includes(result.type)) throw notSupported(`Comparison of ${result.type}`)
  return { kind: 'call', type: 'bool', def, args: result.exprs }
}

function resolveLike(args: readonly Expr[], def: FunctionDef, negated: boolean): Expr {
  const [text, given] = args
  if (text === undefined || given === undefined) throw new SqlError('42601', 'An operand is missing.')
  const escaped = given.kind === 'call' && given.def.name === 'like_escape' ? given.args : undefined
  const pattern = coerce(escaped?.[0] ?? given, 'text')
  const mark = escaped === undefined ? '\\' : escapeOf(escaped[1])
  const isComputed = pattern.kind !== 'literal' && literalIn(pattern) === undefined
  if (isComputed && typeof mark === 'string' && /^[!-~]$/.test(mark) && mark !== '\\') {
    if (/[a-z]/i.test(mark) && def === special.iLike) throw notSupported('ESCAPE by a letter in ILIKE')
    const args = [coerce(text, 'text'), pattern, literalOf(mark, 'text')]
    const own = def === special.like ? special.likeIn : special.iLikeIn
    const test: Expr = { kind: 'call', type: 'bool', def: own, args }
    return negated ? not(test) : test
  }
  const call: Expr = {
    kind: 'call',
    type: 'bool',
    def,
    args: [coerce(text, 'text'), mark === undefined ? pattern : plainPattern(pattern, mark)],
  }
  return negated ? not(call) : call
}

function plainPattern(pattern: Expr, mark: string | null): Expr {
  if (mark === null) return { kind: 'literal', type: 'text', value: null }
  const known = pattern.kind === 'literal' || mark !== '\\' ? literalIn(pattern) : pattern
  // Without an escape a backslash is a backslash, also in a pattern that is computed.
  if (known === undefined && mark === '') return backslashesDoubled(pattern)
  if (known === undefined) throw notSupported('ESCAPE with a pattern that is not a literal')
  if (known.kind !== 'literal' || known.value === null) return known
  return literalOf(plainLike(known.value, mark), 'text')
}

function backslashesDoubled(pattern: Expr): Expr {
  const args = [pattern, literalOf('\\', 'text'), literalOf('\\\\', 'text')]
  return callOverload(functions.get('replace'), args, () => 'function replace')
}

/** The character of ESCAPE; undefined where it is a parameter whose value is not known yet. */
function escapeOf(expr: Expr | undefined): string | null | undefined {
  const mark = expr && literalIn(coerce(expr, 'text'))
  if (mark === undefined) throw notSupported('ESCAPE with a value that is not a literal')
  return mark.value
}
