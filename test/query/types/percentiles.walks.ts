/** Percentiles of random values, fractions and orders, beside PostgreSQL 18: the same digits. */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { generator } from '../../support/generator.ts'
import { openSides } from './sides.ts'

setDefaultTimeout(600_000)

const sides = await openSides()
afterAll(async () => sides?.[Symbol.asyncDispose]())

const seed = Number(process.env.SVC_TEST_SEED ?? 20_261_129)

// Skipped where the platform has no packaged PostgreSQL.
test.skipIf(sides === undefined)(
  `percentiles of random values have the digits of PostgreSQL (seed ${seed})`,
  async () => {
    if (sides === undefined) return
    const random = generator(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const fractionOf = () => pick(['0', '1', '0.5', '0.07', '0.1', '0.3', '0.9', '0.95', random().toFixed(4)])
    const kinds = [
      { type: 'numeric(12,2)', of: () => (random() * 2_000 - 500).toFixed(2) },
      { type: 'int4', of: () => String(Math.floor(random() * 200 - 50)) },
      { type: 'float8', of: () => pick([String(random() * 1e6), String(random()), 'NaN', 'Infinity', '-0']) },
    ]
    for (let round = 0; round < 400; round++) {
      const { type, of } = pick(kinds)
      const rows = Array.from(
        { length: 1 + Math.floor(random() * 120) },
        () => `('${pick(['a', 'b', 'c'])}', ${random() < 0.1 ? 'NULL' : `'${of()}'`}::${type})`,
      )
      const fraction = random() < 0.3 ? `'{${fractionOf()}, ${fractionOf()}}'::float8[]` : `${fractionOf()}`
      const filter = random() < 0.2 ? " FILTER (WHERE g <> 'a')" : ''
      const name = pick(
        type === 'numeric(12,2)' ? ['percentile_cont'] : ['percentile_cont', 'percentile_disc'],
      )
      const call = `${name}(${fraction}) WITHIN GROUP (ORDER BY x ${pick(['', 'DESC'])})${filter}`
      const text = `SELECT g, ${call} FROM (VALUES ${rows.join(', ')}) v(g, x) GROUP BY g ORDER BY g`
      const [ours, theirs] = [await sides.ours.run(text), await sides.postgres.run(text)]
      expect(
        ['cells' in ours ? ours.cells : ours, text],
        'the cells of the groups, and the statement',
      ).toEqual(['cells' in theirs ? theirs.cells : theirs, text])
    }
  },
)
