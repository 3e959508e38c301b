/** How the database finds territory among that of 10,000 tables: by scans of an index, never by reading the table. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { ancestorsOf, catalogA, credentialA, take } from '../../support/territory.ts'

setDefaultTimeout(300_000)

const tablesCount = 10_000
let store: TestStore
let tenant: TenantId

beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'large' })).id
  await store.tenantQuery(
    tenant,
    `insert into svc.territory (tenant_id, prefix, kind, catalog, credential_id, table_id, namespace, table_name)
     select $1, 's3://lake/wh/ns' || i % 100 || '/t' || i || '/', 'location', $2, $3, 't' || i, '["ns"]', 't' || i
     from generate_series(1, ${tablesCount}) i`,
    [tenant, catalogA, credentialA],
  )
})
afterAll(() => store[Symbol.asyncDispose]())

/** The plan of a statement in the settings of `svc.enter`, as every function of the index runs. */
async function planOf(statement: string): Promise<string> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await tx.query('select svc.enter($1)', [tenant])
    const rows = await tx.query<Record<string, string>>(`explain (costs off) ${statement}`, [])
    return rows.map((row) => Object.values(row)[0]).join('\n')
  })
}

/** As migrations/functions/territory.sql says it. */
const unreleased = `coalesce(r.released_at, 'infinity') > clock_timestamp()`
const list = (prefixes: readonly string[]) =>
  `array(select jsonb_array_elements_text('${JSON.stringify(prefixes)}'::jsonb))`

test('what is at or above a path is one scan of the index by prefix', async () => {
  const ancestors = ancestorsOf('s3://lake/wh/ns7/t7/metadata/a/b/c/d/e/f/g/')
  const plan = await planOf(
    `select * from svc.territory r where r.tenant_id = '${tenant}' and ${unreleased} and r.prefix = any(${list(ancestors)})`,
  )
  expect(plan).toContain('territory_prefix')
  expect(plan).not.toContain('Seq Scan')
  expect(plan.match(/Index (Only )?Scan/g)).toHaveLength(1)
})

test('what is below a prefix is one range of that index', async () => {
  const plan = await planOf(
    `select * from svc.territory r where r.tenant_id = '${tenant}' and ${unreleased}
       and r.prefix > 's3://lake/wh/ns7/' and r.prefix < 's3://lake/wh/ns70'`,
  )
  expect(plan).toContain('territory_prefix')
  expect(plan).toMatch(/Index Cond: .*prefix > .*prefix < /)
})

test('the rows of a table are one scan of the index by table', async () => {
  const plan = await planOf(
    `select * from svc.territory r where r.tenant_id = '${tenant}' and ${unreleased} and r.table_id = 't7'`,
  )
  expect(plan).toContain('territory_of_table')
  expect(plan).toMatch(/Index Cond: .*table_id = /)
})

/**
 * Counts the scans of a function on the territory, by index. A scan of the whole table is counted under the table's own
 * name. One look-up of several values counts once for each time that it descends into the index.
 */
async function scansOf(call: string): Promise<Readonly<Record<string, number>>> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await tx.query('select svc.enter($1)', [tenant])
    const count = async () => {
      const rows = await tx.query<{ name: string; scans: string }>(
        `select relname as name, pg_stat_get_xact_numscans(oid)::text as scans from pg_class
         where oid = 'svc.territory'::regclass
           or oid in (select indexrelid from pg_index where indrelid = 'svc.territory'::regclass)`,
        [],
      )
      return new Map(rows.map(({ name, scans }) => [name, Number(scans)]))
    }
    const before = await count()
    await tx.query(`select svc.${call}`, [])
    const after = [...(await count())].map(
      ([name, scans]) => [name, scans - (before.get(name) ?? 0)] as const,
    )
    return Object.fromEntries(after.filter(([, scans]) => scans > 0))
  })
}

describe('the functions of the index themselves', () => {
  const ancestors = ancestorsOf('s3://lake/wh/ns7/t7/metadata/a/b/c/d/e/f/g/')

  test('a commit looks up the ancestors of its paths and its table by an index each', async () => {
    const scans = await scansOf(`territory_at('t9', '${JSON.stringify(ancestors)}')`)
    expect(scans).toEqual({ territory_prefix: expect.any(Number), territory_of_table: 1 })
    expect(scans.territory_prefix).toBeLessThanOrEqual(ancestors.length)
  })

  test('a claim looks above and below its prefix by one index', async () => {
    const above = ancestorsOf('s3://lake/wh/ns7/free/')
    const scans = await scansOf(
      `territory_overlap('t9', 'c', null, '${above.at(-1)}', '${JSON.stringify(above)}')`,
    )
    expect(scans).toEqual({ territory_prefix: expect.any(Number) })
    expect(scans.territory_prefix).toBeLessThanOrEqual(above.length + 1)
  })

  test('a read looks up its tables by one index', async () => {
    const tables = ['t1', 't2', 't3']
    const scans = await scansOf(`territories('${JSON.stringify(tables)}')`)
    expect(scans).toEqual({ territory_of_table: expect.any(Number) })
    expect(scans.territory_of_table).toBeLessThanOrEqual(tables.length)
  })
})

test('a claim among them meets what lies above and below, and takes what is free', async () => {
  const met = async (prefix: string) =>
    (await take(store, tenant, 'new', prefix)).overlaps.map(({ row }) => row.prefix)
  expect(await met('s3://lake/wh/ns7/t7/data/')).toEqual(['s3://lake/wh/ns7/t7/'])
  expect(await met('s3://lake/wh/ns7/')).toHaveLength(1)
  expect(await met('s3://lake/wh/ns7/free/')).toEqual([])
})
