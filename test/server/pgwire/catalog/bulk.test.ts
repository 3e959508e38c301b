/** A catalog that is loaded as rows answers as one whose tables were created, but for keys and row types. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newTenantId } from '../../../../src/core/tenant.ts'
import {
  type OpenCatalogService,
  openCatalogService,
} from '../../../../src/server/pgwire/catalog/open-catalog-service.ts'
import type { CatalogSession } from '../../../../src/server/pgwire/catalog-service.ts'
import { testCatalogOptions } from './compare.ts'
import { foreignTables, sampleTables } from './sample-catalog.ts'
import { query, readAnswer } from './wire.ts'

setDefaultTimeout(300_000)

const [created, loaded, foreign] = [newTenantId(), newTenantId(), newTenantId()]
const keyless = sampleTables.map(({ primaryKey: _key, foreignKeys: _keys, ...table }) => table)
const hidden = Array.from({ length: keyless.length + 1 }, (_, at) => ({
  schemaName: 'secret_schema',
  tableName: `secret_${at}`,
  columns: [],
}))
const filler = { schemaName: 'zz filler', tableName: 'empty', columns: [] }
const tablesOf = new Map([
  [created, keyless],
  [loaded, [...keyless, filler]],
  [foreign, [...foreignTables, ...hidden]],
])

let service: OpenCatalogService
beforeAll(() => {
  service = openCatalogService({
    source: {
      mark: async () => ({ text: '', tableCount: 0 }),
      tables: async (tenant) => tablesOf.get(tenant) ?? [],
    },
    activity: () => [],
    keyedTablesMax: keyless.length,
    ...testCatalogOptions,
  })
})
afterAll(() => service.close())

const session = (tenant: CatalogSession['tenant'], sub = 'alice'): CatalogSession => ({
  tenant,
  principal: { sub, roles: [] },
  catalog: 'lake',
  searchPath: ['sales', 'public'],
  settings: new Map(),
  backendPid: 4711,
})
async function rows(text: string, of: CatalogSession) {
  const answer = readAnswer(await service.execute(of, query(text)))
  if (answer.error) throw new Error(answer.error.message)
  return answer.rows
}

const own = `n.nspname in ('sales', 'hr.eu')`
const statements = {
  'the schemas': `select oid, nspname from pg_namespace where nspname in ('sales', 'hr.eu') order by 2`,
  'the tables': `select n.nspname, c.oid, c.relname, c.relkind, c.relnatts, c.relpersistence, c.relrowsecurity,
      pg_get_userbyid(c.relowner), c.relacl::text, pg_table_is_visible(c.oid), obj_description(c.oid, 'pg_class')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${own} and c.relkind = 'r' order by 1, 3`,
  'the columns': `select c.relname, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), a.attlen, a.attbyval, a.attalign,
      a.attstorage, a.attndims, a.attnotnull, a.atthasdef, a.attisdropped, a.attcollation, col_description(c.oid, a.attnum)
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where ${own} and a.attnum > 0 order by n.nspname, c.relname, a.attnum`,
  'information_schema.tables': `select * from information_schema.tables where table_schema in ('sales', 'hr.eu') order by 2, 3`,
  'information_schema.columns': `select * from information_schema.columns where table_schema in ('sales', 'hr.eu')
    order by table_schema, table_name, ordinal_position`,
  'what the session may do': `select c.relname, has_table_privilege(c.oid, 'select'), has_table_privilege(c.oid, 'insert'),
      has_schema_privilege(n.oid, 'usage'), has_any_column_privilege(c.oid, 'select')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${own} and c.relkind = 'r' order by 1`,
  'names and sizes': `select 'orders'::regclass::text, to_regclass('"hr.eu"."People"')::text, pg_relation_size('orders'),
    pg_table_size('sales.customers')`,
}

describe('a catalog that is loaded as rows', () => {
  test.each(Object.entries(statements))('shows %s as a created one does', async (_, text) => {
    const expected = await rows(text, session(created))
    expect(expected.length).toBeGreaterThan(0)
    expect(await rows(text, session(loaded))).toEqual(expected)
  })

  test('shows no table of a foreign tenant, which was there before, and nothing of how it was loaded', async () => {
    const all = `select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.oid >= 900000 and c.relkind in ('r', 'i', 't') order by 1, 2`
    const theirs = await rows(all, session(foreign))
    expect(theirs).toHaveLength(foreignTables.length + hidden.length)
    expect(await rows(all, session(loaded))).toEqual([
      ['hr.eu', 'People'],
      ['sales', 'customers'],
      ['sales', 'orders'],
      ['zz filler', 'empty'],
    ])
    const typed = await rows(
      `select typname from pg_type where oid between 900000 and 1000000`,
      session(loaded),
    )
    expect(typed).toEqual([])
  })

  test('stays loaded while its principals take turns', async () => {
    for (const sub of ['alice', 'bob', 'alice']) {
      const found = await rows(`select current_user, 'orders'::regclass::text`, session(loaded, sub))
      expect(found).toEqual([[sub, 'orders']])
    }
  })
})
