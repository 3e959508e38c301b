/** What rows over one tenant of a PostgreSQL store share. */

import type { TenantId } from '../../src/core/tenant.ts'
import type { Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { openBenchStore } from '../bench-store.ts'
import { percentile, type Random } from '../statistics.ts'
import type { GrowthRow } from './row.ts'

export interface OneTenant {
  readonly store: Store
  readonly databaseUrl: string | undefined
  readonly tenant: TenantId
  readonly random: Random
}

/** A row over one tenant. @param subject gives what grows to a size and gives its cost there */
export function overTenant(
  row: Omit<GrowthRow, 'open' | 'store'>,
  subject: (one: OneTenant) => (size: number) => Promise<number>,
): GrowthRow {
  return {
    ...row,
    store: 'postgres',
    async open({ store: kind, random }) {
      if (kind === undefined) throw new Error('the row needs a store')
      const opened = await openBenchStore(kind)
      const { store, databaseUrl } = opened
      const { id: tenant } = await createTenant(store, { name: 'bench' })
      return {
        costAt: subject({ store, databaseUrl, tenant, random }),
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      }
    },
  }
}

/** The median of the milliseconds of several runs. @param prepare comes before each run, and is not timed */
export async function medianMs(
  runs: number,
  work: () => Promise<unknown>,
  prepare?: () => Promise<unknown>,
): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    await prepare?.()
    const startMs = performance.now()
    await work()
    times.push(performance.now() - startMs)
  }
  return percentile(times, 0.5)
}
