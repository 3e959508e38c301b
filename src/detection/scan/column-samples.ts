/**
 * Collects the samples of one scan, by column. A string that holds a JSON document is sampled by path: each scalar
 * under its own. A key that is no plain name is data, and never becomes part of a path.
 */

import type { ColumnSample } from '../../core/classification.ts'

/** Estimated memory of the values in one scan. */
const detectionSampleBytesMax = 256 * 1024 * 1024

const valueLengthMax = 1_024
/** Approximate memory of a value, and of a column or path, beside their characters. */
const valueOverheadBytes = 40
const columnOverheadBytes = 400
const jsonDepthMax = 16
/** Paths inside the JSON values of one column. */
const pathsMax = 500
const scalarsMax = 1_000
const plainKey = /^[\p{L}_][\p{L}\p{M}_ -]{0,63}\d{0,3}$/u

interface Gathered {
  readonly fieldId: bigint | undefined
  readonly columnName: string
  readonly values: string[]
}

export interface GatheredSample extends ColumnSample {
  readonly fieldId: bigint | undefined
  readonly columnName: string
}

export class ColumnSamples {
  readonly #columns = new Map<string, Gathered>()
  readonly #paths = new Map<string, number>()
  #valueCount = 0
  #bytesLeft: number

  /**
   * @param valuesMax values that are stored for one column or path
   * @param bytesMax approximate memory of all samples; when it is used up, nothing more is stored
   */
  constructor(
    readonly valuesMax: number,
    bytesMax: number = detectionSampleBytesMax,
  ) {
    this.#bytesLeft = bytesMax
  }

  /** Values that were read, over all columns. */
  get valueCount(): number {
    return this.#valueCount
  }

  /** Registers a column, so that its name is classified even when none of its values can be read. */
  add(columnName: string, fieldId: bigint | undefined, values: readonly string[] = []): void {
    const column = this.#gather(columnName, columnName, fieldId)
    this.#valueCount += values.length
    for (const value of values) {
      const document = parseDocument(value)
      if (document === undefined) this.#keep(column, value)
      else if (this.#bytesLeft <= 0) return
      else this.#walk(document, columnName, columnName, fieldId, 0, { left: scalarsMax })
    }
  }

  all(): readonly GatheredSample[] {
    return [...this.#columns].map(([name, { fieldId, columnName, values }]) => ({
      name,
      fieldId,
      columnName,
      values,
      sampledCount: values.length,
    }))
  }

  #gather(name: string, columnName: string, fieldId: bigint | undefined): Gathered {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    const made = { fieldId, columnName, values: [] }
    this.#columns.set(name, made)
    this.#bytesLeft -= name.length + columnOverheadBytes
    return made
  }

  #keep(column: Gathered, value: string): void {
    if (column.values.length >= this.valuesMax || value === '' || this.#bytesLeft <= 0) return
    const kept = copyOfStart(value)
    column.values.push(kept)
    this.#bytesLeft -= kept.length + valueOverheadBytes
  }

  #walk(
    value: unknown,
    path: string,
    columnName: string,
    fieldId: bigint | undefined,
    depth: number,
    budget: { left: number },
  ): void {
    if (depth > jsonDepthMax || budget.left <= 0) return
    if (Array.isArray(value)) {
      for (const item of value) this.#walk(item, path, columnName, fieldId, depth + 1, budget)
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        const plain = plainKey.test(key)
        if (!plain) this.#scalar(key, `${path}.*`, columnName, fieldId, budget)
        this.#walk(member, `${path}.${plain ? key : '*'}`, columnName, fieldId, depth + 1, budget)
      }
    } else if (typeof value === 'string' || typeof value === 'number') {
      const inner = typeof value === 'string' ? parseDocument(value) : undefined
      if (inner === undefined) this.#scalar(String(value), path, columnName, fieldId, budget)
      else this.#walk(inner, path, columnName, fieldId, depth + 1, budget)
    }
  }

  #scalar(
    value: string,
    path: string,
    columnName: string,
    fieldId: bigint | undefined,
    budget: { left: number },
  ): void {
    budget.left--
    if (!this.#columns.has(path)) {
      const paths = this.#paths.get(columnName) ?? 0
      if (paths >= pathsMax || this.#bytesLeft <= 0) return
      this.#paths.set(columnName, paths + 1)
    }
    this.#keep(this.#gather(path, columnName, fieldId), value)
  }
}

/** Returns a copy, because a substring would keep the whole text in memory. */
function copyOfStart(value: string): string {
  return value.length <= valueLengthMax ? value : Buffer.from(value.slice(0, valueLengthMax)).toString()
}

/** Parses a value that holds a JSON object or array; undefined for any other value. */
function parseDocument(value: string): object | undefined {
  const first = value.trimStart()[0]
  if (first !== '{' && first !== '[') return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined
  } catch {
    return undefined
  }
}
