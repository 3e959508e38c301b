/** Finds the types of a relation's dimensions and metrics, without those that no longer compile. */

import type { Governance } from '../core/governance.ts'
import type { MetricRelation, SemanticModel } from '../core/semantic-model.ts'
import type { ResultColumn } from '../query/compile/compile.ts'
import { compileRelation } from './check-expressions.ts'

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
  return {
    dimensions: typesOf([...relation.dimensions.keys()], (names) => compile(names, [])),
    metrics: typesOf([...relation.metrics.keys()], (names) => compile([], names)),
  }
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
