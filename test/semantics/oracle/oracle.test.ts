/**
 * Every metric of a warehouse like TPC-H and of one like TPC-DS equals SQL by hand on PostgreSQL, over security-barrier
 * views: 500 random combinations of metrics, dimensions, filters and grains for every principal, on DuckDB.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openSubject, type Subject } from '../../query/support/duckdb.ts'
import { startOracle } from '../../query/support/postgres.ts'
import { isLongForm } from '../../support/long-form.ts'
import { cases, compareRandom, fillOracle, readings, seed } from './compare.ts'
import { duckdbSetup, governedFor } from './warehouse.ts'

setDefaultTimeout(600_000)

const rounds = isLongForm ? 500 : 25
const oracle = await startOracle()
let subject: Subject
beforeAll(async () => {
  if (oracle !== undefined) await fillOracle(oracle)
  const setup = cases.flatMap(({ warehouse }) => duckdbSetup(warehouse))
  subject = await openSubject({ tables: [], searchPath: [], setup })
})
afterAll(async () => {
  subject.close()
  await oracle?.stop()
})

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(oracle === undefined)('metrics equal SQL by hand on PostgreSQL', () => {
  test.each(readings)(`of %s for %s (seed ${seed})`, async (_, sub, one, reader) => {
    if (oracle === undefined) throw new Error('there is no PostgreSQL')
    const tables = governedFor(one.warehouse, reader)
    const found = await compareRandom(oracle, one, reader, rounds, (text, parameters, { expansion }) =>
      subject.run(text, parameters, { principal: reader, tables, expansion }),
    )
    expect(found.requests).toBe(rounds)
    if (sub !== 'nil') expect(found.values).toBeGreaterThan(rounds * 5)
    // All are asked for, so none is right by chance of never being asked.
    if (isLongForm) expect([...found.metrics].sort()).toEqual([...one.model.metrics.keys()].sort())
  })
})
