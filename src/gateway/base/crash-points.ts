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
  /** The upstream was asked, and its answer is lost; the table is not looked at yet. */
  'answer-lost',
  /** The upstream answered, or the table shows what it would have; nothing but the intent remembers that it was asked. */
  'commit-forwarded',
  'approval-recorded',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/** Told of each point as it is passed; does nothing outside of tests. */
export type PassCrashPoint = (point: CrashPoint) => void
