/**
 * Classifies the samples of a scan by column, by the built-in classes and the tenant's classifiers. A path inside JSON is
 * judged like a column of that name.
 */

import type { Finding, SensitiveClass } from '../../core/classification.ts'
import type { ActiveClassifier } from '../../core/classifier.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { ColumnFinding } from '../../store/detection/results.ts'
import { classifyColumn } from '../classify/classify.ts'
import { classifyByCustom, type PlacedClassifier } from '../classify/classify-custom.ts'
import { compileClassifier, StepBudget } from '../classify/compile-classifier.ts'
import type { ColumnSamples } from './column-samples.ts'

/** The findings of all columns and of the paths inside their JSON. */
export function classifySamples(
  samples: ColumnSamples,
): readonly (ColumnFinding & { readonly finding: Finding<SensitiveClass> })[] {
  return samples
    .all()
    .flatMap(({ fieldId, columnName, ...sample }) =>
      classifyColumn(sample).map((finding) => ({ finding, fieldId, columnName })),
    )
}

/**
 * The findings of custom classifiers.
 * @param table whose allow-lists hold; undefined where it is not known, so that none holds
 * @param stepsMax what the patterns may cost in all; columns beyond it are not judged, and counted
 */
export function classifyByCustoms(
  samples: ColumnSamples,
  classifiers: readonly ActiveClassifier[],
  table: TableRef | undefined,
  stepsMax: number,
): { readonly findings: readonly ColumnFinding[]; readonly unjudged: number } {
  const placed = classifiers.map((one) => placeClassifier(one, table))
  const budget = new StepBudget(stepsMax)
  const findings: ColumnFinding[] = []
  let unjudged = 0
  for (const { fieldId, columnName, ...sample } of samples.all())
    for (const one of placed) {
      const finding = budget.isSpent ? undefined : classifyByCustom(sample, one, budget)
      if (budget.isSpent) unjudged++
      else if (finding !== undefined) findings.push({ finding, fieldId, columnName })
    }
  return { findings, unjudged }
}

/** Compiles a classifier with what it says nothing about in a table. */
export function placeClassifier(one: ActiveClassifier, table: TableRef | undefined): PlacedClassifier {
  const key = table && tableKey(table)
  const allow = (one.definition.allow ?? []).filter((allowance) => tableKey(allowance.table) === key)
  return { classifier: compileClassifier(one), allow }
}
