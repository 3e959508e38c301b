/**
 * Loads a snapshot's deletes into temporary tables for anti-joins: positions by branch, file and row, and values by
 * the fields that they compare.
 */

import { BIGINT, type DuckDBConnection, DuckDBDataChunk, INTEGER } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { quoteText } from '../../base/sql-text.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import { appliesFrom, type EqualityDelete } from '../../storage/iceberg/deletes.ts'
import type { DeleteEntry, FileEntry } from '../../storage/iceberg/files.ts'
import type { Storage } from '../../storage/storage.ts'
import { engineCannotRead } from '../engine-error.ts'
import { readDeletionVector } from '../iceberg/deletion-vector.ts'
import type { SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import type { TableField } from '../iceberg/table-schema.ts'
import type { Branch } from './branches.ts'
import { assertReads, type FileShape } from './file-shape.ts'
import { type ReadColumn, readColumn, schemaArgument } from './table-columns.ts'

/** A delete file on the local disk. */
export interface LocalDelete<E extends DeleteEntry = DeleteEntry> {
  readonly entry: E
  readonly path: string
  readonly shape: FileShape
}

/** Fields of every position delete file (specification, Position Delete Files). */
const positionFields = [
  { id: 2_147_483_546, name: 'file_path', type: 'string' },
  { id: 2_147_483_545, name: 'pos', type: 'long' },
].map((field): TableField => ({ ...field, required: true, elementId: undefined, initialDefault: null }))

/** Numbers partition keys, so that SQL can compare integers. */
export class PartitionNumbers {
  readonly #numbers = new Map<string, number>()

  of({ partitionKey }: FileEntry): number {
    const assigned = this.#numbers.get(partitionKey)
    if (assigned !== undefined) return assigned
    this.#numbers.set(partitionKey, this.#numbers.size)
    return this.#numbers.size - 1
  }
}

/**
 * Creates table `name` (branch, file, pos) with every deleted position.
 * @throws EngineError, ReadFailure or an error of DuckDB
 */
export async function createPositionTable(
  connection: DuckDBConnection,
  name: string,
  branches: readonly Branch[],
  deletes: readonly LocalDelete[],
  storage: Storage,
  signal: AbortSignal,
): Promise<void> {
  await connection.run(`CREATE TEMP TABLE ${name} (branch INTEGER, file BIGINT, pos BIGINT)`)
  await addVectors(connection, name, branches, storage, signal)
  if (deletes.length === 0) return
  const columns = positionFields.map(readColumn)
  for (const { shape } of deletes) assertHolds(shape, columns)
  const partitions = new PartitionNumbers()
  const data = branches.flatMap(({ files }, branch) =>
    files.flatMap(({ planned: { entry, hasPositions } }, file) =>
      hasPositions
        ? [{ b: branch, f: file, p: entry.location, s: entry.sequenceNumber, k: partitions.of(entry) }]
        : [],
    ),
  )
  const files = deletes.map(({ entry }, file) => ({
    f: file,
    s: entry.sequenceNumber,
    // A delete file that names its data file applies to it in any partition.
    k: entry.dataFile === undefined ? partitions.of(entry) : -1,
  }))
  await connection.run(
    `INSERT INTO ${name} SELECT DISTINCT m.b, m.f, d.f2147483545
FROM read_parquet([${deletes.map(({ path }) => quoteText(path)).join(', ')}], schema = ${schemaArgument(columns)}, hive_partitioning = false) AS d
JOIN ${rowsOf(files, '$1', 'f BIGINT, s BIGINT, k BIGINT')} AS e ON e.f = d.file_index
JOIN ${rowsOf(data, '$2', 'b BIGINT, f BIGINT, p VARCHAR, s BIGINT, k BIGINT')} AS m
ON m.p = d.f2147483546 AND e.s ${appliesFrom.position} m.s AND (e.k = -1 OR e.k = m.k)`,
    [JSON.stringify(files), JSON.stringify(data)],
  )
}

/** A relation of rows that the statement receives as a JSON parameter. */
function rowsOf(rows: readonly object[], parameter: string, columns: string): string {
  const shape = Object.fromEntries(columns.split(', ').map((column) => column.split(' ')))
  if (rows.length > 0 && Object.keys(rows[0] ?? {}).join() !== Object.keys(shape).join())
    throw new Error('rows and columns differ')
  return `(SELECT unnest(from_json(${parameter}::VARCHAR, '[${JSON.stringify(shape)}]'), recursive := true))`
}

async function addVectors(
  connection: DuckDBConnection,
  name: string,
  branches: readonly Branch[],
  storage: Storage,
  signal: AbortSignal,
): Promise<void> {
  const appender = await connection.createAppender(name, 'main', 'temp')
  for (const [branch, { files }] of branches.entries())
    for (const [file, { planned }] of files.entries()) {
      if (planned.vector === undefined) continue
      signal.throwIfAborted()
      const positions = await unlessAborted(readDeletionVector(storage, planned.vector), signal)
      for (let at = 0; at < positions.length; at += chunkRows)
        appender.appendDataChunk(positionChunk(branch, file, positions.subarray(at, at + chunkRows)))
    }
  appender.closeSync()
}

const chunkRows = 2_048

function positionChunk(branch: number, file: number, positions: BigInt64Array): DuckDBDataChunk {
  const chunk = DuckDBDataChunk.create([INTEGER, BIGINT, BIGINT], positions.length)
  const columns = [
    new Int32Array(positions.length).fill(branch),
    new BigInt64Array(positions.length).fill(BigInt(file)),
    positions,
  ]
  for (const [index, { buffer, byteOffset, byteLength }] of columns.entries()) {
    const vector = duckdb.data_chunk_get_vector(chunk.chunk, index)
    duckdb.copy_data_to_vector(vector, 0, buffer as ArrayBuffer, byteOffset, byteLength)
  }
  return chunk
}

/** A table of deleted values. Rows of older files that equal one of them in these columns are deleted. */
export interface EqualityTable {
  readonly name: string
  readonly columns: readonly ReadColumn[]
  readonly isGlobal: boolean
}

/** DuckDB's equality differs from the specification's here: NaN, signed zeros, truncated nanoseconds. */
const inexact = new Set(['float', 'double', 'timestamptz_ns'])

/**
 * The columns that equality deletes compare.
 * @throws EngineError 0A000 for nested fields and for types whose equality differs from the specification's
 */
export function equalityColumns(
  plan: SnapshotPlan,
  deletes: readonly EqualityDelete[],
): ReadonlyMap<number, ReadColumn> {
  const columns = new Map<number, ReadColumn>()
  for (const id of new Set(deletes.flatMap(({ equalityIds }) => equalityIds))) {
    const field = plan.fields.get(id)
    if (field === undefined) throw engineCannotRead('A table with equality deletes on nested fields')
    if (typeof field.type !== 'string' || inexact.has(field.type))
      throw engineCannotRead(
        'A table with equality deletes on columns of type float, double, timestamptz_ns or a nested type',
      )
    columns.set(id, readColumn(field))
  }
  return columns
}

/**
 * Creates one table for each set of compared fields, separately for deletes of one partition and of all. Each has the
 * deleted values, the partition (`part`) and the newest sequence number that deletes them there (`seq`).
 * @param prefix of the tables' names
 * @throws EngineError, ReadFailure or an error of DuckDB
 */
export async function createEqualityTables(
  connection: DuckDBConnection,
  prefix: string,
  deletes: readonly LocalDelete<EqualityDelete>[],
  columns: ReadonlyMap<number, ReadColumn>,
  partitions: PartitionNumbers,
): Promise<readonly EqualityTable[]> {
  const groups = Map.groupBy(
    deletes,
    ({ entry }) => `${[...entry.equalityIds].sort((a, b) => a - b).join()} ${entry.isGlobal}`,
  )
  const tables: EqualityTable[] = []
  for (const group of groups.values()) {
    const entry = group[0]?.entry
    if (entry === undefined) continue
    const compared = entry.equalityIds.map((id) => columns.get(id)).filter((one) => one !== undefined)
    for (const { shape } of group) assertHolds(shape, compared)
    const name = `${prefix}${tables.length}`
    const files = group.map(({ entry }, file) => ({
      f: file,
      s: entry.sequenceNumber,
      k: entry.isGlobal ? -1 : partitions.of(entry),
    }))
    const values = compared.map(({ alias }) => `d.${alias}`).join(', ')
    await connection.run(
      `CREATE TEMP TABLE ${name} AS SELECT ${values}, e.k AS part, max(e.s) AS seq
FROM read_parquet([${group.map(({ path }) => quoteText(path)).join(', ')}], schema = ${schemaArgument(compared)}, hive_partitioning = false) AS d
JOIN ${rowsOf(files, '$1', 'f BIGINT, s BIGINT, k BIGINT')} AS e ON e.f = d.file_index GROUP BY ALL`,
      [JSON.stringify(files)],
    )
    tables.push({ name, columns: compared, isGlobal: entry.isGlobal })
  }
  return tables
}

/** A delete file must have each column, because a missing one would read as NULL and delete the wrong rows. */
function assertHolds({ columns }: FileShape, wanted: readonly ReadColumn[]): void {
  for (const { field } of wanted) {
    const found = columns.filter(({ fieldId }) => fieldId === field.id)
    if (found.length !== 1 || found[0] === undefined)
      throw engineCannotRead('A delete file without the field ids of its columns')
    assertReads(field, found[0])
  }
}

/** Creates table `name` (branch, file, seq, part) with the files to which equality deletes may apply. */
export async function createFileTable(
  connection: DuckDBConnection,
  name: string,
  branches: readonly Branch[],
  partitions: PartitionNumbers,
): Promise<void> {
  const rows = branches.flatMap(({ files, hasEquality }, branch) =>
    hasEquality
      ? files.map(({ planned: { entry } }, file) => ({
          branch,
          file,
          seq: entry.sequenceNumber,
          part: partitions.of(entry),
        }))
      : [],
  )
  await connection.run(
    `CREATE TEMP TABLE ${name} AS FROM ${rowsOf(rows, '$1', 'branch BIGINT, file BIGINT, seq BIGINT, part BIGINT')}`,
    [JSON.stringify(rows)],
  )
}
