/**
 * Custom classifiers: what a tenant looks for in its columns besides the built-in classes (docs/reference/detection.md
 * 4.5). Members have the names of the API, because definitions are stored in its form.
 */

import { findingClasses } from './classification.ts'
import type { TableRef } from './table-ref.ts'

/**
 * Checks of a value, a closed list. Each reads the letters and digits of the value, without separators, in upper case.
 * A check with n weights reads the first n of them, `mod11_digit` also the one behind.
 */
export const classifierCheckKinds = [
  'luhn',
  'mod97',
  'mod97_10',
  'mod10',
  'mod11',
  'mod11_digit',
  'mod11_10',
  'verhoeff',
  'letter',
  'codice_fiscale',
  'nir',
  'tckn',
  'nino',
  'not_repeated',
] as const
export type ClassifierCheckKind = (typeof classifierCheckKinds)[number]

/** What `mod11_digit` writes for ten. */
export const tenDigits = ['zero', 'x', 'none'] as const

export interface ClassifierCheck {
  readonly kind: ClassifierCheckKind
  /** With `mod10`, `mod11` and `mod11_digit`: one for each digit. */
  readonly weights?: readonly number[] | undefined
  /** With `mod11_digit`. */
  readonly ten?: (typeof tenDigits)[number] | undefined
  /** With `letter`: the letter at the end is the one at the remainder of the number by the length. */
  readonly alphabet?: string | undefined
}

interface ClassifierValue {
  /** RE2. The whole value must match. */
  readonly pattern: string
  /** All must pass. */
  readonly checks?: readonly ClassifierCheck[] | undefined
}

/** Where a classifier says nothing: in the columns of a table, or about these values there. */
export interface ClassifierAllowance {
  readonly table: TableRef
  /** Dotted paths. Absent: all columns. */
  readonly columns?: readonly string[] | undefined
  /** Absent: all values, and the name. */
  readonly values?: readonly string[] | undefined
}

export interface ClassifierThresholds {
  /** Share of the values that are not blank which must be valid. */
  readonly share?: number | undefined
  /** Valid values without which a column is not found unless its name matches. */
  readonly matches?: number | undefined
  /** Share of the values that match a pattern which must pass its checks. */
  readonly valid_share?: number | undefined
}

export interface ClassifierDefinition {
  readonly description?: string | undefined
  /** RE2, searched in the column's path and in its words joined by `_`, in lower case. */
  readonly names?: readonly string[] | undefined
  readonly values?: readonly ClassifierValue[] | undefined
  /** Whether values are also looked for inside text. */
  readonly in_text?: boolean | undefined
  readonly thresholds?: ClassifierThresholds | undefined
  readonly allow?: readonly ClassifierAllowance[] | undefined
}

export const classifierLimits = {
  /** Classifiers of a tenant. */
  countMax: 50,
  /** Characters and RE2 instructions of one pattern. */
  patternCharsMax: 500,
  instructionsMax: 500,
  /** Steps (characters times instructions) of all classifiers in one scan: some 20 seconds of a worker. */
  scanStepsMax: 4_000_000_000,
  /** The same for one trial, which runs beside requests: some 10 ms. */
  trialStepsMax: 2_000_000,
} as const

export const defaultThresholds = { share: 0.3, matches: 3, valid_share: 0.8 } as const

/** A classifier as a scan uses it. */
export interface ActiveClassifier {
  readonly name: string
  readonly definition: ClassifierDefinition
}

/** A `draft` does not count in scans. */
export const classifierStates = ['draft', 'active'] as const

/** The pattern of names. It is the class of the findings, so the built-in classes are no names. */
export const classifierNamePattern = '^[a-z][a-z0-9_]{0,62}$'

/** Whether a class of findings is the service's own, and so no name of a classifier. */
export function isBuiltInClass(name: string): boolean {
  return (findingClasses as readonly string[]).includes(name)
}
