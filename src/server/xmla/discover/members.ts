/** MDSCHEMA_MEMBERS: members of a level or hierarchy, or those around one member. They are read like any rows. */

import { Fault } from '../../../base/fault.ts'
import { SqlError } from '../../../query/compile/base/sql-error.ts'
import {
  type Cube,
  type Hierarchy,
  type KeyLevel,
  type Level,
  type Measure,
  measuresLevelUniqueName,
  measuresUniqueName,
} from '../../../semantics/cube/model.ts'
import { memberCaption, memberUniqueName } from '../../../semantics/cube/names.ts'
import { periodOf } from '../../../semantics/cube/periods.ts'
import { readMembers } from '../../../semantics/cube/read-members.ts'
import { listedFormulas } from '../../../semantics/mdx/session.ts'
import { printMdxExpression } from '../../../wire/mdx/print.ts'
import type { Restrictions } from '../../../wire/soap/read-request.ts'
import { xmlaBounds } from '../bounds.ts'
import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

/** A member of a hierarchy; without a key level, the one of `(All)`. */
interface Member {
  readonly hierarchy: Hierarchy
  readonly level: Level
  /** Of the key; null for NULL, and for `(All)`. */
  readonly key: string | null
}

const treeOps = { children: 1, siblings: 2, parent: 4, self: 8, descendants: 16, ancestors: 32 } as const

async function rows(context: DiscoverContext, given: Restrictions): Promise<readonly Row[]> {
  const only = (name: string) => given.get(name)?.[0]
  const all = await context.cubes()
  const cubes = all.filter(({ name }) => given.get('CUBE_NAME')?.includes(name) ?? true)
  const member = only('MEMBER_UNIQUE_NAME')
  const op = Number(only('TREE_OP') ?? treeOps.self)
  const names = ['LEVEL_UNIQUE_NAME', 'HIERARCHY_UNIQUE_NAME', 'DIMENSION_UNIQUE_NAME'].flatMap(
    (name) => only(name) ?? [],
  )
  if (member === undefined && names.length === 0)
    throw new Fault('bad_request', 'MDSCHEMA_MEMBERS needs a dimension, hierarchy, level or member.')
  // Rows are joined list by list: a call with each row as an argument has a bound.
  const found: (readonly Row[])[] = []
  for (const cube of cubes) {
    if (member === undefined) {
      found.push(measureRows(cube, names))
      found.push(await listed(context, cube, names, only('LEVEL_NUMBER')))
    } else found.push(await around(context, cube, member, op))
    found.push(sessionRows(context, cube, { names, member, op }))
  }
  return found.flat()
}

/** Calculated members of the session: those of what is named, or around one member. */
function sessionRows(
  { formulas }: DiscoverContext,
  cube: Cube,
  asked: { readonly names: readonly string[]; readonly member: string | undefined; readonly op: number },
): readonly Row[] {
  return listedFormulas(cube, formulas).flatMap((each) => {
    if (each.kind !== 'member') return []
    const { at, level, uniqueName, caption, formula } = each.member
    const own = [level.uniqueName, at.uniqueName, at.dimension.uniqueName]
    const isMeant =
      asked.member === undefined
        ? asked.names.every((name) => own.includes(name))
        : (asked.member === uniqueName && (asked.op & treeOps.self) !== 0) ||
          (asked.member === formula.parent?.uniqueName &&
            (asked.op & (treeOps.children | treeOps.descendants)) !== 0)
    if (!isMeant) return []
    return [
      {
        CATALOG_NAME: cube.catalog,
        CUBE_NAME: cube.name,
        DIMENSION_UNIQUE_NAME: at.dimension.uniqueName,
        HIERARCHY_UNIQUE_NAME: at.uniqueName,
        LEVEL_UNIQUE_NAME: level.uniqueName,
        LEVEL_NUMBER: level.number,
        MEMBER_ORDINAL: 0,
        MEMBER_NAME: formula.name,
        MEMBER_UNIQUE_NAME: uniqueName,
        MEMBER_TYPE: memberTypes.calculated,
        MEMBER_CAPTION: caption,
        CHILDREN_CARDINALITY: 0,
        PARENT_LEVEL: formula.parent?.level.number ?? 0,
        PARENT_UNIQUE_NAME: formula.parent?.uniqueName,
        PARENT_COUNT: formula.parent === undefined ? 0 : 1,
        DESCRIPTION: formula.description ?? '',
        EXPRESSION: printMdxExpression(formula.expression),
        MEMBER_KEY: formula.name,
        IS_PLACEHOLDERMEMBER: false,
        IS_DATAMEMBER: false,
        SCOPE: sessionScope,
      },
    ]
  })
}

/** The measures, where they are what is named. */
function measureRows(cube: Cube, names: readonly string[]): readonly Row[] {
  const isMeant = names.every((name) => [measuresUniqueName, measuresLevelUniqueName].includes(name))
  return isMeant ? cube.measures.map((measure, index) => measureRow(cube, measure, index)) : []
}

/** All members of the levels that are named by themselves, their hierarchy or dimension. */
async function listed(
  context: DiscoverContext,
  cube: Cube,
  names: readonly string[],
  number: string | undefined,
): Promise<readonly Row[]> {
  const found: (readonly Row[])[] = []
  for (const hierarchy of cube.dimensions.flatMap(({ hierarchies }) => hierarchies))
    for (const level of hierarchy.levels) {
      const own = [level.uniqueName, hierarchy.uniqueName, hierarchy.dimension.uniqueName]
      if (!names.every((name) => own.includes(name))) continue
      if (number !== undefined && number !== String(level.number)) continue
      const members = await membersOf(context, cube, hierarchy, level)
      found.push(members.map((each) => memberRow(cube, each)))
    }
  return found.flat()
}

async function membersOf(
  { queries, on, signal }: DiscoverContext,
  cube: Cube,
  hierarchy: Hierarchy,
  level: Level,
  within?: Member,
): Promise<readonly Member[]> {
  if (level.kind === 'all') return [{ hierarchy, level, key: null }]
  const where = within?.level.kind === 'key' ? { level: within.level, key: within.key } : undefined
  try {
    const { membersMax } = xmlaBounds
    const keys = await readMembers(queries, on, { cube, level, membersMax, ...(where && { where }) }, signal)
    return keys.map((key) => ({ hierarchy, level, key }))
  } catch (thrown) {
    // A key that no value of the type has is that of no member.
    if (where !== undefined && thrown instanceof SqlError && thrown.sqlState.startsWith('22')) return []
    throw thrown
  }
}

/** Members around one. An unknown member has none, as one that the reader may not see. */
async function around(
  context: DiscoverContext,
  cube: Cube,
  name: string,
  op: number,
): Promise<readonly Row[]> {
  const measure = cube.measures.findIndex(({ uniqueName }) => uniqueName === name)
  if (measure >= 0)
    return cube.measures.flatMap((each, index) =>
      (index === measure ? op & treeOps.self : op & treeOps.siblings) === 0
        ? []
        : [measureRow(cube, each, index)],
    )
  const self = findMember(cube, name)
  if (self === undefined) return []
  const { hierarchy, level } = self
  const read = (at: Level | undefined, within: Member) =>
    at === undefined ? [] : membersOf(context, cube, hierarchy, at, within)
  const [exists] = await read(level, self)
  if (exists === undefined) return []
  const below = hierarchy.levels.filter(({ number }) => number > level.number)
  const parent = parentOf(self)
  const found: Member[] = []
  if (op & treeOps.ancestors) found.push(...ancestorsOf(self))
  else if (op & treeOps.parent && parent !== undefined) found.push(parent)
  if (op & treeOps.self) found.push(self)
  if (op & treeOps.siblings && parent !== undefined) {
    const siblings = await read(level, parent)
    found.push(...siblings.filter(({ key }) => key !== self.key))
  }
  if (op & treeOps.descendants) for (const each of below) found.push(...(await read(each, self)))
  else if (op & treeOps.children) found.push(...(await read(below[0], self)))
  return found.map((each) => memberRow(cube, each))
}

function ancestorsOf(member: Member): readonly Member[] {
  const parent = parentOf(member)
  return parent === undefined ? [] : [...ancestorsOf(parent), parent]
}

function parentOf({ hierarchy, level, key }: Member): Member | undefined {
  const above = hierarchy.levels[level.number - 1]
  if (above === undefined) return undefined
  if (above.kind === 'all' || key === null) return { hierarchy, level: above, key: null }
  const period = above.key.grain && periodOf(above.key.grain, key)
  return period === undefined ? undefined : { hierarchy, level: above, key: period }
}

/** The member that a unique name says; whether it exists is for the rows to tell. */
function findMember(cube: Cube, name: string): Member | undefined {
  for (const hierarchy of cube.dimensions.flatMap(({ hierarchies }) => hierarchies)) {
    const [all] = hierarchy.levels
    if (name === hierarchy.allMember.uniqueName) return { hierarchy, level: all, key: null }
    for (const level of hierarchy.levels) {
      const key = level.kind === 'key' ? keyIn(hierarchy, level, name) : undefined
      if (key !== undefined) return { hierarchy, level, key }
    }
  }
  return undefined
}

function keyIn(hierarchy: Hierarchy, level: KeyLevel, name: string): string | null | undefined {
  const starts = [
    `${level.uniqueName}.&`,
    ...(hierarchy.kind === 'attribute' ? [`${hierarchy.uniqueName}.&`] : []),
  ]
  const start = starts.find((each) => name.startsWith(each))
  if (start === undefined) return undefined
  const rest = name.slice(start.length)
  if (rest === '') return null
  const inner = /^\[((?:[^\]]|\]\])*)\]$/.exec(rest)?.[1]
  return inner?.replaceAll(']]', ']')
}

/** Codes of MDMEMBER_TYPE, and of what lasts for a session. */
const memberTypes = { key: 1, all: 2, measure: 3, calculated: 4 } as const
const sessionScope = 2

function uniqueNameOf({ hierarchy, level, key }: Member): string {
  return level.kind === 'all' ? hierarchy.allMember.uniqueName : memberUniqueName(hierarchy, level, key)
}

function memberRow(cube: Cube, member: Member): Row {
  const { hierarchy, level, key } = member
  const caption = level.kind === 'all' ? hierarchy.allMember.caption : memberCaption(level, key)
  const parent = parentOf(member)
  return {
    CATALOG_NAME: cube.catalog,
    CUBE_NAME: cube.name,
    DIMENSION_UNIQUE_NAME: hierarchy.dimension.uniqueName,
    HIERARCHY_UNIQUE_NAME: hierarchy.uniqueName,
    LEVEL_UNIQUE_NAME: level.uniqueName,
    LEVEL_NUMBER: level.number,
    MEMBER_ORDINAL: 0,
    MEMBER_NAME: caption,
    MEMBER_UNIQUE_NAME: uniqueNameOf(member),
    MEMBER_TYPE: memberTypes[level.kind],
    MEMBER_CAPTION: caption,
    // Whether there are children; how many is not counted.
    CHILDREN_CARDINALITY: level.number === hierarchy.levels.length - 1 ? 0 : 1,
    PARENT_LEVEL: Math.max(level.number - 1, 0),
    PARENT_UNIQUE_NAME: parent && uniqueNameOf(parent),
    PARENT_COUNT: level.number === 0 ? 0 : 1,
    MEMBER_KEY: key ?? '',
    IS_PLACEHOLDERMEMBER: false,
    IS_DATAMEMBER: false,
  }
}

function measureRow(cube: Cube, { uniqueName, caption, name }: Measure, index: number): Row {
  return {
    CATALOG_NAME: cube.catalog,
    CUBE_NAME: cube.name,
    DIMENSION_UNIQUE_NAME: measuresUniqueName,
    HIERARCHY_UNIQUE_NAME: measuresUniqueName,
    LEVEL_UNIQUE_NAME: measuresLevelUniqueName,
    LEVEL_NUMBER: 0,
    MEMBER_ORDINAL: index,
    MEMBER_NAME: name,
    MEMBER_UNIQUE_NAME: uniqueName,
    MEMBER_TYPE: memberTypes.measure,
    MEMBER_CAPTION: caption,
    CHILDREN_CARDINALITY: 0,
    PARENT_LEVEL: 0,
    PARENT_COUNT: 0,
    MEMBER_KEY: name,
    IS_PLACEHOLDERMEMBER: false,
    IS_DATAMEMBER: false,
  }
}

export const membersRowset: Rowset = {
  name: 'MDSCHEMA_MEMBERS',
  guid: 'c8b522de-5cf3-11ce-ade5-00aa0044773d',
  columns: columnsOf(
    'CATALOG_NAME:s? SCHEMA_NAME:s? CUBE_NAME:s? DIMENSION_UNIQUE_NAME:s? HIERARCHY_UNIQUE_NAME:s? LEVEL_UNIQUE_NAME:s? LEVEL_NUMBER:u? MEMBER_ORDINAL:u? MEMBER_NAME:s? MEMBER_UNIQUE_NAME:s? MEMBER_TYPE:i? MEMBER_GUID:g? MEMBER_CAPTION:s? CHILDREN_CARDINALITY:u? PARENT_LEVEL:u? PARENT_UNIQUE_NAME:s? PARENT_COUNT:u? DESCRIPTION:s? EXPRESSION:s? MEMBER_KEY:s? IS_PLACEHOLDERMEMBER:b? IS_DATAMEMBER:b? SCOPE:i?',
  ),
  restrictions: restrictionsOf(
    'CATALOG_NAME:s SCHEMA_NAME:s CUBE_NAME:s DIMENSION_UNIQUE_NAME:s HIERARCHY_UNIQUE_NAME:s LEVEL_UNIQUE_NAME:s LEVEL_NUMBER:u MEMBER_NAME:s MEMBER_UNIQUE_NAME:s:own MEMBER_CAPTION:s MEMBER_TYPE:i TREE_OP:i:own CUBE_SOURCE:us:visible',
  ),
  rows,
}
