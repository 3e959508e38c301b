/**
 * Measures how fast files are judged by a table's territory: all in their plain form, as a snapshot's manifests hold
 * them, and all in forms that are read in full. The baseline compares texts only, which would judge wrongly.
 */

import { whereaboutsIn } from '../src/storage/canonical-path.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'

/** Paths in one second that the project promises. */
const pathsPerSecondMin = 1_000_000

export const territoryCheck: BenchEntry = {
  name: 'territory-check',
  about: "a table's files, judged by its territory",
  options: {},
  run,
}

const forms: Readonly<Record<string, (n: number) => string>> = {
  plain: (n) => `s3://lake/sales/orders/data/day=2026-11-${n % 30}/${n}-a1b2c3d4-e5f6-4789-abcd.parquet`,
  s3a: (n) => `s3a://lake/sales/orders/data/day=2026-11-${n % 30}/${n}-a1b2c3d4-e5f6-4789-abcd.parquet`,
  escaped: (n) => `s3://lake/sales/orders/data/at=2026-11-${n % 30}T00%3A00/${n}-a1b2c3d4-e5f6.parquet`,
  granted: (n) => `s3://lake/imported/${n % 8}/${n}-a1b2c3d4-e5f6-4789-abcd.parquet`,
  outside: (n) => `s3://lake/sales/payments/data/day=2026-11-${n % 30}/${n}-a1b2c3d4-e5f6.parquet`,
}

const prefixes = [
  's3://lake/sales/orders/',
  ...Array.from({ length: 8 }, (_, index) => `s3://lake/imported/${index}/`),
]

async function* run({ smoke }: BenchRun): AsyncGenerator<BenchResult> {
  const count = smoke ? 1_000 : 1_000_000
  const rounds = smoke ? 2 : 7
  for (const [form, pathOf] of Object.entries(forms)) {
    const paths = Array.from({ length: count }, (_, n) => pathOf(n))
    const expected = form === 'outside' ? 'outside' : 'inside'
    const times: number[] = []
    const baselineTimes: number[] = []
    for (let round = 0; round < rounds; round++) {
      baselineTimes.push(timeOf(() => paths.every((path) => !path.startsWith('s3://nothing/'))))
      times.push(
        timeOf(() => {
          const judge = whereaboutsIn({ prefixes })
          return paths.every((path) => judge(path) === expected)
        }),
      )
    }
    const perSecond = count / (percentile(times, 0.5) / 1000)
    yield {
      bench: 'territory-check',
      case: { form, paths: count, prefixes: prefixes.length },
      figures: {
        paths_per_s: Math.round(perSecond),
        baseline_ms: rounded(percentile(baselineTimes, 0.5)),
      },
      // Files outside are refused, so only those inside are many.
      ...(!smoke && expected === 'inside' && { verdict: perSecond >= pathsPerSecondMin ? 'pass' : 'fail' }),
    }
  }
}

function timeOf(work: () => boolean): number {
  const startMs = performance.now()
  if (!work()) throw new Error('a path was judged wrongly')
  return performance.now() - startMs
}
