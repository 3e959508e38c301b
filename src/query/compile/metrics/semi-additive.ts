/**
 * Finds the first or last moment of each group, for metrics that do not add up over time: a window over the rows that
 * the statement's own WHERE keeps, by its own group keys.
 */

import type { Node, SelectStmt } from 'libpg-query'
import { type GovernedTable, isMasked } from '../../../core/governed-table.ts'
import type { SemiAdditivity } from '../../../core/metric.ts'
import { leavesOf, type MetricRelation, type SemanticModel } from '../../../core/semantic-model.ts'
import { type TableRef, tableKey } from '../../../core/table-ref.ts'
import { SqlError } from '../base/sql-error.ts'
import { columnNode, columnPath, selectNode, subqueryNode, targetNode, windowNode } from './nodes.ts'
import { ownMark } from './own-names.ts'

/** The column that holds the edge of a group. */
export function edgeName(index: number): string {
  return `${ownMark}e${index}`
}

/** The name of the case in answers. */
export const semiAdditiveReason = 'semi_additive'

/** The error where a metric would be added up over what it does not add up over. */
export function addsUpWrongly(message: string): SqlError {
  return new SqlError('0A000', message, undefined, { kind: 'unprocessable', reason: semiAdditiveReason })
}

/** A column that tells the moments of a metric apart. */
export interface MomentColumn {
  readonly table: TableRef
  readonly fieldId: number
  readonly dimension: string
}

/** The dimensions that say which rows of a metric, or of what it is made of, count. */
export function momentDimensions(model: SemanticModel, name: string): readonly string[] {
  return (leavesOf(model, name) ?? []).flatMap(({ definition: { computation } }) => {
    const semi = computation.kind === 'simple' ? computation.semiAdditive : undefined
    return semi === undefined ? [] : [semi.dimension, ...semi.over]
  })
}

/** The columns of the dimensions that say which rows of a metric count. */
export function momentColumns(
  { dimensions }: MetricRelation,
  semis: readonly SemiAdditivity[],
): readonly MomentColumn[] {
  return semis
    .flatMap(({ dimension, over }) => [dimension, ...over])
    .flatMap((name) => {
      const placed = dimensions.get(name)
      return Object.values(placed?.dimension.expression.names ?? {}).map((fieldId) => ({
        table: placed?.route.table.table ?? { namespace: [], name: '' },
        ...{ fieldId, dimension: name },
      }))
    })
}

/**
 * A mask makes different moments one, whose values would be added up.
 * @throws SqlError 0A000 where one applies to the reader
 */
export function assertMomentsShow(
  moments: readonly MomentColumn[],
  tables: readonly Pick<GovernedTable, 'ref' | 'columns'>[],
): void {
  const hidden = moments.find(({ table, fieldId }) =>
    tables
      .find(({ ref }) => tableKey(ref) === tableKey(table))
      ?.columns.some((column) => column.fieldId === fieldId && isMasked(column)),
  )
  if (hidden !== undefined)
    throw addsUpWrongly(
      `A mask hides \`${hidden.dimension}\` from you, over which the metric must not be added up.`,
    )
}

interface EdgeParts {
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
      throw addsUpWrongly('A grouping set of a metric that does not add up over time is not supported.')
    if ('A_Const' in key) return targets[(key.A_Const.ival?.ival ?? 0) - 1]?.val ?? key
    const [name = '', ...more] = columnPath(key) ?? []
    if (more.length > 0 || name === '' || dimensions.has(name)) return key
    return targets.find((target) => target?.name === name)?.val ?? key
  })
}
