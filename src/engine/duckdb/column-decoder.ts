/**
 * Decodes DuckDB's vectors into columns of result batches. Fixed-width values are copied a column at a time, because
 * DuckDB frees their memory with the chunk; nothing is allocated per row for them.
 */

import {
  type DuckDBDataChunk,
  DuckDBDecimalType,
  DuckDBListType,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import type { TextScale } from '../../core/quotient-scale.ts'
import type { ColumnVector, ResultBatch } from '../../core/result-batch.ts'
import { elementOf, isArray, type ScalarType, type SqlType } from '../../core/sql-type.ts'
import type { EngineColumn } from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import {
  computedNumerics,
  decimals,
  decimalsShown,
  doublesAsDecimals,
  integersAsDecimals,
} from './decode-numeric.ts'
import { byteStrings, uuids } from './decode-text.ts'
import { gather } from './gather.ts'
import { hasValue, type RawVector } from './raw-vector.ts'

type Read = (raw: RawVector) => ColumnVector
type Decode = (vector: duckdb.Vector, count: number) => ColumnVector

const { BOOLEAN, SMALLINT, INTEGER, BIGINT, HUGEINT, FLOAT, DOUBLE, VARCHAR, DATE, TIME, TIMESTAMP } =
  DuckDBTypeId
const { TIMESTAMP_TZ, INTERVAL, UUID, BLOB } = DuckDBTypeId

interface Layout {
  /** Bytes of one value. */
  readonly bytes: number
  readonly read: Read
}

/** How each type is decoded from the one DuckDB type that may deliver it. Numeric has several, see below. */
const layouts: Readonly<Partial<Record<ScalarType, Layout & { readonly from: DuckDBTypeId }>>> = {
  bool: {
    from: BOOLEAN,
    bytes: 1,
    read: (raw) => ({ type: 'bool', ...nulls(raw), values: raw.bytes.slice() }),
  },
  int2: {
    from: SMALLINT,
    bytes: 2,
    read: (raw) => ({ type: 'int2', ...nulls(raw), values: new Int16Array(copy(raw)) }),
  },
  int4: {
    from: INTEGER,
    bytes: 4,
    read: (raw) => ({ type: 'int4', ...nulls(raw), values: new Int32Array(copy(raw)) }),
  },
  int8: { from: BIGINT, bytes: 8, read: (raw) => ({ type: 'int8', ...nulls(raw), values: longs(raw) }) },
  float4: {
    from: FLOAT,
    bytes: 4,
    read: (raw) => ({ type: 'float4', ...nulls(raw), values: new Float32Array(copy(raw)) }),
  },
  float8: {
    from: DOUBLE,
    bytes: 8,
    read: (raw) => ({ type: 'float8', ...nulls(raw), values: new Float64Array(copy(raw)) }),
  },
  date: { from: DATE, bytes: 4, read: (raw) => ({ type: 'date', ...nulls(raw), values: dates(raw) }) },
  time: { from: TIME, bytes: 8, read: (raw) => ({ type: 'time', ...nulls(raw), values: longs(raw) }) },
  timestamp: {
    from: TIMESTAMP,
    bytes: 8,
    read: (raw) => ({ type: 'timestamp', ...nulls(raw), values: instants(raw) }),
  },
  timestamptz: {
    from: TIMESTAMP_TZ,
    bytes: 8,
    read: (raw) => ({ type: 'timestamptz', ...nulls(raw), values: instants(raw) }),
  },
  interval: { from: INTERVAL, bytes: 16, read: intervals },
  uuid: { from: UUID, bytes: 16, read: (raw) => ({ type: 'uuid', ...nulls(raw), values: uuids(raw) }) },
  bytea: { from: BLOB, bytes: 16, read: (raw) => ({ type: 'bytea', ...nulls(raw), ...byteStrings(raw) }) },
  text: textLayout('text'),
  varchar: textLayout('varchar'),
  json: textLayout('json'),
  jsonb: textLayout('jsonb'),
}

function textLayout(type: 'text' | 'varchar' | 'json' | 'jsonb'): Layout & { readonly from: DuckDBTypeId } {
  return { from: VARCHAR, bytes: 16, read: (raw) => ({ type, ...nulls(raw), ...byteStrings(raw) }) }
}

/** Turns a statement's chunks into batches. */
export type ChunkDecoder = (chunk: DuckDBDataChunk) => ResultBatch

/**
 * The decoder for a statement's columns.
 * @param types the types that DuckDB announces
 * @throws EngineError XX000 where they do not match the columns exactly
 */
export function chunkDecoder(columns: readonly EngineColumn[], types: readonly DuckDBType[]): ChunkDecoder {
  if (columns.length !== types.length) throw mismatch()
  const decoders = columns.map(({ type, textScale }, index) => columnDecoder(type, types[index], textScale))
  return (chunk) => {
    const rowCount = chunk.rowCount
    return {
      rowCount,
      columns: decoders.map((decode, index) =>
        decode(duckdb.data_chunk_get_vector(chunk.chunk, index), rowCount),
      ),
    }
  }
}

function columnDecoder(type: SqlType, from: DuckDBType | undefined, textScale?: TextScale): Decode {
  if (from === undefined) throw mismatch()
  return decoderOfType(type, from, textScale) ?? nullsDecoder(type, from)
}

function decoderOfType(
  type: SqlType,
  from: DuckDBType,
  textScale: TextScale | undefined,
): Decode | undefined {
  if (isArray(type))
    return from instanceof DuckDBListType
      ? listDecoder(columnDecoder(elementOf(type), from.valueType))
      : undefined
  const layout =
    type === 'numeric' ? numericLayout(from, textScale) : layouts[type === 'unknown' ? 'text' : type]
  if (layout === undefined || ('from' in layout && layout.from !== from.typeId)) return undefined
  return (vector, count) => layout.read(rawVector(vector, count, layout.bytes))
}

/** DuckDB folds an expression on a constant NULL, casts included, to a NULL of type integer. */
function nullsDecoder(type: SqlType, from: DuckDBType): Decode {
  if (from.typeId !== INTEGER) throw mismatch()
  return (vector, count) => {
    const raw = rawVector(vector, count, 4)
    for (let row = 0; row < count; row++) if (hasValue(raw, row)) throw mismatch()
    return { ...emptyValues(type, count), validity: new Uint8Array((count + 7) >> 3) }
  }
}

function emptyValues(type: SqlType, count: number): ColumnVector {
  if (isArray(type))
    return { type: 'array', offsets: new Uint32Array(count + 1), elements: emptyValues(elementOf(type), 0) }
  if (type === 'numeric') return { type, values: new BigInt64Array(count), scale: 0 }
  const layout = layouts[type === 'unknown' ? 'text' : type]
  if (layout === undefined) throw mismatch()
  const validity = new Uint8Array((count + 7) >> 3)
  return layout.read({ bytes: new Uint8Array(count * layout.bytes), validity, count })
}

/** Numerics arrive as any type that holds them exactly, or as doubles where they are inexact (docs/sql.md). */
function numericLayout(from: DuckDBType | undefined, textScale: TextScale | undefined): Layout | undefined {
  if (from instanceof DuckDBDecimalType) {
    const { width, scale } = from
    const bytes = width <= 4 ? 2 : width <= 9 ? 4 : width <= 18 ? 8 : 16
    return {
      bytes,
      read: (raw) => ({
        ...{ type: 'numeric', ...nulls(raw) },
        ...(textScale === undefined || textScale === scale
          ? { values: decimals(raw, bytes), scale }
          : decimalsShown(raw, bytes, scale, textScale)),
      }),
    }
  }
  if (from?.typeId === VARCHAR) return { bytes: 16, read: computedNumerics }
  if (from?.typeId === DOUBLE)
    return {
      bytes: 8,
      read: (raw) => ({ type: 'numeric', ...nulls(raw), ...doublesAsDecimals(raw, textScale) }),
    }
  const bytes =
    from?.typeId === INTEGER ? 4 : from?.typeId === BIGINT ? 8 : from?.typeId === HUGEINT ? 16 : undefined
  if (bytes === undefined) return undefined
  return { bytes, read: (raw) => ({ type: 'numeric', ...nulls(raw), ...integersAsDecimals(raw, bytes) }) }
}

function rawVector(vector: duckdb.Vector, count: number, bytes: number): RawVector {
  const validity = duckdb.vector_get_validity(vector, ((count + 63) >> 6) << 3) as Uint8Array | null
  return {
    bytes: count === 0 ? new Uint8Array(0) : duckdb.vector_get_data(vector, count * bytes),
    validity: validity?.slice(0, (count + 7) >> 3),
    count,
  }
}

function listDecoder(decodeElements: Decode): Decode {
  return (vector, count) => {
    const raw = rawVector(vector, count, 16)
    const entries = new BigUint64Array(copy(raw))
    const elements = decodeElements(duckdb.list_vector_get_child(vector), duckdb.list_vector_get_size(vector))
    const offsets = new Uint32Array(count + 1)
    const indices: number[] = []
    let isInOrder = true
    for (let row = 0; row < count; row++) {
      const start = Number(entries[row * 2])
      const length = hasValue(raw, row) ? Number(entries[row * 2 + 1]) : 0
      if (length > 0 && start !== indices.length) isInOrder = false
      for (let index = 0; index < length; index++) indices.push(start + index)
      offsets[row + 1] = indices.length
    }
    return {
      type: 'array',
      ...nulls(raw),
      offsets,
      elements: isInOrder ? elements : gather(elements, indices),
    }
  }
}

function nulls({ validity }: RawVector): { readonly validity?: Uint8Array } {
  return validity === undefined ? {} : { validity }
}

/** A copy whose buffer begins at offset 0, as typed arrays of wider elements require. */
function copy({ bytes }: RawVector): ArrayBuffer {
  return bytes.slice().buffer as ArrayBuffer
}

function longs(raw: RawVector): BigInt64Array {
  return new BigInt64Array(copy(raw))
}

const date = { least: -2_147_483_648, greatest: 2_147_483_647 }

/** DuckDB's -infinity is the second least int32; PostgreSQL's is the least. */
function dates(raw: RawVector): Int32Array {
  const values = new Int32Array(copy(raw))
  for (let row = 0; row < values.length; row++) if (values[row] === -date.greatest) values[row] = date.least
  return values
}

const instant = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n }

function instants(raw: RawVector): BigInt64Array {
  const values = longs(raw)
  // Compared by 32-bit halves, because a bigint per row would be allocated otherwise.
  const halves = new Int32Array(values.buffer)
  for (let row = 0; row < values.length; row++)
    if (halves[row * 2 + 1] === date.least && halves[row * 2] === 1 && values[row] === -instant.greatest)
      values[row] = instant.least
  return values
}

function intervals(raw: RawVector): ColumnVector {
  const parts = new Int32Array(copy(raw))
  const longer = new BigInt64Array(parts.buffer)
  const months = new Int32Array(raw.count)
  const days = new Int32Array(raw.count)
  const micros = new BigInt64Array(raw.count)
  for (let row = 0; row < raw.count; row++) {
    months[row] = parts[row * 4] ?? 0
    days[row] = parts[row * 4 + 1] ?? 0
    micros[row] = longer[row * 2 + 1] ?? 0n
  }
  return { type: 'interval', ...nulls(raw), months, days, micros }
}

function mismatch(): EngineError {
  return new EngineError('XX000', 'The engine returned other column types than the statement declares.')
}
