/** Deletion vectors of every form are read back, and other blobs are refused. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ContainerKind, deletionVectorBytes, roaring64Bytes } from '../../../demo/lake/puffin.ts'
import { decodeDeletionVector } from '../../../src/engine/iceberg/deletion-vector.ts'
import { readRoaring64 } from '../../../src/engine/iceberg/roaring.ts'

const seed = 20_261_121

const positions = fc.oneof(
  fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 36 }), { maxLength: 200 }),
  // Long enough for a bitmap container.
  fc
    .tuple(fc.nat(70_000), fc.integer({ min: 1, max: 9_000 }))
    .map(([start, count]) => Array.from({ length: count }, (_, index) => start + index * 3)),
)
const kinds: readonly ContainerKind[] = ['best', 'run']

test('positions in arrays, bitmaps and runs, across 2³² too, are read back', () => {
  fc.assert(
    fc.property(positions, fc.constantFrom(...kinds), (written, kind) => {
      const sorted = [...new Set(written)].sort((a, b) => a - b)
      const read = decodeDeletionVector(deletionVectorBytes(written, kind), sorted.length)
      expect([...read].map(Number)).toEqual(sorted)
    }),
    { seed, numRuns: 200 },
  )
})

test('the bitmap of the Roaring specification’s layout is read', () => {
  // One bitmap of high bits 0; one array container of key 0 with 1, 2 and 1,000, at offset 16.
  const bytes = Buffer.from(
    '010000000000000000000000' + '3a30000001000000' + '00000200' + '10000000' + '01000200e803',
    'hex',
  )
  expect([...readRoaring64(bytes, 10)].map(Number)).toEqual([1, 2, 1000])
})

test('one bit that differs is found by the checksum', () => {
  const blob = deletionVectorBytes([1, 5, 70_000])
  fc.assert(
    fc.property(fc.nat(blob.length * 8 - 1), (bit) => {
      const changed = Buffer.from(blob)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => decodeDeletionVector(changed, 3)).toThrow('deletion vector')
    }),
    { seed, numRuns: 300 },
  )
})

test('another count than the manifest says is refused', () => {
  for (const count of [2, 4])
    expect(() => decodeDeletionVector(deletionVectorBytes([1, 2, 3]), count)).toThrow('deletion vector')
})

test('random bytes and cut bitmaps are refused, never read past their end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        readRoaring64(bytes, 1_000)
      } catch (thrown) {
        expect((thrown as Error).name).toBe('ReadFailure')
      }
    }),
    { seed, numRuns: 5_000 },
  )
  const whole = roaring64Bytes([1, 2, 3, 100_000, 2 ** 33])
  for (let length = 0; length < whole.length; length++)
    expect(() => readRoaring64(whole.subarray(0, length), 1_000)).toThrow('deletion vector')
})
