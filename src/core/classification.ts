/** The input of a classifier, samples of a column, and its output, findings (docs/reference/detection.md 4.1). */

export const classes = ['us_ssn', 'email', 'credit_card', 'phone', 'iban'] as const
export type SensitiveClass = (typeof classes)[number]

/** Values of one column, nested ones under their dotted path. */
export interface ColumnSample {
  /** Dotted path. */
  readonly name: string
  /** Sampled, non-null, as text. */
  readonly values: readonly string[]
  readonly sampledCount: number
}

export interface Finding {
  readonly column: string
  readonly class: SensitiveClass
  readonly shape: 'name' | 'value' | 'name_and_value'
  /** docs/reference/detection.md 4.1: name alone 0.65, values alone 0.55, both 0.92. */
  readonly confidence: 0.65 | 0.55 | 0.92
  readonly matched: number
  readonly sampled: number
  /** Never the value itself. */
  readonly maskedSample: string | undefined
}
