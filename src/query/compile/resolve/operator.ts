/** Resolves operators: arithmetic, comparison, LIKE and similar, IN, BETWEEN, IS DISTINCT FROM, NULLIF. */

import type { A_Expr, Node } from 'libpg-query'
import { elementOf, isArray, type SqlType } from '../../../core/sql-type.ts'
import { childrenOf, type Expr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { commonType } from '../base/types.ts'
import * as special from '../functions/special.ts'
import { applyOperator, comparable, compareWith, incomparable, logic, not } from './apply-operator.ts'
import { coerce, elementsOf, literalIn, literalOf, nullOf, typed, unify } from './coerce.ts'
import { type Env, identifierOf, type Resolver, spendCopies } from './context.ts'
import { holdsQuotient } from './decimal.ts'
import { callOverload } from './overload.ts'
import { isVolatile } from './volatile.ts'

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
    case 'AEXPR_NOT_DISTINCT': {
      const rows = node.lexpr && rowsOf(node.lexpr, right)
      const isDistinct = node.kind === 'AEXPR_DISTINCT'
      if (rows === undefined) return distinction(isDistinct, both(), node.location)
      const tests = resolveRows(resolver, rows, env).map((pair) => distinction(isDistinct, pair))
      return logic(isDistinct ? 'OR' : 'AND', tests)
    }
    case 'AEXPR_NULLIF':
      return resolveNullIf(resolver, comparable(both(), node.location))
    case 'AEXPR_LIKE':
      return applyOperator(sign, both(), node.location)
    case 'AEXPR_ILIKE':
      return applyOperator(sign, both(), node.location)
    case 'AEXPR_SIMILAR':
      return resolveSimilar(both(), sign === '!~')
    default:
      return resolveBetween(resolver, node, right, env)
  }
}

function distinction(isDistinct: boolean, pair: readonly [Expr, Expr], position?: number): Expr {
  const args = comparable(pair, position)
  return isDistinct
    ? compareWith(special.isDistinct, args, 'IS DISTINCT FROM')
    : compareWith(special.isNotDistinct, args, 'IS NOT DISTINCT FROM')
}

/** NULLIF has the type and digits of its first operand, which may be fewer than those in which both are compared. */
function resolveNullIf(resolver: Resolver, args: readonly [Expr, Expr]): Expr {
  const call = compareWith(special.nullIf, args, 'NULLIF')
  const [left] = args
  const type = call.args[0]?.type ?? 'text'
  const isAsItIs = left.type === type && (isVolatile(left) || !args.some(holdsQuotient))
  if (isAsItIs || left.type === 'unknown') return { ...call, type }
  spendCopies(resolver, left, 1)
  const equal = applyOperator('=', args)
  return {
    kind: 'case',
    type: left.type,
    size: left.size,
    whens: [{ when: equal, result: nullOf(left.type) }],
    otherwise: left,
  }
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
  const isSymmetric = node.kind === 'AEXPR_BETWEEN_SYM' || node.kind === 'AEXPR_NOT_BETWEEN_SYM'
  const isNegated = node.kind === 'AEXPR_NOT_BETWEEN' || node.kind === 'AEXPR_NOT_BETWEEN_SYM'
  const rows = rowsBetween(resolver, node.lexpr, items, isSymmetric, env)
  if (rows !== undefined) return isNegated ? not(rows) : rows
  const value = resolver.expr(node.lexpr, env)
  const [low, high] = items.map((item) => resolver.expr(item, env))
  if (low === undefined || high === undefined) throw new SqlError('42601', 'BETWEEN needs two bounds.')
  // With mixed types each bound is compared separately, because each may convert the value to another type.
  const range = (from: Expr, to: Expr): Expr => {
    const types = new Set([value.type, from.type, to.type].filter((type) => type !== 'unknown'))
    if (types.size <= 1 && ![...types].some((type) => incomparable.includes(type)))
      return compareWith(special.between, [value, from, to], 'BETWEEN')
    const at = (sign: string, bound: Expr) => applyOperator(sign, [value, bound])
    return logic('AND', [at('>=', from), at('<=', to)])
  }
  for (const each of [value, low, high]) spendCopies(resolver, each, isSymmetric ? 3 : 1)
  const test = isSymmetric ? logic('OR', [range(low, high), range(high, low)]) : range(low, high)
  return isNegated ? not(test) : test
}

/** BETWEEN of rows; undefined where they are no rows. */
function rowsBetween(
  resolver: Resolver,
  value: Node,
  [low, high]: readonly Node[],
  isSymmetric: boolean,
  env: Env,
): Expr | undefined {
  const [from, to] = [low && rowsOf(value, low), high && rowsOf(value, high)]
  if (from === undefined || to === undefined) return undefined
  const [lows, highs] = [resolveRows(resolver, from, env), resolveRows(resolver, to, env)]
  for (const pair of [...lows, ...highs])
    for (const side of pair) spendCopies(resolver, side, isSymmetric ? 1 : 0)
  const range = (least: readonly RowPair[], most: readonly RowPair[]) =>
    logic('AND', [compareRows(resolver, '>=', least), compareRows(resolver, '<=', most)])
  return isSymmetric ? logic('OR', [range(lows, highs), range(highs, lows)]) : range(lows, highs)
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
  const test = inAlternatives(resolver, left, list)
  return negated ? not(test) : test
}

function inList(left: Expr, list: readonly Expr[]): Expr {
  const { exprs, type } = unify([left, ...list], 'IN', true)
  if (incomparable.includes(type)) throw notSupported(`Comparison of ${type}`)
  const [arg, ...rest] = exprs
  if (arg === undefined) throw new SqlError('42601', 'IN needs a list.')
  return { kind: 'in', type: 'bool', arg, list: rest }
}

/**
 * IN as PostgreSQL resolves it: several constants are an array of their common type, anything else is compared by itself.
 */
function inAlternatives(resolver: Resolver, left: Expr, list: readonly Expr[], position?: number): Expr {
  const constants = list.filter((each) => !holdsColumn(each))
  const isArrayLike =
    constants.length > 1 && commonType([left, ...constants].map(({ type }) => type)) !== undefined
  const types = new Set(list.map(({ type }) => type))
  // One type throughout needs no choice for each.
  if (types.size === 1 && types.has(left.type) && left.type !== 'unknown') return inList(left, list)
  const single = isArrayLike ? list.filter(holdsColumn) : list
  const tests = single.map((each) => applyOperator('=', [left, each], position))
  if (tests.length > 1) spendCopies(resolver, left, tests.length - 1)
  return logic('OR', [...(isArrayLike ? [inList(left, constants)] : []), ...tests])
}

function holdsColumn(expr: Expr): boolean {
  return expr.kind === 'column' || expr.kind === 'subquery' || childrenOf(expr).some(holdsColumn)
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
    throw new SqlError('42809', 'op ANY/ALL (array) requires array on right side', position)
  const negated = (sign === '<>' || sign === '!=') && all
  const isMembership = (sign === '=' && !all) || negated
  // Other comparisons are written out for each element, so that a parameter's value must be known.
  const known = isMembership ? array : (literalIn(array) ?? array)
  const elements = elementsOf(known)
  if (!isMembership && known.kind !== 'parameter') {
    if (elements === undefined) return withElements(left, array, sign, all, position)
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

/** A comparison with the elements of an array that the engine computes. */
function withElements(left: Expr, array: Expr, sign: string, all: boolean, position?: number): Expr {
  const name = sign === '!=' ? '<>' : sign
  const def = (all ? special.comparedWithAll : special.comparedWithAny).get(name)
  if (def === undefined || !isArray(array.type) || incomparable.includes(elementOf(array.type)))
    throw notSupported(`${sign} ${all ? 'ALL' : 'ANY'} of an array`, position)
  return callOverload([def], alike(left, array, elementOf(array.type)), () => `operator ${name}`, position)
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
