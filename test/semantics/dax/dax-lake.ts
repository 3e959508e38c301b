/** DAX over the cube of cube-lake.ts, as an officer, who sees all, and as a reader, who sees some rows, masked. */

import { systemClock } from '../../../src/base/clock.ts'
import { runDax } from '../../../src/semantics/dax/run.ts'
import { type DaxValue, isDate } from '../../../src/semantics/dax/values.ts'
import type { Lake } from '../../support/lake.ts'
import { contextOf, type Reader } from '../mdx/cube-lake.ts'

type DaxLake = Pick<Lake, 'app' | 'store' | 'tenant' | 'catalog'>

/** Runs a query. */
export async function daxAs(lake: DaxLake, who: Reader, query: string, bounds = {}) {
  const parts = { store: lake.store, clock: systemClock, queries: lake.app.queries }
  const { signal } = new AbortController()
  return await runDax(parts, contextOf(lake, who), { query }, { signal, bounds })
}

const plain = (value: DaxValue) => (isDate(value) ? value.text : (value ?? null))

/** The last result of a query, dates as texts and BLANK as null. */
export async function daxTable(lake: DaxLake, who: Reader, query: string) {
  const { results } = await daxAs(lake, who, query)
  const last = results.at(-1)
  return {
    titles: (last?.columns ?? []).map(({ title }) => title),
    rows: (last?.rows ?? []).map((row) => row.map(plain)),
  }
}

/** Its rows. */
export async function daxRows(...given: Parameters<typeof daxTable>) {
  return (await daxTable(...given)).rows
}

/** What a query is refused with. */
export async function daxRefusal(lake: DaxLake, who: Reader, query: string, bounds = {}): Promise<string> {
  try {
    await daxAs(lake, who, query, bounds)
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
  return 'answered'
}
