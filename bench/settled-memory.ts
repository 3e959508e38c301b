/** Measures the memory that a process holds after its collector and allocator have released what they can. */

import { heapStats } from 'bun:jsc'

export interface Memory {
  readonly rssBytes: number
  /** Live objects of the main thread, with the memory that they hold outside its heap. */
  readonly liveBytes: number
}

/** An order to a process that is measured. */
export interface MemoryOrder {
  readonly kind: 'memory'
  /** Whether to wait for memory that is released late. Without it the figures are useless. */
  readonly settle: boolean
}

/** The same, with live objects of the main thread by their class. */
export interface MemoryProfile extends Memory {
  readonly objects: Readonly<Record<string, number>>
}

const roundMs = 500
const roundsMin = 4
const roundsMax = 30
/** A smaller fall is noise. */
const fallBytes = 500_000

/**
 * Collects until resident memory stops falling, because blocks and pages are released some time after a collection.
 * @param settle as in the order; false collects once
 */
export async function settledMemory(settle: boolean): Promise<Memory> {
  if (settle) await settleMemory()
  else Bun.gc(true)
  return { rssBytes: process.memoryUsage.rss(), liveBytes: heapStats().heapSize }
}

export async function memoryProfile(settle: boolean): Promise<MemoryProfile> {
  const memory = await settledMemory(settle)
  return { ...memory, objects: heapStats().objectTypeCounts }
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
