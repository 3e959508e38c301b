/** What a steward declares of a column or a tag: what is done to its values before they are written. */

import type { TableRef } from './table-ref.ts'

/** A rule; `transform/plan.ts` says which combinations are carried out. */
export interface TransformRule {
  readonly action: 'mask' | 'redact' | 'tokenize' | 'encrypt'
  /** With `mask`. Absent: the strictest mask that applies to a reader without roles. */
  readonly mask?: string
  /** With `tokenize` and `encrypt`. */
  readonly method?: string
  /** Within it, equal values have equal tokens. Absent: the tag. */
  readonly scope?: string
  /** With FF1. */
  readonly alphabet?: string
  /** With `encrypt`: the column whose value names the subject under whose key a value is encrypted. */
  readonly subject_key_of?: string
  /** Within it, equal values are one subject. Absent: the name of the subject column. */
  readonly subject_kind?: string
}

export type TransformTarget = { readonly tag: string } | { readonly table: TableRef; readonly column: string }
