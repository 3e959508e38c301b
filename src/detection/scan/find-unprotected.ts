/**
 * Finds values in protected columns that no writer protected: they do not look as the table's rules make them. One
 * finding a column, without any part of a value.
 */

import type { ProtectedForm } from '../../core/protected-form.ts'
import type { ColumnFinding } from '../../store/detection/results.ts'
import type { GatheredSample } from './column-samples.ts'

/** The findings of the columns that have a form. A column with keys inside JSON documents is one column. */
export function findUnprotected(
  samples: readonly GatheredSample[],
  forms: readonly ProtectedForm[],
): readonly ColumnFinding[] {
  return forms.flatMap(({ fieldId, pattern }): ColumnFinding[] => {
    const form = new RegExp(pattern, 'su')
    const own = samples.filter((sample) => sample.fieldId === BigInt(fieldId))
    const values = own.flatMap((sample) => sample.values)
    const matched = values.filter((value) => !form.test(value)).length
    const columnName = own[0]?.columnName
    if (matched === 0 || columnName === undefined) return []
    return [
      {
        finding: {
          ...{ column: columnName, class: 'unprotected', shape: 'value', confidence: 0.92 },
          ...{ matched, sampled: values.length, maskedSample: undefined },
        },
        fieldId: BigInt(fieldId),
        columnName,
      },
    ]
  })
}
