/** The first query over many small data files that are not cached: its time, and the longest stretch of the thread. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { duckdbParquet } from '../../demo/lake/duckdb-parquet.ts'
import { tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { startDuckdb } from '../../src/engine/duckdb/duckdb-host.ts'
import type { ComputeEngine, TableSnapshot } from '../../src/engine/engine.ts'
import type { GrowthRow, GrowthSubject, Sizes } from './row.ts'

const sizes: Sizes = [500, 5_000, 50_000]
const smokeSizes: Sizes = [2, 4, 8]

export const firstQueryByFiles: GrowthRow = {
  name: 'first-query',
  of: 'data files',
  unit: 'ms',
  declared: 'linear',
  sizes,
  smokeSizes,
  open: async () => subject(async (read) => (await watched(read)).ms),
}

export const stretchByFiles: GrowthRow = {
  name: 'first-query-stretch',
  of: 'data files',
  unit: 'ms without yielding',
  declared: 'flat',
  sizes,
  smokeSizes,
  open: async () => subject(async (read) => (await watched(read)).stretchMs),
}

/** Runs work, and finds the longest time for which no turn of the event loop began. */
async function watched(
  work: () => Promise<void>,
): Promise<{ readonly ms: number; readonly stretchMs: number }> {
  let [lastMs, stretchMs, done] = [performance.now(), 0, false]
  const watch = () => {
    const nowMs = performance.now()
    stretchMs = Math.max(stretchMs, nowMs - lastMs)
    lastMs = nowMs
    if (!done) setImmediate(watch)
  }
  const startedMs = lastMs
  setImmediate(watch)
  await work()
  done = true
  const ms = performance.now() - startedMs
  return { ms, stretchMs: Math.max(stretchMs, performance.now() - lastMs) }
}

const GiB = 1024 ** 3
const filesPerManifest = 10_000

async function subject(measure: (read: () => Promise<void>) => Promise<number>): Promise<GrowthSubject> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  const host = await startDuckdb({
    folder: join(folder, 'engine'),
    threads: navigator.hardwareConcurrency,
    memoryBytesMax: GiB,
    spillBytesMax: GiB,
    cacheBytesMax: 8 * GiB,
    placesMax: 1,
    queueMax: 1,
    runMs: 600_000,
    poolThreads: 16,
  })
  const access = { roots: [folder], s3: undefined }
  const writer = tableInFolder(folder, 'events', { fields: [{ id: 1, name: 'id', type: 'long' }] })
  const bytes = await duckdbParquet('SELECT 1::BIGINT AS id', '{id: 1}')
  let written = 0
  const grown = async (size: number): Promise<TableSnapshot> => {
    let snapshot: TableSnapshot | undefined
    while (written < size) {
      const count = Math.min(filesPerManifest, size - written)
      const files = Array.from({ length: count }, () => ({ rows: [], recordCount: 1, bytes }))
      const { metadataLocation, snapshotId } = await writer.append(files)
      snapshot = { table, metadataLocation, snapshotId }
      written += count
    }
    if (snapshot === undefined) throw new Error('sizes do not ascend')
    return snapshot
  }
  let keys = 0
  const costOf = async (snapshot: TableSnapshot) => {
    // Another key each time, because the files of a key are cached.
    const engine = host.engine({ tenant, key: `${++keys}`, access })
    try {
      return await measure(() => readWhole(engine, snapshot))
    } finally {
      await engine.close()
    }
  }
  // Compiles what every query runs.
  const first = await grown(1)
  for (let round = 0; round < 3; round++) await costOf(first)
  return {
    costAt: async (size) => await costOf(await grown(size)),
    async [Symbol.asyncDispose]() {
      await host.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const tenant = '00000000-0000-4000-8000-000000000001' as TenantId
const columns = [
  { name: 'n', type: 'int8' },
  { name: 'm', type: 'int8' },
] as const
const table = {
  ...{ ref: { namespace: ['s'], name: 'events' }, schemaName: 's', tableName: 'events', relation: {} },
  columns: [{ name: 'id', fieldId: 1, type: 'long', required: false, masks: [] }],
  ...{ rowFilters: [], contract: { id: 'c', version: 1 } },
}

async function readWhole(engine: ComputeEngine, snapshot: TableSnapshot): Promise<void> {
  const { signal } = new AbortController()
  const run = { queryId: crypto.randomUUID(), tenant, principal: 'bench', signal }
  const session = await engine.open([snapshot], run)
  try {
    const sql = `SELECT count(*) AS n, max(c0) AS m FROM ${session.relation(table)} AS t(c0)`
    for await (const batch of session.run({ sql, columns }))
      if (batch.rowCount !== 1) throw new Error('the query has no row')
  } finally {
    await session.close()
  }
}
