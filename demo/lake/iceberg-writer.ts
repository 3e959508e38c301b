/**
 * A small Iceberg table writer for the demo and the tests: Parquet with field ids, Avro manifests, metadata files; appends
 * (with several files and partition values), schemas over time, deletes of every kind, other file formats. It
 * writes what the specification asks for and, but for statistics where a test gives them, nothing else.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import avro from 'avsc'
import type { CompressionCodec, SchemaElement } from 'hyparquet'
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer'
import { puffinBytes } from './puffin.ts'

type Written = 'string' | 'long' | 'int' | 'double' | 'float' | 'boolean' | 'date'
/** Of these only `Written` ones and nested ones can be given as rows; other files come as bytes. */
export type FieldType =
  | Written
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'uuid'
  | 'binary'
  | `decimal(${number},${number})`
  | `fixed[${number}]`
  | NestedType
export type NestedType =
  | { readonly struct: readonly Field[] }
  | { readonly list: FieldType; readonly elementId: number }

export interface Field {
  readonly id: number
  readonly name: string
  readonly type: FieldType
  readonly required?: boolean
  /** In JSON single-value form (format version 3). */
  readonly initialDefault?: unknown
}

export type Row = Readonly<Record<string, unknown>>

/** Where files go: `file:` folders by default, or wherever `put` says. */
export interface WriterOptions {
  readonly fields: readonly Field[]
  /** The table's location, without a trailing slash; `file:///…`, `s3://…`. */
  readonly location: string
  readonly put: (location: string, bytes: Uint8Array) => void | Promise<void>
  readonly formatVersion?: 1 | 2 | 3
  /** Identity partitioning by one top-level field. */
  readonly partitionBy?: string
  readonly tableUuid?: string
}

export interface FileOptions {
  readonly rows: readonly Row[]
  /** The value of the partition field, where the table is partitioned. */
  readonly partition?: string | number | null
  readonly codec?: CompressionCodec
  readonly rowGroupSize?: number
  /** Leaves field ids out of the file. */
  readonly withoutFieldIds?: boolean
  /** Put in place of the Parquet file. */
  readonly bytes?: Uint8Array
  /** PARQUET where absent. */
  readonly format?: string
  /** Of `bytes` that no `rows` are given for. */
  readonly recordCount?: number
  /** Columns of the file; the current schema's where absent. */
  readonly fields?: readonly Field[]
  /** Bounds by field id, in single-value binary form. */
  readonly stats?: FileStats
}

export interface FileStats {
  readonly valueCounts?: Readonly<Record<number, number>>
  readonly nullCounts?: Readonly<Record<number, number>>
  readonly lower?: Readonly<Record<number, Uint8Array>>
  readonly upper?: Readonly<Record<number, Uint8Array>>
}

/** Rows that a commit deletes. A vector takes the place of the one its data file had. */
export type DeleteOptions = { readonly partition?: string | number | null } & (
  | { readonly kind: 'position'; readonly dataFile: string; readonly positions: readonly number[] }
  | { readonly kind: 'vector'; readonly dataFile: string; readonly positions: readonly number[] }
  | { readonly kind: 'equality'; readonly fields: readonly Field[]; readonly rows: readonly Row[] }
)

export interface Appended {
  readonly metadataLocation: string
  readonly snapshotId: bigint
  readonly manifestList: string
  readonly manifest: string
  readonly files: readonly string[]
}

/** A folder of the local disk as a place for tables. */
export function folderSink(folder: string): Pick<WriterOptions, 'location' | 'put'> {
  return {
    location: pathToFileURL(folder).href,
    put(location, bytes) {
      const path = fileURLToPath(location)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, bytes)
    },
  }
}

/** A table below `folder`, with its folder made. */
export function tableInFolder(
  folder: string,
  name: string,
  options: Omit<WriterOptions, 'location' | 'put'>,
): IcebergWriter {
  return new IcebergWriter({ ...folderSink(join(folder, name)), ...options })
}

const long = { type: 'long' } as const
let lastSnapshotId = 3_051_729_675_574_597_004n

interface ManifestWritten {
  readonly path: string
  readonly length: number
  readonly content: number
  readonly snapshotId: bigint
  readonly sequence: number
  /** The data file whose deletion vector it names. */
  readonly vectorOf?: string
}

/** Writes one table, commit by commit. */
export class IcebergWriter {
  readonly tableUuid: string
  readonly #snapshots: Record<string, unknown>[] = []
  readonly #schemas: (readonly Field[])[]
  #manifests: ManifestWritten[] = []
  readonly #log: { 'timestamp-ms': number; 'metadata-file': string }[] = []
  readonly #version: 1 | 2 | 3
  #sequence = 0
  #nowMs = 1_700_000_000_000
  #count = 0
  #metadataLocation: string | undefined

  constructor(readonly options: WriterOptions) {
    this.tableUuid = options.tableUuid ?? crypto.randomUUID()
    this.#version = options.formatVersion ?? 2
    this.#schemas = [options.fields]
  }

  /** The last metadata file that was written. */
  get metadataLocation(): string | undefined {
    return this.#metadataLocation
  }

  /** Of the current schema. */
  get fields(): readonly Field[] {
    return this.#schemas.at(-1) ?? []
  }

  /** Makes these fields the table's schema. */
  async evolve(fields: readonly Field[]): Promise<string> {
    this.#schemas.push(fields)
    return this.#writeMetadata({})
  }

  /** Adds a snapshot with these data files. */
  append(files: readonly FileOptions[]): Promise<Appended> {
    return this.commit('append', files, [])
  }

  /** Adds a snapshot with a position delete file over rows of one data file. */
  deletePositions(
    dataFile: string,
    positions: readonly number[],
    partition?: string | number | null,
  ): Promise<Appended> {
    return this.delete({ kind: 'position', dataFile, positions, partition: partition ?? null })
  }

  /** Adds a snapshot with these deletes. */
  delete(...deletes: readonly DeleteOptions[]): Promise<Appended> {
    return this.commit('delete', [], deletes)
  }

  /** Adds a snapshot with data files and deletes of one sequence number. */
  async commit(
    operation: string,
    files: readonly FileOptions[],
    deletes: readonly DeleteOptions[],
  ): Promise<Appended> {
    const data = []
    for (const file of files) data.push(await this.#dataFile(file))
    const gone = []
    for (const each of deletes) gone.push(await this.#deleteFile(each))
    const replaced = new Set(deletes.flatMap((each) => (each.kind === 'vector' ? [each.dataFile] : [])))
    this.#manifests = this.#manifests.filter(
      ({ vectorOf }) => vectorOf === undefined || !replaced.has(vectorOf),
    )
    return this.#commit(operation, data, gone)
  }

  async #dataFile(file: FileOptions): Promise<Record<string, unknown>> {
    const format = file.format ?? 'PARQUET'
    const partition =
      this.options.partitionBy === undefined ? '' : `${this.options.partitionBy}=${file.partition}/`
    const path = this.#path(`data/${partition}${this.#next()}.${format.toLowerCase()}`)
    const bytes = file.bytes ?? parquetBytes(file.fields ?? this.fields, file)
    await this.options.put(path, bytes)
    return {
      ...this.#fileFields(path, format, bytes.length, file.recordCount ?? file.rows.length, file.partition),
      ...statsFields(file.stats),
      content: 0,
    }
  }

  async #deleteFile(each: DeleteOptions): Promise<Record<string, unknown>> {
    if (each.kind === 'vector') {
      const path = this.#path(`data/${this.#next()}-deletes.puffin`)
      const { bytes, offset, size } = puffinBytes(each.dataFile, each.positions)
      await this.options.put(path, bytes)
      return {
        ...this.#fileFields(path, 'PUFFIN', bytes.length, each.positions.length, each.partition),
        content: 1,
        referenced_data_file: each.dataFile,
        content_offset: BigInt(offset),
        content_size_in_bytes: BigInt(size),
      }
    }
    const path = this.#path(`data/${this.#next()}-deletes.parquet`)
    const [bytes, count, ids] =
      each.kind === 'position'
        ? [positionDeleteBytes(each.dataFile, each.positions), each.positions.length, null]
        : [
            parquetBytes(each.fields, { rows: each.rows }),
            each.rows.length,
            each.fields.map((field) => field.id),
          ]
    await this.options.put(path, bytes)
    return {
      ...this.#fileFields(path, 'PARQUET', bytes.length, count, each.partition),
      content: ids === null ? 1 : 2,
      equality_ids: ids,
    }
  }

  #fileFields(path: string, format: string, size: number, count: number, partition?: string | number | null) {
    return {
      file_path: path,
      file_format: format,
      partition: this.#partition(partition),
      record_count: BigInt(count),
      file_size_in_bytes: BigInt(size),
    }
  }

  /** Writes a metadata file that adds no snapshot. */
  async setProperties(properties: Readonly<Record<string, string>>): Promise<string> {
    return this.#writeMetadata(properties)
  }

  async #commit(
    operation: string,
    data: readonly Record<string, unknown>[],
    deletes: readonly Record<string, unknown>[],
  ): Promise<Appended> {
    const snapshotId = ++lastSnapshotId
    const parent = this.#snapshots.at(-1)?.['snapshot-id']
    const sequence = this.#version === 1 ? 0 : ++this.#sequence
    const before = this.#manifests.length
    if (data.length > 0 || deletes.length === 0) await this.#manifest(0, data, snapshotId, sequence)
    // One for each, so that a vector that is replaced leaves nothing behind.
    for (const each of deletes) await this.#manifest(1, [each], snapshotId, sequence)
    const manifestList = this.#path(`metadata/snap-${snapshotId}.avro`)
    await this.options.put(manifestList, this.#manifestList())
    this.#snapshots.push({
      'snapshot-id': snapshotId,
      ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
      ...(this.#version === 1 ? {} : { 'sequence-number': sequence }),
      'timestamp-ms': ++this.#nowMs,
      'manifest-list': manifestList,
      summary: { operation },
      'schema-id': this.#schemas.length - 1,
    })
    const metadataLocation = await this.#writeMetadata({})
    return {
      metadataLocation,
      snapshotId,
      manifestList,
      manifest: this.#manifests[before]?.path ?? '',
      files: [...data, ...deletes].map((file) => String(file.file_path)),
    }
  }

  async #manifest(
    content: 0 | 1,
    files: readonly Record<string, unknown>[],
    snapshotId: bigint,
    sequence: number,
  ): Promise<void> {
    const path = this.#path(`metadata/${this.#next()}-m0.avro`)
    const bytes = avroBytes(
      this.#manifestSchema(),
      files.map((file) => this.#entry(file, snapshotId)),
      {
        content: content === 0 ? 'data' : 'deletes',
        'format-version': String(this.#version),
        schema: JSON.stringify(this.#schema(this.#schemas.length - 1)),
      },
    )
    await this.options.put(path, bytes)
    const vectorOf = files[0]?.referenced_data_file
    this.#manifests.push({
      path,
      length: bytes.length,
      content,
      snapshotId,
      sequence,
      ...(typeof vectorOf === 'string' && { vectorOf }),
    })
  }

  async #writeMetadata(properties: Readonly<Record<string, string>>): Promise<string> {
    const location = this.#path(
      `metadata/${String(this.#log.length).padStart(5, '0')}-${this.#next()}.metadata.json`,
    )
    await this.options.put(location, Buffer.from(stringifyExact(this.metadata(properties))))
    this.#log.push({ 'timestamp-ms': ++this.#nowMs, 'metadata-file': location })
    this.#metadataLocation = location
    return location
  }

  /** The table's metadata as it stands. */
  metadata(properties: Readonly<Record<string, string>> = {}): Record<string, unknown> {
    const current = this.#snapshots.at(-1)?.['snapshot-id']
    const spec = this.#spec()
    return {
      'format-version': this.#version,
      'table-uuid': this.tableUuid,
      location: this.options.location,
      ...(this.#version === 1 ? {} : { 'last-sequence-number': this.#sequence }),
      ...(this.#version === 3 ? { 'next-row-id': 0 } : {}),
      'last-updated-ms': this.#nowMs,
      'last-column-id': 1000,
      ...(this.#version === 1
        ? { schema: this.#schema(this.#schemas.length - 1), 'partition-spec': spec.fields }
        : {}),
      'current-schema-id': this.#schemas.length - 1,
      schemas: this.#schemas.map((_, id) => this.#schema(id)),
      'default-spec-id': 0,
      'partition-specs': [spec],
      'last-partition-id': 1000,
      'default-sort-order-id': 0,
      'sort-orders': [{ 'order-id': 0, fields: [] }],
      properties,
      ...(current === undefined
        ? {}
        : { 'current-snapshot-id': current, refs: { main: { 'snapshot-id': current, type: 'branch' } } }),
      snapshots: [...this.#snapshots],
      'metadata-log': [...this.#log],
    }
  }

  #schema(id: number): object {
    return { type: 'struct', 'schema-id': id, fields: this.#schemas[id]?.map(schemaField) ?? [] }
  }

  #spec(): { 'spec-id': number; fields: readonly object[] } {
    const by = this.options.fields.find((field) => field.name === this.options.partitionBy)
    const fields =
      by === undefined ? [] : [{ name: by.name, transform: 'identity', 'source-id': by.id, 'field-id': 1000 }]
    return { 'spec-id': 0, fields }
  }

  #partition(value: string | number | null | undefined): Record<string, unknown> {
    if (this.options.partitionBy === undefined) return {}
    return { [this.options.partitionBy]: typeof value === 'number' ? BigInt(value) : (value ?? null) }
  }

  #entry(file: Record<string, unknown>, snapshotId: bigint): Record<string, unknown> {
    const { content, ...v1 }: Record<string, unknown> = { ...noStats, ...file }
    if (this.#version === 1)
      return { status: 1, snapshot_id: snapshotId, data_file: { ...v1, block_size_in_bytes: 0n } }
    // Both are inherited from the manifest list, as writers do.
    return {
      status: 1,
      snapshot_id: null,
      sequence_number: null,
      file_sequence_number: null,
      data_file: {
        content,
        equality_ids: null,
        referenced_data_file: null,
        content_offset: null,
        content_size_in_bytes: null,
        ...v1,
      },
    }
  }

  #manifestSchema(): object {
    const by = this.options.fields.find((field) => field.name === this.options.partitionBy)
    const partition = {
      type: 'record',
      name: 'r102',
      fields:
        by === undefined
          ? []
          : [
              {
                name: by.name,
                type: ['null', by.type === 'string' ? 'string' : 'long'],
                default: null,
                'field-id': 1000,
              },
            ],
    }
    const v1 = this.#version === 1
    return {
      type: 'record',
      name: 'manifest_entry',
      fields: [
        { name: 'status', type: 'int', 'field-id': 0 },
        { name: 'snapshot_id', type: v1 ? 'long' : ['null', 'long'], 'field-id': 1 },
        ...(v1
          ? []
          : [
              { name: 'sequence_number', type: ['null', 'long'], 'field-id': 3 },
              { name: 'file_sequence_number', type: ['null', 'long'], 'field-id': 4 },
            ]),
        {
          name: 'data_file',
          'field-id': 2,
          type: {
            type: 'record',
            name: 'r2',
            fields: [
              ...(v1 ? [] : [{ name: 'content', type: 'int', 'field-id': 134 }]),
              { name: 'file_path', type: 'string', 'field-id': 100 },
              { name: 'file_format', type: 'string', 'field-id': 101 },
              { name: 'partition', type: partition, 'field-id': 102 },
              { name: 'record_count', type: 'long', 'field-id': 103 },
              { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
              ...(v1 ? [{ name: 'block_size_in_bytes', type: 'long', 'field-id': 105 }] : []),
              ...statsSchema,
              ...(v1 ? [] : deleteSchema),
            ],
          },
        },
      ],
    }
  }

  #manifestList(): Uint8Array {
    const v1 = this.#version === 1
    const schema = {
      type: 'record',
      name: 'manifest_file',
      fields: [
        { name: 'manifest_path', type: 'string', 'field-id': 500 },
        { name: 'manifest_length', type: 'long', 'field-id': 501 },
        { name: 'partition_spec_id', type: 'int', 'field-id': 502 },
        ...(v1
          ? []
          : [
              { name: 'content', type: 'int', 'field-id': 517 },
              { name: 'sequence_number', type: 'long', 'field-id': 515 },
              { name: 'min_sequence_number', type: 'long', 'field-id': 516 },
            ]),
        { name: 'added_snapshot_id', type: 'long', 'field-id': 503 },
      ],
    }
    const records = this.#manifests.map(({ path, length, content, snapshotId, sequence }) => ({
      manifest_path: path,
      manifest_length: BigInt(length),
      partition_spec_id: 0,
      ...(v1 ? {} : { content, sequence_number: BigInt(sequence), min_sequence_number: BigInt(sequence) }),
      added_snapshot_id: snapshotId,
    }))
    return avroBytes(schema, records, { 'format-version': String(this.#version) })
  }

  #path(below: string): string {
    return `${this.options.location}/${below}`
  }

  #next(): string {
    return `${String(++this.#count).padStart(5, '0')}-${crypto.randomUUID()}`
  }
}

const optional = (name: string, type: unknown, id: number) => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
})

/** A map with integer keys, as Avro has it. */
const numbered = (name: string, id: number, keyId: number, valueId: number, values: string) =>
  optional(
    name,
    {
      type: 'array',
      logicalType: 'map',
      items: {
        type: 'record',
        name: `k${keyId}_v${valueId}`,
        fields: [
          { name: 'key', type: 'int', 'field-id': keyId },
          { name: 'value', type: values, 'field-id': valueId },
        ],
      },
    },
    id,
  )

const statsSchema = [
  numbered('value_counts', 109, 119, 120, 'long'),
  numbered('null_value_counts', 110, 121, 122, 'long'),
  numbered('lower_bounds', 125, 126, 127, 'bytes'),
  numbered('upper_bounds', 128, 129, 130, 'bytes'),
]
const noStats = { value_counts: null, null_value_counts: null, lower_bounds: null, upper_bounds: null }

const deleteSchema = [
  optional('equality_ids', { type: 'array', items: 'int', 'element-id': 136 }, 135),
  optional('referenced_data_file', 'string', 143),
  optional('content_offset', 'long', 144),
  optional('content_size_in_bytes', 'long', 145),
]

function statsFields({ valueCounts, nullCounts, lower, upper }: FileStats = {}): Record<string, unknown> {
  const pairs = (from: Readonly<Record<number, number | Uint8Array>> | undefined) =>
    from === undefined
      ? null
      : Object.entries(from).map(([key, value]) => ({
          key: Number(key),
          value: typeof value === 'number' ? BigInt(value) : Buffer.from(value),
        }))
  return {
    value_counts: pairs(valueCounts),
    null_value_counts: pairs(nullCounts),
    lower_bounds: pairs(lower),
    upper_bounds: pairs(upper),
  }
}

function schemaField({ id, name, type, required = false, initialDefault }: Field): object {
  return {
    id,
    name,
    required,
    type: schemaType(type),
    ...(initialDefault !== undefined && {
      'initial-default': initialDefault,
      'write-default': initialDefault,
    }),
  }
}

function schemaType(type: FieldType): unknown {
  if (typeof type === 'string') return type
  if ('struct' in type) return { type: 'struct', fields: type.struct.map(schemaField) }
  return {
    type: 'list',
    'element-id': type.elementId,
    element: schemaType(type.list),
    'element-required': false,
  }
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

/** A Parquet file of these rows, its columns marked with the table's field ids. */
export function parquetBytes(
  fields: readonly Field[],
  { rows, codec = 'SNAPPY', rowGroupSize, withoutFieldIds = false }: FileOptions,
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

function positionDeleteBytes(dataFile: string, positions: readonly number[]): Uint8Array {
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
  if (typeof type === 'object')
    return Object.fromEntries(
      type.struct.map((field) => [field.name, parquetValue((value as Row)[field.name], field.type)]),
    )
  return value
}

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

/** An Avro object container file, compressed by deflate as Iceberg's writers do. */
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

/** JSON with bigints as plain integers. */
function stringifyExact(value: unknown): string {
  const marked = JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `\u0000${inner}` : inner))
  return marked.replace(/"\\u0000(-?\d+)"/g, '$1')
}
