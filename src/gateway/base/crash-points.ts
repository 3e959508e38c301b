/**
 * Lists every point between two effects of the commit pipeline, in order. The process may die at any of them, and
 * recovery must then leave the audit true. Tests kill the process at each.
 */

export const crashPoints = [
  /** Nothing is durable yet. */
  'intent-not-opened',
  /** The intent is durable; the verdict may still be out. */
  'intent-opened',
  /** Denied; the denial is not audited yet. */
  'rejection-not-recorded',
  'rejection-recorded',
  /** Allowed, the intent names the right base, and the upstream has seen nothing. */
  'commit-not-forwarded',
  /** The upstream's reply is lost, and the table has not been checked yet. */
  'answer-lost',
  /** The upstream accepted, or the table shows the commit; only the intent is durable. */
  'commit-forwarded',
  /** The accepted change is in the journal, and not audited yet. */
  'commit-journaled',
  'approval-recorded',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/** Called at each point; does nothing outside of tests. */
export type PassCrashPoint = (point: CrashPoint) => void
