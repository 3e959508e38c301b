/** Structures of a few bytes that claim to hold more than they do. */

import { expect, test } from 'bun:test'
import { parquetMetadata } from 'hyparquet'
import { parquetBytes } from '../../demo/lake/parquet-file.ts'
import { ReadFailure } from '../../src/storage/read-failure.ts'
import { checkThrift } from '../../src/storage/thrift.ts'

/** What comes of a structure: nothing, or the error's kind. */
function outcome(bytes: readonly number[] | Uint8Array): string {
  try {
    checkThrift(Uint8Array.from(bytes), 0)
    return 'walked'
  } catch (thrown) {
    return thrown instanceof ReadFailure ? 'too many' : (thrown as Error).name
  }
}

const listField = 0x19
const structField = 0x1c
/** A list of lists of 50 million items. */
const claim = [0xf9, 0x80, 0xe1, 0xeb, 0x17]

test('a list claims no more items than there are bytes', () => {
  expect(outcome([listField, ...claim])).toBe('RangeError')
  expect(outcome([listField, ...Array.from({ length: 20 }, () => claim).flat()])).toBe('RangeError')
  expect(outcome([listField, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f])).toBe('RangeError')
})

test.each([
  ['nested without end', Array.from({ length: 100_000 }, () => structField)],
  ['cut off', [0x15]],
  ['a number without an end', [0x16, ...new Array(11).fill(0xff)]],
  ['a text longer than what is left', [0x18, 0x05, 0x61, 0x00]],
  ['a type that there is not', [0x1d, 0x00]],
])('a structure that is %s is refused', (_, bytes) => expect(outcome(bytes)).toBe('RangeError'))

test('a structure of more values than a table can have is refused', () => {
  const empty = new Uint8Array(5_000_000)
  // A list of as many structures without fields, each of one byte.
  empty.set([listField, 0xfc, 0xc0, 0x96, 0xb1, 0x02])
  expect(outcome(empty)).toBe('too many')
})

test('a footer that is sound is walked to its end', () => {
  const file = parquetBytes([{ id: 1, name: 'a', type: 'string' }], { rows: [{ a: 'x' }] })
  const length = new DataView(file.buffer, file.byteOffset).getUint32(file.length - 8, true)
  const footer = file.subarray(file.length - 8 - length, file.length - 8)
  expect(outcome(footer)).toBe('walked')
  expect(outcome(footer.subarray(0, -1))).toBe('RangeError')
  const copy = file.slice()
  expect(parquetMetadata(copy.buffer as ArrayBuffer).num_rows).toBe(1n)
})
