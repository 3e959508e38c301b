/**
 * Where an expression is evaluated: a coordinate for each hierarchy, what the slicer and sets that are aggregated leave of
 * the rows, and the bounds on the whole statement.
 */

import { Fault } from '../../base/fault.ts'
import type { MdxExpression } from '../../wire/mdx/ast.ts'
import type { MdxBounds } from './bounds.ts'
import type { Condition, MdxData } from './data.ts'
import type { Formulas } from './formulas.ts'
import type { KeyMember, Member, Space, SpaceHierarchy, SpaceLevel, Tuple } from './space.ts'

export type Value = number | string | boolean | null

export interface MdxSet {
  readonly tuples: readonly Tuple[]
}

/** What an expression is. */
export type Result =
  | { readonly is: 'value'; readonly value: Value }
  /** A member that does not exist, such as the parent of `(All)`, is undefined. */
  | { readonly is: 'member'; readonly member: Member | undefined }
  | { readonly is: 'tuple'; readonly tuple: Tuple }
  | { readonly is: 'set'; readonly set: MdxSet }
  | { readonly is: 'level'; readonly at: SpaceHierarchy; readonly level: SpaceLevel }
  | { readonly is: 'hierarchy'; readonly at: SpaceHierarchy }
  | { readonly is: 'dimension'; readonly hierarchies: readonly SpaceHierarchy[] }

/** What all evaluations of a statement share. */
export interface Environment {
  readonly space: Space
  readonly data: MdxData
  readonly formulas: Formulas
  /** Named sets that were evaluated, by their name. */
  readonly namedSets: Map<string, Result>
  /** Sets that were given a name within an expression, by it in lower case: what they were last. */
  readonly aliases: Map<string, Result>
  readonly bounds: MdxBounds
  /** Of the subselects that are not NON VISUAL, whole. Values are of rows within them. */
  readonly within: readonly Condition[]
  /** Of all subselects, the part that concerns the members of a hierarchy's dimension. */
  readonly withinOf: (at: SpaceHierarchy) => readonly Condition[]
  /** The present of the statement. */
  readonly nowMs: number
  /** Counts steps. @throws Fault beyond a bound, the signal's reason */
  readonly step: (count: number) => void
  readonly evaluate: (context: Context, expression: MdxExpression) => Result
  /** The value of the cell at a context. */
  readonly cell: (context: Context) => Value
}

/** The rows that a slicer leaves: tuples whose coordinates hold as long as no expression sets others. */
export interface Slicer {
  readonly tuples: readonly (readonly KeyMember[])[]
  /** The only coordinates, where the slicer is one tuple. */
  readonly current: ReadonlyMap<number, Member>
}

export interface Context {
  readonly environment: Environment
  /** By the index of the hierarchy; undefined where the slicer or the default holds. */
  readonly coordinates: readonly (Member | undefined)[]
  readonly slicer: Slicer
  /** Further conditions on rows, of sets that are aggregated. */
  readonly conditions: readonly Condition[]
  /** Calculated members and named sets within each other. */
  readonly depth: number
  /** The tuple of the innermost Generate or Filter over a set. */
  readonly current?: { readonly set: MdxSet; readonly index: number }
  /** The tuples at which sets with a name are being walked, by it in lower case. */
  readonly walked?: ReadonlyMap<string, Tuple>
}

const depthMax = 48

/** The member of a hierarchy that holds at a context. */
export function currentMember({ coordinates, slicer, environment }: Context, at: SpaceHierarchy): Member {
  const member = coordinates[at.index] ?? slicer.current.get(at.index) ?? environment.space.defaults[at.index]
  if (member === undefined) throw new Fault('internal', 'Internal error.')
  return member
}

/** The context at a tuple's coordinates. */
export function at(context: Context, tuple: Tuple): Context {
  const coordinates = [...context.coordinates]
  for (const member of tuple) coordinates[member.at.index] = member
  return { ...context, coordinates }
}

/** The context within a formula. @throws Fault `bad_request` where formulas nest without an end */
export function deeper(context: Context): Context {
  if (context.depth === depthMax)
    throw new Fault(
      'bad_request',
      'MDX: calculated members or sets are defined by themselves, or nest too deep.',
    )
  return { ...context, depth: context.depth + 1 }
}
