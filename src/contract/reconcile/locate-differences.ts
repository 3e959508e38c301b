/**
 * Reads, on demand, what a reconciliation does not keep: least and greatest values of columns on both sides, and the keys
 * whose rows differ. Nothing of it is stored.
 */

import { Fault } from '../../base/fault.ts'
import type { ModelCounterpart } from '../../wire/odcs/model.ts'
import type { ColumnPair } from './column-kind.ts'
import { compareTotals, doubleOf } from './compare.ts'
import { type Cells, locate } from './locate.ts'
import { hasContent, type Side, totalsStatement } from './measures.ts'
import { type Compared, type SideParts, withSides } from './sides.ts'

/** Characters of a value that are shown. */
const shownMax = 200

interface LocatedDifferences {
  readonly measures: readonly {
    readonly column: string
    readonly measure: string
    readonly left: string
    readonly right: string
  }[]
  readonly keys: readonly {
    readonly key: Readonly<Record<string, string | null>>
    readonly left: number
    readonly right: number
  }[]
  readonly complete: boolean
  readonly parts: number
}

/**
 * Finds out how, and in which rows, columns differ.
 * @param columns names; empty for all
 * @param key names of the columns of the key
 * @throws Fault `unprocessable` where a column cannot be compared; as `withSides`
 */
export async function locateDifferences(
  parts: SideParts,
  compared: Compared,
  counterpart: ModelCounterpart,
  { columns, key }: { readonly columns: readonly string[]; readonly key: readonly string[] },
  signal: AbortSignal,
): Promise<LocatedDifferences> {
  return await withSides(parts, compared, counterpart, signal, async (sides) => {
    const named = (names: readonly string[]) =>
      names.map((name) => {
        const pair = sides.pairs.find(({ left }) => left.name === name)
        if (pair === undefined || !hasContent(pair))
          throw new Fault('unprocessable', `The column ${name} cannot be compared on both sides.`)
        return pair
      })
    const keyPairs = named(key)
    const pairs = columns.length === 0 ? sides.pairs.filter(hasContent) : named(columns)
    const { measures } = totalsStatement('duckdb', pairs, 'left', '')
    const read = async (side: Side) => {
      const write = (relation: string) => totalsStatement(sides[side].dialect, pairs, side, relation)
      const [[rows = null, ...values] = []] = await sides[side].read(write, 1, signal)
      return { rows: rows ?? '0', values }
    }
    const differences = compareTotals(pairs, measures, await read('left'), await read('right'))
    const located = await locate(sides, keyPairs, pairs, signal)
    const pairOf = (fieldId: number | undefined) => pairs.find((pair) => pair.fieldId === fieldId)
    return {
      measures: differences.map(({ fieldId, measure, left, right }) => {
        const pair = pairOf(fieldId)
        const show = (value: string) =>
          pair !== undefined && (measure === 'min' || measure === 'max') && pair.kind !== 'float'
            ? (display(pair, value) ?? '')
            : value.slice(0, shownMax)
        return { column: pair?.left.name ?? '', measure, left: show(left), right: show(right) }
      }),
      ...located,
      keys: located.keys.map(({ key: cells, left, right }) => ({
        key: keyView(keyPairs, cells),
        left,
        right,
      })),
    }
  })
}

function keyView(pairs: readonly ColumnPair[], cells: Cells): Readonly<Record<string, string | null>> {
  return Object.fromEntries(pairs.map((pair, index) => [pair.left.name, display(pair, cells[index] ?? null)]))
}

/** A value of canonical form as people read it. */
function display({ kind, nanos }: ColumnPair, value: string | null): string | null {
  if (value === null || value === '') return value
  if (kind === 'float') return String(doubleOf(value))
  if (kind !== 'instant' && kind !== 'date') return value.slice(0, shownMax)
  const perMs = kind === 'date' ? 1n : nanos ? 1_000_000n : 1_000n
  const count = BigInt(value)
  const ms = kind === 'date' ? count * 86_400_000n : (count - (((count % perMs) + perMs) % perMs)) / perMs
  const at = new Date(Number(ms))
  if (Number.isNaN(at.getTime())) return value
  if (kind === 'date') return at.toISOString().slice(0, 10)
  const digits = nanos ? 6 : 3
  const rest = String(((count % perMs) + perMs) % perMs).padStart(digits, '0')
  return at.toISOString().replace('Z', `${rest}Z`)
}
