/** What a process holds, once collections and the allocator have let go of what they can. */

import { heapStats } from 'bun:jsc'

export interface Memory {
  readonly rssBytes: number
  /** Live objects of the main thread, with what they hold outside of its heap. */
  readonly liveBytes: number
}

/** To a process that is measured. */
export interface MemoryOrder {
  readonly kind: 'memory'
  /** Whether to wait for memory that is given back late; without it the figures are no use. */
  readonly settle: boolean
}

const roundMs = 500
const roundsMin = 4
const roundsMax = 30
/** A fall that still counts as one. */
const fallBytes = 500_000

/**
 * Collects until resident memory falls no more: blocks and pages are given back some time after a collection.
 * @param settle as of the order; without it collects once
 */
export async function settledMemory(settle: boolean): Promise<Memory> {
  if (settle) await settleMemory()
  else Bun.gc(true)
  return { rssBytes: process.memoryUsage.rss(), liveBytes: heapStats().heapSize }
}

async function settleMemory(): Promise<void> {
  let least = Number.POSITIVE_INFINITY
  let quiet = 0
  for (let round = 0; round < roundsMax && (round < roundsMin || quiet < 3); round++) {
    Bun.gc(true)
    await Bun.sleep(roundMs)
    const rssBytes = process.memoryUsage.rss()
    quiet = rssBytes < least - fallBytes ? 0 : quiet + 1
    least = Math.min(least, rssBytes)
  }
}
