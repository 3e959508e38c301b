/**
 * Writes what an evaluation needs as SQL over the cube's metric relation. Level combinations of the same rows are one
 * statement with grouping sets. Values of clients are parameters.
 */

import { quoteIdentifier } from '../../base/sql-text.ts'
import { metricsSuffix } from '../../core/metric.ts'
import { keySql } from '../../query/compile/metrics/key.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { Cube, CubeDimension, Measure } from '../cube/model.ts'
import { inSql } from '../in-sql.ts'
import { exceeds } from './bounds.ts'
import type { CellNeed, Condition, MemberNeed } from './data.ts'
import type { KeyMember, SpaceLevel } from './space.ts'

export interface NeedStatement {
  readonly text: string
  /** Values of `$1` and so on. */
  readonly parameters: readonly string[]
}

/** One statement for level combinations over the same rows. */
export interface CellStatement extends NeedStatement {
  readonly needs: readonly CellNeed[]
  /** Columns of the result, in this order; a bit mask of absent levels follows where there are several needs. */
  readonly levels: readonly SpaceLevel[]
  readonly measures: readonly string[]
}

/** Values of one statement, because each is a parameter. */
const valuesMax = 20_000
/** Keys of a level that a statement names; where more are needed, it reads them all. */
const keysMax = 1_000
const levelsMax = 30

const quote = quoteIdentifier

/** A level's key over the relation `f`. */
export function levelSql({ key }: SpaceLevel): string {
  return key === undefined ? refuseMdx('a level has no key') : keySql({ name: key.column, grain: key.grain })
}

function relationSql(schema: string, name: string): string {
  return `${quote(schema)}.${quote(name)} AS "f"`
}

function place(parameters: string[], value: string): string {
  if (parameters.length === valuesMax) exceeds(`a statement names at most ${valuesMax} members`)
  return `$${parameters.push(value)}`
}

function levelInSql(level: SpaceLevel, keys: Iterable<string | null>, parameters: string[]): string {
  return inSql(levelSql(level), keys, (key) => place(parameters, key))
}

/** The condition that a row is in one of the tuples. */
function conditionSql({ tuples }: Condition, parameters: string[]): string {
  const [first] = tuples
  if (first === undefined) return '1 = 0'
  return productSql(tuples, parameters) ?? anySql(tuples, parameters)
}

/** Tuples that are all combinations of some members, as conditions on each level. */
function productSql(tuples: readonly (readonly KeyMember[])[], parameters: string[]): string | undefined {
  const levels = new Map<string, { readonly level: SpaceLevel; readonly keys: Set<string | null> }>()
  const shape = (tuple: readonly KeyMember[]) => tuple.map(({ level }) => level.uniqueName).join(' ')
  const [first] = tuples
  if (first === undefined || tuples.some((tuple) => shape(tuple) !== shape(first))) return undefined
  for (const { level, key } of tuples.flat()) {
    const found = levels.get(level.uniqueName) ?? { level, keys: new Set<string | null>() }
    found.keys.add(key)
    levels.set(level.uniqueName, found)
  }
  const count = [...levels.values()].reduce((product, { keys }) => product * keys.size, 1)
  if (count !== tuples.length) return undefined
  return [...levels.values()].map(({ level, keys }) => levelInSql(level, keys, parameters)).join(' AND ')
}

function anySql(tuples: readonly (readonly KeyMember[])[], parameters: string[]): string {
  // Members of one hierarchy in several levels: a condition for each level.
  if (tuples.every(({ length }) => length === 1)) {
    const levels = Map.groupBy(tuples.flat(), ({ level }) => level)
    return `(${[...levels]
      .map(([level, members]) =>
        levelInSql(
          level,
          members.map(({ key }) => key),
          parameters,
        ),
      )
      .join(' OR ')})`
  }
  const each = tuples.map(
    (tuple) => `(${tuple.map(({ level, key }) => levelInSql(level, [key], parameters)).join(' AND ')})`,
  )
  return `(${each.join(' OR ')})`
}

const whereSql = (conditions: readonly string[]) =>
  conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''

/** The statement for members of a level. */
export function memberStatement(
  { cube, rowsMax }: { readonly cube: Cube; readonly rowsMax: number },
  { at, level, keys, conditions }: MemberNeed,
): NeedStatement {
  const parameters: string[] = []
  const { schema, name } = cube.relation
  const dimension = joinedDimension(cube, { at, level })
  const select = (from: string, of: (level: SpaceLevel) => SpaceLevel, more: readonly string[] = []) => {
    const written = conditions.map((condition) => conditionSql(relocated(condition, of), parameters))
    const where = [
      ...written,
      ...(keys === undefined ? [] : [levelInSql(of(level), keys, parameters)]),
      ...more,
    ]
    return `SELECT ${levelSql(of(level))} AS "k" FROM ${from}${whereSql(where)} GROUP BY 1`
  }
  if (dimension === undefined)
    return { text: `${select(relationSql(schema, name), (each) => each)} LIMIT ${rowsMax + 1}`, parameters }
  const { namespace, name: table } = dimension.table
  const joined = select(relationSql(namespace.join('.'), `${table}${metricsSuffix}`), ownLevel)
  if (keys !== undefined) return { text: `${joined} LIMIT ${rowsMax + 1}`, parameters }
  // Rows of the cube that lead to no row of the dimension are those of the member of NULL.
  const without = select(relationSql(schema, name), (each) => each, [`${levelSql(level)} IS NULL`])
  return { text: `SELECT "k" FROM (${joined} UNION ${without}) AS "u" LIMIT ${rowsMax + 1}`, parameters }
}

/** The dimension of a level that is in a table to which the cube's own leads; undefined for a level of its own. */
export function joinedDimension(
  { dimensions }: Cube,
  { at, level }: Pick<MemberNeed, 'at' | 'level'>,
): CubeDimension | undefined {
  const found = dimensions.find(({ uniqueName }) => uniqueName === at.dimension.uniqueName)
  return found === undefined || found.ordinal === 1 || !isJoined(level) ? undefined : found
}

/** Names of relationships and dimensions are joined by `__` in the relation of the cube. */
const isJoined = ({ key }: SpaceLevel) => key?.column.includes('__') === true

/** The relation of a joined dimension, and its levels there; without one that of the cube. */
function sourceOf({ relation, dimensions }: Cube, name: string | undefined) {
  const found = dimensions.find(({ uniqueName }) => uniqueName === name)
  if (name === undefined || found === undefined) return { relation, of: (level: SpaceLevel) => level }
  const { namespace, name: table } = found.table
  return { relation: { schema: namespace.join('.'), name: `${table}${metricsSuffix}` }, of: ownLevel }
}

/** The level in the relation of its own table. */
function ownLevel(level: SpaceLevel): SpaceLevel {
  const { key } = level
  if (key === undefined) return level
  return { ...level, key: { ...key, column: key.column.slice(key.column.lastIndexOf('__') + 2) } }
}

function relocated(condition: Condition, of: (level: SpaceLevel) => SpaceLevel): Condition {
  const tuples = condition.tuples.map((tuple) =>
    tuple.map((member) => ({ ...member, level: of(member.level) })),
  )
  return { ...condition, tuples }
}

/**
 * Statements for values.
 * @param grouped whether a metric can be computed for several level combinations at once
 */
export function cellStatements(
  {
    cube,
    rowsMax,
    grouped,
  }: { readonly cube: Cube; readonly rowsMax: number; readonly grouped: (measure: string) => boolean },
  needs: readonly CellNeed[],
): readonly CellStatement[] {
  const split = needs.flatMap((need) => {
    // A level whose keys are many is read whole.
    for (const [name, keys] of need.keys) if (keys.size > keysMax) need.keys.delete(name)
    const [together, apart] = [true, false].map((wanted) =>
      [...need.measures].filter(([name]) => grouped(name) === wanted),
    )
    return [
      ...(together?.length ? [{ need: { ...need, measures: new Map(together) }, alone: false }] : []),
      ...(need.measures.size === 0 ? [{ need, alone: false }] : []),
      ...(apart?.length ? [{ need: { ...need, measures: new Map(apart) }, alone: true }] : []),
    ]
  })
  const groups = Map.groupBy(split, ({ need, alone }) => {
    const keys = [...need.keys].map(([name, found]) => [name, [...found].sort()])
    const own = alone || keys.length > 0 ? need.levels.map(({ uniqueName }) => uniqueName) : []
    return JSON.stringify([alone, need.dimension ?? '', need.conditions.map(({ id }) => id), own, keys])
  })
  return [...groups.values()].map((group) =>
    cellStatement(
      { cube, rowsMax },
      group.map(({ need }) => need),
    ),
  )
}

function cellStatement(
  { cube, rowsMax }: { readonly cube: Cube; readonly rowsMax: number },
  needs: readonly CellNeed[],
): CellStatement {
  // Two levels may be computed alike, such as days of a column and of its calendar.
  const levels = [
    ...new Map(needs.flatMap((need) => need.levels).map((level) => [levelSql(level), level])).values(),
  ]
  if (levels.length > levelsMax) exceeds(`a statement groups by at most ${levelsMax} levels`)
  const measures = [...new Set(needs.flatMap((need) => [...need.measures.keys()]))]
  const parameters: string[] = []
  const [first] = needs
  const { relation, of } = sourceOf(cube, first?.dimension)
  const conditions = (first?.conditions ?? []).map((condition) =>
    conditionSql(relocated(condition, of), parameters),
  )
  const restricted = levels.flatMap((level) => {
    const keys = first?.keys.get(level.uniqueName)
    return keys === undefined ? [] : [levelInSql(of(level), keys, parameters)]
  })
  const sqlOf = (level: SpaceLevel) => levelSql(of(level))
  const keys = levels.map(sqlOf)
  const isSeveral = needs.length > 1
  const targets = [
    ...keys.map((key, index) => `${key} AS "k${index}"`),
    ...(isSeveral && keys.length > 0 ? [`GROUPING(${keys.join(', ')}) AS "g"`] : []),
    ...measures.map((name, index) => `MEASURE(${quote(name)}) AS "m${index}"`),
  ]
  const sets = new Set(
    needs.map((need) => `(${keys.filter((key) => need.levels.map(sqlOf).includes(key)).join(', ')})`),
  )
  const group = isSeveral
    ? ` GROUP BY GROUPING SETS (${[...sets].join(', ')})`
    : keys.length > 0
      ? ` GROUP BY ${keys.join(', ')}`
      : ''
  // Only the total has a row without rows. Beside groups, their absence tells, which costs no count.
  const having = keys.length > 0 ? '' : ' HAVING count(*) > 0'
  const text = `SELECT ${targets.join(', ')} FROM ${relationSql(relation.schema, relation.name)}${whereSql([...conditions, ...restricted])}${group}${having} LIMIT ${rowsMax + 1}`
  return { text, parameters, needs, levels, measures }
}

/**
 * The statement for what a cell is made of: a row for each row of the table, with the number of those that its key does
 * not tell apart last, or merged by levels.
 */
export function drillStatement(
  { relation, rowKeys }: Cube,
  {
    conditions,
    levels,
    measures,
    isMerged,
    rowsMax,
  }: {
    readonly isMerged: boolean
    readonly conditions: readonly Condition[]
    readonly levels: readonly SpaceLevel[]
    readonly measures: readonly Measure[]
    readonly rowsMax: number
  },
): NeedStatement {
  const parameters: string[] = []
  const where = conditions.map((condition) => conditionSql(condition, parameters))
  const keys = levels.map(levelSql)
  const targets = [
    ...keys.map((key, index) => `${key} AS "k${index}"`),
    ...measures.map(({ name }, index) => `MEASURE(${quote(name)}) AS "m${index}"`),
    ...(isMerged ? [] : ['count(*) AS "n"']),
  ]
  const apart = isMerged ? [] : rowKeys.map((name) => `"f".${quote(name)}`)
  const groups = [...new Set([...keys, ...apart])]
  const group = groups.length > 0 ? ` GROUP BY ${groups.join(', ')}` : ''
  const order = keys.length > 0 ? ` ORDER BY ${keys.map((_, index) => index + 1).join(', ')}` : ''
  const text = `SELECT ${targets.join(', ')} FROM ${relationSql(relation.schema, relation.name)}${whereSql(where)}${group} HAVING count(*) > 0${order} LIMIT ${rowsMax}`
  return { text, parameters }
}
