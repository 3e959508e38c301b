/**
 * Measures what territory costs a read: the first query of a snapshot of many files with every file judged against the
 * same query without, by turns; planning alone, likewise; and the judgement of a plan that was admitted before, as a
 * warm query has it.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { duckdbParquet } from '../demo/lake/duckdb-parquet.ts'
import { folderSink, IcebergWriter } from '../demo/lake/iceberg-writer.ts'
import type { GovernedTable } from '../src/core/governed-table.ts'
import type { TenantId } from '../src/core/tenant.ts'
import type { Territory } from '../src/core/territory.ts'
import { startDuckdb } from '../src/engine/duckdb/duckdb-host.ts'
import type { TableSnapshot } from '../src/engine/engine.ts'
import { admitPlan } from '../src/engine/iceberg/admitted-plans.ts'
import { planSnapshot } from '../src/engine/iceberg/snapshot-plan.ts'
import { openStorage } from '../src/storage/storage.ts'
import { territoryGuard } from '../src/storage/territory-guard.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { bootstrapRatio, percentile, type Round } from './statistics.ts'
import { rounded } from './table.ts'

/** What the first query of a snapshot may take longer. */
const firstRatioMax = 1.05
const warmReads = 10_000

export const territoryRead: BenchEntry = {
  name: 'territory-read',
  about: "a snapshot's files judged before they are read, against reading them alone",
  options: {},
  run,
}

const tenant = '00000000-0000-4000-8000-000000000001' as TenantId
const governed: GovernedTable = {
  ref: { namespace: ['s'], name: 't' },
  schemaName: 's',
  tableName: 't',
  relation: {},
  columns: [{ name: 'id', fieldId: 1, type: 'long', required: false, masks: [] }],
  rowFilters: [],
  contract: { id: 'c', version: 1 },
}

interface Written {
  readonly metadataLocation: string
  readonly snapshotId: bigint
  readonly territory: Territory
}

async function* run({ smoke, seed }: BenchRun): AsyncGenerator<BenchResult> {
  const files = smoke ? 100 : 10_000
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-territory-'))
  try {
    const table = await writeTable(folder, files)
    const planning = await measurePlanning(folder, table, smoke ? 2 : 40)
    yield {
      bench: 'territory-read',
      case: { files, of: 'planning' },
      figures: { ...figuresOf(planning.rounds, seed), warm_us: rounded(planning.warmUs) },
    }
    const figures = figuresOf(await measureFirstQuery(folder, table, smoke ? 2 : 15), seed)
    yield {
      bench: 'territory-read',
      case: { files, of: 'first query' },
      figures,
      ...(!smoke && { verdict: figures.first_ratio <= firstRatioMax ? 'pass' : 'fail' }),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function figuresOf(rounds: readonly Round[], seed: number) {
  const { value, low, high } = bootstrapRatio(rounds, { quantile: 0.5, seed })
  const base = rounds.flatMap((round) => round.base)
  return {
    first_ratio: rounded(value),
    first_ratio_low: rounded(low),
    first_ratio_high: rounded(high),
    base_ms: rounded(percentile(base, 0.5)),
  }
}

/** By turns, without and with the table's territory. The first round compiles both and does not count. */
async function roundsOf(
  count: number,
  { territory }: Written,
  work: (territory: Territory | undefined) => Promise<unknown>,
): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (let round = 0; round < count; round++) {
    const base = await timeOf(() => work(undefined))
    rounds.push({ base: [base], target: [await timeOf(() => work(territory))] })
  }
  return rounds.slice(1)
}

/** Opens no data file, so that judging weighs most; then judges the plan again and again. */
async function measurePlanning(folder: string, table: Written, count: number) {
  const { metadataLocation, snapshotId, territory } = table
  const storage = openStorage({ roots: [folder], s3: undefined })
  try {
    const plan = (given: Territory | undefined) =>
      planSnapshot(storage, metadataLocation, snapshotId, {
        signal: new AbortController().signal,
        guard: territoryGuard(given),
        hold: () => {},
      })
    const rounds = await roundsOf(count, table, plan)
    const planned = await plan(territory)
    const snapshot = snapshotOf(table, territory)
    const { signal } = new AbortController()
    await admitPlan(planned, snapshot, signal)
    const warmMs = await timeOf(async () => {
      for (let read = 0; read < warmReads; read++) await admitPlan(planned, snapshot, signal)
    })
    return { rounds, warmUs: (warmMs / warmReads) * 1000 }
  } finally {
    await storage.close()
  }
}

/** Each query is on an engine that has planned and opened nothing of the table. */
async function measureFirstQuery(folder: string, table: Written, count: number): Promise<readonly Round[]> {
  const host = await startDuckdb({
    folder: join(folder, 'engine'),
    threads: navigator.hardwareConcurrency,
    memoryBytesMax: 1024 ** 3,
    spillBytesMax: 1024 ** 3,
    cacheBytesMax: 1024 ** 3,
    placesMax: 1,
    queueMax: 1,
    runMs: 600_000,
    poolThreads: 16,
  })
  let engines = 0
  try {
    return await roundsOf(count, table, async (given) => {
      const key = `engine ${engines++}`
      const engine = host.engine({ tenant, key, access: { roots: [folder], s3: undefined } })
      const signal = new AbortController().signal
      const about = { queryId: crypto.randomUUID(), tenant, principal: 'bench', signal }
      const session = await engine.open([snapshotOf(table, given)], about)
      try {
        const sql = `SELECT max(id) AS id FROM ${session.relation(governed)}`
        for await (const _ of session.run({ sql, columns: [{ name: 'id', type: 'int8' }] }));
      } finally {
        await session.close()
      }
    })
  } finally {
    await host.close()
  }
}

function snapshotOf(
  { metadataLocation, snapshotId }: Written,
  territory: Territory | undefined,
): TableSnapshot {
  return {
    table: governed,
    metadataLocation,
    snapshotId,
    ...(territory && { territory: { territory, report() {} } }),
  }
}

async function writeTable(folder: string, files: number): Promise<Written> {
  const sink = folderSink(join(folder, 't'))
  const fields = [{ id: 1, name: 'id', type: 'long' }] as const
  const writer = new IcebergWriter({ ...sink, fields })
  const bytes = await duckdbParquet('SELECT 1::BIGINT AS id', '{id: 1}')
  const file = { rows: [], bytes, recordCount: 1 }
  const { metadataLocation, snapshotId } = await writer.append(Array.from({ length: files }, () => file))
  const territory: Territory = { mode: 'enforce', version: '1', prefixes: [`${sink.location}/`] }
  return { metadataLocation, snapshotId, territory }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
