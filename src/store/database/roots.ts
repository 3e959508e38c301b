/** The roots from which secrets of sessions, signatures and proofs of plans are derived, as a process holds them. */

/** What is derived from stays the same where the secrets key turns. Those of plans turn by themselves (keys/plan-roots.ts). */
export interface Roots {
  readonly sessions: Uint8Array
  plans: Uint8Array
  /** Beside the present one while they turn: from when on it makes what is new. */
  nextPlans?: { readonly root: Uint8Array; readonly makesFromMs: number } | undefined
}
