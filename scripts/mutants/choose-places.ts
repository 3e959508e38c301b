/** Chooses which faults to make: an equal share of each area, by chance that a seed decides. Reads no file. */

import type { Fault } from './faults.ts'

export interface Place extends Fault {
  readonly area: string
  readonly file: string
}

/**
 * Takes one place of each area in turn until there are enough. A seed gives the same places as long as the files are
 * the same, and a larger count only adds to them.
 */
export function choosePlaces(
  areas: readonly { readonly name: string; readonly places: readonly Place[] }[],
  seed: number,
  count: number,
): readonly Place[] {
  const shuffled = areas.map(({ places }) => {
    const drawn = places.map((place) => ({ place, draw: Bun.hash(JSON.stringify([seed, idOf(place)])) }))
    return drawn.sort((a, b) => (a.draw < b.draw ? -1 : 1)).map(({ place }) => place)
  })
  const longest = Math.max(0, ...shuffled.map(({ length }) => length))
  const turns = Array.from({ length: longest }, (_, turn) => shuffled.flatMap((places) => places[turn] ?? []))
  return turns.flat().slice(0, count)
}

/** Tells places of one state of the files apart. */
export function idOf({ file, start, end, text }: Place): string {
  return `${file}:${start}-${end}:${text}`
}
