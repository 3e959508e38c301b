/** Times requests of one surface of the whole service in turns with the store's bare round trip. */

import { type Lake, startLake } from '../test/support/lake.ts'
import { ordersTable } from '../test/support/lake-tables.ts'
import { licenseForAll } from '../test/support/license.ts'
import { openBenchStore } from './bench-store.ts'
import { type BenchResult, type BenchRun, chosenStores } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

/** Goal for the median above the store's bare round trip, in milliseconds. */
const addedMsMax = 15

export interface Surface {
  /** The benchmark's name. */
  readonly bench: string
  /** What is asked for, for the case. */
  readonly asks: Readonly<Record<string, string>>
  /** Sends one request about the table `sales.orders`. @throws where the answer is not whole */
  readonly ask: (lake: Lake) => Promise<void>
}

/** One result for each chosen store. */
export async function* overRoundTrip(
  run: BenchRun,
  { bench, asks, ask }: Surface,
): AsyncGenerator<BenchResult> {
  const rounds = run.smoke ? 5 : run.full ? 2_000 : 500
  for (const kind of chosenStores(run)) {
    await using opened = await openBenchStore(kind)
    const { store, engine } = opened
    await using lake = await startLake({
      store,
      tables: [ordersTable],
      env: { SVC_LICENSE: licenseForAll() },
    })
    const roundTrip = async () => void (await store.tenantQuery(lake.tenant, 'select 1'))
    const [bare = [], called = []] = await interleavedTimes(
      [roundTrip, () => ask(lake)],
      rounds,
      seededRandom(run.seed),
    )
    const added = percentile(called, 0.5) - percentile(bare, 0.5)
    yield {
      bench,
      case: { store: engine, ...asks },
      figures: {
        p50_ms: rounded(percentile(called, 0.5)),
        p95_ms: rounded(percentile(called, 0.95)),
        p50_round_trip_ms: rounded(percentile(bare, 0.5)),
        added_p50_ms: rounded(added),
      },
      ...(!run.smoke && { verdict: added <= addedMsMax ? 'kept' : 'broken' }),
    }
  }
}
