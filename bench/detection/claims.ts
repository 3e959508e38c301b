/** Scans a labelled column: samples its values as those of a file, opens JSON, and judges each path. */

import type { Finding, SensitiveClass } from '../../src/core/classification.ts'
import { classifySamples } from '../../src/detection/scan/classify-samples.ts'
import { ColumnSamples } from '../../src/detection/scan/column-samples.ts'
import { limits } from '../../src/limits.ts'
import type { LabelledColumn } from './labelled-tables.ts'

/** The claims about a column and the paths inside it, the most confident first. */
export function claimsOf({
  name,
  values,
}: Pick<LabelledColumn, 'name' | 'values'>): readonly Finding<SensitiveClass>[] {
  const samples = new ColumnSamples(limits.detectionValuesMax)
  samples.add(name, undefined, values)
  return classifySamples(samples)
    .map(({ finding }) => finding)
    .toSorted((one, other) => other.confidence - one.confidence)
}
