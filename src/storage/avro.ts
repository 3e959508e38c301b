/**
 * Reads Avro object container files as Iceberg writes manifests (specification, Appendix A). Header and blocks are read
 * here, so that every size is checked before memory is allocated; avsc decodes the records.
 */

import { brotliDecompressSync, inflateRawSync, zstdDecompressSync } from 'node:zlib'
import avro from 'avsc'
import { ReadFailure } from './read-failure.ts'
import { decompressSnappy } from './snappy.ts'

/** A decoded record: longs are bigints, bytes are Buffers. */
export type AvroRecord = Readonly<Record<string, unknown>>

export interface AvroFile {
  /** The writer's schema as JSON. */
  readonly schema: unknown
  readonly records: Iterable<AvroRecord>
  /** Bytes of the header, which ends with the 16 bytes that also end each block. */
  readonly headerBytes: number
}

interface AvroBounds {
  /** Bytes of all blocks once decompressed. */
  readonly bytesMax: number
  /** Most records, where an empty block counts as one. */
  readonly recordsMax: number
}

const magic = Buffer.from('Obj\u0001', 'latin1')
const syncBytes = 16

const longType = avro.types.LongType.__with({
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

/** An avsc type with bigint longs, because snapshot ids do not fit a double, and with bounded lists and maps. */
function avroType(schema: unknown, budget: ItemBudget): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, {
    typeHook: (part, options) => {
      const kind = part === 'long' ? part : (part as { type?: unknown }).type
      if (kind === 'long') return longType as avro.Type
      if (kind === 'array') return boundedList(part, options, budget)
      return (kind === 'map' ? boundedMap(part, options, budget) : undefined) as avro.Type
    },
  })
}

/**
 * Reads a container file.
 * @throws ReadFailure where it is none; its records throw it where a block is corrupt or too large
 */
export function readAvro(bytes: Uint8Array, bounds: AvroBounds): AvroFile {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!buffer.subarray(0, 4).equals(magic)) throw corrupt()
  const cursor = { buffer, at: 4 }
  const header = readHeader(cursor)
  const sync = take(cursor, syncBytes)
  const schemaText = header.get('avro.schema')?.toString('utf8')
  const codec = header.get('avro.codec')?.toString('latin1') ?? 'null'
  let schema: unknown
  let type: avro.Type
  const items: ItemBudget = { left: 0 }
  try {
    schema = JSON.parse(schemaText ?? '')
    assertBounded(schema)
    type = avroType(schema, items)
  } catch {
    throw corrupt()
  }
  const headerBytes = cursor.at
  return { schema, headerBytes, records: readBlocks(cursor, sync, codec, type, items, bounds) }
}

function* readBlocks(
  cursor: Cursor,
  sync: Buffer,
  codec: string,
  type: avro.Type,
  items: ItemBudget,
  { bytesMax, recordsMax }: AvroBounds,
): Generator<AvroRecord> {
  let records = 0
  let bytes = 0
  while (cursor.at < cursor.buffer.length) {
    const count = readLong(cursor)
    const packed = take(cursor, readLong(cursor))
    if (!take(cursor, syncBytes).equals(sync)) throw corrupt()
    records += Math.max(count, 1)
    if (count < 0 || records > recordsMax)
      throw new ReadFailure(`a manifest holds more than ${recordsMax} entries`)
    // A writer may end an empty block, and the number of empty blocks has no other bound.
    if (count === 0) continue
    const block = decompress(codec, packed, bytesMax - bytes)
    if (block === undefined) throw new ReadFailure(`a manifest decompresses to more than ${bytesMax} bytes`)
    bytes += block.length
    let at = 0
    for (let index = 0; index < count; index++) {
      let decoded: { value: unknown; offset: number }
      items.left = itemsMax
      try {
        decoded = type.decode(block, at) as typeof decoded
      } catch {
        throw corrupt()
      }
      // avsc returns -1 where the bytes ended early. A record of no bytes would never end.
      if (decoded.offset <= at || decoded.offset > block.length) throw corrupt()
      at = decoded.offset
      yield decoded.value as AvroRecord
    }
  }
}

/** @returns undefined where it decompresses to more than `bytesMax` */
function decompress(codec: string, block: Buffer, bytesMax: number): Buffer | undefined {
  const inflated = inflate(codec, block, bytesMax)
  return inflated !== undefined && inflated.length <= bytesMax ? inflated : undefined
}

function inflate(codec: string, block: Buffer, bytesMax: number): Buffer | undefined {
  // zlib accepts no lower bound than 1.
  const bound = { maxOutputLength: Math.max(bytesMax, 1) }
  try {
    switch (codec) {
      case 'null':
        return block
      case 'deflate':
        return inflateRawSync(block, bound)
      case 'zstandard':
        return zstdDecompressSync(block, bound)
      case 'brotli':
        return brotliDecompressSync(block, bound)
      case 'snappy':
        // The last four bytes are a checksum.
        return bufferOf(decompressSnappy(block.subarray(0, -4), bytesMax))
    }
  } catch (thrown) {
    if ((thrown as { code?: unknown } | null)?.code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw corrupt()
  }
  throw new ReadFailure('a manifest is compressed by a codec that is not supported')
}

function bufferOf(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Most items of all lists and maps of one record; a manifest's entry has six for each column. */
const itemsMax = 200_000

interface ItemBudget {
  left: number
}

/** The object that avsc reads from, with the members that its own types use. */
interface Tap {
  readonly buf: Buffer
  readonly pos: number
  readLong(): number
  readString(): string
}

type Readable = { _read(tap: Tap): unknown }
type ConstructorOf = new (schema: avro.Schema, options: object) => avro.types.ArrayType & avro.types.MapType

/**
 * A list that reads at most as many items as there are bytes left. avsc itself allocates the claimed number of items.
 * It also reads beyond the end before it reports that the bytes ended early.
 */
function boundedList(schema: avro.Schema, options: object, budget: ItemBudget): avro.Type {
  return new (class extends (avro.types.ArrayType as unknown as ConstructorOf) {
    _read(tap: Tap): unknown {
      const item = this.itemsType as unknown as Readable
      const items: unknown[] = []
      eachItem(tap, budget, () => items.push(item._read(tap)))
      return items
    }
  })(schema, options)
}

/** A map with the same bound. */
function boundedMap(schema: avro.Schema, options: object, budget: ItemBudget): avro.Type {
  return new (class extends (avro.types.MapType as unknown as ConstructorOf) {
    _read(tap: Tap): unknown {
      const value = this.valuesType as unknown as Readable
      const entries: [string, unknown][] = []
      eachItem(tap, budget, () => entries.push([tap.readString(), value._read(tap)]))
      return Object.fromEntries(entries)
    }
  })(schema, options)
}

/**
 * Reads items, which come in blocks after their count, or after a negative count and a byte length. A count of 0 ends
 * them.
 */
function eachItem(tap: Tap, budget: ItemBudget, read: () => void): void {
  for (;;) {
    let count = tap.readLong()
    if (count === 0) return
    if (count < 0) {
      count = -count
      tap.readLong()
    }
    budget.left -= count
    if (budget.left < 0 || count > tap.buf.length - tap.pos) throw corrupt()
    for (let index = 0; index < count; index++) read()
  }
}

interface Cursor {
  readonly buffer: Buffer
  at: number
}

function take(cursor: Cursor, count: number): Buffer {
  const end = cursor.at + count
  if (count < 0 || end > cursor.buffer.length) throw corrupt()
  const bytes = cursor.buffer.subarray(cursor.at, end)
  cursor.at = end
  return bytes
}

function readHeader(cursor: Cursor): ReadonlyMap<string, Buffer> {
  const header = new Map<string, Buffer>()
  for (;;) {
    let count = readLong(cursor)
    if (count === 0) return header
    if (count < 0) {
      count = -count
      readLong(cursor)
    }
    for (let index = 0; index < count; index++) {
      const key = take(cursor, readLong(cursor)).toString('utf8')
      header.set(key, take(cursor, readLong(cursor)))
    }
  }
}

/** An Avro long that is a count or length here, so a double holds it. */
function readLong(cursor: Cursor): number {
  const raw = readVarint(cursor)
  return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2
}

function readVarint(cursor: Cursor): number {
  let value = 0
  for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
    const byte = cursor.buffer[cursor.at++]
    if (byte === undefined) throw corrupt()
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return value
  }
  throw corrupt()
}

/** Most values of one record besides the items of its lists and maps, and most values of one such item. */
const recordValuesMax = 10_000
const itemValuesMax = 32

/**
 * Refuses schemas whose values could far outgrow their bytes. Items without bytes would let a few bytes claim any
 * number of items. Records that each hold two of another kind would multiply their values.
 */
function assertBounded(schema: unknown): void {
  const parts = partsOf(schema, 0)
  const named = new Map<string, readonly SchemaPart[]>()
  for (const part of parts)
    if (typeof part.name === 'string') {
      const name = simpleName(part.name)
      named.set(name, [...(named.get(name) ?? []), part])
    }
  const known = new Map<string, boolean>()
  for (const { type, items } of parts)
    if (type === 'array' && !takesBytes(items, named, known)) throw corrupt()
  const counts = new Map<string, number>()
  if (valueCount(schema, named, counts) > recordValuesMax) throw corrupt()
  for (const { type, items, values } of parts)
    if (type === 'array' || type === 'map')
      if (valueCount(type === 'array' ? items : values, named, counts) > itemValuesMax) throw corrupt()
}

type SchemaPart = Readonly<Record<string, unknown>>

/** Every type that a schema defines, at any depth. */
function partsOf(schema: unknown, depth: number): readonly SchemaPart[] {
  if (depth > 64) throw corrupt()
  if (Array.isArray(schema)) return schema.flatMap((branch) => partsOf(branch, depth + 1))
  if (typeof schema !== 'object' || schema === null) return []
  const { type, items, fields, values } = schema as SchemaPart
  const own = Array.isArray(fields) ? fields.map((field) => (field as { type?: unknown }).type) : []
  return [schema as SchemaPart, ...[type, items, values, ...own].flatMap((part) => partsOf(part, depth + 1))]
}

/** A name without its namespace. Of types that share one, each must take bytes. */
const simpleName = (name: string) => name.slice(name.lastIndexOf('.') + 1)

/** Types whose every value takes at least one byte. */
const sizedTypes = new Set('boolean int long float double bytes string array map enum'.split(' '))

/**
 * Whether every value of a schema takes at least one byte.
 * @param known results by name; false while a name is in progress, because a type that only holds itself has no bytes
 */
function takesBytes(
  schema: unknown,
  named: ReadonlyMap<string, readonly unknown[]>,
  known: Map<string, boolean>,
): boolean {
  if (typeof schema === 'string') {
    if (sizedTypes.has(schema)) return true
    const name = simpleName(schema)
    const result = known.get(name)
    if (result !== undefined) return result
    known.set(name, false)
    const meant = named.get(name) ?? []
    const isSized = meant.length > 0 && meant.every((one) => takesBytes(one, named, known))
    known.set(name, isSized)
    return isSized
  }
  // A union's value starts with its branch number.
  if (Array.isArray(schema)) return true
  if (typeof schema !== 'object' || schema === null) return false
  const { type, fields, size } = schema as SchemaPart
  if (Array.isArray(fields))
    return fields.some((field) => takesBytes((field as { type?: unknown }).type, named, known))
  return type === 'fixed' ? typeof size === 'number' && size > 0 : takesBytes(type, named, known)
}

/**
 * The most values that one value of a schema consists of; a list or map counts as one.
 * @param known counts by name; 1 while a name is in progress, because a type holds itself through a union, list or map
 */
function valueCount(
  schema: unknown,
  named: ReadonlyMap<string, readonly SchemaPart[]>,
  known: Map<string, number>,
): number {
  const countOf = (part: unknown) => valueCount(part, named, known)
  if (Array.isArray(schema)) return 1 + schema.reduce<number>((most, one) => Math.max(most, countOf(one)), 0)
  const { type, name } = typeof schema === 'object' && schema !== null ? (schema as SchemaPart) : {}
  const called = typeof schema === 'string' ? schema : name
  const meant = typeof called === 'string' ? named.get(simpleName(called)) : undefined
  if (typeof called === 'string' && meant !== undefined) {
    const key = simpleName(called)
    const counted = known.get(key)
    if (counted !== undefined) return counted
    known.set(key, 1)
    const counts = meant.map(({ fields }) =>
      Array.isArray(fields)
        ? fields.reduce<number>((sum, field) => sum + countOf((field as { type?: unknown }).type), 1)
        : 1,
    )
    const most = Math.max(...counts)
    known.set(key, most)
    return most
  }
  return typeof type === 'object' ? countOf(type) : 1
}

function corrupt(): ReadFailure {
  return new ReadFailure('a manifest cannot be read: it is corrupt or truncated')
}
