/** A column whose protected values a reader sees in clear, and what they were protected by. */

import type { TableRef } from './table-ref.ts'

export const revealMethods = ['siv', 'gcm', 'ff1'] as const
type RevealMethod = (typeof revealMethods)[number]

/** What a reveal rule opens. It is copied from the rule of the column when the reveal rule is saved. */
interface RevealedValues {
  readonly method: RevealMethod
  readonly scope: string
  /** With FF1. */
  readonly alphabet?: string
  /** With FF1: the key of every value, because its tokens do not name one. */
  readonly kid?: string
}

/** A reveal rule as a steward declares it. */
export interface RevealRule extends RevealedValues {
  /** A principal with one of them reads the values. */
  readonly roles: readonly string[]
}

/** A column as one principal may read it in clear. */
export interface Reveal extends RevealedValues {
  readonly table: TableRef
  readonly column: string
  readonly type: 'string' | 'binary'
  /** The version that the scope has now: no value names a later key. */
  readonly version: number
}
