/**
 * Writes the sizes by which the groups of an attested metric show. Rows fall into parts (attested-parts.ts). A group shows
 * if it is large, if it is made of whole parts that are each large, and if the rows that it leaves out are none or many:
 * those of the other groups, and those that the query's own filter drops. Sizes count rows with a value.
 *
 * Windows before the filter count parts and all rows; windows after it count what it keeps. HAVING cannot change either.
 *
 * A hidden group computes its aggregate as well, and whether that fails would tell of a value. So an aggregate reads rows
 * of large parts only, and none where any values of these could make one fail: the same for every query.
 */

import type { Node, SelectStmt } from 'libpg-query'
import {
  allOf,
  anyOf,
  callNode,
  caseNode,
  columnNode,
  integerNode,
  isGiven,
  operatorNode,
  rankNode,
  selectNode,
  subqueryNode,
  targetNode,
  toDouble,
  windowNode,
} from './nodes.ts'
import { ownFits, ownMark } from './own-names.ts'

/** What decides about the groups of one attested metric. Nodes are over the columns of its relation. */
export interface Guard {
  /** Names its columns. */
  readonly index: number
  readonly minGroupSize: number
  /** Under which a row counts; undefined: each does. */
  readonly counted: Node | undefined
  readonly partKeys: readonly Node[]
  /** Whose different values every part must have, and how many. */
  readonly subject: { readonly column: Node; readonly k: number } | undefined
  /** The columns whose numbers it adds up. */
  readonly added: readonly Node[]
}

type Column =
  | 'rows'
  | 'part'
  | 'mark'
  | 'rank'
  | 'subjects'
  | 'large'
  | 'all'
  | 'allLarge'
  | 'kept'
  | 'keptLarge'
  | `least${number}x`
  | `most${number}x`

const nameOf = ({ index }: Guard, column: Column) => `${ownMark}${column}${index}`
/** More than a part has rows, and less than makes a part's mark too large for an integer. */
const markStep = 1_000_000_000
const one = integerNode(1)
const zero = integerNode(0)

/** A subquery in FROM, and the names of its columns. */
export interface Level {
  readonly source: Node
  readonly names: readonly string[]
}

/** The relation's subquery with what guards need of all its rows. */
export function withParts(guards: readonly Guard[], alias: string, relation: Level): Level {
  if (guards.length === 0) return relation
  const above = (level: Level, added: (guard: Guard) => readonly (readonly [Column, Node])[]) =>
    levelOver(alias, level, guards, added)
  const at = (guard: Guard, column: Column) => columnNode(alias, nameOf(guard, column))
  let level = above(relation, (guard) => {
    const { partKeys, counted, subject } = guard
    const ranked = subject && rankNode([subject.column], [...partKeys, flag(counted)])
    return [
      ['rows', windowNode('count', caseOf(counted), partKeys)],
      ['part', partKeys.length > 0 ? rankNode(partKeys) : one],
      ...(ranked ? [['rank', ranked] as const] : []),
    ]
  })
  level = above(level, (guard) => {
    const { partKeys, counted, subject } = guard
    const mark = operatorNode(
      '+',
      operatorNode('*', at(guard, 'part'), integerNode(markStep)),
      at(guard, 'rows'),
    )
    if (subject === undefined) return [['mark', mark]]
    const among = [...partKeys, flag(counted)]
    // NULL has a place in the order, and is nobody.
    const nobody = windowNode('max', caseNode(isGiven(subject.column), zero, one), among)
    return [
      ['mark', mark],
      ['subjects', operatorNode('-', windowNode('max', at(guard, 'rank'), among), nobody)],
    ]
  })
  level = above(level, (guard) => {
    const isLarge = allOf([
      operatorNode('>=', at(guard, 'rows'), integerNode(guard.minGroupSize)),
      guard.subject && operatorNode('>=', at(guard, 'subjects'), integerNode(guard.subject.k)),
    ])
    return [['large', caseNode(isLarge ?? one, flag(guard.counted), zero)]]
  })
  return above(level, (guard) => [
    ['all', windowNode('count', caseOf(guard.counted), [])],
    ['allLarge', windowNode('sum', at(guard, 'large'), [])],
    ...guard.added.flatMap((value, index) => {
      const ofLarge = caseNode(isOne(at(guard, 'large')), toDouble(value))
      return [
        [`least${index}x`, windowNode('min', ofLarge, [])] as const,
        [`most${index}x`, windowNode('max', ofLarge, [])] as const,
      ]
    }),
  ])
}

/** The rows that the query's filter keeps, with what guards need of them. */
export function withFiltered(
  guards: readonly Guard[],
  alias: string,
  level: Level,
  where: Node | undefined,
): Level {
  return levelOver(
    alias,
    level,
    guards,
    (guard) => [
      ['kept', windowNode('count', caseOf(guard.counted), [])],
      ['keptLarge', windowNode('sum', columnNode(alias, nameOf(guard, 'large')), [])],
    ],
    where,
  )
}

function levelOver(
  alias: string,
  { source, names }: Level,
  guards: readonly Guard[],
  added: (guard: Guard) => readonly (readonly [Column, Node])[],
  where?: Node,
): Level {
  const own = guards.flatMap((guard) =>
    added(guard).map(([column, node]) => targetNode(node, nameOf(guard, column))),
  )
  const select: SelectStmt = selectNode({
    targetList: [...names.map((name) => targetNode(columnNode(alias, name), name)), ...own],
    fromClause: [source],
    ...(where && { whereClause: where }),
  })
  const ownNames = guards.flatMap((guard) => added(guard).map(([column]) => nameOf(guard, column)))
  return { source: subqueryNode(select, alias), names: [...names, ...ownNames] }
}

/**
 * Whether a group shows.
 * @param isAlone whether the levels of {@link withFiltered} are there; else the rows that a group leaves out are all others
 */
export function showsGroup(guard: Guard, alias: string, isAlone: boolean): Node | undefined {
  const { counted, minGroupSize } = guard
  const at = (column: Column) => columnNode(alias, nameOf(guard, column))
  const filter = counted && { agg_filter: counted }
  const rows = callNode('count', [], { agg_star: true, ...filter })
  const large = callNode('sum', [at('large')], { ...filter })
  const distinctSum = (column: Column) => callNode('sum', [at(column)], { agg_distinct: true, ...filter })
  // Every part adds its mark once. It adds up to the rows only where all rows of each part are there.
  const whole = operatorNode(
    '-',
    distinctSum('mark'),
    operatorNode('*', distinctSum('part'), integerNode(markStep)),
  )
  const constant = (column: Column) => callNode('max', [at(column)])
  const noneOrMany = (all: Node, some: Node, allLarge: Node, someLarge: Node) =>
    anyOf([
      operatorNode('=', all, some),
      allOf([
        operatorNode('>=', operatorNode('-', all, some), integerNode(minGroupSize)),
        guard.subject && operatorNode('>', allLarge, someLarge),
      ]) ?? one,
    ])
  const [all, allLarge] = [constant('all'), constant('allLarge')]
  const [kept, keptLarge] = [constant('kept'), constant('keptLarge')]
  return allOf([
    operatorNode('>=', rows, integerNode(minGroupSize)),
    operatorNode('=', large, rows),
    operatorNode('=', whole, rows),
    ...(isAlone
      ? [noneOrMany(kept, rows, keptLarge, large), noneOrMany(all, kept, allLarge, keptLarge)]
      : [noneOrMany(all, rows, allLarge, large)]),
  ])
}

/** Under which a row's values may be aggregated; a group that shows has no other rows. */
export function readsSafely(guard: Guard, alias: string): Node | undefined {
  const at = (column: Column) => columnNode(alias, nameOf(guard, column))
  const fits = guard.added.map((value, index) =>
    callNode(ownFits, [value, at(`least${index}x`), at(`most${index}x`), at('all')]),
  )
  return allOf([isOne(at('large')), ...fits])
}

function isOne(flagged: Node): Node {
  return operatorNode('=', flagged, one)
}

/** A condition as 1 or NULL, to be counted. */
function caseOf(counted: Node | undefined): Node {
  return counted === undefined ? one : caseNode(counted, one)
}

/** A condition as 1 or 0, which is also the key of a part. */
export function flag(condition: Node | undefined): Node {
  return condition === undefined ? one : caseNode(condition, one, zero)
}
