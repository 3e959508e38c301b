/** A table of many small files is opened in turns: no turn of the event loop takes more than some of the files. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import { turnItemsMax } from '../../../src/base/in-turns.ts'
import { FileCache } from '../../../src/engine/duckdb/file-cache.ts'
import { ShapeCache } from '../../../src/engine/duckdb/file-shape.ts'
import { LocalFiles } from '../../../src/engine/duckdb/local-files.ts'
import { localTable } from '../../../src/engine/duckdb/open-table.ts'
import type { TableSnapshot } from '../../../src/engine/engine.ts'
import { admitPlan } from '../../../src/engine/iceberg/admitted-plans.ts'
import { planSnapshot, type SnapshotPlan } from '../../../src/engine/iceberg/snapshot-plan.ts'
import type { FileEntry } from '../../../src/storage/iceberg/files.ts'
import { openStorage, type Storage } from '../../../src/storage/storage.ts'
import { snapshotOf, startTestEngine, type TestEngine } from '../../support/engine.ts'
import { type ItemsOfTurns, itemsOfTurns } from '../../support/turns.ts'

const fileCount = 6 * turnItemsMax
/** Two steps may share a turn: the end of one and the beginning of the next. */
const filesOfTurnMax = 2 * turnItemsMax

let engine: TestEngine
let storage: Storage
let snapshot: TableSnapshot
beforeAll(async () => {
  engine = await startTestEngine()
  storage = openStorage({ roots: [engine.tables], s3: undefined })
  const writer = engine.table('small', { fields: [{ id: 1, name: 'id', type: 'long' }] })
  const bytes = await duckdbParquet('SELECT 1::BIGINT AS id', '{id: 1}')
  await writer.append(Array.from({ length: fileCount }, () => ({ rows: [], recordCount: 1, bytes })))
  snapshot = snapshotOf(writer)
})
afterAll(async () => {
  await storage.close()
  await engine.close()
})

const { signal } = new AbortController()
const plan = (admit: (kind: string, location: string) => void) =>
  planSnapshot(storage, snapshot.metadataLocation, snapshot.snapshotId, {
    signal,
    guard: { admit, outside: [] },
    hold: () => {},
  })

/** The plan, each use of whose files is counted. */
async function counted(turns: ItemsOfTurns): Promise<SnapshotPlan> {
  const given = await plan(() => {})
  const dataFiles = given.dataFiles.map((entry, at): FileEntry => {
    return {
      ...entry,
      get location() {
        turns.touch(at)
        return entry.location
      },
      get partitionKey() {
        turns.touch(at)
        return entry.partitionKey
      },
    }
  })
  return { ...given, dataFiles }
}

describe('a snapshot of many small files', () => {
  test('is planned some files at a time', async () => {
    const turns = itemsOfTurns()
    const { dataFiles } = await plan((kind, location) => kind === 'data file' && turns.touch(location))
    expect(dataFiles).toHaveLength(fileCount)
    expect(turns.most()).toBeLessThanOrEqual(filesOfTurnMax)
    expect(turns.all()).toBe(fileCount)
  })

  test('is judged by a territory some files at a time', async () => {
    const turns = itemsOfTurns()
    const territory = { mode: 'enforce', version: '1', prefixes: [`file://${engine.tables}/`] } as const
    const judged = { ...snapshot, territory: { territory, report: () => {} } }
    const given = await counted(turns)
    await admitPlan(given, judged, signal)
    expect(turns.most()).toBeLessThanOrEqual(filesOfTurnMax)
    expect(turns.all()).toBe(fileCount)
  })

  test('is fetched, grouped and written as a relation some files at a time', async () => {
    const turns = itemsOfTurns()
    const given = await counted(turns)
    const cache = await FileCache.open(`${engine.folder}-many`, 1024 ** 3, () => {})
    const instance = await DuckDBInstance.create(':memory:')
    const scope = { key: 'many', access: { roots: [engine.tables], s3: undefined } }
    const files = new LocalFiles(instance, undefined, cache, new ShapeCache(), scope)
    try {
      const { relation, bytes } = await localTable(snapshot, given, 0, files, storage, signal)
      expect(bytes).toBe(given.dataFiles.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))
      expect(String(relation).match(/\.parquet'/g)).toHaveLength(fileCount)
      expect(turns.most()).toBeLessThanOrEqual(filesOfTurnMax)
      expect(turns.all()).toBe(fileCount)
    } finally {
      await files.release()
      await cache.close()
      instance.closeSync()
    }
  })
})
