/** Properties and methods after a dot: of hierarchies, levels, members, tuples and sets. */

import type { MdxExpression } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { isOneOf, type MdxProperty, mdxProperties } from '../../wire/mdx/words.ts'
import { type Context, currentMember, type Result } from './context.ts'
import { findNamed } from './find-named.ts'
import { setNameOf } from './formulas.ts'
import { memberProperty } from './member-properties.ts'
import {
  calculatedMembers,
  childrenOf,
  hierarchyMembers,
  laterBy,
  levelMembers,
  siblingsOf,
} from './members.ts'
import { type Member, parentOf } from './space.ts'
import {
  aMember,
  aSet,
  aValue,
  hierarchyOfResult,
  memberOfResult,
  numberOf,
  setOfResult,
  textOfValue,
  valueOfResult,
} from './values.ts'

const isProperty = isOneOf(mdxProperties)
const single = (members: readonly Member[]) => aSet(members.map((member) => [member]))

/** @throws Fault `bad_request` for a property that the expression does not have; Missing */
export function evaluateProperty(context: Context, of: MdxExpression, name: string): Result {
  if (!isProperty(name)) return refuseMdx(`the property .${name} is not supported`)
  if (name === 'CURRENT') return currentTuple(context, of)
  const result = context.environment.evaluate(context, of)
  switch (name) {
    case 'MEMBERS':
    case 'ALLMEMBERS':
      return single(membersOf(context, result, name === 'ALLMEMBERS'))
    case 'COUNT':
      return aValue(countOf(context, result))
    case 'CURRENTMEMBER':
      return aMember(currentMember(context, hierarchyOfResult(result)))
    case 'DEFAULTMEMBER':
      return aMember(context.environment.space.defaults[hierarchyOfResult(result).index])
    case 'HIERARCHY':
    case 'DIMENSION':
      return { is: 'hierarchy', at: hierarchyOfResult(result) }
    case 'VALUE':
      return aValue(valueOfResult(context, result))
    case 'LEVEL': {
      const member = memberOfResult(context, result)
      return member === undefined
        ? refuseMdx('a member is expected')
        : { is: 'level', at: member.at, level: member.level }
    }
    default:
      return ofMember(context, result, name)
  }
}

/** The tuple at which a named set is being walked. */
function currentTuple(context: Context, of: MdxExpression): Result {
  const walked = of.kind === 'name' ? context.walked?.get(setNameOf(of.parts) ?? '') : undefined
  if (walked !== undefined) return { is: 'tuple', tuple: walked }
  const isSet = of.kind === 'name' && context.environment.formulas.sets.has(setNameOf(of.parts) ?? '')
  const tuple = context.current?.set.tuples[context.current.index]
  if (!isSet || tuple === undefined) return refuseMdx('.Current is of a named set that is being walked')
  return { is: 'tuple', tuple }
}

function membersOf(context: Context, result: Result, withCalculated: boolean): readonly Member[] {
  if (result.is === 'level') {
    const members = levelMembers(context, result.at, result.level)
    if (!withCalculated) return members
    const added = calculatedMembers(context, result.at).filter(
      ({ level }) => level.uniqueName === result.level.uniqueName,
    )
    return [...members, ...added]
  }
  const at = hierarchyOfResult(result)
  const members = hierarchyMembers(context, at)
  return withCalculated ? [...members, ...calculatedMembers(context, at)] : members
}

function countOf(context: Context, result: Result): number {
  if (result.is === 'set') return result.set.tuples.length
  if (result.is === 'tuple') return result.tuple.length
  if (result.is === 'hierarchy') return result.at.levels.length
  return setOfResult(context, result).tuples.length
}

function ofMember(context: Context, result: Result, name: MdxProperty): Result {
  if (result.is === 'level' || result.is === 'hierarchy') {
    const named = result.is === 'level' ? result.level : result.at
    if (name === 'NAME') return aValue(named.name)
    if (name === 'CAPTION') return aValue(named.caption)
    if (name === 'UNIQUENAME' || name === 'UNIQUE_NAME') return aValue(named.uniqueName)
    if (name === 'ORDINAL' && result.is === 'level') return aValue(result.level.number)
  }
  const member = memberOfResult(context, result)
  switch (name) {
    case 'CHILDREN':
      return single(member === undefined ? [] : childrenOf(context, member))
    case 'SIBLINGS':
      return single(member === undefined ? [] : siblingsOf(context, member))
    case 'PARENT':
      return aMember(member && parentOf(member))
    case 'FIRSTCHILD':
      return aMember(member && childrenOf(context, member)[0])
    case 'LASTCHILD':
      return aMember(member && childrenOf(context, member).at(-1))
    case 'FIRSTSIBLING':
      return aMember(member && siblingsOf(context, member)[0])
    case 'LASTSIBLING':
      return aMember(member && siblingsOf(context, member).at(-1))
    case 'NEXTMEMBER':
      return aMember(member && laterBy(context, member, 1))
    case 'PREVMEMBER':
      return aMember(member && earlier(context, member, 1))
    case 'DATAMEMBER':
      return aMember(member)
    case 'ORDINAL':
      return refuseMdx('.Ordinal is of a level')
    default:
      return aValue(member === undefined ? null : memberProperty(member, name))
  }
}

function earlier(context: Context, member: Member, places: number): Member | undefined {
  return laterBy(context, member, -places)
}

/** @throws Fault `bad_request` */
export function evaluateMethod(
  context: Context,
  { of, name, arguments: given }: Extract<MdxExpression, { kind: 'method' }>,
): Result {
  const { evaluate } = context.environment
  const result = evaluate(context, of)
  const [first, ...more] = given
  if (first === undefined || (more.length > 0 && name !== 'PROPERTIES'))
    return refuseMdx(`.${name} takes one argument`)
  const value = valueOfResult(context, evaluate(context, first))
  switch (name) {
    case 'ITEM':
      return item(result, context, numberOf(value))
    case 'LAG':
    case 'LEAD': {
      const member = memberOfResult(context, result)
      const places = Math.trunc(numberOf(value)) * (name === 'LAG' ? -1 : 1)
      return aMember(member && laterBy(context, member, places))
    }
    case 'LEVELS': {
      const at = hierarchyOfResult(result)
      const level =
        typeof value === 'string'
          ? findNamed(at.levels, ({ name: own }) => [own], value)
          : at.levels.find((each) => each.number === value)
      return level === undefined ? refuseMdx('there is no such level') : { is: 'level', at, level }
    }
    case 'PROPERTIES': {
      const member = memberOfResult(context, result)
      const isTyped = typedFlag(more)
      return aValue(
        member === undefined ? null : memberProperty(member, textOfValue(value).toUpperCase(), isTyped),
      )
    }
    default:
      return refuseMdx(`the function .${name}( ) is not supported`)
  }
}

/** The only thing that may follow the name of a property. @throws Fault `bad_request` for another one */
function typedFlag([flag, ...more]: readonly MdxExpression[]): boolean {
  if (flag === undefined) return false
  const [part, ...parts] = flag.kind === 'name' ? flag.parts : []
  const isTyped = part?.kind === 'name' && part.name.toUpperCase() === 'TYPED'
  return (
    (isTyped && parts.length === 0 && more.length === 0) ||
    refuseMdx('.Properties takes a name, and TYPED behind it')
  )
}

function item(result: Result, context: Context, index: number): Result {
  if (result.is === 'tuple') return aMember(result.tuple[index])
  const tuple = setOfResult(context, result).tuples[index]
  if (tuple === undefined) return aMember(undefined)
  const [only] = tuple
  return tuple.length === 1 ? aMember(only) : { is: 'tuple', tuple }
}
