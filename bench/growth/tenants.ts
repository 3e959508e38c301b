/** What a tenant takes on disk before anything happened in it, by the number of tenants. */

import { createTenant } from '../../src/store/tenant/tenants.ts'
import { openBenchStore } from '../bench-store.ts'
import type { GrowthRow } from './row.ts'

export const bytesByTenants: GrowthRow = {
  name: 'tenant-bytes',
  of: 'tenants',
  unit: 'bytes of the database that a new tenant takes',
  declared: 'flat',
  sizes: [10, 50, 200],
  smokeSizes: [1, 2, 3],
  store: 'postgres',
  async open(setting) {
    if (setting.store === undefined) throw new Error('this row needs a store')
    const { store, ...opened } = await openBenchStore(setting.store)
    const databaseBytes = async () => {
      const [row] = await store.adminQuery<{ readonly bytes: string }>(
        'select pg_database_size(current_database()) as bytes',
      )
      return Number(row?.bytes)
    }
    let there = 0
    return {
      async costAt(size) {
        const before = await databaseBytes()
        for (let made = there; made < size; made += 1) await createTenant(store, { name: `tenant ${made}` })
        const each = ((await databaseBytes()) - before) / (size - there)
        there = size
        return each
      },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  },
}
