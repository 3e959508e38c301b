/**
 * Measures what territory costs a read: planning a snapshot of many files with every file judged against planning it
 * without, by turns, and the judgement of a plan that was admitted before, as a warm query has it.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folderSink, IcebergWriter } from '../demo/lake/iceberg-writer.ts'
import type { Territory } from '../src/core/territory.ts'
import type { TableSnapshot } from '../src/engine/engine.ts'
import { admitPlan } from '../src/engine/iceberg/admitted-plans.ts'
import { planSnapshot } from '../src/engine/iceberg/snapshot-plan.ts'
import { openStorage } from '../src/storage/storage.ts'
import { territoryGuard } from '../src/storage/territory-guard.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { bootstrapRatio, percentile, type Round } from './statistics.ts'
import { rounded } from './table.ts'

/** What the first read of a snapshot may take longer. */
const firstRatioMax = 1.05
const warmReads = 10_000

export const territoryRead: BenchEntry = {
  name: 'territory-read',
  about: "a snapshot's files judged before they are read, against planning alone",
  options: {},
  run,
}

async function* run({ smoke, seed }: BenchRun): AsyncGenerator<BenchResult> {
  const files = smoke ? 100 : 10_000
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-territory-'))
  const storage = openStorage({ roots: [folder], s3: undefined })
  try {
    const { metadataLocation, snapshotId, location } = await tableOf(folder, files)
    const territory: Territory = { mode: 'enforce', version: '1', prefixes: [`${location}/`] }
    const plan = (given: Territory | undefined) =>
      planSnapshot(storage, metadataLocation, snapshotId, {
        signal: new AbortController().signal,
        guard: territoryGuard(given),
      })
    const rounds: Round[] = []
    for (let round = 0; round < (smoke ? 2 : 30); round++) {
      const [base, target] = [await timeOf(() => plan(undefined)), await timeOf(() => plan(territory))]
      // The first round compiles both.
      if (round > 0) rounds.push({ base: [base], target: [target] })
    }
    const { value, low, high } = bootstrapRatio(rounds, { quantile: 0.5, seed })
    const snapshot = {
      table: { ref: { namespace: ['s'], name: 't' } },
      territory: { territory, report() {} },
    }
    const planned = await plan(territory)
    admitPlan(planned, snapshot as unknown as TableSnapshot)
    const warmMs = await timeOf(async () => {
      for (let read = 0; read < warmReads; read++) admitPlan(planned, snapshot as unknown as TableSnapshot)
    })
    yield {
      bench: 'territory-read',
      case: { files },
      figures: {
        first_ratio: rounded(value),
        first_ratio_low: rounded(low),
        first_ratio_high: rounded(high),
        plan_ms: rounded(
          percentile(
            rounds.flatMap(({ base }) => base),
            0.5,
          ),
        ),
        warm_us: rounded((warmMs / warmReads) * 1000),
      },
      ...(!smoke && { verdict: value <= firstRatioMax ? 'pass' : 'fail' }),
    }
  } finally {
    await storage.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** A table whose data files are named only, because planning opens none. */
async function tableOf(folder: string, files: number) {
  const sink = folderSink(join(folder, 't'))
  const writer = new IcebergWriter({
    location: sink.location,
    put: (location, bytes) => (location.includes('/data/') ? undefined : sink.put(location, bytes)),
    fields: [{ id: 1, name: 'id', type: 'long' }],
  })
  const file = { rows: [], bytes: new Uint8Array(4), recordCount: 1 }
  const made = await writer.append(Array.from({ length: files }, () => file))
  return { ...made, location: sink.location }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
