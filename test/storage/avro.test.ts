/** Avro container files with many small blocks that are large together. */

import { describe, expect, test } from 'bun:test'
import { deflateRawSync } from 'node:zlib'
import avro from 'avsc'
import { avroBytes } from '../../demo/lake/avro-file.ts'
import { readAvro } from '../../src/storage/avro.ts'
import type { ReadFailure } from '../../src/storage/read-failure.ts'

const schema = { type: 'record', name: 'r', fields: [{ name: 'a', type: 'bytes' }] }
const sync = Buffer.alloc(16, 7)
const long = avro.Type.forSchema('long')
const block = (count: number, packed: Uint8Array) =>
  Buffer.concat([long.toBuffer(count), long.toBuffer(packed.length), packed, sync])
const record = avro.Type.forSchema(schema as avro.Schema).toBuffer({ a: Buffer.alloc(400) })
const full = block(1, deflateRawSync(record))

/** How many records are read, and why it ended where it did not at the file's end. */
function read(blocks: readonly Uint8Array[], recordsMax = 10): readonly [number, string] {
  let count = 0
  try {
    const { records } = readAvro(Buffer.concat([avroBytes(schema, []), ...blocks]), {
      bytesMax: 1_000,
      recordsMax,
    })
    for (const _ of records) count++
    return [count, '']
  } catch (thrown) {
    return [count, (thrown as ReadFailure).reason]
  }
}

describe('a manifest', () => {
  test('may have as many bytes decompressed as one block may', () =>
    expect([read([full, full]), read([full, full, full])]).toEqual([
      [2, ''],
      [2, 'a manifest decompresses to more than 1000 bytes'],
    ]))

  test('may have a block without entries, as PyIceberg writes of a snapshot without manifests', () =>
    expect(read([block(0, deflateRawSync(Buffer.alloc(0))), full])).toEqual([1, '']))

  test('is not decompressed where a block holds no entries, and such blocks are as many as entries may be', () => {
    const bomb = block(0, deflateRawSync(Buffer.alloc(100_000)))
    expect([read([bomb, full]), read(Array.from({ length: 11 }, () => bomb))]).toEqual([
      [1, ''],
      [0, 'a manifest holds more than 10 entries'],
    ])
  })
})

describe('a manifest of a few bytes', () => {
  /** Why a file of one record of zeros is refused, after `head`. */
  const refusal = (fields: readonly object[], head: Uint8Array = new Uint8Array(0)) => {
    const bytes = Buffer.concat([head, Buffer.alloc(1_000)])
    try {
      const file = avroBytes({ type: 'record', name: 'r', fields }, [])
      const { records } = readAvro(Buffer.concat([file, block(1, deflateRawSync(bytes))]), {
        bytesMax: 100_000,
        recordsMax: 10,
      })
      for (const _ of records);
      return 'read'
    } catch (thrown) {
      return (thrown as ReadFailure).reason
    }
  }
  const corrupt = 'a manifest cannot be read: it is corrupt or truncated'
  const four = long.toBuffer(4_000_000_000)

  test.each([
    ['a list', [{ name: 'a', type: { type: 'array', items: 'int' } }], four],
    ['a map', [{ name: 'a', type: { type: 'map', values: 'int' } }], four],
    [
      'a list in lists',
      [{ name: 'a', type: { type: 'array', items: { type: 'array', items: 'int' } } }],
      Buffer.concat([long.toBuffer(900), four]),
    ],
  ])('holds not %s of more items than it has bytes', (_, fields, head) =>
    expect(refusal(fields, head)).toBe(corrupt),
  )

  /** Records in records, each of two of the kind below. */
  const doubling = (depth: number, leaf: string): object =>
    depth === 0
      ? { type: 'record', name: 'd0', fields: [{ name: 'x', type: leaf }] }
      : {
          type: 'record',
          name: `d${depth}`,
          fields: [
            { name: 'a', type: doubling(depth - 1, leaf) },
            { name: 'b', type: `d${depth - 1}` },
          ],
        }
  test.each(['null', 'int'])('holds no records that double at every level, of %s', (leaf) =>
    expect(
      refusal([
        { name: 'i', type: 'int' },
        { name: 'a', type: doubling(30, leaf) },
      ]),
    ).toBe(corrupt),
  )

  test('may hold lists, maps and records in each other as they are', () =>
    expect(
      refusal(
        [
          { name: 'a', type: { type: 'array', items: { type: 'map', values: 'long' } } },
          { name: 'b', type: doubling(3, 'int') },
        ],
        // Two items, of one and no entry: `k`, 0.
        Uint8Array.from([4, 2, 2, 0x6b, 0, 0, 0, 0]),
      ),
    ).toBe('read'))
})

test('a block of Snappy with a literal of four billion bytes is refused, and not read for ever', () => {
  const packed = Buffer.from([3, 63 << 2, 0xfa, 0xff, 0xff, 0xff, 0x61, 0x62, 0x63, 0, 0, 0, 0])
  const header = { 'avro.schema': Buffer.from(JSON.stringify(schema)), 'avro.codec': Buffer.from('snappy') }
  const bytes = Buffer.concat([
    Buffer.from('Obj\u0001', 'latin1'),
    avro.Type.forSchema({ type: 'map', values: 'bytes' }).toBuffer(header),
    sync,
    block(1, packed),
  ])
  const { records } = readAvro(bytes, { bytesMax: 1_000, recordsMax: 10 })
  expect(() => [...records]).toThrow('corrupt or truncated')
})
