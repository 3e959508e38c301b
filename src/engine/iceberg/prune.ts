/** Skips data files whose partition values or column bounds rule out every useful row. In doubt it keeps the file. */

import { filterInTurns } from '../../base/in-turns.ts'
import type { ColumnRange, RangeBound } from '../../core/column-range.ts'
import type { FileEntry } from '../../storage/iceberg/files.ts'
import type { SnapshotPlan } from './snapshot-plan.ts'

/** The data files that may hold rows within all ranges. */
export async function prunedFiles(
  plan: SnapshotPlan,
  ranges: readonly ColumnRange[],
  signal: AbortSignal,
): Promise<readonly FileEntry[]> {
  if (ranges.length === 0) return plan.dataFiles
  return await filterInTurns(plan.dataFiles, signal, (file) =>
    ranges.every((range) => mayHold(plan, file, range)),
  )
}

/** Whether a file may hold a row whose value of one column is within a range. NULL is outside. */
export function mayHold(plan: SnapshotPlan, file: FileEntry, range: ColumnRange): boolean {
  return partitionMayHold(plan, file, range) && boundsMayHold(plan, file, range)
}

function partitionMayHold({ specs }: SnapshotPlan, file: FileEntry, range: ColumnRange): boolean {
  for (const { id, sourceId, transform } of specs.get(file.specId) ?? []) {
    if (sourceId !== range.fieldId || transform !== 'identity' || !file.partition.has(id)) continue
    const value = file.partition.get(id) ?? null
    if (value === null) return false
    const bound = typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : (value as RangeBound)
    if (isBelow(bound, range.lower) || isAbove(bound, range.upper)) return false
  }
  return true
}

function boundsMayHold({ fields }: SnapshotPlan, { stats }: FileEntry, range: ColumnRange): boolean {
  const { fieldId } = range
  const values = stats.valueCounts.get(fieldId)
  if (values !== undefined && values > 0n && stats.nullCounts.get(fieldId) === values) return false
  const type = fields.get(fieldId)?.type
  const [least, greatest] = [stats.lower.get(fieldId), stats.upper.get(fieldId)]
  if (greatest !== undefined && isBelow(boundOf(greatest, type), range.lower)) return false
  return least === undefined || !isAbove(boundOf(least, type), range.upper)
}

const longTypes = new Set(['long', 'time', 'timestamp', 'timestamptz'])

/**
 * Decodes a bound in single-value binary form (specification, Appendix D). Undefined for types that are not compared
 * here. A promoted column's old bounds are shorter.
 */
function boundOf(bytes: Uint8Array, type: unknown): RangeBound | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (type === 'string') return utf8(bytes)
  if (type === 'boolean') return bytes.length === 1 ? bytes[0] !== 0 : undefined
  if ((type === 'int' || type === 'date' || type === 'long') && bytes.length === 4)
    return BigInt(view.getInt32(0, true))
  if (longTypes.has(String(type)) && bytes.length === 8) return view.getBigInt64(0, true)
  return undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

function isBelow(value: RangeBound | undefined, lower: RangeBound | undefined): boolean {
  return (compare(value, lower) ?? 0) < 0
}

function isAbove(value: RangeBound | undefined, upper: RangeBound | undefined): boolean {
  return (compare(value, upper) ?? 0) > 0
}

/** Undefined where the types differ. Texts compare by their bytes, as Iceberg's bounds do. */
function compare(left: RangeBound | undefined, right: RangeBound | undefined): number | undefined {
  if (left === undefined || right === undefined || typeof left !== typeof right) return undefined
  if (typeof left === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(String(right)))
  return left === right ? 0 : left < right ? -1 : 1
}
