/** The input of a classifier, samples of a column, and its output, findings (docs/reference/detection.md 4.1). */

export const classes = ['us_ssn', 'email', 'credit_card', 'phone', 'iban'] as const
export type SensitiveClass = (typeof classes)[number]
/** `unprotected`: values in a protected column that no writer protected. */
export const findingClasses = [...classes, 'unprotected'] as const
/** A built-in class, or the name of one of the tenant's classifiers (core/classifier.ts). */
export type FindingClass = (typeof findingClasses)[number] | CustomClass
declare const customClass: unique symbol
export type CustomClass = string & { readonly [customClass]: true }

/** Values of one column, nested ones under their dotted path. */
export interface ColumnSample {
  /** Dotted path. */
  readonly name: string
  /** Sampled, non-null, as text. */
  readonly values: readonly string[]
  readonly sampledCount: number
}

export const findingShapes = [
  'name',
  'value',
  'name_and_value',
  'value_in_text',
  'name_and_value_in_text',
] as const
type FindingShape = (typeof findingShapes)[number]

/** Every confidence that a finding may have. */
export const confidences = [0.55, 0.6, 0.65, 0.86, 0.88, 0.92] as const

export interface Finding<Class extends FindingClass = FindingClass> {
  readonly column: string
  readonly class: Class
  readonly shape: FindingShape
  /**
   * docs/reference/detection.md 4.1: name alone 0.65, values alone 0.55, both and `unprotected` 0.92; values inside text
   * 0.60, in half of the texts 0.86, with the name 0.88.
   */
  readonly confidence: (typeof confidences)[number]
  readonly matched: number
  readonly sampled: number
  /** Never the value itself. */
  readonly maskedSample: string | undefined
}
