/**
 * Keeps what was found about each place, so that a run that was ended goes on where it stopped. A place is forgotten
 * when its file changes.
 */

import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { idOf, type Place } from './choose-places.ts'
import type { Verdict } from './judge-place.ts'

export interface Results {
  /** What was found; undefined where the place is to be judged. A survivor is judged again: there may be a test now. */
  of(place: Place, source: string): Verdict | undefined
  add(place: Place, source: string, verdict: Verdict): void
}

/** @param isFresh whether what an earlier run found is thrown away */
export function openResults(path: string, isFresh: boolean): Results {
  if (isFresh) rmSync(path, { force: true })
  mkdirSync(dirname(path), { recursive: true })
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  // The last line may be half, because the run was killed.
  const known = new Map(lines.flatMap((line) => readLine(line)))
  const keyOf = (place: Place, source: string) => `${idOf(place)}@${Bun.hash(source).toString(16)}`
  return {
    of(place, source) {
      const verdict = known.get(keyOf(place, source))
      return verdict === 'survived' ? undefined : verdict
    },
    add: (place, source, verdict) =>
      appendFileSync(path, `${JSON.stringify([keyOf(place, source), verdict])}\n`),
  }
}

function readLine(line: string): readonly (readonly [string, Verdict])[] {
  try {
    const [key, verdict] = JSON.parse(line) as [string, Verdict]
    return [[key, verdict]]
  } catch {
    return []
  }
}
