/** A table's territory: the places in storage that its files may lie in. Storage judges paths by it. */

export interface Territory {
  /** `observe` lists what lies outside, `enforce` refuses it. */
  readonly mode: 'observe' | 'enforce'
  /** Changes with each change of the prefixes or of what the mode means; part of every cached verdict's key. */
  readonly version: string
  /** Canonical prefixes with a trailing slash: every location that the table has or had, and what was granted to it. */
  readonly prefixes: readonly string[]
}

/**
 * Whether a read that was opened within one territory may go on within another. What was opened while outside files
 * were only listed may have opened such a file.
 */
export function mayStillRead(before: Territory, now: Territory): boolean {
  if (now.mode === 'observe') return true
  return before.mode === 'enforce' && before.prefixes.every((prefix) => now.prefixes.includes(prefix))
}
