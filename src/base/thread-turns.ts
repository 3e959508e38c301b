/**
 * Shares the thread between pieces of long work: one slice in each turn of the event loop, owners in turn. However much
 * work one owner has cut in slices, messages wait for one slice, and a slice of another owner for one of each.
 */

import { FairQueue } from './fair-queue.ts'
import { currentOwner } from './owner.ts'

const waiting = new FairQueue<string, () => void>()
let isScheduled = false

/** Resolves when the next slice may run: in a later turn of the event loop, which no other slice has. */
export function threadTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.push(currentOwner(), resolve)
  if (!isScheduled) {
    isScheduled = true
    setImmediate(giveTurn)
  }
  return promise
}

/** Slices that wait. */
export function slicesWaiting(): number {
  return waiting.count
}

function giveTurn(): void {
  waiting.shift()?.()
  isScheduled = waiting.count > 0
  // The slice itself runs once this function has returned, and asks for its next turn then.
  if (isScheduled) setImmediate(giveTurn)
}
