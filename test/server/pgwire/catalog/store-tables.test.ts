/** The catalog over the store shows the tables that a contract makes readable, under the names of statements. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../../../src/contract/delete-contract.ts'
import { putContract } from '../../../../src/contract/put-contract.ts'
import { putMask } from '../../../../src/contract/put-mask.ts'
import type { TenantId } from '../../../../src/core/tenant.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import {
  type OpenCatalogService,
  openCatalogService,
  storeTables,
} from '../../../../src/server/pgwire/catalog/open-catalog-service.ts'
import { actorOf } from '../../../support/actor.ts'
import { commitColumns } from '../../../support/governed.ts'
import { makeTenant } from '../../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../../support/store.ts'
import { testCatalogOptions } from './compare.ts'
import { query, readAnswer } from './wire.ts'

setDefaultTimeout(300_000)

const orders = { namespace: ['sales', 'eu'], name: 'orders' }
let store: TestStore
let service: OpenCatalogService
let home: TenantId
let foreign: TenantId

beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
  await commitColumns(store, home, orders, {
    ...{
      id: 'long',
      amount: 'decimal(12,2)',
      at: 'timestamptz',
      flag: 'boolean',
      blob: 'fixed[16]',
      u: 'uuid',
    },
    ...{ home: 'struct', 'home.city': 'string', tags: 'list', ['x'.repeat(64)]: 'string', xmin: 'long' },
  })
  await commitColumns(store, home, { namespace: ['pg_catalog'], name: 'pg_class' }, { fake: 'string' })
  await commitColumns(store, foreign, orders, { theirs: 'string' })
  for (const [tenant, table] of [
    [home, orders],
    [home, { namespace: ['pg_catalog'], name: 'pg_class' }],
    [foreign, orders],
  ] as const)
    await putContract({ store, tenant, actor: actorOf('stella'), checkPolicies }, table, {
      id: 'c',
      version: 1,
    })
  service = openCatalogService({ source: storeTables(store), activity: () => [], ...testCatalogOptions })
})
afterAll(async () => {
  service.close()
  await store[Symbol.asyncDispose]()
})

const rows = async (text: string, tenant = home) => {
  const session = {
    ...{ tenant, principal: { sub: 'alice', roles: [] }, catalog: 'lake', searchPath: ['public'] },
    ...{ settings: new Map<string, string>(), backendPid: 1 },
  }
  const answer = readAnswer(await service.execute(session, query(text)))
  if (answer.error) throw new Error(answer.error.message)
  return answer.rows
}
const columns = `select attrelid::regclass::text, attname, format_type(atttypid, atttypmod) from pg_attribute a
  join pg_class c on c.oid = attrelid where c.oid > 16384 and relkind = 'r' and attnum > 0 order by attnum`

test('a readable table has the columns that can be named, with the types that statements meet', async () => {
  expect(await rows(columns)).toEqual(
    [
      ['id', 'bigint'],
      ['amount', 'numeric(12,2)'],
      ['at', 'timestamp with time zone'],
      ['flag', 'boolean'],
      ['blob', 'bytea'],
      ['u', 'uuid'],
      ['home', 'jsonb'],
    ].map(([name, type]) => ['"sales.eu".orders', name as string, type as string]),
  )
  expect(await rows(columns, foreign)).toEqual([['"sales.eu".orders', 'theirs', 'text']])
})

test('a table whose schema PostgreSQL keeps for itself does not take the place of its own', async () => {
  expect(await rows(`select count(*) from pg_attribute where attname = 'fake'`)).toEqual([['0']])
})

test('a mask does not show in the catalog, and a table that lost its contract is not there any more', async () => {
  const on = { store, tenant: home, actor: actorOf('stella'), checkPolicies }
  await putMask(on, { table: orders, column: 'u' }, { id: 'm', action: 'replace-with-null', exemptRoles: [] })
  expect((await rows(columns)).length).toBe(7)
  await deleteContract(on, orders)
  expect(await rows(columns)).toEqual([])
  expect((await rows(columns, foreign)).length).toBe(1)
  await putContract(on, orders, { id: 'c', version: 2 })
  expect((await rows(columns)).length).toBe(7)
})
