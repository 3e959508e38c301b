/** Reads the column statistics of a manifest's entries. Bounds stay in single-value binary form. */

import type { AvroRecord } from '../avro.ts'
import { ReadFailure } from '../read-failure.ts'
import { fieldNames } from './avro-fields.ts'
import { count } from './manifest-list.ts'

export interface ColumnStats {
  readonly valueCounts: ReadonlyMap<number, bigint>
  readonly nullCounts: ReadonlyMap<number, bigint>
  readonly lower: ReadonlyMap<number, Uint8Array>
  readonly upper: ReadonlyMap<number, Uint8Array>
}

const statsFields = {
  value_counts: 109,
  null_value_counts: 110,
  lower_bounds: 125,
  upper_bounds: 128,
} as const

export type StatsNames = Readonly<Record<keyof typeof statsFields, string>>

/** An entry of a manifest, as far as its statistics are concerned. */
export interface CountedEntry {
  readonly file: AvroRecord
  readonly names: { readonly stats: StatsNames }
  readonly recordCount: number
}

/** The names under which a manifest's schema holds the statistics. */
export function statsNames(fileSchema: unknown): StatsNames {
  return fieldNames(fileSchema, statsFields)
}

/** For skipping files: absent and malformed statistics are left out, so that the file is kept. */
export function statsOf({ file, names: { stats } }: CountedEntry): ColumnStats {
  return {
    valueCounts: numbered(file[stats.value_counts], (value) => typeof value === 'bigint'),
    nullCounts: numbered(file[stats.null_value_counts], (value) => typeof value === 'bigint'),
    lower: numbered(file[stats.lower_bounds], (value) => value instanceof Uint8Array),
    upper: numbered(file[stats.upper_bounds], (value) => value instanceof Uint8Array),
  }
}

function numbered<V>(pairs: unknown, isValue: (value: unknown) => boolean): ReadonlyMap<number, V> {
  const map = new Map<number, V>()
  if (!Array.isArray(pairs)) return map
  for (const pair of pairs as readonly Pair[])
    if (typeof pair?.key === 'number' && isValue(pair.value)) map.set(pair.key, pair.value as V)
  return map
}

/** Maps with keys other than strings are arrays of pairs in Avro (specification, Appendix A). */
type Pair = { readonly key?: unknown; readonly value?: unknown } | null

/**
 * Nulls by field id. Only what lies in a list or map may have more values than the file has rows, and none without rows.
 * @throws ReadFailure where they are malformed, or more than the values
 */
export function nullCountsOf({
  file,
  names: { stats },
  recordCount,
}: CountedEntry): ReadonlyMap<number, number> {
  const found = countsByField(file[stats.null_value_counts])
  for (const [id, sum] of found) {
    if (sum <= recordCount) continue
    if (recordCount === 0 || sum > (countsByField(file[stats.value_counts]).get(id) ?? recordCount))
      throw new ReadFailure('a manifest counts more nulls than the file has values')
  }
  return found
}

function countsByField(pairs: unknown): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const [id, value] of strictPairs(pairs, 'counts')) counts.set(id, count(value))
  return counts
}

/**
 * All least and greatest values with their field ids, also where a field has several.
 * @throws ReadFailure where they are malformed
 */
export function* boundsOf({
  file,
  names: { stats },
}: CountedEntry): Generator<readonly [number, Uint8Array]> {
  for (const name of [stats.lower_bounds, stats.upper_bounds])
    for (const [id, bound] of strictPairs(file[name], 'bounds')) {
      if (!(bound instanceof Uint8Array)) throw malformed('bounds')
      yield [id, bound]
    }
}

function* strictPairs(pairs: unknown, what: 'counts' | 'bounds'): Generator<readonly [number, unknown]> {
  if (pairs === null || pairs === undefined) return
  if (!Array.isArray(pairs)) throw malformed(what)
  for (const pair of pairs as readonly Pair[]) {
    if (typeof pair?.key !== 'number') throw malformed(what)
    yield [pair.key, pair.value]
  }
}

const malformed = (what: 'counts' | 'bounds') =>
  new ReadFailure(`the ${what} of a manifest entry are malformed`)
