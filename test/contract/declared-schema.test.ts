/** The schema that a contract declares, over HTTP: descriptions, keys and relationships in ODCS's words. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { limits } from '../../src/limits.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { commitColumns } from '../support/governed.ts'
import { call, session } from '../support/identity.ts'
import { departures } from '../support/json-schema.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { messageOf } from '../support/surface.ts'

setDefaultTimeout(300_000)

const base = '/api/v1/contracts'
const orders = `${base}/tables/sales/orders`
let service: TestService
let steward: string
let foreign: string

beforeAll(async () => {
  service = await startTestService()
  const other = (await createTenant(service.store, { name: 'foreign' })).id
  const { tenant } = service.owner
  const tables = {
    orders: { id: 'long', line: 'int', customer: 'long' },
    customers: { id: 'long', 'a.b': 'long' },
  }
  for (const [name, types] of Object.entries(tables))
    await commitColumns(service.store, tenant, { namespace: ['sales'], name }, types)
  await commitColumns(service.store, other, { namespace: ['sales'], name: 'orders' }, { secret: 'long' })
  steward = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  foreign = await session(service, other, sessionScopes, ['steward'])
})
afterAll(() => service[Symbol.asyncDispose]())

const request = (method: string, path: string, body?: unknown, secret = steward) =>
  call(service, method, path, { secret, body })
const put = (schema: object, secret = steward) =>
  request('PUT', orders, { id: 'o', version: 1, ...schema }, secret)
const contract = async (secret = steward) =>
  ((await (await request('GET', orders, undefined, secret)).json()) as { contract: object }).contract

const declared = {
  description: 'One row a line of an order.',
  properties: [
    { name: 'id', description: 'Number of the order', primaryKey: true, primaryKeyPosition: 1 },
    { name: 'line', primaryKey: true, primaryKeyPosition: 2 },
    {
      ...{ name: 'customer', unique: true },
      relationships: [{ type: 'foreignKey', to: 'customers.id' }],
    },
  ],
  relationships: [{ type: 'foreignKey', from: ['orders.customer'], to: ['sales.customers.id'] }],
}

describe('what a contract declares', () => {
  test('is returned unchanged, to readers too, and goes with the contract', async () => {
    expect((await put(declared)).status).toBe(204)
    expect(await contract()).toEqual({ id: 'o', version: 1, state: 'active', unverified: true, ...declared })
    expect(await contract(service.owner.secret)).toEqual(await contract())
    expect((await request('PUT', orders, { id: 'o', version: 2, description: 'Orders' })).status).toBe(204)
    expect(await contract()).toEqual({
      id: 'o',
      version: 2,
      state: 'active',
      unverified: true,
      description: 'Orders',
    })
    expect((await put(declared)).status).toBe(204)
    expect((await request('DELETE', orders)).status).toBe(204)
    expect((await put({})).status).toBe(204)
    expect(await contract()).toEqual({ id: 'o', version: 1, state: 'active', unverified: true })
  })

  test('is part of the record of changes', async () => {
    await put(declared)
    const { items } = (await (await request('GET', `${base}/changes?limit=1`)).json()) as { items: object[] }
    expect(items).toMatchObject([
      { actor: 'stella', action: 'put-contract', value: { id: 'o', version: 1, ...declared } },
    ])
  })

  test('may leave out what the standard has defaults for', async () => {
    const [id] = declared.properties
    const short = { name: 'customer', relationships: [{ to: 'customers.id' }] }
    const properties = [
      { ...id, primaryKeyPosition: -1 },
      { name: 'line', primaryKey: false, description: '' },
      short,
    ]
    const relationships = [{ from: 'orders.customer', to: 'customers.id' }]
    expect((await put({ properties, relationships })).status).toBe(204)
    expect(await contract()).toMatchObject({
      properties: [
        { name: 'id', description: 'Number of the order', primaryKey: true },
        { name: 'line' },
        { name: 'customer', relationships: [{ type: 'foreignKey', to: 'customers.id' }] },
      ],
      relationships: [{ type: 'foreignKey', from: ['orders.customer'], to: ['customers.id'] }],
    })
  })

  test('of a foreign tenant’s table of the same name is its own', async () => {
    await put(declared)
    expect((await put({ description: 'theirs' }, foreign)).status).toBe(204)
    expect(await contract(foreign)).toEqual({
      id: 'o',
      version: 1,
      state: 'active',
      unverified: true,
      description: 'theirs',
    })
    expect((await put({ properties: [{ name: 'secret' }] })).status).toBe(422)
    // Where this tenant has columns, a foreign one has no table: nothing tells it so.
    expect(
      (await put({ relationships: [{ from: 'orders.secret', to: 'customers.nothing' }] }, foreign)).status,
    ).toBe(204)
    expect(await contract()).toEqual({ id: 'o', version: 1, state: 'active', unverified: true, ...declared })
  })

  test('may name a table that was never committed to', async () => {
    const later = { relationships: [{ from: ['orders.customer'], to: ['hr.people.id'] }] }
    expect((await put(later)).status).toBe(204)
    const fresh = `${base}/tables/sales/fresh`
    const properties = [{ name: 'anything', primaryKey: true }]
    expect((await request('PUT', fresh, { id: 'fresh', version: 1, properties })).status).toBe(204)
  })
})

const key = { name: 'id', primaryKey: true }
const refers = (to: unknown, from: unknown = 'orders.customer') => ({ relationships: [{ from, to }] })
const malformed: Readonly<Record<string, object>> = {
  'a description that is no text': { description: { purpose: 'x' } },
  'a description that is too long': { description: 'x'.repeat(limits.contractDescriptionBytesMax + 1) },
  'a description with NUL': { description: 'a\0b' },
  'properties that are no objects': { properties: ['id'] },
  'properties that are no array': { properties: { id: {} } },
  'a property without a name': { properties: [{ description: 'x' }] },
  'a property twice': { properties: [{ name: 'id' }, { name: 'id' }] },
  'an unknown member of a property': { properties: [{ name: 'id', primarykey: true }] },
  'a primaryKey that is no truth value': { properties: [{ name: 'id', primaryKey: 'yes' }] },
  'a position without a key': { properties: [{ name: 'id', primaryKeyPosition: 1 }] },
  'a position below 1': { properties: [{ ...key, primaryKeyPosition: 0 }] },
  'one position twice': {
    properties: ['id', 'line'].map((name) => ({ ...key, name, primaryKeyPosition: 1 })),
  },
  'positions of some columns only': {
    properties: [
      { ...key, primaryKeyPosition: 1 },
      { ...key, name: 'line' },
    ],
  },
  'more columns than a key may have': {
    properties: Array.from({ length: limits.contractKeyColumnsMax + 1 }, (_, i) => ({
      ...key,
      name: `c${i}`,
    })),
  },
  'more relationships than a table may have': {
    relationships: Array.from({ length: limits.contractRelationshipsMax + 1 }, () => {
      return { from: 'orders.id', to: 'customers.id' }
    }),
  },
  'a relationship of another type': {
    relationships: [{ type: 'joins', from: 'orders.id', to: 'customers.id' }],
  },
  'a relationship to nothing': refers([]),
  'a reference without a table': refers('id'),
  'a reference with an empty part': refers('sales..id'),
  'a reference to a table that no path could name': refers('sales.cust omers.id'),
  'a key of another table': refers('customers.id', 'customers.id'),
  'columns of two tables': refers(['customers.id', 'people.id'], ['orders.id', 'orders.line']),
  'fewer columns than are referred from': refers('customers.id', ['orders.id', 'orders.line']),
}

test.each(Object.entries(malformed))('%s is refused, and nothing is changed', async (_, schema) => {
  await put(declared)
  expect((await put(schema)).status).toBe(400)
  expect(await contract()).toMatchObject(declared)
})

const missing: Readonly<Record<string, readonly [schema: object, message: string]>> = {
  'a property': [{ properties: [{ name: 'none' }] }, 'sales.orders has no column none'],
  'a key’s own': [refers('customers.id', 'orders.none'), 'sales.orders has no column none'],
  'a target': [refers('customers.none'), 'sales.customers has no column none'],
  'a property’s target': [
    { properties: [{ name: 'id', relationships: [{ to: 'sales.customers.none' }] }] },
    'sales.customers has no column none',
  ],
}

test.each(Object.entries(missing))(
  '%s column that its table does not have is refused by name',
  async (_, made) => {
    const [schema, message] = made
    await put(declared)
    const answer = await put(schema)
    expect([answer.status, await messageOf(answer)]).toEqual([422, expect.stringContaining(message)])
    expect(await contract()).toMatchObject(declared)
  },
)

test('the OpenAPI document says what may be declared, and what is given back keeps to it', async () => {
  await put(declared)
  const document = (await (await fetch(new URL('/api/v1/openapi.json', service.app.url))).json()) as {
    paths: Record<string, Record<string, { requestBody?: Content; responses: Record<string, Content> }>>
  }
  interface Content {
    readonly content: { readonly 'application/json': { readonly schema: object } }
  }
  const operations = document.paths['/api/v1/contracts/tables/{namespace}/{table}']
  const body = operations?.put?.requestBody?.content['application/json'].schema ?? {}
  const answer = operations?.get?.responses['200']?.content['application/json'].schema ?? {}
  expect(departures({ id: 'o', version: 1, ...declared }, body)).toEqual([])
  expect(departures({ id: 'o', version: 1, properties: [{ name: 1 }] }, body)).not.toEqual([])
  expect(departures(await (await request('GET', orders)).json(), answer)).toEqual([])
})
