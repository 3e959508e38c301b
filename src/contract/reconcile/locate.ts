/**
 * Finds the rows in which two sides differ. Keys are divided into parts by their hash, so any kind of key will do; parts
 * that differ are divided again until few rows are left, which are read.
 */

import type { ColumnPair } from './column-kind.ts'
import type { ReconcileDialect } from './dialect.ts'
import {
  type Part,
  partRowsStatement,
  partsPerLevel,
  partsStatement,
  type Side,
  type SideStatement,
} from './measures.ts'

export type Cells = readonly (string | null)[]

/** One side that can be read. */
export interface SideReader {
  readonly dialect: ReconcileDialect
  /**
   * @param write the statement, by the name of the table in FROM
   * @param rowsMax more rows than these are an error
   */
  read(
    write: (relation: string) => SideStatement,
    rowsMax: number,
    signal: AbortSignal,
  ): Promise<readonly Cells[]>
}

/** A key whose rows differ. */
interface DifferingKey {
  /** Canonical texts of its columns. */
  readonly key: Cells
  /** Rows that only this side has. */
  readonly left: number
  readonly right: number
}

interface Located {
  readonly keys: readonly DifferingKey[]
  /** Whether these are all keys that differ. */
  readonly complete: boolean
  /** Parts of all rows that differ, of `partsPerLevel`. */
  readonly parts: number
}

/** Rows of a part that are read, parts that are followed, keys that are named. */
const partRowsMax = 2_000
const partsMax = 8
const keysMax = 100
const levelsMax = 4

interface Sides {
  readonly left: SideReader
  readonly right: SideReader
}

/**
 * Finds the keys whose rows differ in some columns.
 * @param key the columns of the key
 * @param pairs the columns that are compared
 */
export async function locate(
  sides: Sides,
  key: readonly ColumnPair[],
  pairs: readonly ColumnPair[],
  signal: AbortSignal,
): Promise<Located> {
  const first = await differingParts(sides, key, pairs, [], signal)
  const keys: DifferingKey[] = []
  let complete = first.length <= partsMax
  let open = first.slice(0, partsMax)
  while (open.length > 0) {
    const next: DifferingPart[] = []
    for (const one of open) {
      if (one.rows <= partRowsMax || one.part.length >= levelsMax) {
        const found = await differingKeys(sides, key, pairs, one.part, signal)
        keys.push(...found.slice(0, keysMax - keys.length))
        if (keys.length === keysMax) return { keys, complete: false, parts: first.length }
      } else next.push(...(await differingParts(sides, key, pairs, one.part, signal)))
    }
    complete &&= next.length <= partsMax
    open = next.slice(0, partsMax)
  }
  return { keys, complete, parts: first.length }
}

interface DifferingPart {
  readonly part: Part
  /** Of the larger side. */
  readonly rows: number
}

async function differingParts(
  sides: Sides,
  key: readonly ColumnPair[],
  pairs: readonly ColumnPair[],
  part: Part,
  signal: AbortSignal,
): Promise<readonly DifferingPart[]> {
  const read = async (side: Side) => {
    const { dialect } = sides[side]
    const write = (relation: string) => partsStatement(dialect, key, pairs, side, relation, part)
    const rows = await sides[side].read(write, partsPerLevel, signal)
    return new Map(rows.map(([name, count, content]) => [name ?? '', { count: Number(count), content }]))
  }
  const [left, right] = await Promise.all([read('left'), read('right')])
  const names = new Set([...left.keys(), ...right.keys()])
  return [...names].flatMap((name) => {
    const [a, b] = [left.get(name), right.get(name)]
    if (a?.count === b?.count && a?.content === b?.content) return []
    return [{ part: [...part, Number(name)], rows: Math.max(a?.count ?? 0, b?.count ?? 0) }]
  })
}

async function differingKeys(
  sides: Sides,
  key: readonly ColumnPair[],
  pairs: readonly ColumnPair[],
  part: Part,
  signal: AbortSignal,
): Promise<readonly DifferingKey[]> {
  const counts = new Map<string, { readonly key: Cells; left: number; right: number }>()
  const read = async (side: Side) => {
    const { dialect } = sides[side]
    const write = (relation: string) => partRowsStatement(dialect, key, pairs, side, relation, part)
    for (const [hash, count, ...values] of await sides[side].read(write, partRowsMax * 10, signal)) {
      const name = JSON.stringify([hash, values])
      const found = counts.get(name) ?? { key: values, left: 0, right: 0 }
      counts.set(name, { ...found, [side]: Number(count) })
    }
  }
  await read('left')
  await read('right')
  const keys = new Map<string, DifferingKey>()
  for (const { key: values, left, right } of counts.values()) {
    if (left === right) continue
    const name = JSON.stringify(values)
    const found = keys.get(name) ?? { key: values, left: 0, right: 0 }
    keys.set(name, {
      key: values,
      left: found.left + Math.max(left - right, 0),
      right: found.right + Math.max(right - left, 0),
    })
  }
  return [...keys.values()]
}
