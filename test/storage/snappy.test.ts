/** Blocks of Snappy: what they hold, and that none goes on for ever. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decompressSnappy } from '../../src/storage/snappy.ts'

const bytes = (...parts: readonly (number | string)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))))
const text = (block: Uint8Array, bytesMax = 100_000) =>
  Buffer.from(decompressSnappy(block, bytesMax) ?? []).toString()

describe('a block holds', () => {
  test('nothing', () => expect(text(bytes(0))).toBe(''))
  test('a short literal', () => expect(text(bytes(3, 2 << 2, 'abc'))).toBe('abc'))

  test.each([
    [60, [200]],
    [61, [0x10, 0x01]],
    [62, [0x00, 0x01, 0x01]],
    [63, [0x00, 0x01, 0x01, 0x00]],
  ] as const)('a literal whose length is in the bytes after the tag %p', (upper, length) => {
    const size = length.reduce((sum: number, byte, index) => sum + byte * 256 ** index, 1)
    const held = 'x'.repeat(size)
    const claimed = [(size & 0x7f) | 0x80, ((size >>> 7) & 0x7f) | 0x80, size >>> 14]
    expect(text(bytes(...claimed, upper << 2, ...length, held))).toBe(held)
  })

  test.each([
    ['one byte', [1 | (3 << 2), 3]],
    ['two bytes', [2 | (6 << 2), 3, 0]],
    ['four bytes', [3 | (6 << 2), 3, 0, 0, 0]],
  ] as const)('a copy with an offset of %s, which repeats itself', (_, copy) => {
    expect(text(bytes(10, 2 << 2, 'abc', ...copy))).toBe('abcabcabca')
  })

  test('a copy from far back, with the upper bits of its offset in the tag', () => {
    const block = bytes(0x80 | 4, 2 + 4, 60 << 2, 255, 'a'.repeat(256), 61 << 2, 0xff, 1, 'b'.repeat(512))
    const far = bytes(...block, 1 | (3 << 5), 0)
    expect(text(far)).toBe(`${'a'.repeat(256)}${'b'.repeat(512)}aaaa`)
  })
})

describe('a block is refused', () => {
  test.each([
    ['that is empty', bytes()],
    ['whose size has no end', bytes(0x80, 0x80, 0x80, 0x80, 0x80, 0x80)],
    ['with a literal beyond its end', bytes(3, 2 << 2, 'ab')],
    ['with a literal of more than it says', bytes(2, 2 << 2, 'abc')],
    ['with less than it says', bytes(4, 2 << 2, 'abc')],
    ['that copies from before its start', bytes(8, 2 << 2, 'abc', 1 | (1 << 2), 4)],
    ['that copies from nowhere', bytes(8, 2 << 2, 'abc', 1 | (1 << 2), 0)],
    ['that ends within an offset', bytes(8, 2 << 2, 'abc', 2 | (4 << 2), 1)],
    // As a signed number it is −5, and a reader who adds that to its place reads the same tag again.
    ['with a literal of four billion bytes', bytes(3, 63 << 2, 0xfa, 0xff, 0xff, 0xff, 'abc')],
  ])('%s', (_, block) => {
    expect(() => decompressSnappy(block, 100)).toThrow(RangeError)
  })

  test('where it says that it has more than may be held, before anything is allocated', () => {
    expect(decompressSnappy(bytes(0xff, 0xff, 0xff, 0xff, 0x0f), 100)).toBeUndefined()
  })
})

test('whatever its bytes are, it ends', () => {
  const seed = 20_261
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (block) => {
      try {
        const read = decompressSnappy(block, 10_000)
        expect(read === undefined || read.length <= 10_000).toBe(true)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(RangeError)
      }
    }),
    { seed, numRuns: 20_000 },
  )
})
