/** Turns results of expressions into values, sets, members and tuples, as MDX does where another kind is expected. */

import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { at, type Context, currentMember, type MdxSet, type Result, type Value } from './context.ts'
import type { Member, SpaceHierarchy, SpaceLevel, Tuple } from './space.ts'

/** The only hierarchy of a result. @throws Fault `bad_request` */
export function hierarchyOfResult(result: Result): SpaceHierarchy {
  switch (result.is) {
    case 'hierarchy':
    case 'level':
      return result.at
    case 'member':
      return result.member?.at ?? refuseMdx('a member is expected')
    case 'dimension': {
      const [only, ...more] = result.hierarchies
      return only !== undefined && more.length === 0
        ? only
        : refuseMdx('the dimension has several hierarchies: name one')
    }
    case 'set':
    case 'tuple': {
      const [member, ...more] = result.is === 'tuple' ? result.tuple : (result.set.tuples[0] ?? [])
      return member !== undefined && more.length === 0 ? member.at : refuseMdx('one hierarchy is expected')
    }
    default:
      return refuseMdx('a hierarchy is expected')
  }
}

/** The member that a result stands for; a hierarchy stands for its current one. @throws Fault `bad_request` */
export function memberOfResult(context: Context, result: Result): Member | undefined {
  switch (result.is) {
    case 'member':
      return result.member
    case 'tuple':
      return result.tuple.length === 1 ? result.tuple[0] : refuseMdx('one member is expected')
    case 'hierarchy':
    case 'dimension':
      return currentMember(context, hierarchyOfResult(result))
    default:
      return refuseMdx('a member is expected')
  }
}

/** @throws Fault `bad_request` */
export function tupleOfResult(context: Context, result: Result): Tuple | undefined {
  if (result.is === 'tuple') return result.tuple
  const member = memberOfResult(context, result)
  return member && [member]
}

/** @throws Fault `bad_request` */
export function setOfResult(context: Context, result: Result): MdxSet {
  switch (result.is) {
    case 'set':
      return result.set
    case 'level':
      return refuseMdx('a set is expected: write .Members after the level')
    case 'value':
      return refuseMdx('a set is expected')
    default: {
      const tuple = tupleOfResult(context, result)
      return { tuples: tuple === undefined ? [] : [tuple] }
    }
  }
}

/** The value of a result; of a member or tuple, that of its cell. @throws Fault `bad_request` */
export function valueOfResult(context: Context, result: Result): Value {
  switch (result.is) {
    case 'value':
      return result.value
    case 'set':
    case 'level':
      return refuseMdx('a value is expected')
    default: {
      const tuple = tupleOfResult(context, result)
      return tuple === undefined ? null : context.environment.cell(at(context, tuple))
    }
  }
}

/** @throws Fault `bad_request` */
export function levelOfResult(result: Result): { readonly at: SpaceHierarchy; readonly level: SpaceLevel } {
  return result.is === 'level' ? result : refuseMdx('a level is expected')
}

/** A value as a number; an empty one is 0. @throws Fault `bad_request` for a text that is none */
export function numberOf(value: Value): number {
  const found = value === null ? 0 : Number(value)
  return Number.isNaN(found) || value === '' ? refuseMdx('a number is expected') : found
}

/** A value as a text; an empty one is the empty text. */
export const textOfValue = (value: Value): string => (value === null ? '' : String(value))

/** The order of values: an empty one stands where 0 or the empty text does, and before it. @throws Fault `bad_request` */
export function compareValues(left: Value, right: Value): number {
  const isText = typeof left === 'string' || typeof right === 'string'
  const [one, other] = isText
    ? [textOfValue(left).toLowerCase(), textOfValue(right).toLowerCase()]
    : [numberOf(left), numberOf(right)]
  if (one !== other) return one < other ? -1 : 1
  return Number(right === null) - Number(left === null)
}

/** Whether a value is true. @throws Fault `bad_request` */
export function truthOf(value: Value): boolean {
  return typeof value === 'boolean' ? value : numberOf(value) !== 0
}

/** A result that is a value. */
export const aValue = (value: Value): Result => ({ is: 'value', value })
/** A result that is a set. */
export const aSet = (tuples: readonly Tuple[]): Result => ({ is: 'set', set: { tuples } })
/** A result that is a member, or none. */
export const aMember = (member: Member | undefined): Result => ({ is: 'member', member })
