/**
 * Every generated statement gives the same on a governed table as on its twin, which holds only visible rows and
 * masked values. The long form is differential.soak.test.ts.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { isLongForm } from '../support/long-form.ts'
import { cases } from './differential/cases.ts'
import type { FileName } from './differential/file-names.ts'
import { openPairs, type Pairs } from './differential/pairs.ts'
import { runPairs } from './differential/run-pairs.ts'

setDefaultTimeout(300_000)

const seed = 20_261_122
let pairs: Pairs

beforeAll(async () => {
  pairs = await openPairs()
})
afterAll(() => pairs.close())

/** One for each case: writing tables takes longer than statements do. */
const files: readonly FileName[] = ['mixed-dictionary', 'sorted-dictionary', 'spark', 'mixed-plain']
const short = cases.map((governance, index) => [governance, files[index % files.length] ?? 'spark'] as const)
const named = short.map(([governance, file]) => [governance.name, file, governance] as const)

test.each(named)('%s: all of %s is what its twin holds', async (_, file, governance) => {
  const pair = await pairs.pair(governance, file)
  const everything = { text: 'SELECT * FROM t ORDER BY id', ordered: true }
  const [seen, expected] = [await pair.outcome(everything, 'hostile'), await pair.outcome(everything, 'twin')]
  expect(seen).toEqual(expected)
  expect('rows' in seen && seen.rows.length).toBeGreaterThan(0)
})

const statements = isLongForm ? 300 : 120

test(`${statements} statements tell nothing of hidden rows by rows or errors (seed ${seed})`, async () => {
  const { kinds, failed, differences } = await runPairs({
    seed,
    from: 0,
    count: statements,
    pairOf: (random) => pairs.pair(...random.pick(short)),
  })
  expect(differences.join('\n\n')).toBe('')
  // Statements that always fail, or never do, would show nothing.
  expect(kinds.equal - failed).toBeGreaterThan((statements * 2) / 3)
  expect(failed).toBeGreaterThan(statements / 30)
})

test('a filter that lets one row too many through is found', async () => {
  const filter = "region = 'eu' OR id = 2"
  const pair = await pairs.pair({ name: 'too wide a filter', filter, files: [] }, 'mixed-plain')
  const { differences } = await runPairs({ seed, from: 0, count: 40, pairOf: async () => pair })
  expect(differences.length).toBeGreaterThan(0)
})
