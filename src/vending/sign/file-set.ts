/**
 * Holds the files of a snapshot as sorted hashes of 64 bits: a million take 8 MB. The hash has a key of this process, so
 * that nobody can look for another path with the same hash.
 */

import { createHmac, randomBytes } from 'node:crypto'

const key = randomBytes(32)

function hashOf(path: string): bigint {
  return createHmac('sha256', key).update(path).digest().readBigUInt64LE()
}

export interface FileSet {
  readonly count: number
  readonly bytes: number
  has(path: string): boolean
}

/** Collects paths, then answers. */
export class FileSetBuilder {
  #hashes = new BigUint64Array(1024)
  #count = 0

  add(path: string): void {
    if (this.#count === this.#hashes.length) {
      const larger = new BigUint64Array(this.#hashes.length * 2)
      larger.set(this.#hashes)
      this.#hashes = larger
    }
    this.#hashes[this.#count++] = hashOf(path)
  }

  build(): FileSet {
    const sorted = this.#hashes.slice(0, this.#count).sort()
    return {
      count: sorted.length,
      bytes: sorted.byteLength,
      has(path) {
        const hash = hashOf(path)
        let low = 0
        let high = sorted.length
        while (low < high) {
          const middle = (low + high) >>> 1
          if ((sorted[middle] as bigint) < hash) low = middle + 1
          else high = middle
        }
        return sorted[low] === hash
      },
    }
  }
}
