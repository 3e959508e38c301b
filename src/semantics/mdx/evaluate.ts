/** Evaluates expressions of MDX: names, sets, tuples, operators, properties and functions. */

import type { BinaryOperator, MdxExpression } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { isOneOf, mdxFlags } from '../../wire/mdx/words.ts'
import { stepsOfText } from './bounds.ts'
import type { Context, Result, Value } from './context.ts'
import { existingHere } from './exists.ts'
import { functions } from './functions.ts'
import { isSame, levelMembers } from './members.ts'
import { operate } from './operate.ts'
import { evaluateMethod, evaluateProperty } from './properties.ts'
import { resolveName } from './resolve.ts'
import { checkedSet, crossed, distinct, distinctHierarchies } from './sets.ts'
import { type Member, type Tuple, tupleIdentity } from './space.ts'
import {
  aMember,
  aSet,
  aValue,
  memberOfResult,
  numberOf,
  setOfResult,
  truthOf,
  tupleOfResult,
  valueOfResult,
} from './values.ts'

const isFlag = isOneOf(mdxFlags)

/** @throws Fault `bad_request` for what is not supported or does not fit; Missing */
export function evaluate(context: Context, expression: MdxExpression): Result {
  context.environment.step(1)
  switch (expression.kind) {
    case 'name':
      return resolveName(context, expression.parts)
    case 'number':
    case 'string':
      return aValue(expression.value)
    case 'null':
      return aValue(null)
    case 'parameter':
      return refuseMdx('parameters are not supported')
    case 'set':
      return aSet(
        checkedSet(
          context,
          expression.items.flatMap((item) => itemsOf(context, item)),
        ),
      )
    case 'tuple':
      return evaluateTuple(context, expression.items)
    case 'call': {
      const run = Object.hasOwn(functions, expression.name)
        ? functions[expression.name as keyof typeof functions]
        : refuseMdx(`the function ${expression.name}( ) is not supported`)
      return charged(context, run(context, argumentsOf(context, expression.name, expression.arguments)))
    }
    case 'property':
      return evaluateProperty(context, expression.of, expression.name)
    case 'method':
      return evaluateMethod(context, expression)
    case 'binary':
      return charged(context, evaluateBinary(context, expression))
    case 'not':
      return aValue(!truthOf(valueAt(context, expression.operand)))
    case 'negative':
      return evaluateNegative(context, expression.operand)
    case 'existing':
      return aSet(existingHere(context, setOfResult(context, evaluate(context, expression.operand)).tuples))
    case 'alias': {
      const found: Result = { is: 'set', set: setOfResult(context, evaluate(context, expression.of)) }
      context.environment.aliases.set(expression.name.toLowerCase(), found)
      return found
    }
    case 'case':
      return evaluateCase(context, expression)
  }
}

/** The result, where a long text that is made counts as several steps. */
function charged(context: Context, result: Result): Result {
  if (result.is === 'value' && typeof result.value === 'string')
    context.environment.step(stepsOfText(result.value))
  return result
}

/** Flags such as BASC stand as names. */
function argumentsOf(context: Context, name: string, given: readonly (MdxExpression | undefined)[]) {
  const [first, ...more] = given
  const flags: string[] = []
  const expressions: (MdxExpression | undefined)[] = [first]
  for (const each of more) {
    const flag = each?.kind === 'name' && each.parts.length === 1 ? each.parts[0] : undefined
    const word = flag?.kind === 'name' && !flag.quoted ? flag.name.toUpperCase() : ''
    if (isFlag(word)) flags.push(word)
    else expressions.push(each)
  }
  while (expressions.length > 0 && expressions.at(-1) === undefined) expressions.pop()
  context.environment.step(1)
  return { name, expressions, flags }
}

/** An item of a set: its tuples. A range stands for the members from one to another. */
function itemsOf(context: Context, item: MdxExpression): readonly Tuple[] {
  return setOfResult(context, evaluate(context, item)).tuples
}

function evaluateTuple(context: Context, items: readonly MdxExpression[]): Result {
  const [only] = items
  if (items.length === 1 && only !== undefined) return evaluate(context, only)
  const results = items.map((item) => evaluate(context, item))
  // Sets within parentheses are crossed.
  if (results.some(({ is }) => is === 'set'))
    return aSet(
      results.reduce<readonly Tuple[]>(
        (tuples, each) => crossed(context, tuples, setOfResult(context, each).tuples),
        [[]],
      ),
    )
  const members: Member[] = []
  for (const result of results) {
    const tuple = tupleOfResult(context, result)
    if (tuple === undefined) return aMember(undefined)
    members.push(...tuple)
  }
  return { is: 'tuple', tuple: distinctHierarchies(members) }
}

const valueAt = (context: Context, expression: MdxExpression): Value =>
  valueOfResult(context, evaluate(context, expression))

function evaluateNegative(context: Context, operand: MdxExpression): Result {
  const result = evaluate(context, operand)
  if (result.is !== 'set') {
    const value = valueOfResult(context, result)
    return aValue(value === null ? null : -numberOf(value))
  }
  // The complement: the other members of the same levels.
  const { tuples } = result.set
  const without = new Set(tuples.map(tupleIdentity))
  const levels = new Map(
    tuples.map((tuple) => {
      const [member, ...more] = tuple
      if (member === undefined || more.length > 0)
        return refuseMdx('the complement of a set of one hierarchy is supported')
      return [member.level.uniqueName, member] as const
    }),
  )
  if (levels.size === 0) refuseMdx('the complement of an empty set is not supported')
  const all = [...levels.values()].flatMap((member) => levelMembers(context, member.at, member.level))
  return aSet(all.map((member) => [member]).filter((tuple) => !without.has(tupleIdentity(tuple))))
}

function evaluateBinary(
  context: Context,
  { operator, left, right }: Extract<MdxExpression, { kind: 'binary' }>,
): Result {
  if (operator === ':') return evaluateRange(context, left, right)
  if (operator === 'AND') return aValue(truthOf(valueAt(context, left)) && truthOf(valueAt(context, right)))
  if (operator === 'OR') return aValue(truthOf(valueAt(context, left)) || truthOf(valueAt(context, right)))
  const one = evaluate(context, left)
  const other = evaluate(context, right)
  if (operator === 'IS') return aValue(isIdentical(context, one, other))
  if (one.is === 'set' || other.is === 'set') return evaluateOfSets(context, operator, one, other)
  return aValue(operate(operator, valueOfResult(context, one), valueOfResult(context, other)))
}

function evaluateOfSets(context: Context, operator: BinaryOperator, one: Result, other: Result): Result {
  const [left, right] = [setOfResult(context, one).tuples, setOfResult(context, other).tuples]
  switch (operator) {
    case '*':
      return aSet(crossed(context, left, right))
    case '+':
      return aSet(distinct(checkedSet(context, [...left, ...right])))
    case '-': {
      const without = new Set(right.map(tupleIdentity))
      return aSet(left.filter((tuple) => !without.has(tupleIdentity(tuple))))
    }
    default:
      return refuseMdx(`the operator ${operator} of sets is not supported`)
  }
}

function isIdentical(context: Context, one: Result, other: Result): boolean {
  if (one.is === 'level' && other.is === 'level') return one.level.uniqueName === other.level.uniqueName
  if (one.is === 'hierarchy' && other.is === 'hierarchy') return one.at.index === other.at.index
  const isNull = (result: Result) =>
    (result.is === 'value' && result.value === null) ||
    (result.is === 'member' && result.member === undefined)
  if (isNull(one) || isNull(other)) return isNull(one) && isNull(other)
  const [left, right] = [memberOfResult(context, one), memberOfResult(context, other)]
  return left !== undefined && right !== undefined && isSame(left, right)
}

function evaluateRange(context: Context, left: MdxExpression, right: MdxExpression): Result {
  // NULL stands for the first or last member of the level.
  const edgeOf = (edge: MdxExpression) =>
    edge.kind === 'null' ? undefined : memberOfResult(context, evaluate(context, edge))
  const [one, other] = [edgeOf(left), edgeOf(right)]
  const known = one ?? other
  if (known === undefined) return aSet([])
  if (one !== undefined && other !== undefined && one.level.uniqueName !== other.level.uniqueName)
    refuseMdx('a range is of members of one level')
  const members = levelMembers(context, known.at, known.level)
  const indexOf = (member: Member | undefined, otherwise: number) =>
    member === undefined ? otherwise : members.findIndex((each) => isSame(each, member))
  const [from, to] = [indexOf(one, 0), indexOf(other, members.length - 1)]
  if (from < 0 || to < 0) return aSet([])
  return aSet(members.slice(Math.min(from, to), Math.max(from, to) + 1).map((member) => [member]))
}

function evaluateCase(
  context: Context,
  { of, branches, otherwise }: Extract<MdxExpression, { kind: 'case' }>,
): Result {
  const compared = of === undefined ? undefined : valueAt(context, of)
  for (const { when, result } of branches) {
    const value = valueAt(context, when)
    if (compared === undefined ? truthOf(value) : operate('=', compared, value) === true)
      return evaluate(context, result)
  }
  return otherwise === undefined ? aValue(null) : evaluate(context, otherwise)
}
