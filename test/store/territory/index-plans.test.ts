/** How the database finds territory among that of 10,000 tables: by scans of an index, never by reading the table. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
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

test('a claim among them meets what lies above and below, and takes what is free', async () => {
  const met = async (prefix: string) =>
    (await take(store, tenant, 'new', prefix)).overlaps.map(({ row }) => row.prefix)
  expect(await met('s3://lake/wh/ns7/t7/data/')).toEqual(['s3://lake/wh/ns7/t7/'])
  expect(await met('s3://lake/wh/ns7/')).toHaveLength(1)
  expect(await met('s3://lake/wh/ns7/free/')).toEqual([])
})
