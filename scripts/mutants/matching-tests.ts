/**
 * Chooses the tests that judge the faults of one source file: the nearest first, as many as fit into a bound of
 * seconds. Runs nothing.
 */

import { dirname } from 'node:path'
import { type Importers, isTest, stepsTo } from '../reach/import-graph.ts'

/** Milliseconds of a test file whose time is not known. */
const unknownMs = 3_000
/** They look at files, and would take any change for a mistake or none. */
const judgesText = /^test\/(?:tidy|docs|scripts)\b/

export interface Matching {
  readonly path: string
  readonly ms: number
}

/** @param words of what the file decides, which the paths of its tests may hold */
export function matchingTests(
  source: string,
  words: readonly string[],
  importers: Importers,
  timings: ReadonlyMap<string, number>,
  secondsMax: number,
): readonly Matching[] {
  const mirrored = source.replace(/^src\//, 'test/').replace(/\.ts$/, '')
  const folder = dirname(mirrored)
  const ranked = [...stepsTo(importers, [source])]
    .filter(([path]) => isTest(path) && !judgesText.test(path))
    .map(([path, steps]) => {
      const ms = timings.get(path) ?? unknownMs
      const isOwn = path.startsWith(`${mirrored}.`)
      const isBeside = folder !== 'test' && path.startsWith(`${folder}/`)
      const isLong = path.includes('.soak.')
      const isNamed = words.some((word) => path.includes(word))
      return {
        path,
        ms,
        far:
          steps + ms / 5_000 - (isOwn ? 100 : 0) - (isBeside ? 3 : 0) - (isNamed ? 3 : 0) + (isLong ? 3 : 0),
      }
    })
    .sort((a, b) => a.far - b.far || (a.path < b.path ? -1 : 1))
  let left = secondsMax * 1_000
  return ranked.filter(({ ms }) => {
    if (ms > left) return false
    left -= ms
    return true
  })
}
