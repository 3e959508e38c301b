/**
 * Writes the subquery of a metric relation: the table, joined to the tables that its dimensions are in, with one column
 * for each dimension and each input of a metric. Joins go from many rows to one and keep every row of the table.
 */

import type { Node, SelectStmt } from 'libpg-query'
import { metricsSuffix } from '../../../core/metric.ts'
import type { MetricRelation, Route } from '../../../core/semantic-model.ts'
import type { TableRef } from '../../../core/table-ref.ts'
import { SqlError } from '../base/sql-error.ts'
import { boundNode, inputName, type MeasureInput } from './measure.ts'
import {
  allOf,
  callNode,
  columnNode,
  existsNode,
  integerNode,
  isGiven,
  leftJoinNode,
  notNode,
  operatorNode,
  selectNode,
  tableNode,
  targetNode,
} from './nodes.ts'
import { ownColumn, ownMark } from './own-names.ts'

export interface RelationParts {
  readonly relation: MetricRelation
  /** Names of the dimensions to bring. */
  readonly dimensions: Iterable<string>
  readonly inputs: Iterable<MeasureInput>
  /** A new alias. */
  readonly newAlias: () => string
}

interface RelationSubquery {
  readonly select: SelectStmt
  /** Of its columns. */
  readonly names: readonly string[]
}

/** @throws SqlError 42703 for a dimension that the relation does not have */
export function relationSubquery({ relation, inputs, newAlias, ...parts }: RelationParts): RelationSubquery {
  const dimensions = [...parts.dimensions]
  const aliases = new Map<string, string>([['', newAlias()]])
  let from = tableAt(relation.table.table, aliases.get('') ?? '')
  for (const route of routesOf(relation, dimensions)) {
    const alias = newAlias()
    aliases.set(route.path, alias)
    from = leftJoinNode(from, tableAt(route.table.table, alias), joinCondition(route, aliases, alias))
  }
  const dimensionTargets = dimensions.map((name) => {
    const { route, dimension } = placedDimension(relation, name)
    const alias = aliases.get(route.path) ?? ''
    return targetNode(
      boundNode(dimension.expression, (fieldId) => columnNode(alias, ownColumn(fieldId))),
      name,
    )
  })
  const own = aliases.get('') ?? ''
  const given = [...inputs]
  const inputTargets = given.map(({ fieldId, raw }) =>
    targetNode(columnNode(own, ownColumn(fieldId, raw)), inputName(fieldId, raw)),
  )
  const targetList = [...dimensionTargets, ...inputTargets]
  return {
    // A count of rows needs no column.
    select: selectNode({
      targetList: targetList.length > 0 ? targetList : [targetNode(integerNode(1), `${ownMark}one`)],
      fromClause: [from],
    }),
    names: [...dimensions, ...given.map(({ fieldId, raw }) => inputName(fieldId, raw))],
  }
}

/**
 * The condition under which no row is counted twice: the declared keys of the joined tables are keys of the rows that
 * the reader sees.
 * @returns undefined where nothing is joined
 */
export function keysHold({
  relation,
  dimensions,
  newAlias,
}: Omit<RelationParts, 'inputs'>): Node | undefined {
  return allOf(
    routesOf(relation, [...dimensions]).map(({ table, from }) => {
      const alias = newAlias()
      const keys = (from?.relationship.key ?? []).map((fieldId) => columnNode(alias, ownColumn(fieldId)))
      const given = allOf(keys.map(isGiven))
      const duplicates = selectNode({
        targetList: [targetNode(integerNode(1), 'one')],
        fromClause: [tableAt(table.table, alias)],
        ...(given && { whereClause: given }),
        groupClause: keys,
        havingClause: operatorNode('>', callNode('count', [], { agg_star: true }), integerNode(1)),
      })
      return notNode(existsNode(duplicates))
    }),
  )
}

/** The routes that dimensions need, each after the one that it begins from; without the table itself. */
function routesOf(relation: MetricRelation, dimensions: readonly string[]): readonly Route[] {
  const found = new Map<string, Route>()
  const add = (route: Route) => {
    if (route.from === undefined) return
    add(route.from.route)
    found.set(route.path, route)
  }
  for (const name of dimensions) add(placedDimension(relation, name).route)
  return [...found.values()]
}

function placedDimension({ dimensions, table }: MetricRelation, name: string) {
  const placed = dimensions.get(name)
  if (placed === undefined)
    throw new SqlError('42703', `there is no dimension "${name}" in ${table.table.name}${metricsSuffix}`)
  return placed
}

function tableAt({ namespace, name }: TableRef, alias: string): Node {
  return tableNode(namespace.join('.'), name, alias)
}

function joinCondition({ from }: Route, aliases: ReadonlyMap<string, string>, alias: string): Node {
  const { columns = [], key = [] } = from?.relationship ?? {}
  const equal = columns.map((fieldId, index) =>
    operatorNode(
      '=',
      columnNode(aliases.get(from?.route.path ?? '') ?? '', ownColumn(fieldId)),
      columnNode(alias, ownColumn(key[index] ?? -1)),
    ),
  )
  const condition = allOf(equal)
  if (condition === undefined) throw new SqlError('XX000', 'The statement could not be compiled.')
  return condition
}
