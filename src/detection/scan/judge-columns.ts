/**
 * Says what the values of a scan speak against, beside its findings: classes that a column's name says and its values do
 * not bear out, and classes of which a column holds a value or two, too few for a finding. It makes no finding.
 */

import type { FindingClass } from '../../core/classification.ts'
import type { JudgedColumn } from '../../store/detection/results.ts'
import { classesOfName, tracesOf } from '../classify/classify.ts'
import { customTraces, isNamedByCustom, type PlacedClassifier } from '../classify/classify-custom.ts'
import type { StepBudget } from '../classify/compile-classifier.ts'
import { normaliseCell } from '../classify/normalise-cell.ts'
import type { ColumnSamples, GatheredSample } from './column-samples.ts'

/** Columns and paths inside JSON whose names say nothing, of which this is told. */
const unnamedColumnsMax = 2_000

/**
 * The columns of which values were seen, and what is known of each that no finding says.
 * @param customsJudged whether every custom classifier judged every column
 * @param forTraces whether single values are looked for
 */
export function judgeColumns(
  samples: ColumnSamples,
  customs: readonly PlacedClassifier[],
  options: { readonly budget: StepBudget; readonly customsJudged: boolean; readonly forTraces: boolean },
): readonly JudgedColumn[] {
  const { budget, customsJudged, forTraces } = options
  let unnamedLeft = unnamedColumnsMax
  return samples.all().flatMap((sample): readonly JudgedColumn[] => {
    if (!sample.values.some((value) => normaliseCell(value) !== '')) return []
    const named: FindingClass[] = [
      ...classesOfName(sample.name),
      ...(customsJudged ? customs.flatMap((one) => isNamedByCustom(sample.name, one, budget) ?? []) : []),
    ]
    const traces = forTraces ? tracesIn(sample, customs, budget) : []
    if (named.length === 0 && traces.length === 0 && unnamedLeft-- <= 0) return []
    const { fieldId, columnName, name: path } = sample
    return [{ fieldId, columnName, path, named, traces }]
  })
}

function tracesIn(
  sample: GatheredSample,
  customs: readonly PlacedClassifier[],
  budget: StepBudget,
): readonly FindingClass[] {
  return [...tracesOf(sample.values), ...customs.flatMap((one) => customTraces(sample, one, budget) ?? [])]
}
