/**
 * Finds the first or last moment of each group, for metrics that do not add up over time: a window over the rows that
 * the statement's own WHERE keeps, by its own group keys.
 */

import type { Node, SelectStmt } from 'libpg-query'
import type { SemiAdditivity } from '../../core/metric.ts'
import type { MetricRelation } from '../../core/semantic-model.ts'
import { notSupported } from '../sql-error.ts'
import { columnNode, columnPath, selectNode, subqueryNode, targetNode, windowNode } from './nodes.ts'
import { ownMark } from './own-names.ts'

/** The column that holds the edge of a group. */
export function edgeName(index: number): string {
  return `${ownMark}e${index}`
}

export interface EdgeParts {
  readonly relation: MetricRelation
  readonly alias: string
  /** The relation's subquery, and the names of its columns. */
  readonly source: Node
  readonly names: readonly string[]
  readonly semis: readonly SemiAdditivity[]
}

/** The SELECT over rows that know the edges of their groups. */
export function withEdges(
  select: SelectStmt,
  { relation, alias, source, names, semis }: EdgeParts,
): SelectStmt {
  const { whereClause, ...above } = select
  const keys = groupKeys(select, relation)
  const column = (name: string) => columnNode(alias, name)
  const edges = semis.map(({ dimension, take, over }, index) =>
    targetNode(
      windowNode(take === 'first' ? 'min' : 'max', column(dimension), [...keys, ...over.map(column)]),
      edgeName(index),
    ),
  )
  const inner = selectNode({
    targetList: [...names.map((name) => targetNode(column(name), name)), ...edges],
    fromClause: [source],
    ...(whereClause && { whereClause }),
  })
  return { ...above, fromClause: [subqueryNode(inner, alias)] }
}

/** The group keys of a SELECT, ordinals and names of results resolved. @throws SqlError 0A000 for grouping sets */
function groupKeys(
  { groupClause = [], targetList = [] }: SelectStmt,
  { dimensions }: MetricRelation,
): readonly Node[] {
  const targets = targetList.map((target) => ('ResTarget' in target ? target.ResTarget : undefined))
  return groupClause.map((key) => {
    if ('GroupingSet' in key || 'RowExpr' in key)
      throw notSupported('A grouping set of a metric that does not add up over time')
    if ('A_Const' in key) return targets[(key.A_Const.ival?.ival ?? 0) - 1]?.val ?? key
    const [name = '', ...more] = columnPath(key) ?? []
    if (more.length > 0 || name === '' || dimensions.has(name)) return key
    return targets.find((target) => target?.name === name)?.val ?? key
  })
}
