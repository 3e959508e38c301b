/**
 * Every place between two effects of the commit pipeline, in order. The process may die at any of them;
 * recovery must leave the audit true after each. Tests kill it at every one.
 */

export const crashPoints = [
  /** Nothing is durable yet. */
  'intent-not-opened',
  /** The intent is durable; the verdict may still be out. */
  'intent-opened',
  /** Denied; nothing says so yet. */
  'rejection-not-recorded',
  'rejection-recorded',
  /** Allowed, the intent names the right base, and the upstream has seen nothing. */
  'commit-not-forwarded',
  /** The upstream was asked and its answer is lost; nobody has looked at the table yet. */
  'answer-lost',
  /** The upstream answered, or the table shows that the commit was made; only the intent is on record. */
  'commit-forwarded',
  'approval-recorded',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/** Called at each point; does nothing outside of tests. */
export type PassCrashPoint = (point: CrashPoint) => void
