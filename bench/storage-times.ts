/** The times of object storage, from what an operator of it has published (`storage-times.jsonl`). */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOption } from './entry.ts'

export const storageNames = ['s3'] as const
export type StorageName = (typeof storageNames)[number]

export const storageOption: BenchOption = {
  type: 'string',
  value: storageNames.join('|'),
  about: 'the catalog’s storage answers after the published times of this one',
}

/** Milliseconds of a request, evenly spaced quantiles, all equally likely. */
export interface StorageTimes {
  readonly get: readonly number[]
  readonly put: readonly number[]
}

interface PublishedTimes {
  readonly storage: StorageName
  readonly operation: keyof StorageTimes
  /** Pairs of a share from 0 to 1 and milliseconds, in order. */
  readonly quantiles: readonly (readonly [share: number, ms: number])[]
}

const quantileCount = 200

export function storageTimes(name: StorageName): StorageTimes {
  const published = readFileSync(join(import.meta.dir, 'storage-times.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PublishedTimes)
  const of = (operation: keyof StorageTimes) => {
    const found = published.find((one) => one.storage === name && one.operation === operation)
    if (found === undefined) throw new Error(`no times of ${operation} are published for ${name}`)
    return Array.from({ length: quantileCount }, (_, index) =>
      timeAt(found.quantiles, (index + 0.5) / quantileCount),
    )
  }
  return { get: of('get'), put: of('put') }
}

/**
 * The time at a share, on the straight line between the two published ones around it. Below the first and above the last
 * nothing is published, and those themselves are taken.
 */
export function timeAt(quantiles: PublishedTimes['quantiles'], share: number): number {
  const above = quantiles.findIndex(([at]) => at >= share)
  const [high, low] = [quantiles.at(above), quantiles[above - 1]]
  if (high === undefined) throw new Error('no quantiles are published')
  if (low === undefined || above < 0) return high[1]
  return low[1] + ((high[1] - low[1]) * (share - low[0])) / (high[0] - low[0])
}
