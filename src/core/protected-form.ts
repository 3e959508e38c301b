/** What values of a protected column look like in storage, so that detection can tell those that no writer protected. */

/** Plain data, because it is sent to the worker that scans. */
export interface ProtectedForm {
  readonly fieldId: number
  /** The source of a regular expression that every protected value matches. */
  readonly pattern: string
}
