/**
 * Measures how much Parquet one worker reads, decodes and classifies in a second. It also measures the effect on the
 * HTTP thread, whose responses are timed in turns with idle and busy workers.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableInFolder } from '../demo/lake/iceberg-writer.ts'
import type { Field } from '../demo/lake/table-fields.ts'
import type { ScanTask } from '../src/detection/scan/scan-snapshot.ts'
import { WorkerPool } from '../src/detection/worker-pool.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

export const detectionScan: BenchEntry = {
  name: 'detection-scan',
  about: 'one snapshot, scanned by one worker and by each of four, beside HTTP requests',
  options: {},
  run,
  conclude: (results) => {
    const one = results.find(({ case: { workers } }) => workers === 1)?.figures.http_p99_ratio
    return {
      line: `One worker raises the HTTP thread's p99 to ${one ?? '?'} times; the goal is ${ratioMax} at most.`,
      failed: !(one !== undefined && one <= ratioMax),
    }
  },
}

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  ...['email', 'name', 'city', 'note', 'phone', 'reference'].map((name, index) => ({
    id: index + 2,
    name,
    type: 'string' as const,
  })),
]

/** Four workers are reported but not judged, because they leave no core of two to the HTTP thread. */
const workerCounts = [1, 4]
const ratioMax = 1.2

async function* run({ smoke, seed }: BenchRun): AsyncGenerator<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  const rows = smoke ? 100 : 20_000
  const files = smoke ? 2 : 16
  const random = seededRandom(seed)
  try {
    const { metadataLocation } = await tableInFolder(folder, 'people', { fields }).append(
      Array.from({ length: files }, () => ({ rows: sampleRows(rows, random), rowGroupSize: rows })),
    )
    const task = { metadataLocation, access: { roots: [folder], s3: undefined } }
    for (const workers of workerCounts)
      yield {
        bench: 'detection-scan',
        case: {
          workers,
          files,
          rows_per_file: rows,
          columns: fields.length,
          cores: navigator.hardwareConcurrency,
        },
        figures: await measure(task, workers, smoke),
      }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(task: ScanTask, workers: number, smoke: boolean): Promise<BenchResult['figures']> {
  const pool = new WorkerPool({
    workerUrl: new URL('../src/detection/worker.ts', import.meta.url),
    size: workers,
    taskMs: 120_000,
    onRestart: () => {},
  })
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('ok') })
  const scan = async () => {
    const startMs = performance.now()
    const outcome = await pool.run(task)
    if (outcome.kind !== 'scanned' || outcome.result.reason !== '') throw new Error('the scan failed')
    const { bytesRead, valuesSampled } = outcome.result.report
    return { bytesRead, valuesSampled, ms: performance.now() - startMs }
  }
  const everyWorker = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: workers }, work))
  try {
    // Warms up, until the compiler has optimised the scan.
    for (let round = 0; round < (smoke ? 1 : 3); round++) await everyWorker(scan)

    const rates: number[] = []
    const values: number[] = []
    const idle: number[] = []
    const busy: number[] = []
    const requests = smoke ? 20 : 1_000
    for (let round = 0; round < (smoke ? 1 : 8); round++) {
      idle.push(...(await timeRequests(server.url, requests)))
      let done = false
      const scanning = everyWorker(async () => {
        while (!done) {
          const { bytesRead, valuesSampled, ms } = await scan()
          rates.push(bytesRead / 1e6 / (ms / 1000))
          values.push(valuesSampled / (ms / 1000))
        }
      })
      busy.push(...(await timeRequests(server.url, requests)))
      done = true
      await scanning
    }
    return {
      mb_per_s_per_worker: rounded(percentile(rates, 0.5)),
      values_per_s_per_worker: rounded(percentile(values, 0.5)),
      http_p99_idle_us: rounded(percentile(idle, 0.99) * 1000),
      http_p99_busy_us: rounded(percentile(busy, 0.99) * 1000),
      http_p99_ratio: rounded(percentile(busy, 0.99) / percentile(idle, 0.99)),
    }
  } finally {
    pool.close()
    await server.stop(true)
  }
}

function sampleRows(count: number, random: () => number) {
  const word = () => Math.floor(random() * 36 ** 6).toString(36)
  return Array.from({ length: count }, (_, id) => ({
    id,
    email: `${word()}@${word()}.example.com`,
    name: `${word()} ${word()}`,
    city: ['Berlin', 'Paris', 'Oslo', 'Rome'][id % 4],
    note: `${word()} ${word()} ${word()} ${word()}`,
    phone: `+4930${Math.floor(random() * 1e8)}`,
    reference: `${word()}-${word()}`,
  }))
}

/** @returns milliseconds of each of `count` requests, one after the other */
async function timeRequests(url: URL, count: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let index = 0; index < count; index++) {
    const startMs = performance.now()
    await (await fetch(url)).text()
    times.push(performance.now() - startMs)
  }
  return times
}
