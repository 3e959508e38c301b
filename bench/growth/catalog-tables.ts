/** The list of all tables that a client shows, over catalogs of ever more tables: once loaded, and to load them. */

import type { TenantId } from '../../src/core/tenant.ts'
import { openCatalogService } from '../../src/server/pgwire/catalog/open-catalog-service.ts'
import { manyTables } from '../../test/server/pgwire/catalog/many-tables.ts'
import { query, readAnswer } from '../../test/server/pgwire/catalog/wire.ts'
import type { GrowthRow, Sizes } from './row.ts'

const sizes: Sizes = [200, 2_000, 20_000]
const smokeSizes: Sizes = [10, 20, 40]

export const catalogList: GrowthRow = row('catalog-list', 'ms of a list, warm', async (ask) => {
  await ask()
  return await ask()
})

export const catalogLoad: GrowthRow = row('catalog-load', 'ms of the first list', (ask) => ask())

function row(name: string, unit: string, cost: (ask: () => Promise<number>) => Promise<number>): GrowthRow {
  return {
    ...{ name, unit, of: 'tables', declared: 'linear', sizes, smokeSizes },
    async open() {
      const snapshotDirectory = new URL('../../.cache/', import.meta.url).pathname
      let size = 0
      const service = openCatalogService({
        source: {
          mark: async () => ({ text: String(size), tableCount: size }),
          tables: async () => manyTables(1, size),
        },
        activity: () => [],
        statementMs: 600_000,
        snapshotDirectory,
      })
      await service.prepare()
      const ask = async () => {
        const startedMs = performance.now()
        const answer = readAnswer(await service.execute(session, query(listSql)))
        if (answer.error || answer.rows.length !== size)
          throw new Error(answer.error?.message ?? 'tables are missing')
        return performance.now() - startedMs
      }
      // Starts the database.
      await ask()
      return {
        async costAt(next) {
          size = next
          return await cost(ask)
        },
        async [Symbol.asyncDispose]() {
          service.close()
        },
      }
    },
  }
}

/** As Tableau asks. */
const listSql = `SELECT relname, nspname, relkind FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n
  WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1')
  AND n.oid = relnamespace ORDER BY nspname, relname`

const session = {
  tenant: '00000000-0000-4000-8000-000000000001' as TenantId,
  principal: { sub: 'bench', roles: [] },
  catalog: 'lake',
  searchPath: ['public'],
  settings: new Map(),
  backendPid: 7,
}
