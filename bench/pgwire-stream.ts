/**
 * Measures millions of rows over the PostgreSQL wire. It compares them, in turns, with a real PostgreSQL that streams
 * the same rows to the same client. docs/performance.md explains.
 */

import type { LakeTable } from '../test/support/lake-tables.ts'
import { frames } from '../test/support/wire-client.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { type Counted, RawClient } from './raw-client.ts'
import { bootstrapRatio, judgeBound, percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'
import { startPostgresBench, startWireBench } from './wire-bench.ts'

/** The bound: not slower than PostgreSQL. */
const ratioMax = 1

export const pgwireStream: BenchEntry = {
  name: 'pgwire-stream',
  about: '10 million rows over the PostgreSQL wire, against a real PostgreSQL',
  options: {
    ...storeOptions,
    'stream-rows': { type: 'string', value: 'N', about: 'rows of the table (10000000)' },
    rounds: { type: 'string', value: 'N', about: 'results that each way streams (5, with --full 15)' },
  },
  run,
}

const eventsTable = (rowCount: number): LakeTable => ({
  name: 'events',
  columns: [
    ['id', 'bigint', 'i'],
    [
      'region',
      'text',
      "CASE i % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'east' ELSE 'west' END",
    ],
    ['amount', 'numeric(10,2)', '(i * 37 % 10000) * 0.01'],
    ['qty', 'integer', 'i % 100 - 50'],
    ['ratio', 'double precision', 'CAST(i AS double precision) / 8'],
    ['placed_at', 'timestamptz', "timestamptz '2024-01-01 00:00:00+00' + i * interval '1 second'"],
  ],
  rowCount,
  fileCount: Math.ceil(rowCount / 1_000_000),
})

const statement = 'SELECT id, region, amount, qty, ratio, placed_at FROM sales.events'
const formats = { text: 0, binary: 1 } as const

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const { smoke, full, flags, seed } = run
  const rows = flags.number('stream-rows', 1, 1_000_000_000) ?? (smoke ? 10_000 : 10_000_000)
  const rounds = flags.number('rounds', 1, 1_000) ?? (smoke ? 1 : full ? 15 : 5)
  const table = eventsTable(rows)
  await using postgres = await startPostgresBench([table])
  // Any kind of store will do, because it is used only once per result, for governance and usage.
  const [store] = chosenStores(run)
  if (store === undefined) return
  await using service = await startWireBench(store, [table])
  const ours = await RawClient.connect(service.restricted)
  const theirs = postgres && (await RawClient.connect(postgres.target))
  for (const format of Object.keys(formats) as (keyof typeof formats)[]) {
    const counted = new Map<RawClient, Counted>()
    const stream = (client: RawClient) => async () => {
      const asked = [frames.parse(statement), frames.bind({ resultFormats: [formats[format]] })]
      counted.set(client, await client.ask(...asked, frames.execute(), frames.sync()))
      if (counted.get(client)?.rows !== rows) throw new Error('rows are missing')
    }
    const [target = [], base = []] = await interleavedTimes(
      [ours, ...(theirs === undefined ? [] : [theirs])].map(stream),
      rounds,
      seededRandom(seed),
    )
    const ms = percentile(target, 0.5)
    const bytes = counted.get(ours)?.bytes ?? 0
    const pairs = base.map((baseMs, index) => ({ base: [baseMs], target: [target[index] ?? baseMs] }))
    const ratio = pairs.length === 0 ? undefined : bootstrapRatio(pairs, { quantile: 0.5, seed })
    yield {
      bench: 'pgwire-stream',
      case: { format, rows, columns: table.columns.length, store: service.store },
      figures: {
        rows_per_s: Math.round(rows / (ms / 1000)),
        mb_per_s: rounded(bytes / 1e6 / (ms / 1000)),
        p50_ms: rounded(ms),
        ...(ratio && {
          p50_postgres_ms: rounded(percentile(base, 0.5)),
          ratio_vs_postgres: rounded(ratio.value),
          ratio_low: rounded(ratio.low),
          ratio_high: rounded(ratio.high),
        }),
        rounds,
      },
      ...(ratio && !smoke && { verdict: judgeBound(ratio, ratioMax) }),
    }
  }
  await ours.close()
  await theirs?.close()
}
