/**
 * Finds the types of a relation's dimensions and metrics, without those that no longer compile, those that convert currencies
 * and those that read a table which nobody may read.
 */

import type { Governance } from '../core/governance.ts'
import { isReadable } from '../core/seen-table.ts'
import type { MetricRelation, Route, SemanticModel } from '../core/semantic-model.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { ResultColumn } from '../query/compile/compile.ts'
import { ratedMetrics } from '../query/compile/metrics/unconverted.ts'
import { compileRelation } from './check-expressions.ts'
import { tablesReadBy } from './describe-metric.ts'

interface RelationTypes {
  readonly dimensions: readonly NamedColumn[]
  readonly metrics: readonly NamedColumn[]
}

type NamedColumn = readonly [name: string, column: ResultColumn]

/** The columns of a relation in order. @param governances of every table that it leads to */
export function relationTypes(
  model: SemanticModel,
  governances: ReadonlyMap<string, Governance>,
  relation: MetricRelation,
): RelationTypes {
  const compile = (dimensions: readonly string[], metrics: readonly string[]) =>
    compileRelation(model, governances, relation, { dimensions, metrics }).columns
  const areReadable = (tables: readonly TableRef[]) =>
    tables.every((table) => isReadable(governances.get(tableKey(table))))
  const dimensions = [...relation.dimensions].filter(([, { route }]) => areReadable(tablesOn(route)))
  const metrics = [...relation.metrics].filter(
    ([name, metric]) =>
      // One that converts currencies is refused in SQL, and would have each of the others compiled by itself.
      ratedMetrics(model, [name]).size === 0 && areReadable(tablesReadBy(model, metric)),
  )
  return {
    dimensions: typesOf(
      dimensions.map(([name]) => name),
      (names) => compile(names, []),
    ),
    metrics: typesOf(
      metrics.map(([name]) => name),
      (names) => compile([], names),
    ),
  }
}

/** The tables over which a route leads. */
function tablesOn(route: Route): readonly TableRef[] {
  return [...(route.from ? tablesOn(route.from.route) : []), route.table.table]
}

/** All at once, and one by one only where one of them does not compile. */
function typesOf(
  names: readonly string[],
  compile: (names: readonly string[]) => readonly ResultColumn[],
): readonly NamedColumn[] {
  if (names.length === 0) return []
  try {
    const columns = compile(names)
    return names.flatMap((name, index) => {
      const column = columns[index]
      return column === undefined ? [] : [[name, column] as const]
    })
  } catch {
    return names.length === 1 ? [] : names.flatMap((name) => typesOf([name], compile))
  }
}
