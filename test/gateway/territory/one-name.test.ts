/** A table that its catalog shows under a second name: refused on every way, reported once, and not where it was renamed. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, setProperties } from '../../../demo/commits.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import type { Uncontracted } from '../../../src/core/uncontracted.ts'
import { putReadSettings } from '../../../src/store/contract/read-settings.ts'
import { readEvents } from '../../../src/store/event/events.ts'
import { listConflicts } from '../../../src/store/territory/list-territory.ts'
import { actorOf } from '../../support/actor.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../../support/service.ts'
import { govern, messageOf, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

let service: TestService
let foreign: TestTenant
beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
})
afterAll(() => service[Symbol.asyncDispose]())

let counter = 0
const named = (name: string): TableRef => ({ namespace: ['sales'], name })
const pathOf = ({ name }: TableRef) => `/namespaces/sales/tables/${name}`
async function upstream(method: string, path: string, body?: unknown): Promise<Response> {
  const headers = await upstreamHeaders(service.catalog)
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return await fetch(`${service.catalog.url}/v1/dev${path}`, { method, headers, ...sent })
}

interface Twice {
  readonly first: TableRef
  readonly second: TableRef
  readonly metadata: string
}
/** A table that is governed and was committed to, and the same one under another name, past the gateway. */
async function twice(): Promise<Twice> {
  const first = named(`first${++counter}`)
  const second = named(`second${counter}`)
  expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(first.name))).status).toBe(200)
  const committed = await send(service, 'POST', pathOf(first), setProperties({ a: '1' }))
  const metadata = ((await committed.json()) as { 'metadata-location': string })['metadata-location']
  await govern(service, first, `keep-${first.name}`, 'schema', 'commit.updates[0].action != "set-properties"')
  return { first, second, metadata }
}
async function registered(): Promise<Twice> {
  const tables = await twice()
  const body = { name: tables.second.name, 'metadata-location': tables.metadata }
  expect((await upstream('POST', '/namespaces/sales/register', body)).status).toBe(200)
  return tables
}

const ways: Readonly<Record<string, (table: TableRef) => Promise<Response>>> = {
  'a load': (table) => send(service, 'GET', pathOf(table)),
  'a commit': (table) => send(service, 'POST', pathOf(table), setProperties({ b: '2' })),
  'a transaction': (identifier) =>
    send(service, 'POST', '/transactions/commit', {
      'table-changes': [{ identifier, ...JSON.parse(setProperties({ b: '2' })) }],
    }),
  'a drop': (table) => send(service, 'DELETE', pathOf(table)),
  'a purge': (table) => send(service, 'DELETE', `${pathOf(table)}?purgeRequested=true`),
  'a rename': (source) =>
    send(service, 'POST', '/tables/rename', { source, destination: named(`third${counter}`) }),
  'a plan': (table) => send(service, 'POST', `${pathOf(table)}/plan`, {}),
  credentials: (table) => send(service, 'GET', `${pathOf(table)}/credentials`),
}

describe('a second name of a table', () => {
  for (const [way, ask] of Object.entries(ways))
    test(`is refused to ${way}, and nothing is audited under it`, async () => {
      const { first, second } = await registered()
      const refused = await ask(second)
      if (way !== 'a plan' && way !== 'credentials') {
        expect(await messageOf(refused)).toContain(`sales.${first.name}`)
        expect(refused.status).toBe(409)
      }
      expect(refused.ok).toBe(false)
      expect((await audit(service)).filter(({ table }) => table.name === second.name)).toEqual([])
      expect((await upstream('HEAD', pathOf(second))).status).toBe(204)
    })

  test('is reported once, as an event and a conflict of its own tenant', async () => {
    const { first, second } = await registered()
    for (let tries = 0; tries < 2; tries++)
      expect((await send(service, 'GET', pathOf(second))).status).toBe(409)
    const told = async ({ tenant }: TestTenant) =>
      (await readEvents(service.store, tenant, 0n))
        .filter(
          ({ type, data }) => type === 'table.second_name' && JSON.stringify(data).includes(second.name),
        )
        .map(({ data }) => data)
    expect(await told(service.owner)).toEqual([{ table: first, second }])
    expect(await told(foreign)).toEqual([])
    const conflicts = await listConflicts(service.store, service.owner.tenant, { table: second, limit: 100 })
    expect(
      conflicts.items.filter(({ reason }) => reason === 'second-name').map(({ owner }) => owner),
    ).toEqual([first])
    expect((await listConflicts(service.store, foreign.tenant, { limit: 100 })).items).toEqual([])
  })

  test('does not name the first one to a session that may not see it', async () => {
    const { first, second } = await registered()
    const asForeign = { tenant: foreign }
    expect((await send(service, 'GET', pathOf(first), undefined, asForeign)).status).toBe(200)
    const set = (uncontracted: Uncontracted) =>
      putReadSettings(service.store, foreign.tenant, actorOf('stella'), { uncontracted })
    await set('denied')
    const refused = await send(service, 'POST', pathOf(second), setProperties({ b: '2' }), asForeign)
    await set('to_writers')
    expect(refused.status).toBe(409)
    expect(await messageOf(refused)).not.toContain(first.name)
  })

  test('is the first name for another tenant that saw it first', async () => {
    const { first, second } = await registered()
    expect((await send(service, 'GET', pathOf(second), undefined, { tenant: foreign })).status).toBe(200)
    expect((await send(service, 'GET', pathOf(first), undefined, { tenant: foreign })).status).toBe(409)
    expect((await send(service, 'GET', pathOf(first))).status).toBe(200)
  })
})

describe('a table has one name', () => {
  test('after a rename through the gateway', async () => {
    const table = named(`old${++counter}`)
    const destination = named(`new${counter}`)
    expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(table.name))).status).toBe(
      200,
    )
    expect((await send(service, 'GET', pathOf(table))).status).toBe(200)
    expect((await send(service, 'POST', '/tables/rename', { source: table, destination })).status).toBe(204)
    expect((await send(service, 'POST', pathOf(destination), setProperties({ b: '2' }))).status).toBe(200)
  })

  test('after a rename past the gateway', async () => {
    const table = named(`old${++counter}`)
    const destination = named(`new${counter}`)
    expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(table.name))).status).toBe(
      200,
    )
    expect((await send(service, 'GET', pathOf(table))).status).toBe(200)
    expect((await upstream('POST', '/tables/rename', { source: table, destination })).status).toBe(204)
    expect((await send(service, 'GET', pathOf(destination))).status).toBe(200)
    expect((await send(service, 'POST', pathOf(destination), setProperties({ b: '2' }))).status).toBe(200)
  })

  test('after it was made again under the same name, with another uuid', async () => {
    const table = named(`again${++counter}`)
    for (let tries = 0; tries < 2; tries++) {
      expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(table.name))).status).toBe(
        200,
      )
      expect((await send(service, 'POST', pathOf(table), setProperties({ b: '2' }))).status).toBe(200)
      expect((await send(service, 'DELETE', pathOf(table))).status).toBe(204)
    }
  })

  test('after it was dropped and registered under another name', async () => {
    const { first, second, metadata } = await twice()
    expect((await upstream('DELETE', pathOf(first))).status).toBe(204)
    const body = { name: second.name, 'metadata-location': metadata }
    expect((await send(service, 'POST', '/namespaces/sales/register', body)).status).toBe(200)
    expect((await send(service, 'GET', pathOf(second))).status).toBe(200)
    expect((await send(service, 'POST', pathOf(second), setProperties({ b: '2' }))).status).toBe(200)
  })
})
