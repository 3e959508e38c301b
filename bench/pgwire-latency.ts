/**
 * One governed row over the PostgreSQL wire, against the engine called directly and against a real PostgreSQL, in
 * turns; and what the parts of the way to the engine take by themselves. docs/performance.md explains.
 */

import { orderColumns, orderCount, ordersTable } from '../test/support/lake-tables.ts'
import { frames } from '../test/support/wire-client.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { RawClient } from './raw-client.ts'
import { percentile, seededRandom, shuffled } from './statistics.ts'
import { rounded } from './table.ts'
import { startPostgresBench, startWireBench, type WireBench } from './wire-bench.ts'
import { type Stage, stages } from './wire-process.ts'

/** Queries of one way before the next has its turn. */
const turn = 20
/** The goal: what the wire and governance add to the engine, without the usage write. */
const addedUsMax = 150
export const pgwireLatency: BenchEntry = {
  name: 'pgwire-latency',
  about: 'one governed row over the PostgreSQL wire, against the engine alone and a real PostgreSQL',
  options: {
    ...storeOptions,
    rounds: { type: 'string', value: 'N', about: `rounds of ${turn} queries (default: 50; with --full 200)` },
  },
  run,
}

/** Of the rows that everybody sees. */
const statement = 'SELECT id, email FROM sales.orders WHERE id = 18'
const table = { ...ordersTable, columns: orderColumns, rowCount: orderCount }

const protocols = {
  simple: async () => [frames.query(statement)],
  /** Parsed once; each query is Bind, Execute and Sync. */
  prepared: async (client: RawClient) => {
    await client.ask(frames.parse(statement, 's'), frames.sync())
    return [frames.bind({ statement: 's' }), frames.execute(), frames.sync()]
  },
} as const

type Way = 'wire' | 'postgres' | 'stages'

interface Samples {
  readonly wire: number[]
  readonly postgres: number[]
  /** Of each query of `wire`, the write of its usage record. */
  readonly usageWrites: number[]
  readonly stages: Readonly<Record<Stage, number[]>>
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  await using postgres = await startPostgresBench([table])
  for (const store of chosenStores(run)) {
    await using service = await startWireBench(store, [table])
    for (const protocol of ['simple', 'prepared'] as const) {
      const ours = await RawClient.connect(service.restricted)
      const theirs = postgres && (await RawClient.connect(postgres.target))
      try {
        const samples = await measure(run, service, protocol, ours, theirs)
        yield resultOf(run, { store: service.store, protocol, rows: 1 }, samples)
      } finally {
        await ours.close()
        await theirs?.close()
      }
    }
  }
}

async function measure(
  { smoke, full, seed, flags }: BenchRun,
  { child }: WireBench,
  protocol: keyof typeof protocols,
  ours: RawClient,
  theirs: RawClient | undefined,
): Promise<Samples> {
  const rounds = flags.number('rounds', 1, 10_000) ?? (smoke ? 1 : full ? 200 : 50)
  const count = smoke ? 2 : turn
  const samples: Samples = {
    wire: [],
    postgres: [],
    usageWrites: [],
    stages: { engine: [], governance: [], upstream: [], compile: [], usage: [] },
  }
  const asking = async (client: RawClient, into: number[]) => {
    const messages = await protocols[protocol](client)
    return async () => {
      for (let index = 0; index < count; index++) {
        const startMs = performance.now()
        const { rows } = await client.ask(...messages)
        into.push(performance.now() - startMs)
        if (rows !== 1) throw new Error(`the answer has ${rows} rows`)
      }
    }
  }
  const [askOurs, askTheirs] = [
    await asking(ours, samples.wire),
    theirs && (await asking(theirs, samples.postgres)),
  ]
  const ways: Readonly<Record<Way, () => Promise<void>>> = {
    async wire() {
      await askOurs()
      const writes = await child.ask({ kind: 'usage-writes' })
      if (writes.length !== count) throw new Error(`${count} queries wrote ${writes.length} usage records`)
      samples.usageWrites.push(...writes)
    },
    postgres: async () => await askTheirs?.(),
    async stages() {
      const times = await child.ask({ kind: 'stages', text: statement, count })
      for (const stage of stages) samples.stages[stage].push(...times[stage])
    },
  }
  const random = seededRandom(seed)
  const order = Object.keys(ways) as Way[]
  for (let warmUp = Math.ceil(rounds / 5); warmUp > 0; warmUp--) for (const way of order) await ways[way]()
  for (const times of [samples.wire, samples.postgres, samples.usageWrites, ...Object.values(samples.stages)])
    times.length = 0
  for (let round = 0; round < rounds; round++) for (const way of shuffled(order, random)) await ways[way]()
  return samples
}

function resultOf({ smoke }: BenchRun, measured: BenchResult['case'], samples: Samples): BenchResult {
  const us = (times: readonly number[], quantile: number) => percentile(times, quantile) * 1000
  const { wire, postgres, usageWrites } = samples
  const withoutUsage = wire.map((ms, index) => ms - (usageWrites[index] ?? 0))
  const added = (quantile: number) => us(withoutUsage, quantile) - us(samples.stages.engine, quantile)
  const both = (name: string, times: readonly number[]) =>
    times.length === 0
      ? {}
      : { [`p50_${name}us`]: rounded(us(times, 0.5)), [`p95_${name}us`]: rounded(us(times, 0.95)) }
  const addedUs = added(0.5)
  return {
    bench: 'pgwire-latency',
    case: measured,
    figures: {
      added_p50_us: rounded(addedUs),
      added_p95_us: rounded(added(0.95)),
      ...both('', wire),
      ...both('usage_write_', usageWrites),
      ...both('postgres_', postgres),
      ...Object.assign({}, ...stages.map((stage) => both(`${stage}_alone_`, samples.stages[stage]))),
      samples: wire.length,
    },
    ...(smoke ? {} : { verdict: addedUs <= addedUsMax ? 'reached' : 'missed' }),
  }
}
