/** Classifies the samples of a scan by column. A path inside JSON is judged like a column of that name. */

import type { Finding, SensitiveClass } from '../../core/classification.ts'
import type { ColumnFinding } from '../../store/detection/results.ts'
import { classifyColumn } from '../classify/classify.ts'
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
