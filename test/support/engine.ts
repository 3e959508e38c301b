/** Starts an embedded engine in a folder of its own, with a short way from a table to rows. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type IcebergWriter, tableInFolder, type WriterOptions } from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import type { GovernedTable } from '../../src/core/governed-table.ts'
import type { IcebergType } from '../../src/core/iceberg-type.ts'
import { type ColumnVector, isNull, type ResultBatch, scaleAt } from '../../src/core/result-batch.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { bytesAt } from '../../src/core/variable-width.ts'
import { type DuckdbHost, type DuckdbSettings, startDuckdb } from '../../src/engine/duckdb/duckdb-host.ts'
import type { ComputeEngine, EngineColumn, EngineRun, TableSnapshot } from '../../src/engine/engine.ts'
import { textAt } from './vector-text.ts'

export const tenant = 'b7f3a9a2-3e2f-4d53-9b7a-2f6a1f0a4c11' as TenantId
export const otherTenant = '0f0c3f7e-5f5d-4c67-8a1e-6f0e0a7f9d22' as TenantId

const MiB = 1024 * 1024

export interface TestEngine {
  readonly host: DuckdbHost
  /** Reads below `tables`. */
  readonly engine: ComputeEngine
  /** Where tables of the test go. */
  readonly tables: string
  readonly folder: string
  table(name: string, options: Omit<WriterOptions, 'location' | 'put'>): IcebergWriter
  close(): Promise<void>
}

/** Starts an engine with small bounds. */
export async function startTestEngine(settings: Partial<DuckdbSettings> = {}): Promise<TestEngine> {
  const root = mkdtempSync(join(tmpdir(), 'engine-'))
  const folder = join(root, 'engine')
  const tables = join(root, 'tables')
  const host = await startDuckdb({
    folder,
    threads: 2,
    memoryBytesMax: 256 * MiB,
    spillBytesMax: 256 * MiB,
    cacheBytesMax: 256 * MiB,
    placesMax: 2,
    queueMax: 2,
    runMs: 60_000,
    poolThreads: 16,
    ...settings,
  })
  const engine = host.engine({ tenant, key: 'own', access: { roots: [tables], s3: undefined } })
  return {
    host,
    engine,
    tables,
    folder,
    table: (name, options) => tableInFolder(tables, name, options),
    async close() {
      await engine.close()
      await host.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** What nobody cancels. */
export function runBy(who: TenantId = tenant, signal: AbortSignal = new AbortController().signal): EngineRun {
  return { queryId: crypto.randomUUID(), tenant: who, principal: 'someone', signal }
}

/** A table as the read path would give it. */
export function governed(fields: readonly Field[], name = 't'): GovernedTable {
  return {
    ref: { namespace: ['s'], name },
    schemaName: 's',
    tableName: name,
    relation: { duckdb: [name] },
    columns: fields.map(({ id, name: column, type, required = false }) => ({
      name: column,
      fieldId: id,
      type: governedType(type),
      required,
      masks: [],
    })),
    rowFilters: [],
  }
}

function governedType(type: Field['type']): IcebergType {
  if (typeof type === 'string') return type
  if ('list' in type) return { type: 'list', elementId: type.elementId, element: governedType(type.list) }
  if ('map' in type) {
    const { keyId, valueId } = type
    return { type: 'map', keyId, key: governedType(type.key), valueId, value: governedType(type.map) }
  }
  const fields = type.struct.map(({ id: fieldId, name, type: inner, required = false }) => ({
    ...{ fieldId, name, type: governedType(inner), required },
  }))
  return { type: 'struct', fields }
}

/** A writer's table at its last metadata file. */
export function snapshotOf(writer: IcebergWriter, at: Partial<TableSnapshot> = {}): TableSnapshot {
  const current = writer.metadata()['current-snapshot-id'] as bigint | undefined
  return {
    table: governed(writer.fields),
    metadataLocation: writer.metadataLocation ?? '',
    snapshotId: current,
    ...at,
  }
}

/** Runs `sql` with `{}` for the relation, and reads all rows. */
export async function rowsOf(
  engine: ComputeEngine,
  snapshot: TableSnapshot,
  sql: string,
  columns: readonly EngineColumn[],
  run: EngineRun = runBy(),
): Promise<unknown[][]> {
  const session = await engine.open([snapshot], run)
  try {
    const rows: unknown[][] = []
    const text = sql.replaceAll('{}', session.relation(snapshot.table))
    for await (const batch of session.run({ sql: text, columns })) rows.push(...rowsIn(batch))
    return rows
  } finally {
    await session.close()
  }
}

/** Columns by `name type` pairs: `columns('id int8, name text')`. */
export function columns(text: string): EngineColumn[] {
  return text.split(', ').map((pair) => {
    const [name = '', type = ''] = pair.split(' ')
    return { name, type: type as EngineColumn['type'] }
  })
}

/** The rows of a batch as plain values. */
export function rowsIn({ rowCount, columns }: ResultBatch): unknown[][] {
  return Array.from({ length: rowCount }, (_, row) => columns.map((column) => valueAt(column, row)))
}

function valueAt(column: ColumnVector, row: number): unknown {
  if (isNull(column, row)) return null
  switch (column.type) {
    case 'bool':
      return column.values[row] === 1
    case 'numeric':
      return `${column.values[row]}e-${scaleAt(column.scale, row)}`
    case 'interval':
      return [column.months[row], column.days[row], column.micros[row]]
    case 'array':
      return Array.from({ length: (column.offsets[row + 1] ?? 0) - (column.offsets[row] ?? 0) }, (_, index) =>
        valueAt(column.elements, (column.offsets[row] ?? 0) + index),
      )
    case 'bytea':
      return bytesAt(column, row)
    case 'text':
    case 'varchar':
    case 'json':
    case 'jsonb':
      return textAt(column, row)
    default:
      return column.values[row]
  }
}

/** The error that a promise ends with. */
export async function failure(promise: Promise<unknown>): Promise<{ code?: string; message: string }> {
  return promise.then(
    () => ({ message: 'nothing was thrown' }),
    (thrown) => thrown,
  )
}
