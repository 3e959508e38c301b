/**
 * Compares detection's own Parquet reader with a locked-down DuckDB as what samples data files: by turns on whole files,
 * and on damaged ones, where each reader has a process of its own and it counts how often that dies.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { duckdbParquet } from '../demo/lake/duckdb-parquet.ts'
import { type Child, startChild } from './child.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import type { Sampled, SamplingOrder, SamplingReader, SamplingResults } from './sampling-process.ts'
import { percentile, type Random, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

export const detectionSampling: BenchEntry = {
  name: 'detection-sampling',
  about: 'own Parquet sampling beside a locked-down DuckDB, on whole and on damaged files',
  options: { files: { type: 'string', value: 'N', about: 'damaged files; 10000 by default' } },
  run,
}

const readers: readonly SamplingReader[] = ['own', 'duckdb']
const codecs = ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli'] as const
const places = ['anywhere', 'footer', 'run'] as const
/** A file that takes longer counts as one that hangs. */
const hungMs = 30_000

/** Columns whose values both readers take. */
const selectOf = (rows: number) =>
  `SELECT i::BIGINT AS id, 'name' || (i % 50) AS name, 'user' || i || '@example.com' AS email FROM range(${rows}) t(i)`
const fieldIds = '{id: 1, name: 2, email: 3}'

async function* run({ smoke, seed, flags }: BenchRun): AsyncGenerator<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  const damaged = flags.number('files', 1, 1_000_000) ?? (smoke ? 20 : 10_000)
  try {
    for (const rows of smoke ? [300] : [20_000, 2_000_000]) yield* whole(folder, rows, smoke ? 1 : 15)
    for (const reader of readers) yield await onDamaged(folder, reader, damaged, seededRandom(seed))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Process = Child<SamplingOrder, SamplingResults>

async function start(reader: SamplingReader): Promise<Process> {
  const script = join(import.meta.dir, 'sampling-process.ts')
  const child = startChild<SamplingOrder, SamplingResults>(script, reader)
  await child.ask({ kind: 'open', reader })
  return child
}

async function* whole(folder: string, rows: number, rounds: number): AsyncGenerator<BenchResult> {
  const path = join(folder, 'whole.parquet')
  await writeFile(path, await duckdbParquet(selectOf(rows), `${fieldIds}, ROW_GROUP_SIZE 122880`))
  await using own = await start('own')
  await using duckdb = await start('duckdb')
  const taken: Record<SamplingReader, Sampled[]> = { own: [], duckdb: [] }
  for (let round = 0; round <= rounds; round++)
    for (const [reader, child] of [['own', own] as const, ['duckdb', duckdb] as const]) {
      const sampled = await child.ask({ kind: 'sample', path })
      if (sampled.outcome !== 'read') throw new Error(`${reader} did not read a whole file`)
      // The first round loads code.
      if (round > 0) taken[reader].push(sampled)
    }
  for (const reader of readers) {
    const last = taken[reader].at(-1)
    const rssMib = Math.max(...taken[reader].map((one) => one.rssMib))
    yield {
      bench: 'detection-sampling',
      case: { reader, rows, file_mib: rounded(Bun.file(path).size / 2 ** 20) },
      figures: {
        p50_ms: rounded(
          percentile(
            taken[reader].map(({ ms }) => ms),
            0.5,
          ),
        ),
        values: last?.values ?? 0,
        read_mib: rounded((last?.bytesRead ?? 0) / 2 ** 20),
        rss_mib: rounded(rssMib),
      },
    }
  }
}

/** Changes some bytes of a whole file: anywhere, in its footer, or in a run. */
function mutated(wholes: readonly Uint8Array[], random: Random): Uint8Array {
  const below = (bound: number) => Math.floor(random() * bound)
  const changed = Buffer.from(wholes[below(wholes.length)] ?? [])
  const place = places[below(places.length)]
  const footer = changed.readUInt32LE(changed.length - 8)
  const [from, length] = place === 'footer' ? [changed.length - 8 - footer, footer] : [0, changed.length]
  const first = below(length)
  const count = 1 + below(12)
  for (let index = 0; index < count; index++)
    changed[from + ((place === 'run' ? first + index : below(length)) % length)] = below(256)
  return changed
}

async function onDamaged(
  folder: string,
  reader: SamplingReader,
  count: number,
  random: Random,
): Promise<BenchResult> {
  const wholes = await Promise.all(
    codecs.map((codec) =>
      duckdbParquet(selectOf(300), `${fieldIds}, COMPRESSION ${codec}, ROW_GROUP_SIZE 2048`),
    ),
  )
  const outcomes = { read: 0, refused: 0, foreign: 0, fatal: 0, died: 0, hung: 0 }
  const times: number[] = []
  let rssMib = 0
  let child = await start(reader)
  try {
    for (let at = 0; at < count; at++) {
      // A name of its own for each, because DuckDB remembers footers.
      const path = join(folder, `damaged-${at}.parquet`)
      await writeFile(path, mutated(wholes, random))
      const sampled = await within(child.ask({ kind: 'sample', path }))
      await rm(path)
      if (typeof sampled === 'string') {
        outcomes[sampled]++
        child.kill()
        child = await start(reader)
        continue
      }
      outcomes[sampled.outcome]++
      times.push(sampled.ms)
      rssMib = Math.max(rssMib, sampled.rssMib)
    }
  } finally {
    await child[Symbol.asyncDispose]()
  }
  return {
    bench: 'detection-sampling',
    case: { reader, damaged_files: count },
    figures: {
      ...outcomes,
      p50_ms: rounded(percentile(times, 0.5)),
      p99_ms: rounded(percentile(times, 0.99)),
      rss_mib: rounded(rssMib),
    },
  }
}

/** What it gives, or how it failed to. */
async function within(asked: Promise<Sampled>): Promise<Sampled | 'died' | 'hung'> {
  const { promise, resolve } = Promise.withResolvers<'hung'>()
  const timer = setTimeout(() => resolve('hung'), hungMs)
  try {
    return await Promise.race([asked.catch(() => 'died' as const), promise])
  } finally {
    clearTimeout(timer)
  }
}
