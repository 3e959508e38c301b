/** Blocks of LZ4: what they hold, and that none goes on for ever. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decompressLz4, decompressLz4Raw } from '../../../src/detection/scan/lz4.ts'

const bytes = (...parts: readonly (number | string)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))))
const raw = (block: Uint8Array, size: number) => Buffer.from(decompressLz4Raw(block, size)).toString()
const framed = (block: Uint8Array, size: number) => Buffer.from(decompressLz4(block, size)).toString()
const frame = (plain: number, block: Buffer) => bytes(0, 0, 0, plain, 0, 0, 0, block.length, ...block)

const abc = bytes(0x30, 'abc')

describe('a block holds', () => {
  test('literals', () => expect(raw(abc, 3)).toBe('abc'))

  test('more than 14 literals, and more than 269', () => {
    expect(raw(bytes(0xf0, 1, 'x'.repeat(16)), 16)).toBe('x'.repeat(16))
    expect(raw(bytes(0xf0, 255, 30, 'x'.repeat(300)), 300)).toBe('x'.repeat(300))
  })

  test('a match that repeats itself, and a long one', () => {
    expect(raw(bytes(0x33, 'abc', 3, 0, 0x10, 'd'), 11)).toBe('abcabcabcad')
    expect(raw(bytes(0x1f, 'a', 1, 0, 255, 26, 0x10, 'd'), 302)).toBe(`${'a'.repeat(301)}d`)
  })
})

describe('the older codec holds', () => {
  test('a raw block', () => expect(framed(abc, 3)).toBe('abc'))
  test('frames of Hadoop', () => expect(framed(bytes(...frame(3, abc), ...frame(3, abc)), 6)).toBe('abcabc'))
})

test.each([
  ['of literals that end early', bytes(0x40, 'abc'), 4],
  ['with more than its page claims', abc, 2],
  ['with less than its page claims', abc, 4],
  ['that copies from before its start', bytes(0x10, 'a', 2, 0), 6],
  ['that copies from nowhere', bytes(0x10, 'a', 0, 0), 6],
  ['that ends within an offset', bytes(0x10, 'a', 1), 6],
  ['whose length has no end', bytes(0xff, 255, 255), 6],
  // Read as signed, the frame ends where it starts, and is read again.
  ['in a frame of minus eight bytes', bytes(0, 0, 0, 0, 0xff, 0xff, 0xff, 0xf8, 'abcdefghijk'), 10],
])('a block %s is refused', (_, block, size) => {
  expect(() => decompressLz4(block, size)).toThrow(RangeError)
})

test('whatever its bytes are, it ends', () => {
  const seed = 20_261
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(1_000), (block, size) => {
      try {
        expect(decompressLz4(block, size).length).toBe(size)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(RangeError)
      }
    }),
    { seed, numRuns: 20_000 },
  )
})
