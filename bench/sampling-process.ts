/** A process that samples Parquet files on order: by detection's own reader, or by a DuckDB that is locked down. */

import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from '../src/base/sql-text.ts'
import { ColumnSamples } from '../src/detection/scan/column-samples.ts'
import { spread } from '../src/detection/scan/manifests.ts'
import { scanFile } from '../src/detection/scan/scan-file.ts'
import { isFatal } from '../src/engine/duckdb/locked-database.ts'
import { lockedInstance } from '../src/engine/duckdb/locked-instance.ts'
import { limits } from '../src/limits.ts'
import { ReadFailure } from '../src/storage/read-failure.ts'
import { openStorage } from '../src/storage/storage.ts'
import { type Opened, obeyParent } from './child.ts'

export type SamplingReader = 'own' | 'duckdb'

export type SamplingOrder =
  | { readonly kind: 'open'; readonly reader: SamplingReader }
  | { readonly kind: 'sample'; readonly path: string }

export interface Sampled {
  /** `fatal`: DuckDB gave up and was started again. `foreign`: an error that is none of ours. */
  readonly outcome: 'read' | 'refused' | 'foreign' | 'fatal'
  readonly values: number
  readonly bytesRead: number
  readonly ms: number
  /** Memory of the process after it. */
  readonly rssMib: number
}

export interface SamplingResults {
  readonly open: undefined
  readonly sample: Sampled
}

const share = { valuesMax: limits.detectionValuesMax, bytesMax: limits.detectionBytesMax }
let instance: DuckDBInstance | undefined

async function byOwn(path: string): Promise<Pick<Sampled, 'values' | 'bytesRead'>> {
  const storage = openStorage({ roots: [dirname(path)], s3: undefined })
  try {
    const samples = new ColumnSamples(limits.detectionValuesMax)
    await scanFile(await storage.open(path), [], samples, share)
    return { values: samples.valueCount, bytesRead: storage.bytesRead }
  } finally {
    await storage.close()
  }
}

/** As much as the own reader takes: from the start of up to four row groups that are spread over the file. */
async function byDuckdb(path: string): Promise<Pick<Sampled, 'values' | 'bytesRead'>> {
  const folder = dirname(path)
  const spill = join(folder, 'spill')
  mkdirSync(spill, { recursive: true })
  instance ??= await lockedInstance(
    { threads: 1, memoryBytesMax: 2 ** 28, spillBytesMax: 2 ** 26 },
    folder,
    spill,
  )
  const connection = await instance.connect()
  try {
    const file = quoteText(path)
    const groups = await connection.runAndReadAll(
      `SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata(${file}) ORDER BY ALL`,
    )
    let at = 0
    const starts = groups.getRowsJS().map(([, rows]) => {
      const start = at
      at += Number(rows)
      return { start, end: at }
    })
    const chosen = spread(starts, limits.detectionRowGroupsMax)
    const each = Math.ceil(share.valuesMax / Math.max(chosen.length, 1))
    const places = chosen.map(
      ({ start, end }) => `file_row_number BETWEEN ${start} AND ${Math.min(end, start + each) - 1}`,
    )
    const rows = await connection.runAndReadAll(
      `SELECT COLUMNS(* EXCLUDE file_row_number)::VARCHAR FROM read_parquet(${file}, file_row_number = true)
       WHERE ${places.join(' OR ') || 'false'}`,
    )
    const values = rows
      .getColumnsJS()
      .reduce((sum, column) => sum + column.filter((v) => v !== null).length, 0)
    return { values, bytesRead: Bun.file(path).size }
  } finally {
    connection.closeSync()
  }
}

async function sample(reader: SamplingReader, path: string): Promise<Sampled> {
  const startMs = performance.now()
  const told = (outcome: Sampled['outcome'], { values = 0, bytesRead = 0 } = {}): Sampled => ({
    ...{ outcome, values, bytesRead },
    ms: performance.now() - startMs,
    rssMib: process.memoryUsage.rss() / 2 ** 20,
  })
  try {
    return told('read', await (reader === 'own' ? byOwn(path) : byDuckdb(path)))
  } catch (thrown) {
    if (reader === 'own') return told(thrown instanceof ReadFailure ? 'refused' : 'foreign')
    if (!isFatal(thrown)) return told('refused')
    instance?.closeSync()
    instance = undefined
    return told('fatal')
  }
}

if (import.meta.main)
  obeyParent<SamplingOrder>(
    async ({ reader }): Promise<Opened<SamplingOrder>> => ({
      result: undefined,
      serve: (order) => {
        if (order.kind !== 'sample') throw new Error('the process is open already')
        return sample(reader, order.path)
      },
      close: async () => instance?.closeSync(),
    }),
  )
