/**
 * The long form of differential.test.ts, a hundredth of it over the PostgreSQL wire. The options of `bun run
 * test:soak` give the number of pairs, the seed and the first pair.
 */

import { expect, test } from 'bun:test'
import { roundsOf } from '../support/long-form.ts'
import { cases, savable } from './differential/cases.ts'
import { openPairs, type Pair } from './differential/pairs.ts'
import { anyCase, runPairs } from './differential/run-pairs.ts'
import { startWireTables } from './differential/wire.ts'
import { wirePair } from './differential/wire-pair.ts'

const { SVC_TEST_SOAK_PAIRS, SVC_TEST_SEED, SVC_TEST_FROM } = process.env
const count = Number(SVC_TEST_SOAK_PAIRS ?? roundsOf(50))
const seed = Number(SVC_TEST_SEED ?? 180_018)
const from = Number(SVC_TEST_FROM ?? 0)
const perWire = 100
const hours = 3_600_000

test(
  `${count} statements from pair ${from} on tell nothing of hidden rows (seed ${seed})`,
  async () => {
    const isLong = SVC_TEST_SOAK_PAIRS !== undefined
    await using stack = new AsyncDisposableStack()
    const pairs = await openPairs()
    stack.defer(() => pairs.close())
    // Each with another file, so that all of them are read.
    const served = (isLong ? cases : cases.slice(0, 1)).map(
      (each, index) => [savable(each), each.files[index % each.files.length] ?? 'spark'] as const,
    )
    const kinds = ['hostile', 'harmless', 'twin', 'guarded', 'rewritten'] as const
    const wire = stack.use(
      await startWireTables(
        served.flatMap(([governance, file]) => kinds.map((kind) => ({ governance, file, kind }))),
      ),
    )
    const wired: readonly Pair[] = served.map(([governance, file]) => wirePair(wire, governance, file))
    let overWire = 0
    const result = await runPairs({
      seed,
      from,
      count,
      async pairOf(random, index) {
        if (index % perWire > 0) return pairs.pair(...anyCase(random))
        overWire++
        return random.pick(wired)
      },
      onDifference: (told) => console.log(told),
      onPair(index) {
        if (index % 1_000 === 999)
          console.log(`seed ${seed}: ${index + 1} pairs; resume with --from ${index + 1}`)
      },
    })
    console.log(
      `seed ${seed}, pairs ${from} to ${from + count - 1}, ${overWire} over the wire:`,
      result.kinds,
    )
    expect(result.differences.join('\n\n')).toBe('')
  },
  count > 1_000 ? 6 * hours : 120_000,
)
