/** A first classifier: emails and US social security numbers by pattern, and their plainest column names. */

import type { ColumnSample, Finding, SensitiveClass } from '../../core/classification.ts'

const patterns: readonly { class: SensitiveClass; value: RegExp; name: RegExp }[] = [
  { class: 'email', value: /^[^\s@]+@[^\s@]+\.[a-z]{2,}$/i, name: /e-?mail/i },
  { class: 'us_ssn', value: /^(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}$/, name: /ssn|social_security/i },
]
const hitRateMin = 0.5

/** What a column's name and sampled values show (SPEC 2.9). */
export function classifyColumn(sample: ColumnSample): readonly Finding[] {
  return patterns.flatMap(({ class: found, value, name }) => {
    const hits = sample.values.filter((one) => value.test(one))
    const byName = name.test(sample.name.slice(sample.name.lastIndexOf('.') + 1))
    const byValue = hits.length > 0 && hits.length / sample.values.length >= hitRateMin
    if (!byName && !byValue) return []
    const shape = byName && byValue ? 'name_and_value' : byName ? 'name' : 'value'
    const confidence = shape === 'name_and_value' ? 0.92 : shape === 'name' ? 0.65 : 0.55
    const maskedSample = byValue ? hits[0]?.replace(/[A-Za-z0-9]/g, '*') : undefined
    return [
      {
        column: sample.name,
        class: found,
        shape,
        confidence,
        matched: hits.length,
        sampled: sample.sampledCount,
        maskedSample,
      },
    ]
  })
}
