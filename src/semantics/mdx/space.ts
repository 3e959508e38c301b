/**
 * The space in which MDX is evaluated: the hierarchies of one cube, `[Measures]` first, and members as coordinates in it.
 * A member that is no measure holds a key, never a position in a list, so that rows need not be read to name it.
 */

import { Fault } from '../../base/fault.ts'
import type { MdxExpression } from '../../wire/mdx/ast.ts'
import {
  type Cube,
  type Hierarchy,
  type KeyLevel,
  type LevelKey,
  type Measure,
  measuresLevelUniqueName,
  measuresName,
  measuresUniqueName,
} from '../cube/model.ts'
import { bracketed, memberCaption, memberUniqueName } from '../cube/names.ts'

export interface SpaceLevel {
  readonly number: number
  readonly name: string
  readonly uniqueName: string
  readonly caption: string
  /** Undefined for `(All)` and the level of measures. */
  readonly key: LevelKey | undefined
}

export interface SpaceHierarchy {
  /** Its place in every context. `[Measures]` is 0. */
  readonly index: number
  readonly name: string
  readonly uniqueName: string
  readonly caption: string
  readonly dimension: { readonly name: string; readonly uniqueName: string }
  /** Undefined for `[Measures]`. */
  readonly hierarchy: Hierarchy | undefined
  readonly levels: readonly SpaceLevel[]
}

interface MemberNames {
  readonly at: SpaceHierarchy
  readonly level: SpaceLevel
  readonly uniqueName: string
  readonly caption: string
}

export type Member = MemberNames &
  (
    | { readonly kind: 'measure'; readonly measure: Measure }
    | { readonly kind: 'all'; readonly visual?: readonly Member[] | undefined }
    /** `visual`: the members below, of which alone its values are computed (VisualTotals). */
    | { readonly kind: 'key'; readonly key: string | null; readonly visual?: readonly Member[] | undefined }
    | { readonly kind: 'calculated'; readonly formula: CalculatedMember }
  )

export type KeyMember = Extract<Member, { kind: 'key' }>

/** What WITH MEMBER or CREATE SESSION MEMBER defines. */
interface CalculatedMember {
  readonly name: string
  readonly expression: MdxExpression
  readonly parent: Member | undefined
  /** Where several calculated members meet, the one with the greatest is computed last, of the others' values. */
  readonly solveOrder: number
  readonly format: string | undefined
  readonly folder: string | undefined
  readonly description: string | undefined
  /** It is found by its name, and in no list. */
  readonly isHidden: boolean
}

/** Members of different hierarchies. */
export type Tuple = readonly Member[]

export interface Space {
  readonly cube: Cube
  readonly hierarchies: readonly SpaceHierarchy[]
  readonly measures: readonly Member[]
  /** The default member of each hierarchy. */
  readonly defaults: readonly Member[]
}

/** The space of a cube. */
export function spaceOf(cube: Cube): Space {
  const dimension = { name: measuresName, uniqueName: measuresUniqueName }
  const measuresLevel: SpaceLevel = {
    ...{ number: 0, name: 'MeasuresLevel', uniqueName: measuresLevelUniqueName },
    ...{ caption: 'MeasuresLevel', key: undefined },
  }
  const ofMeasures: SpaceHierarchy = {
    ...{ index: 0, name: measuresName, uniqueName: measuresUniqueName, caption: measuresName, dimension },
    ...{ hierarchy: undefined, levels: [measuresLevel] },
  }
  const measures = cube.measures.map(
    (measure): Member => ({
      ...{ kind: 'measure', at: ofMeasures, level: measuresLevel, measure },
      ...{ uniqueName: measure.uniqueName, caption: measure.caption },
    }),
  )
  const others = cube.dimensions
    .flatMap(({ hierarchies }) => hierarchies)
    .map((hierarchy, index): SpaceHierarchy => {
      const { name, uniqueName, caption } = hierarchy
      const levels = hierarchy.levels.map((level) => ({
        ...{ number: level.number, name: level.name, uniqueName: level.uniqueName, caption: level.caption },
        key: level.kind === 'key' ? level.key : undefined,
      }))
      return {
        index: index + 1,
        name,
        uniqueName,
        caption,
        dimension: hierarchy.dimension,
        hierarchy,
        levels,
      }
    })
  const [first] = measures
  if (first === undefined) throw new Fault('not_found', 'The cube has no measure.')
  return {
    cube,
    hierarchies: [ofMeasures, ...others],
    measures,
    defaults: [first, ...others.map((at) => allOf(at))],
  }
}

/** The member of level `(All)`. */
export function allOf(at: SpaceHierarchy, visual?: readonly Member[]): Member {
  const [level] = at.levels
  if (at.hierarchy === undefined || level === undefined) throw new Fault('internal', 'Internal error.')
  return { kind: 'all', at, level, ...at.hierarchy.allMember, ...(visual && { visual }) }
}

/** The member of a key. @param key its text in PostgreSQL's form; null for NULL */
export function memberOf(at: SpaceHierarchy, level: SpaceLevel, key: string | null): KeyMember {
  const own = at.hierarchy?.levels[level.number] as KeyLevel
  return {
    ...{ kind: 'key', at, level, key },
    uniqueName: memberUniqueName(at.hierarchy as Hierarchy, own, key),
    caption: memberCaption(own, key),
  }
}

/** The member above; undefined for one without. */
export function parentOf(member: Member): Member | undefined {
  const { at, level } = member
  if (member.kind === 'calculated') return member.formula.parent
  if (member.kind !== 'key') return undefined
  const above = at.levels[level.number - 1]
  if (above?.key === undefined) return allOf(at)
  return memberOf(at, above, periodKey(above.key.grain, member.key))
}

/** The member of that level that is or holds a member; undefined where the level is below. */
export function ancestorOf(member: Member, level: number): Member | undefined {
  let found: Member | undefined = member
  while (found !== undefined && found.level.number > level) found = parentOf(found)
  return found?.level.number === level ? found : undefined
}

/** The first day of the period of a day. What is no day, such as infinity, is its own period. */
function periodKey(grain: LevelKey['grain'], key: string | null): string | null {
  const [whole = '', year, month, more = ''] = /^(\d{4,})-(\d\d)-\d\d( BC)?$/.exec(key ?? '') ?? []
  if (whole === '') return key
  const first = grain === 'year' ? 1 : grain === 'quarter' ? Number(month) - ((Number(month) - 1) % 3) : month
  return `${year}-${String(first).padStart(2, '0')}-01${more}`
}

/** What tells members apart within a hierarchy. */
export function identityOf(member: Member): string {
  return member.kind === 'key' ? `${member.level.number}:${JSON.stringify(member.key)}` : member.uniqueName
}

/** What tells tuples apart that have the same hierarchies. */
export function tupleIdentity(tuple: Tuple): string {
  return tuple.map((member) => `${member.at.index}:${identityOf(member)}`).join('|')
}

/** A unique name that a calculated member gets where it stands. */
export function childName(parent: Member | undefined, at: SpaceHierarchy, name: string): string {
  return `${(parent ?? at).uniqueName}.${bracketed(name)}`
}

/** The order of keys of a level, NULL last. */
export function compareKeys(type: string): (one: string | null, other: string | null) => number {
  const isNumber = /^(?:int|numeric|float)/.test(type)
  return (one, other) => {
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    const byNumber = isNumber ? Number(one) - Number(other) : 0
    if (byNumber) return byNumber
    return one < other ? -1 : one > other ? 1 : 0
  }
}
