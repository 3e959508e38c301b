/** Writes Avro object container files, with longs as bigints. */

import { deflateRawSync } from 'node:zlib'
import avro from 'avsc'

const long = { type: 'long' } as const

const bigLong = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
})

/** Writes an Avro object container file, compressed by deflate as Iceberg's writers do. */
export function avroBytes(
  schema: object,
  records: readonly Record<string, unknown>[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const type = avro.Type.forSchema(schema as avro.Schema, {
    typeHook: (part) => (part === 'long' ? bigLong : undefined) as avro.Type,
  })
  const header = { ...metadata, 'avro.schema': JSON.stringify(schema), 'avro.codec': 'deflate' }
  const sync = Buffer.alloc(16, 7)
  const count = avro.Type.forSchema(long)
  const parts: Buffer[] = [
    Buffer.from('Obj\u0001', 'latin1'),
    avro.Type.forSchema({ type: 'map', values: 'bytes' }).toBuffer(
      Object.fromEntries(Object.entries(header).map(([key, value]) => [key, Buffer.from(value)])),
    ),
    sync,
  ]
  if (records.length > 0) {
    const block = deflateRawSync(Buffer.concat(records.map((record) => type.toBuffer(record))))
    parts.push(count.toBuffer(records.length), count.toBuffer(block.length), block, sync)
  }
  return Buffer.concat(parts)
}
