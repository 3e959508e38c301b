/** Avro container files whose blocks are small each and large together. */

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
