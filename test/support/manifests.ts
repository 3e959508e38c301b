/** Manifests and manifest lists with exactly the entries that a test names, in a folder of the local disk. */

import { avroBytes } from '../../demo/lake/avro-file.ts'
import { folderSink } from '../../demo/lake/iceberg-writer.ts'
import {
  type FileStats,
  type Manifest,
  manifestEntry,
  manifestListBytes,
  manifestSchema,
  statsFields,
} from '../../demo/lake/manifests.ts'

export interface Entry {
  readonly path: string
  /** `added` where absent. */
  readonly status?: 'existing' | 'added' | 'deleted'
  readonly rows?: number
  readonly stats?: FileStats
  /** Of a table that is partitioned by `day`. */
  readonly day?: string | null
  /** Whether it deletes rows by their values. */
  readonly byValue?: true
  /** Of a deletion vector. */
  readonly offset?: number
}

const dayField = { id: 3, name: 'day', type: 'string' } as const
const statuses = { existing: 0, added: 1, deleted: 2 } as const

/** Writes below a folder; names are given in order. */
export function manifestFolder(folder: string) {
  const { location, put } = folderSink(folder)
  let count = 0
  const place = (kind: string) => `${location}/metadata/${kind}-${++count}.avro`
  return {
    location,
    async manifest(
      entries: readonly Entry[],
      kind: 'data' | 'deletes' = 'data',
      specId = 0,
    ): Promise<Manifest> {
      const content = kind === 'data' ? 0 : 1
      const by = entries.some(({ day }) => day !== undefined) ? dayField : undefined
      const records = entries.map(
        ({ path, status = 'added', rows = 1, stats, offset, byValue, day = null }) => {
          const file = {
            file_path: path,
            file_format: 'PARQUET',
            partition: by === undefined ? {} : { day },
            record_count: BigInt(rows),
            file_size_in_bytes: 1n,
            content: byValue ? 2 : content,
            ...statsFields(stats),
            ...(offset !== undefined && { content_offset: BigInt(offset) }),
          }
          const entry = { ...manifestEntry(2, file, 1n), status: statuses[status] }
          return status === 'added' ? entry : { ...entry, snapshot_id: 1n, sequence_number: 1n }
        },
      )
      const bytes = avroBytes(manifestSchema(2, by), records, { content: kind, 'format-version': '2' })
      const path = place('manifest')
      await put(path, bytes)
      return { path, length: bytes.length, content, snapshotId: 1n, sequence: 1, specId }
    },
    /** @returns its location */
    async list(manifests: readonly Manifest[]): Promise<string> {
      const path = place('snap')
      await put(path, manifestListBytes(2, manifests))
      return path
    },
  }
}
