/** Writes the rows of the demo's sales.orders as data files and manifests beside the table's metadata. */

import { dirname, join } from 'node:path'
import { appendSnapshot, orderFields } from '../commits.ts'
import { duckdbParquet } from './duckdb-parquet.ts'
import { folderSink, IcebergWriter } from './iceberg-writer.ts'
import type { Field, FieldType } from './table-fields.ts'

/** One snapshot that is written but not yet committed to a table. */
export interface WrittenSnapshot {
  readonly snapshotId: bigint
  /** Where its manifest list is, without a trailing slash. */
  readonly folder: string
  /** The commit that adds it. @param timestampMs its time, milliseconds since the Unix epoch */
  readonly commit: (timestampMs: number) => string
}

const batches = [
  `(1, 'ada@example.com', 120.00, '2026-01-05 09:30:00+00'),
   (2, 'bo@example.org', 4800.00, '2026-01-05 11:02:00+00')`,
  `(3, 'cy@example.net', 75.50, '2026-01-06 08:15:00+00'),
   (4, 'ada@example.com', 15000.00, '2026-01-06 16:40:00+00')`,
]

/**
 * Writes two snapshots of two orders each, the second based on the first.
 * @param warehouse folder of a development catalog's warehouse; sales.orders has a folder below it
 */
export async function writeOrders(warehouse: string): Promise<readonly [WrittenSnapshot, WrittenSnapshot]> {
  const writer = orderWriter(warehouse)
  const first = await writeBatch(writer, 0)
  return [first, await writeBatch(writer, 1, first.snapshotId)]
}

/** Writes only the first of the two snapshots. */
export function writeFirstOrders(warehouse: string): Promise<WrittenSnapshot> {
  return writeBatch(orderWriter(warehouse), 0)
}

function orderWriter(warehouse: string): IcebergWriter {
  const { location, put } = folderSink(join(warehouse, 'sales', 'orders'))
  return new IcebergWriter({
    fields: orderFields.map(icebergField),
    location,
    // Metadata files are not written here, because the catalog writes them when the commits arrive.
    put: (path, bytes) => (path.endsWith('.metadata.json') ? undefined : put(path, bytes)),
  })
}

async function writeBatch(writer: IcebergWriter, index: number, parentId?: bigint): Promise<WrittenSnapshot> {
  const names = orderFields.map(({ name }) => name)
  const columns = orderFields.map(
    ({ name, type }) => `CAST(${name} AS ${type === 'long' ? 'bigint' : type}) AS ${name}`,
  )
  const bytes = await duckdbParquet(
    `SELECT ${columns.join(', ')} FROM (VALUES ${batches[index]}) AS o(${names.join(', ')})`,
    `{${orderFields.map(({ id, name }) => `${name}: ${id}`).join(', ')}}`,
  )
  const { snapshotId, manifestList } = await writer.append([{ rows: [], bytes, recordCount: 2 }])
  return {
    snapshotId,
    folder: dirname(manifestList),
    commit: (timestampMs) =>
      appendSnapshot({ snapshotId, parentId, sequenceNumber: index + 1, timestampMs, manifestList }),
  }
}

function icebergField({ id, name, type, required = false }: (typeof orderFields)[number]): Field {
  return { id, name, required, type: type.replace(' ', '') as FieldType }
}
