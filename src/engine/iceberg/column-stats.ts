/** Reads the column statistics of data files from manifests. Bounds stay in single-value binary form. */

import type { AvroRecord } from '../../storage/avro.ts'
import { fieldNames } from '../../storage/avro-fields.ts'

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

/** The names under which a manifest's schema holds the statistics. */
export function statsNames(fileSchema: unknown): StatsNames {
  return fieldNames(fileSchema, statsFields)
}

/** The statistics of one data file; absent and malformed ones are left out. */
export function statsOf(file: AvroRecord, names: StatsNames): ColumnStats {
  return {
    valueCounts: numbered(file[names.value_counts], (value) => typeof value === 'bigint'),
    nullCounts: numbered(file[names.null_value_counts], (value) => typeof value === 'bigint'),
    lower: numbered(file[names.lower_bounds], (value) => value instanceof Uint8Array),
    upper: numbered(file[names.upper_bounds], (value) => value instanceof Uint8Array),
  }
}

/** Maps with keys other than strings are arrays of pairs in Avro (specification, Appendix A). */
function numbered<V>(pairs: unknown, isValue: (value: unknown) => boolean): ReadonlyMap<number, V> {
  const map = new Map<number, V>()
  if (!Array.isArray(pairs)) return map
  for (const pair of pairs as readonly { key?: unknown; value?: unknown }[])
    if (typeof pair?.key === 'number' && isValue(pair.value)) map.set(pair.key, pair.value as V)
  return map
}
