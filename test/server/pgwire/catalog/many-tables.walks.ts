/** The lists of tables that clients show, over 20,000 tables in the catalog of one tenant. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newTenantId } from '../../../../src/core/tenant.ts'
import {
  type OpenCatalogService,
  openCatalogService,
} from '../../../../src/server/pgwire/catalog/open-catalog-service.ts'
import { testCatalogOptions } from './compare.ts'
import { readCorpus } from './corpus.ts'
import { manyTables } from './many-tables.ts'
import { query, readAnswer } from './wire.ts'

setDefaultTimeout(600_000)

const [schemas, tablesOfSchema] = [20, 1_000]
const tenant = newTenantId()
let loads = 0
let service: OpenCatalogService
beforeAll(() => {
  service = openCatalogService({
    source: {
      mark: async () => ({ text: '', tableCount: schemas * tablesOfSchema }),
      async tables() {
        loads++
        return manyTables(schemas, tablesOfSchema)
      },
    },
    activity: () => [],
    ...testCatalogOptions,
  })
})
afterAll(() => service.close())

async function answer(text: string) {
  const session = {
    ...{ tenant, principal: { sub: 'alice', roles: [] }, catalog: 'lake' },
    ...{ searchPath: ['schema_0', 'public'], settings: new Map(), backendPid: 7 },
  }
  return readAnswer(await service.execute(session, query(text)))
}

describe('a catalog of 20,000 tables', () => {
  test("is shown whole in Tableau's list, and by schema in psql's and in DBeaver's tree", async () => {
    const tableau =
      await answer(`SELECT relname, nspname, relkind FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n
      WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1')
      AND n.oid = relnamespace ORDER BY nspname, relname`)
    expect(tableau.rows).toHaveLength(schemas * tablesOfSchema)
    const psql = await answer(`SELECT n.nspname as "Schema", c.relname as "Name",
        CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' END as "Type",
        pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
      FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
      WHERE c.relkind IN ('r','p','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
        AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2`)
    expect(psql.rows).toHaveLength(tablesOfSchema)
    const tree = await answer(`SELECT c.oid, c.relname, c.relkind, d.description FROM pg_catalog.pg_class c
      LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
      WHERE c.relnamespace = 'schema_7'::regnamespace AND c.relkind NOT IN ('i', 'I', 'c')`)
    expect(tree.rows).toHaveLength(tablesOfSchema)
  })

  test('answers what psql, DBeaver and Tableau ask without an OID, and is loaded once for all of it', async () => {
    const asked = readCorpus().filter(
      ({ tool, text }) => ['psql', 'DBeaver', 'Tableau'].includes(tool) && !text.includes('{oid:'),
    )
    expect(asked.length).toBeGreaterThan(10)
    // The sample's tables are not there.
    const named = /'?(?:sales|orders|customers)\b/
    for (const { text } of asked.filter((one) => !named.test(one.text)))
      expect({ text, error: (await answer(text)).error?.message }).toEqual({ text, error: undefined })
    expect(loads).toBe(1)
    expect(service.databases).toBe(1)
  })
})
