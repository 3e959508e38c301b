/** pg_catalog and information_schema show what contracts declare, and the schema of a pin. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { ChangeContext } from '../../../../src/contract/change.ts'
import { deleteContract } from '../../../../src/contract/delete-contract.ts'
import { deleteMask } from '../../../../src/contract/delete-mask.ts'
import { putContract } from '../../../../src/contract/put-contract.ts'
import { putMask } from '../../../../src/contract/put-mask.ts'
import type { ContractSchema } from '../../../../src/core/contract-schema.ts'
import type { SchemaColumn } from '../../../../src/core/table-schema.ts'
import type { TenantId } from '../../../../src/core/tenant.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import {
  type OpenCatalogService,
  openCatalogService,
  storeTables,
} from '../../../../src/server/pgwire/catalog/open-catalog-service.ts'
import { pinTable, unpinTable } from '../../../../src/store/contract/pins.ts'
import { actorOf } from '../../../support/actor.ts'
import { commitColumns } from '../../../support/governed.ts'
import { makeTenant } from '../../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../../support/store.ts'
import { testCatalogOptions } from './compare.ts'
import { query, readAnswer } from './wire.ts'

setDefaultTimeout(300_000)

const [orders, customers] = ['orders', 'customers'].map((name) => ({ namespace: ['sales'], name })) as [
  { namespace: string[]; name: string },
  { namespace: string[]; name: string },
]
const types = {
  orders: { id: 'long', line: 'int', customer: 'long', country: 'string' },
  customers: { id: 'long', country: 'string', name: 'string' },
}
let store: TestStore
let service: OpenCatalogService
let home: TenantId
let foreign: TenantId
let on: ChangeContext

beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
  on = { store, tenant: home, actor: actorOf('stella'), checkPolicies }
  for (const tenant of [home, foreign]) {
    await commitColumns(store, tenant, orders, types.orders)
    await commitColumns(store, tenant, customers, types.customers)
  }
  service = openCatalogService({ source: storeTables(store), activity: () => [], ...testCatalogOptions })
})
afterAll(async () => {
  service.close()
  await store[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await declare(orders, ordered)
  await declare(customers, { properties: [{ name: 'id', primaryKey: true }] })
})

const declare = (table: typeof orders, schema: ContractSchema, tenant = home) =>
  putContract({ ...on, tenant }, table, { id: table.name, version: 1, schema })

const ordered: ContractSchema = {
  description: "An order's lines; \\ and \n kept",
  properties: [
    { name: 'line', primaryKey: true, primaryKeyPosition: 2 },
    { name: 'id', description: 'Número', primaryKey: true, primaryKeyPosition: 1 },
    { name: 'customer', relationships: [{ type: 'foreignKey', to: 'customers.id' }] },
  ],
}

const rows = async (text: string, tenant = home) => {
  const session = {
    ...{ tenant, principal: { sub: 'alice', roles: [] }, catalog: 'lake', searchPath: ['sales'] },
    ...{ settings: new Map<string, string>(), backendPid: 1 },
  }
  const answer = readAnswer(await service.execute(session, query(text)))
  if (answer.error) throw new Error(answer.error.message)
  return answer.rows
}
const constraints = (tenant?: TenantId) =>
  rows(
    `select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
     where conrelid > 16384 and contype in ('p', 'f') order by 1, 2`,
    tenant,
  )
const ordersKey = ['orders', 'orders_pkey', 'PRIMARY KEY (id, line)']
const customersKey = ['customers', 'customers_pkey', 'PRIMARY KEY (id)']
const foreignKey = ['orders', 'orders_customer_fkey', 'FOREIGN KEY (customer) REFERENCES customers(id)']

describe('what a contract declares', () => {
  test('is shown as comments and keys, to its tenant alone', async () => {
    const comments = `select obj_description('sales.orders'::regclass, 'pg_class'), col_description('sales.orders'::regclass, 1),
      col_description('sales.orders'::regclass, 2)`
    await declare(customers, {}, foreign)
    await declare(orders, { description: 'theirs' }, foreign)
    expect(await rows(comments)).toEqual([["An order's lines; \\ and \n kept", 'Número', null]])
    expect(await constraints()).toEqual([customersKey, foreignKey, ordersKey])
    expect(await rows(comments, foreign)).toEqual([['theirs', null, null]])
    expect(await constraints(foreign)).toEqual([])
    const inSchema = `select table_name, column_name, ordinal_position::int from information_schema.key_column_usage
      where constraint_name = 'orders_pkey' order by 3`
    expect(await rows(inSchema)).toEqual([
      ['orders', 'id', '1'],
      ['orders', 'line', '2'],
    ])
  })

  test('shows to the next statement when it changes, also without a new version', async () => {
    const comment = `select obj_description('sales.orders'::regclass, 'pg_class')`
    expect(await rows(comment)).toEqual([["An order's lines; \\ and \n kept"]])
    await declare(orders, { description: 'another' })
    expect(await rows(comment)).toEqual([['another']])
    await declare(orders, {})
    expect(await rows(comment)).toEqual([[null]])
    expect(await constraints()).toEqual([customersKey])
  })

  test('names no table that cannot be read', async () => {
    await deleteContract(on, customers)
    expect(await constraints()).toEqual([ordersKey])
    expect(await rows(`select count(*) from pg_class where relname like 'customers%'`)).toEqual([['0']])
  })

  test('may be a key of several columns, in another order than the one that it refers to', async () => {
    const key = ['country', 'id'].map((name) => ({ name, primaryKey: true as const }))
    await declare(customers, { properties: key })
    const from = ['orders.customer', 'orders.country']
    const to = ['sales.customers.id', 'sales.customers.country']
    await declare(orders, { relationships: [{ type: 'foreignKey', from, to }] })
    expect(await constraints()).toEqual([
      ['customers', 'customers_pkey', 'PRIMARY KEY (country, id)'],
      [
        'orders',
        'orders_customer_country_fkey',
        'FOREIGN KEY (customer, country) REFERENCES customers(id, country)',
      ],
    ])
  })

  test('is one key where a property and its table both declare it', async () => {
    const both = { type: 'foreignKey', from: ['orders.customer'], to: ['sales.customers.id'] } as const
    await declare(orders, { ...ordered, relationships: [both] })
    expect(await constraints()).toEqual([customersKey, foreignKey, ordersKey])
  })

  test('is no key where a mask changes its values for anybody', async () => {
    const mask = { id: 'm', action: 'sha-256-global', exemptRoles: [] }
    const masked = { table: customers, column: 'id' }
    await putMask(on, masked, mask)
    await declare(customers, { properties: [{ name: 'id', primaryKey: true }] })
    expect(await constraints()).toEqual([ordersKey])
    await deleteMask(on, masked, 'm')
    await putMask(on, { table: orders, column: 'customer' }, mask)
    await declare(orders, ordered)
    expect(await constraints()).toEqual([customersKey, ordersKey])
    await deleteMask(on, { table: orders, column: 'customer' }, 'm')
  })

  test('stays with the columns that it named, whatever they are called since', async () => {
    const later = (atMs: number, table: typeof orders, names: Readonly<Record<string, string>>) =>
      commitColumns(store, home, table, names, 1_700_000_000_000 + atMs)
    await later(1, orders, { number: 'long', line: 'int', customer: 'long', id: 'string' })
    await later(1, customers, { key: 'long', country: 'string', name: 'string' })
    await declare(customers, { properties: [{ name: 'key', primaryKey: true }] })
    expect(await rows(`select col_description('sales.orders'::regclass, 1)`)).toEqual([['Número']])
    expect(await constraints()).toEqual([
      ['customers', 'customers_pkey', 'PRIMARY KEY (key)'],
      ['orders', 'orders_customer_fkey', 'FOREIGN KEY (customer) REFERENCES customers(key)'],
      ['orders', 'orders_pkey', 'PRIMARY KEY (number, line)'],
    ])
    await later(2, orders, types.orders)
    await later(2, customers, types.customers)
  })
})

describe('a pinned table', () => {
  const column = (fieldId: number, name: string, more: Partial<SchemaColumn> = {}): SchemaColumn => {
    return { fieldId, name, type: 'long', required: false, nestedIds: [], ...more }
  }
  const change = { table: orders, actor: actorOf('stella'), atMs: 0 }
  const pin = (columns: readonly SchemaColumn[], tenant = home) =>
    pinTable(store, tenant, change, { snapshotId: 1n, schemaId: 0n, catalog: 'main', columns })
  const columns = (tenant?: TenantId) =>
    rows(
      `select attname, format_type(atttypid, atttypmod), attnotnull::text, col_description(attrelid, attnum)
       from pg_attribute where attrelid = 'sales.orders'::regclass and attnum > 0 order by attnum`,
      tenant,
    )

  test('has the columns of the schema that it is read with, until it is unpinned, in its own tenant', async () => {
    const today = await columns()
    const theirs = await declare(orders, {}, foreign).then(() => columns(foreign))
    await commitColumns(store, home, orders, { id: 'long', line: 'int', customer: 'long' }, 1_700_000_000_100)
    await pin([
      column(4, 'land', { type: 'string', required: true }),
      column(1, 'number', { type: 'int' }),
      column(2, 'line', { type: 'int' }),
      column(3, 'parts', { type: { type: 'list', element: 'string' }, nestedIds: [] }),
    ])
    expect(await columns()).toEqual([
      ['land', 'text', 'true', null],
      ['number', 'integer', 'true', 'Número'],
      ['line', 'integer', 'true', null],
      ['parts', 'text[]', 'false', null],
    ])
    expect(await constraints()).toEqual([
      customersKey,
      ['orders', 'orders_pkey', 'PRIMARY KEY (number, line)'],
    ])
    expect(await columns(foreign)).toEqual(theirs)
    await unpinTable(store, home, change)
    expect(await columns()).toEqual(today.slice(0, 3))
    await commitColumns(store, home, orders, types.orders, 1_700_000_000_200)
  })

  test('shows no column that statements on it do not have, and no constraint that a mask breaks', async () => {
    const mask = { id: 'm', action: 'replace-with-null', exemptRoles: [] }
    await putMask(on, { table: orders, column: 'country' }, mask)
    await commitColumns(store, home, orders, { id: 'long', line: 'int', customer: 'long' }, 1_700_000_000_300)
    await pin([
      column(1, 'id'),
      column(4, 'country', { type: 'string', required: true }),
      column(9, 'unknown'),
      column(2, 'line', { type: { type: 'list', element: 'string' }, nestedIds: [4] }),
      column(3, 'customer', { type: { type: 'list', element: 'string' }, nestedIds: [9] }),
    ])
    expect((await columns()).map(([name, , notNull]) => [name, notNull])).toEqual([
      ['id', 'false'],
      ['country', 'false'],
    ])
    await unpinTable(store, home, change)
    await deleteMask(on, { table: orders, column: 'country' }, 'm')
    await commitColumns(store, home, orders, types.orders, 1_700_000_000_400)
  })
})
