/** Resolves operators: arithmetic, comparison, LIKE and similar, IN, BETWEEN, IS DISTINCT FROM, NULLIF. */

import type { A_Expr, Node } from 'libpg-query'
import { elementOf, isArray, type SqlType } from '../../../core/sql-type.ts'
import type { FunctionDef } from '../base/function-definition.ts'
import type { CallExpr, Expr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { casts, commonType, isInteger, isString, spokenType } from '../base/types.ts'
import { operators } from '../functions/operators.ts'
import { plainLike } from '../functions/pattern.ts'
import { functions } from '../functions/registry.ts'
import * as special from '../functions/special.ts'
import { castTo, coerce, elementsOf, literalIn, literalOf, typed, unify } from './coerce.ts'
import { type Env, identifierOf, type Resolver, spendCopies } from './context.ts'
import { absent, callOverload, pickOverload, reduced } from './overload.ts'
import { wideOperator } from './wide.ts'

/** Resolves an A_Expr. */
export function resolveOperator(resolver: Resolver, node: A_Expr, env: Env): Expr {
  const names = node.name ?? []
  if (names.length !== 1) throw notSupported('A schema-qualified operator', node.location)
  const sign = identifierOf(names[0])
  const right = node.rexpr
  if (right === undefined) throw new SqlError('42601', 'An operand is missing.', node.location)
  if (node.kind === 'AEXPR_IN') return resolveIn(resolver, node.lexpr, right, sign === '<>', env)
  const both = (): [Expr, Expr] => {
    if (node.lexpr === undefined) throw new SqlError('42601', 'An operand is missing.', node.location)
    return [resolver.expr(node.lexpr, env), resolver.expr(right, env)]
  }
  switch (node.kind) {
    case 'AEXPR_OP': {
      const rows = node.lexpr && rowsOf(node.lexpr, right)
      if (rows) return compareRows(resolver, sign, resolveRows(resolver, rows, env), node.location)
      const args = node.lexpr === undefined ? [resolver.expr(right, env)] : both()
      return applyOperator(sign, args, node.location)
    }
    case 'AEXPR_OP_ANY':
    case 'AEXPR_OP_ALL':
      return quantifiedArray(resolver, both(), sign, node.kind === 'AEXPR_OP_ALL', node.location)
    case 'AEXPR_DISTINCT':
      return compareWith(special.isDistinct, both(), 'IS DISTINCT FROM')
    case 'AEXPR_NOT_DISTINCT':
      return compareWith(special.isNotDistinct, both(), 'IS NOT DISTINCT FROM')
    case 'AEXPR_NULLIF': {
      const call = compareWith(special.nullIf, both(), 'NULLIF')
      return { ...call, type: call.args[0]?.type ?? 'text' }
    }
    case 'AEXPR_LIKE':
      return resolveLike(both(), special.like, sign === '!~~')
    case 'AEXPR_ILIKE':
      return resolveLike(both(), special.iLike, sign === '!~~*')
    case 'AEXPR_SIMILAR':
      return resolveSimilar(both(), sign === '!~')
    default:
      return resolveBetween(resolver, node, right, env)
  }
}

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
  const [left, right] = args
  const like = likeSigns.get(name)
  if (like && left && right) return resolveLike([left, right], like.def, like.negated)
  const comparison = special.comparisons.get(name)
  if (comparison && left && right) return compareWith(comparison, [left, right], name)
  // A minus sign before a number becomes part of the literal.
  if (
    name === '-' &&
    left?.kind === 'literal' &&
    right === undefined &&
    left.value !== null &&
    isInteger(left.type)
  )
    return literalOf(`-${left.value}`.replace('--', ''), left.type)
  if (
    left?.kind === 'literal' &&
    right === undefined &&
    left.type === 'numeric' &&
    left.value !== null &&
    name === '-'
  )
    return literalOf(`-${left.value}`.replace('--', ''), 'numeric')
  const wide = wideOperator(name, args, position)
  if (wide !== undefined) return wide
  const operands = name === '||' ? concatenated(args) : [...args]
  const spoken = () =>
    `operator ${[...args.map((arg) => spokenType(arg.type)).slice(0, -1), sign, spokenType(args.at(-1)?.type ?? 'unknown')].join(' ')}`
  return reduced(callOverload(sameType(name, operands), operands, spoken, position))
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

/** Operands of `||`: beside text, other values are cast to text. */
function concatenated(args: readonly Expr[]): Expr[] {
  const types = args.map((arg) => arg.type)
  const array = types.find(isArray)
  // PostgreSQL reads a literal beside an array as an array, never as an element.
  if (array !== undefined) return args.map((arg) => (arg.type === 'unknown' ? coerce(arg, array) : arg))
  if (!types.some((type) => isString(type) || type === 'unknown')) return [...args]
  return args.map((arg) =>
    isString(arg.type) || arg.type === 'unknown' || !casts(arg.type, 'text') ? arg : castTo(arg, 'text'),
  )
}

/** An instant beside a timestamp, as a timestamp: the session's time zone is UTC, and engines prune by timestamps. */
function besideTimestamp(arg: Expr, other: Expr | undefined): Expr {
  const isInstant = arg.kind === 'literal' && arg.type === 'timestamptz' && arg.value !== null
  return isInstant && other?.type === 'timestamp' ? literalOf(arg.value, 'timestamp') : arg
}

const incomparable: readonly SqlType[] = ['json', 'jsonb']

function compareWith(def: FunctionDef, given: readonly Expr[], name: string): CallExpr {
  const args = given.map((arg, index) => besideTimestamp(arg, given[1 - index]))
  const types = args.map((arg) => arg.type)
  const unified = () => unify(args, name)
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

/** The parser wraps the pattern of SIMILAR TO in similar_to_escape. */
function resolveSimilar([text, given]: readonly Expr[], negated: boolean): Expr {
  if (text === undefined || given?.kind !== 'call' || given.def.name !== 'similar_to_escape')
    throw notSupported('SIMILAR TO with a pattern that is not a literal')
  const [pattern = literalOf('', 'text'), mark = literalOf('\\', 'text')] = given.args
  const literals = [pattern, mark].map((each) => {
    const literal = literalIn(coerce(each, 'text'))
    if (literal === undefined) throw notSupported('SIMILAR TO with a pattern that is not a literal')
    return literal
  })
  const args = [coerce(text, 'text'), ...literals]
  const call: Expr = { kind: 'call', type: 'bool', def: special.similar, args }
  return negated ? not(call) : call
}

function resolveBetween(resolver: Resolver, node: A_Expr, bounds: Node, env: Env): Expr {
  const items = 'List' in bounds ? (bounds.List.items ?? []) : []
  if (node.lexpr === undefined || items.length !== 2) throw new SqlError('42601', 'BETWEEN needs two bounds.')
  const value = resolver.expr(node.lexpr, env)
  const [low, high] = items.map((item) => resolver.expr(item, env))
  if (low === undefined || high === undefined) throw new SqlError('42601', 'BETWEEN needs two bounds.')
  // With mixed types each bound is compared separately, because each may convert the value to another type.
  const range = (from: Expr, to: Expr): Expr => {
    const types = new Set([value.type, from.type, to.type].filter((type) => type !== 'unknown'))
    if (types.size <= 1) return compareWith(special.between, [value, from, to], 'BETWEEN')
    const at = (sign: string, bound: Expr) => applyOperator(sign, [value, bound])
    return logic('AND', [at('>=', from), at('<=', to)])
  }
  const symmetric = node.kind === 'AEXPR_BETWEEN_SYM' || node.kind === 'AEXPR_NOT_BETWEEN_SYM'
  for (const each of [value, low, high]) spendCopies(resolver, each, symmetric ? 3 : 1)
  const test = symmetric ? logic('OR', [range(low, high), range(high, low)]) : range(low, high)
  return node.kind === 'AEXPR_NOT_BETWEEN' || node.kind === 'AEXPR_NOT_BETWEEN_SYM' ? not(test) : test
}

function resolveIn(
  resolver: Resolver,
  leftNode: Node | undefined,
  listNode: Node,
  negated: boolean,
  env: Env,
): Expr {
  const items = 'List' in listNode ? (listNode.List.items ?? []) : []
  if (leftNode === undefined || items.length === 0) throw new SqlError('42601', 'IN needs a list.')
  if ('RowExpr' in leftNode) {
    const lefts = (leftNode.RowExpr.args ?? []).map((each) => resolver.expr(each, env))
    for (const each of lefts) spendCopies(resolver, each, items.length - 1)
    const alternatives = items.map((item) => {
      const rows = rowsOf(leftNode, item)
      if (rows === undefined) throw new SqlError('42804', 'IN needs rows with the same number of columns.')
      const pairs = rows.map(([, right], index): RowPair => {
        const left = lefts[index]
        if (left === undefined) throw new SqlError('42601', 'An operand is missing.')
        return [left, resolver.expr(right, env)]
      })
      return compareRows(resolver, '=', pairs)
    })
    return negated ? not(logic('OR', alternatives)) : logic('OR', alternatives)
  }
  const left = resolver.expr(leftNode, env)
  const list = items.map((item) => resolver.expr(item, env))
  const test = inList(left, list)
  return negated ? not(test) : test
}

function inList(left: Expr, list: readonly Expr[]): Expr {
  const { exprs, type } = unify([left, ...list], 'IN')
  if (incomparable.includes(type)) throw notSupported(`Comparison of ${type}`)
  const [arg, ...rest] = exprs
  if (arg === undefined) throw new SqlError('42601', 'IN needs a list.')
  return { kind: 'in', type: 'bool', arg, list: rest }
}

function quantifiedArray(
  resolver: Resolver,
  [left, right]: readonly Expr[],
  sign: string,
  all: boolean,
  position?: number,
): Expr {
  if (left === undefined || right === undefined) throw new SqlError('42601', 'An operand is missing.')
  const array = right.type === 'unknown' ? coerce(right, arrayOf(typed(left).type)) : right
  if (!isArray(array.type))
    throw new SqlError('42804', 'ANY and ALL need an array on their right side.', position)
  const negated = (sign === '<>' || sign === '!=') && all
  const isMembership = (sign === '=' && !all) || negated
  // Other comparisons are written out for each element, so that a parameter's value must be known.
  const known = isMembership ? array : (literalIn(array) ?? array)
  const elements = elementsOf(known)
  if (!isMembership && known.kind !== 'parameter') {
    if (elements === undefined) throw notSupported(`${sign} ${all ? 'ALL' : 'ANY'} of an array`, position)
    if (elements.length === 0) return ofNone(left, all)
    spendCopies(resolver, left, elements.length - 1)
    const tests = elements.map((element) => applyOperator(sign, [left, element], position))
    return logic(all ? 'AND' : 'OR', tests)
  }
  if (elements !== undefined && elements.length > 0) {
    const test = inList(left, elements)
    return negated ? not(test) : test
  }
  const operands = alike(left, array, elementOf(array.type))
  const test = callOverload([special.anyElement], operands, () => `operator ${sign} ANY`, position)
  return negated ? not(test) : test
}

/** A comparison with no element: true of all, and of none. The value stays, because it may be an aggregate. */
function ofNone(value: Expr, all: boolean): Expr {
  const { type } = typed(value)
  const operands = [typed(value), { kind: 'array', type: arrayOf(type), elements: [] }] as const
  const none = callOverload([special.anyElement], operands, () => 'operator ANY')
  return all ? not(none) : none
}

/** A value and an array in the type in which PostgreSQL compares the value with the elements. */
function alike(value: Expr, array: Expr, element: SqlType): readonly [Expr, Expr] {
  const type = value.type === element ? undefined : commonType([value.type, element])
  if (type === undefined || type === 'unknown' || isArray(type)) return [value, array]
  const elements: Expr = element === type ? array : { kind: 'cast', type: `${type}[]`, arg: array }
  return [coerce(value, type), elements]
}

function arrayOf(type: SqlType): SqlType {
  if (isArray(type) || type === 'unknown') throw notSupported('An array of arrays')
  return `${type}[]`
}

function rowsOf(left: Node, right: Node): readonly (readonly [Node, Node])[] | undefined {
  if (!('RowExpr' in left) || !('RowExpr' in right)) return undefined
  const [lefts, rights] = [left.RowExpr.args ?? [], right.RowExpr.args ?? []]
  if (lefts.length !== rights.length)
    throw new SqlError('42601', 'Rows with different numbers of columns cannot be compared.')
  return lefts.map((node, index) => [node, rights[index] ?? node] as const)
}

type RowPair = readonly [Expr, Expr]

function resolveRows(
  resolver: Resolver,
  rows: readonly (readonly [Node, Node])[],
  env: Env,
): readonly RowPair[] {
  return rows.map(([left, right]) => [resolver.expr(left, env), resolver.expr(right, env)])
}

/** Compares rows column by column; the first difference decides. */
function compareRows(resolver: Resolver, sign: string, pairs: readonly RowPair[], position?: number): Expr {
  const at = (operator: string, pair: RowPair) => applyOperator(operator, pair, position)
  if (sign === '=')
    return logic(
      'AND',
      pairs.map((pair) => at('=', pair)),
    )
  if (sign === '<>')
    return logic(
      'OR',
      pairs.map((pair) => at('<>', pair)),
    )
  if (!['<', '<=', '>', '>='].includes(sign)) throw notSupported('This comparison of rows', position)
  const strict = sign.slice(0, 1)
  for (const [index, pair] of pairs.entries())
    for (const side of pair) spendCopies(resolver, side, pairs.length - 1 - index)
  return logic(
    'OR',
    pairs.map((pair, index) =>
      logic('AND', [
        ...pairs.slice(0, index).map((before) => at('=', before)),
        at(index === pairs.length - 1 ? sign : strict, pair),
      ]),
    ),
  )
}
