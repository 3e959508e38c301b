/**
 * Remembers in which state things were when they were last looked at, so that a round looks at what has changed. A thing
 * is looked at again after a while all the same, because what stands for its state may miss a change.
 */

export interface LastLooks<K> {
  /** Whether the thing was not looked at in this state, or long ago. An undefined state is always due. */
  isDue(key: K, state: string | undefined): boolean
  /** The thing was looked at, and nothing remains to be done in this state. */
  note(key: K, state: string | undefined): void
  /** Forgets all things but these. */
  keepOnly(keys: ReadonlySet<K>): void
}

interface Look {
  readonly state: string
  readonly atMs: number
}

/** Milliseconds. */
const lookAgainMs = 60 * 60_000

/** @param againMs a thing is due after this time, whatever its state @param nowMs a clock that never goes back */
export function rememberLooks<K>(
  againMs = lookAgainMs,
  nowMs: () => number = () => performance.now(),
): LastLooks<K> {
  const looks = new Map<K, Look>()
  return {
    isDue(key, state) {
      const last = looks.get(key)
      return state === undefined || last?.state !== state || nowMs() - last.atMs >= againMs
    },
    note(key, state) {
      if (state === undefined) looks.delete(key)
      else looks.set(key, { state, atMs: nowMs() })
    },
    keepOnly(keys) {
      for (const key of looks.keys()) if (!keys.has(key)) looks.delete(key)
    },
  }
}
