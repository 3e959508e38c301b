/** Relationships of a contract are measured over both tables: rows whose key has no partner are counted. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { ordersTable, regionsTable } from '../../support/lake-tables.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { type Json, outcomes, type QualityWorld, startQualityWorld } from './world.ts'

setDefaultTimeout(180_000)

let world: QualityWorld
let foreign: string
/** Of geo.places, when it held one name alone. */
let earlier: bigint
beforeAll(async () => {
  const { rowFilter: _, ...masked } = ordersTable
  world = await startQualityWorld({
    // North, south and east: 250 orders are from elsewhere.
    tables: [masked, { ...regionsTable, rowCount: 3 }],
    written: [
      {
        ref: { namespace: ['geo'], name: 'places' },
        write: async (folder) => {
          const fields = [{ id: 1, name: 'name', type: 'string' }] as const
          const table = tableInFolder(folder, 'places', { fields })
          ;({ snapshotId: earlier } = await table.append([{ rows: [{ name: 'north' }] }]))
          const others = ['south', 'east', 'west'].map((name) => ({ name }))
          return (await table.append([{ rows: others }])).metadataLocation
        },
        masks: { name: { action: 'replace-with-null' } },
      },
    ],
  })
  const { store, tenant } = world.lake
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  await deleteContract(on, { namespace: ['sales'], name: 'regions' })
  const other = await makeTenant(store, { name: 'foreign' })
  const made = { name: 'm', principal: { sub: 'mallory', roles: ['steward'] }, scopes: sessionScopes }
  foreign = (await createServiceSession(store, other.id, made)).secret
})
afterAll(() => world[Symbol.asyncDispose]())

const table = (name: string) =>
  `customProperties: [{property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: ${name}}}}]`
let number = 1
/** @param ofOrders relationships of the object @param properties of orders, in YAML flow form */
function documentOf(properties: readonly string[], ofOrders = '[]'): string {
  number += 1
  return `apiVersion: v3.2.0
kind: DataContract
id: orders
version: ${number}.0.0
status: active
schema:
- name: orders
  id: ord
  ${table('orders')}
  relationships: ${ofOrders}
  properties:
  - {name: id, id: pk, logicalType: integer}
${properties.map((one) => `  - {${one}}\n`).join('')}
- name: places
  id: reg
  ${table('regions')}
  properties:
  - {name: title, physicalName: name, id: nam, logicalType: string}
- name: drawn
  properties:
  - {name: id, logicalType: integer}
`
}
const refers = (column: string, to: string) =>
  `name: ${column}, relationships: [{type: foreignKey, to: ${to}}]`

/** Deploys it. @returns the state of the version, and the outcomes of its run of orders */
async function deploy(document: string) {
  const at = await world.deploy(document)
  await world.lake.app.checks.runner.runDue()
  const [, version] = await world.ask('GET', at, world.stella)
  const [, { items }] = await world.ask(
    'GET',
    '/api/v1/checks/runs?namespace=sales&table=orders&limit=1',
    world.stella,
  )
  const [{ id } = { id: '' }] = items as unknown as readonly { id: string }[]
  const [, run] = await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella)
  return { state: String(version.state), run, found: outcomes(run) }
}

test('rows without a partner fail a deployment; NULL is no key, and the forms of a reference are one', async () => {
  const { state, found } = await deploy(
    documentOf(
      [
        refers('region', 'places.title'),
        refers('note', '/schema/reg/properties/nam'),
        refers('qty', '/schema/ord/properties/pk'),
      ],
      '[{from: orders.id, to: orders.id}, {from: orders.region, to: places.title}, {from: [orders.region, orders.id], to: [orders.region, orders.qty]}]',
    ),
  )
  expect(state).toBe('failed')
  expect(found).toEqual({
    readable: 'passed 1000',
    'region: references places.title': 'failed 250',
    'note: references /schema/reg/properties/nam': 'failed 800',
    'qty: references /schema/ord/properties/pk': 'failed 510',
    'id: references orders.id': 'passed 0',
    'region, id: references orders.region, orders.qty': 'failed 1000',
  })
})

test('a table of another contract is read at the snapshot that its readers see, whatever its masks hide', async () => {
  const document = () => documentOf([refers('region', 'geo.places.name')])
  const key = 'region: references geo.places.name'
  const now = await deploy(document())
  expect([now.state, now.found[key]]).toEqual(['active', 'passed 0'])
  const [status] = await world.ask('POST', '/api/v1/contracts/tables/geo/places/pin', world.stella, {
    ...{ catalog: world.lake.catalog, snapshot_id: String(earlier) },
  })
  expect(status).toBeLessThan(300)
  const pinned = await deploy(document())
  expect([pinned.state, pinned.found[key]]).toEqual(['failed', 'failed 750'])
})

test('what cannot be measured is on record with its reason, and stops nothing', async () => {
  const { state, found } = await deploy(
    documentOf([
      refers('region', 'far.away.name'),
      refers('qty', 'geo.places.name'),
      refers('note', 'other.odcs.yaml#/schema/x/properties/y'),
      refers('email', 'drawn.id'),
    ]),
  )
  expect(state).toBe('active')
  expect(found).toEqual({
    readable: 'passed 1000',
    'region: references far.away.name': 'not_run no table',
    'qty: references geo.places.name': 'not_run type',
    'note: references other.odcs.yaml#/schema/x/properties/y': 'not_run other document',
    'email: references drawn.id': 'not_run no table',
  })
})

test('what is counted of another table is shown to stewards of the tenant alone', async () => {
  const { run } = await deploy(documentOf([refers('region', 'places.title'), refers('qty', 'orders.id')]))
  const { store, tenant } = world.lake
  await store.ownerTransaction(tenant, async (tx) => {
    await tx.query(
      `update svc.check_run set requested_at = requested_at - interval '11 minutes' where run_id = $1`,
      [String(run.id)],
    )
  })
  const keysFor = async (secret: string) => {
    const [status, answer] = await world.ask('GET', `/api/v1/checks/runs/${run.id}`, secret)
    return [status, ...((answer.results ?? []) as unknown as readonly Json[]).map(({ key }) => String(key))]
  }
  const [other, own] = ['region: references places.title', 'qty: references orders.id']
  expect(await keysFor(world.stella)).toEqual([200, expect.any(String), other, own] as never)
  for (const reader of [world.bob, world.ann]) {
    const shown = await keysFor(reader)
    expect([shown[0], shown.includes(other), shown.includes(own)]).toEqual([200, false, true])
  }
  expect(await keysFor(foreign)).toEqual([404])
})

test('one reference is measured on request by its key', async () => {
  expect((await deploy(documentOf([], '[{from: orders.id, to: orders.id}]'))).state).toBe('active')
  const run = await world.measure({ checks: ['id: references orders.id'] })
  expect(outcomes(run)).toEqual({ readable: 'passed 1000', 'id: references orders.id': 'passed 0' })
})

describe('a document is refused with a relationship', () => {
  test.each([
    ['to an object that it does not have', refers('region', 'regiones.title'), 'no object regiones'],
    ['to a property that it does not have', refers('region', 'places.titel'), 'has no property titel'],
    ['to an id that it does not have', refers('region', '/schema/reg/properties/x'), 'has nothing at'],
    [
      'to a column that a table does not have',
      refers('region', 'geo.places.nam'),
      'geo.places has no column nam',
    ],
  ])('%s', async (_, property, message) => {
    const path = '/api/v1/contracts/documents/orders/versions'
    const [status, answer] = await world.ask('POST', path, world.stella, documentOf([property]))
    const text = JSON.stringify(answer)
    expect([status, text.includes(message)]).toEqual([422, true])
  })

  test('with two ends that are not of one length', async () => {
    const path = '/api/v1/contracts/documents/orders/versions'
    const document = documentOf([], '[{from: [orders.id], to: [orders.id, orders.qty]}]').replace(
      '{name: id, id: pk',
      '{name: qty, logicalType: integer}\n  - {name: id, id: pk',
    )
    const [status, answer] = await world.ask('POST', path, world.stella, document)
    expect([status, JSON.stringify(answer).includes('not of one length')]).toEqual([422, true])
  })
})
