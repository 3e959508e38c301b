/**
 * A small Iceberg table writer for the demo and the tests. It writes Parquet with field ids, Avro manifests and
 * metadata files; appends, schema changes, deletes of every kind, and other file formats. It writes what the
 * specification requires and no more, except for statistics that a test gives.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { avroBytes } from './avro-file.ts'
import {
  type FileStats,
  type FormatVersion,
  type Manifest,
  manifestEntry,
  manifestListBytes,
  manifestSchema,
  statsFields,
} from './manifests.ts'
import { type ParquetOptions, parquetBytes, positionDeleteBytes } from './parquet-file.ts'
import { puffinBytes } from './puffin.ts'
import { type Field, type Row, schemaField } from './table-fields.ts'

/** Where files go: `file:` folders by default, or the place that `put` writes to. */
export interface WriterOptions {
  readonly fields: readonly Field[]
  /** The table's location, without a trailing slash; `file:///…`, `s3://…`. */
  readonly location: string
  readonly put: (location: string, bytes: Uint8Array) => void | Promise<void>
  readonly formatVersion?: FormatVersion
  /** Identity partitioning by one top-level field. */
  readonly partitionBy?: string
  readonly tableUuid?: string
}

export interface FileOptions extends ParquetOptions {
  /** The value of the partition field, if the table is partitioned. */
  readonly partition?: string | number | null
  /** The content of the file; replaces the Parquet file that would be written. */
  readonly bytes?: Uint8Array
  /** PARQUET by default. */
  readonly format?: string
  /** For `bytes` without `rows`. */
  readonly recordCount?: number
  /** Columns of the file; those of the current schema by default. */
  readonly fields?: readonly Field[]
  /** Bounds by field id, in single-value binary form. */
  readonly stats?: FileStats
}

/** Rows that a commit deletes. A vector replaces the previous vector of its data file. */
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

/** Makes a folder of the local disk a place for tables. */
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

/** Makes a folder for a table below `folder`, and its writer. */
export function tableInFolder(
  folder: string,
  name: string,
  options: Omit<WriterOptions, 'location' | 'put'>,
): IcebergWriter {
  return new IcebergWriter({ ...folderSink(join(folder, name)), ...options })
}

let lastSnapshotId = 3_051_729_675_574_597_004n

interface ManifestWritten extends Manifest {
  /** The data file to which its deletion vector belongs. */
  readonly vectorOf?: string
}

/** Writes one table, commit by commit. */
export class IcebergWriter {
  readonly tableUuid: string
  readonly #snapshots: Record<string, unknown>[] = []
  readonly #schemas: (readonly Field[])[]
  #manifests: ManifestWritten[] = []
  readonly #log: { 'timestamp-ms': number; 'metadata-file': string }[] = []
  readonly #version: FormatVersion
  #sequence = 0
  #dataBytes = 0n
  #hasDeletes = false
  #nowMs = 1_700_000_000_000
  #count = 0
  #metadataLocation: string | undefined
  /** Where `main` was moved to; undefined: at the newest snapshot. */
  #rolledBackTo: bigint | undefined

  constructor(readonly options: WriterOptions) {
    this.tableUuid = options.tableUuid ?? crypto.randomUUID()
    this.#version = options.formatVersion ?? 2
    this.#schemas = [options.fields]
  }

  /** The metadata file that was written last. */
  get metadataLocation(): string | undefined {
    return this.#metadataLocation
  }

  /** The fields of the current schema. */
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

  /** Adds a snapshot with these data files and none of those before. */
  overwrite(files: readonly FileOptions[]): Promise<Appended> {
    this.#manifests = []
    return this.commit('overwrite', files, [])
  }

  /** Moves `main` back to a snapshot, without adding one. Nothing may be added after that. */
  async rollBack(snapshotId: bigint): Promise<string> {
    this.#rolledBackTo = snapshotId
    return this.#writeMetadata({})
  }

  /** Leaves only the newest snapshot. */
  async expire(): Promise<string> {
    this.#snapshots.splice(0, this.#snapshots.length - 1)
    return this.#writeMetadata({})
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

  /** The bytes of all files, as long as no delete file may have replaced another. */
  #totals(data: readonly Record<string, unknown>[], deletes: readonly Record<string, unknown>[]) {
    for (const file of data) this.#dataBytes += BigInt(file.file_size_in_bytes as bigint)
    this.#hasDeletes ||= deletes.length > 0
    return this.#hasDeletes ? {} : { 'total-files-size': String(this.#dataBytes) }
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
    // One manifest for each, so that a replaced vector leaves no entry behind.
    for (const each of deletes) await this.#manifest(1, [each], snapshotId, sequence)
    const manifestList = this.#path(`metadata/snap-${snapshotId}.avro`)
    await this.options.put(manifestList, manifestListBytes(this.#version, this.#manifests))
    this.#snapshots.push({
      'snapshot-id': snapshotId,
      ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
      ...(this.#version === 1 ? {} : { 'sequence-number': sequence }),
      'timestamp-ms': ++this.#nowMs,
      'manifest-list': manifestList,
      summary: { operation, ...this.#totals(data, deletes) },
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
      manifestSchema(this.#version, this.#partitionField),
      files.map((file) => manifestEntry(this.#version, file, snapshotId)),
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

  /** The current metadata of the table. */
  metadata(properties: Readonly<Record<string, string>> = {}): Record<string, unknown> {
    const current = this.#rolledBackTo ?? this.#snapshots.at(-1)?.['snapshot-id']
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

  get #partitionField(): Field | undefined {
    return this.options.fields.find((field) => field.name === this.options.partitionBy)
  }

  #schema(id: number): object {
    return { type: 'struct', 'schema-id': id, fields: this.#schemas[id]?.map(schemaField) ?? [] }
  }

  #spec(): { 'spec-id': number; fields: readonly object[] } {
    const by = this.#partitionField
    const fields =
      by === undefined ? [] : [{ name: by.name, transform: 'identity', 'source-id': by.id, 'field-id': 1000 }]
    return { 'spec-id': 0, fields }
  }

  #partition(value: string | number | null | undefined): Record<string, unknown> {
    if (this.options.partitionBy === undefined) return {}
    return { [this.options.partitionBy]: typeof value === 'number' ? BigInt(value) : (value ?? null) }
  }

  #path(below: string): string {
    return `${this.options.location}/${below}`
  }

  #next(): string {
    return `${String(++this.#count).padStart(5, '0')}-${crypto.randomUUID()}`
  }
}

/** JSON with bigints as plain integers. */
function stringifyExact(value: unknown): string {
  const marked = JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `\u0000${inner}` : inner))
  return marked.replace(/"\\u0000(-?\d+)"/g, '$1')
}
