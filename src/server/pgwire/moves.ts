/**
 * Moves a cursor as PostgreSQL does (`DoPortalRunFetch`): FETCH and MOVE first go to a place, then read on from there.
 * Engines deliver rows once, so going back needs rows that the cursor holds.
 */

import type { FetchStmt } from 'libpg-query'
import { forwardOnly, type RowSource } from './row-source.ts'

/** FETCH ALL in the parser's tree. */
export const fetchAll = 2_147_483_647

type Direction = 'forward' | 'backward'

/** What is left to read, once the cursor is at its place. */
export interface Reading {
  readonly direction: Direction
  /** {@link fetchAll}: all rows in this direction. */
  readonly count: number
}

/** Bounds what one cursor does. */
export interface Bounds {
  /** Declared NO SCROLL. */
  readonly isForwardOnly: boolean
}

/**
 * Goes to where a FETCH reads.
 * @throws WireError 55000 where the cursor cannot go back so far
 */
export async function goTo(
  rows: RowSource,
  { direction = 'FETCH_FORWARD', howMany }: FetchStmt,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<Reading> {
  const count = Number(howMany ?? 0)
  const skip = async (past: number) => {
    if (past > 0 && !rows.ended) await rows.skip(past, signal)
  }
  switch (direction) {
    case 'FETCH_ABSOLUTE': {
      if (count < 0) {
        await skipAll(rows, signal)
        goBack(rows, -count - 1, bounds)
        return { direction: 'backward', count: 1 }
      }
      const target = Math.max(count - 1, 0)
      // PostgreSQL goes to the start where that is nearer, also from the end.
      const goesBack = target < rows.position || (rows.ended && target * 2 <= rows.position)
      if (goesBack) rewind(rows, target, bounds)
      else await skip(target - rows.position)
      return { direction: 'forward', count: count === 0 ? 0 : 1 }
    }
    case 'FETCH_RELATIVE':
      if (count > 0) await skip(count - 1)
      else if (count < 0) goBack(rows, -count - 1, bounds)
      else return again(rows, bounds)
      return { direction: count > 0 ? 'forward' : 'backward', count: 1 }
    default: {
      if (count === 0) {
        if (direction === 'FETCH_BACKWARD' && bounds.isForwardOnly) throw forwardOnly()
        return again(rows, bounds)
      }
      const isForward = (direction === 'FETCH_FORWARD') === count > 0
      return { direction: isForward ? 'forward' : 'backward', count: Math.abs(count) }
    }
  }
}

/** FETCH 0 reads the row again on which the cursor is. */
function again(rows: RowSource, bounds: Bounds): Reading {
  if (rows.ended || rows.position === 0) return { direction: 'forward', count: 0 }
  rewind(rows, rows.position - 1, bounds)
  return { direction: 'forward', count: 1 }
}

async function skipAll(rows: RowSource, signal: AbortSignal): Promise<void> {
  if (!rows.ended) await rows.skip(0, signal)
}

/** Goes back by so many rows, which end at the row before the one on which the cursor is. @returns how many there were */
export function goBack(rows: RowSource, count: number, bounds: Bounds): number {
  if (count === 0) return 0
  const before = rows.ended ? rows.position : Math.max(rows.position - 1, 0)
  // Before the first row there is nothing, and a cursor that goes forward only is not told so.
  if (bounds.isForwardOnly) throw forwardOnly()
  const passed = Math.min(count, before)
  rewind(rows, count > before ? 0 : before - count + 1, bounds)
  return passed
}

function rewind(rows: RowSource, position: number, { isForwardOnly }: Bounds): void {
  if (isForwardOnly) throw forwardOnly()
  rows.rewind(position)
}

/** Goes in front of the row that is read backwards next. @returns false where there is none */
export function goBefore(rows: RowSource, bounds: Bounds): boolean {
  const before = rows.ended ? rows.position : rows.position - 1
  rewind(rows, Math.max(before - 1, 0), bounds)
  return before > 0
}
