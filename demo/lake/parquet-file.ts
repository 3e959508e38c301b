/** Writes Parquet files of data and of position deletes, with field ids on their columns. */

import type { CompressionCodec, SchemaElement } from 'hyparquet'
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer'
import type { Field, FieldType, Row, Written } from './table-fields.ts'

export interface ParquetOptions {
  readonly rows: readonly Row[]
  readonly codec?: CompressionCodec
  readonly rowGroupSize?: number
  /** Leaves field ids out of the file. */
  readonly withoutFieldIds?: boolean
}

const physical: Readonly<Record<Written, Partial<SchemaElement>>> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  long: { type: 'INT64' },
  int: { type: 'INT32' },
  double: { type: 'DOUBLE' },
  float: { type: 'FLOAT' },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
}

function elements(
  name: string,
  id: number,
  type: FieldType,
  required: boolean,
  ids: boolean,
): SchemaElement[] {
  const own = {
    name,
    repetition_type: required ? 'REQUIRED' : 'OPTIONAL',
    ...(ids ? { field_id: id } : {}),
  } satisfies Partial<SchemaElement>
  if (typeof type === 'string') {
    const element = (physical as Readonly<Record<string, Partial<SchemaElement>>>)[type]
    if (element === undefined) throw new Error(`${name}: files with ${type} are given as bytes`)
    return [{ ...own, ...element }]
  }
  if ('map' in type) throw new Error(`${name}: files with maps are given as bytes`)
  if ('struct' in type)
    return [
      { ...own, num_children: type.struct.length },
      ...type.struct.flatMap((field) =>
        elements(field.name, field.id, field.type, field.required ?? false, ids),
      ),
    ]
  return [
    { ...own, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...elements('element', type.elementId, type.list, false, ids),
  ]
}

/** Writes rows to a Parquet file, with the table's field ids on its columns. */
export function parquetBytes(
  fields: readonly Field[],
  { rows, codec = 'SNAPPY', rowGroupSize, withoutFieldIds = false }: ParquetOptions,
): Uint8Array {
  const schema: SchemaElement[] = [
    { name: 'table', num_children: fields.length },
    ...fields.flatMap((field) =>
      elements(field.name, field.id, field.type, field.required ?? false, !withoutFieldIds),
    ),
  ]
  const columnData: ColumnSource[] = fields.map((field) => ({
    name: field.name,
    data: rows.map((row) => parquetValue(row[field.name], field.type)),
  }))
  return new Uint8Array(
    parquetWriteBuffer({
      schema,
      columnData,
      codec,
      compressors: {
        GZIP: (bytes) => Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>),
        ZSTD: (bytes) => Bun.zstdCompressSync(bytes as Uint8Array<ArrayBuffer>),
      },
      ...(rowGroupSize === undefined ? {} : { rowGroupSize }),
    }),
  )
}

/** A Parquet file that deletes rows of one data file by their positions. */
export function positionDeleteBytes(dataFile: string, positions: readonly number[]): Uint8Array {
  return new Uint8Array(
    parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 2 },
        {
          name: 'file_path',
          type: 'BYTE_ARRAY',
          repetition_type: 'REQUIRED',
          field_id: 2_147_483_546,
          converted_type: 'UTF8',
          logical_type: { type: 'STRING' },
        },
        { name: 'pos', type: 'INT64', repetition_type: 'REQUIRED', field_id: 2_147_483_545 },
      ],
      columnData: [
        { name: 'file_path', data: positions.map(() => dataFile) },
        { name: 'pos', data: positions.map(BigInt) },
      ],
    }),
  )
}

function parquetValue(value: unknown, type: FieldType): unknown {
  if (value === undefined || value === null) return undefined
  if (type === 'long') return BigInt(value as number)
  if (typeof type === 'object' && 'list' in type)
    return (value as unknown[]).map((item) => parquetValue(item, type.list))
  if (typeof type === 'object' && 'struct' in type)
    return Object.fromEntries(
      type.struct.map((field) => [field.name, parquetValue((value as Row)[field.name], field.type)]),
    )
  return value
}
