/** Atomic transactions of several clients on the same tables: each row names the file that its own commit wrote. */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { dirname } from 'node:path'
import { createTable, setProperties } from '../../../demo/commits.ts'
import { listIntents } from '../../../src/store/commit/intent-settlements.ts'
import { wrongFiles } from '../../support/file-truth.ts'
import { passOn } from '../../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(120_000)

let service: TestService
/** Its catalog credential registers the storage root of the catalog, so that metadata files can be read. */
let reading: TestTenant
/** Another tenant of the same catalog and the same names, without storage roots. */
let blind: TestTenant
let tables = 0

beforeAll(async () => {
  service = await startTestService()
  const { url } = service.catalog
  const first = await addTenant(service.store, 'first', url, { atomic_transactions: true })
  const loaded = await send(service, 'GET', '/namespaces/sales/tables/orders', undefined, { tenant: first })
  const { 'metadata-location': file } = (await loaded.json()) as { 'metadata-location': string }
  const root = dirname(dirname(dirname(dirname(file))))
  const config = { atomic_transactions: true, storage_roots: [root] }
  reading = await addTenant(service.store, 'reading', url, config)
  blind = await addTenant(service.store, 'blind', url, { atomic_transactions: true })
})
afterAll(() => service[Symbol.asyncDispose]())
afterEach(() => service.catalog.faults.reset())

async function newTables(tenant: TestTenant): Promise<readonly string[]> {
  const names = [`a${++tables}`, `b${tables}`]
  for (const name of names) {
    const made = await send(service, 'POST', '/namespaces/sales/tables', createTable(name), { tenant })
    expect(made.status).toBe(200)
  }
  return names
}

function transaction(names: readonly string[], property: string): string {
  const changes = names.map((name) => ({
    identifier: { namespace: ['sales'], name },
    ...JSON.parse(setProperties({ [property]: name })),
  }))
  return JSON.stringify({ 'table-changes': changes })
}

/** Two clients, eight transactions each, over the same two tables. @param second the replica that the second one asks */
async function race(names: readonly string[], tenant: TestTenant, second = service): Promise<void> {
  service.catalog.faults.setDelay('commit', 60)
  const client = async (name: string, asked: TestService) => {
    for (let number = 0; number < 8; number++) {
      const body = transaction(names, `by-${name}-${number}`)
      const { status } = await send(asked, 'POST', '/transactions/commit', body, { tenant })
      expect(status).toBe(204)
    }
  }
  await Promise.all([client('alice', service), client('bob', second)])
}

/** The catalog with a reply to transactions that names the file of each table. It makes one after the other. */
function namingProxy() {
  let before: Promise<unknown> = Promise.resolve()
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.bytes()
      const pass = async () => (await passOn(request, service.catalog.url, body)).answer
      if (!request.url.endsWith('/transactions/commit')) return await pass()
      const made = before.then(async () => {
        const answer = await pass()
        const { 'table-changes': changes } = JSON.parse(Buffer.from(body).toString()) as {
          'table-changes': { identifier: { name: string } }[]
        }
        const locations = changes.map(async ({ identifier }) => {
          const url = `${service.catalog.url}/v1/dev/namespaces/sales/tables/${identifier.name}`
          const loaded = await fetch(url, { headers: request.headers })
          return ((await loaded.json()) as { 'metadata-location': string })['metadata-location']
        })
        const results = (await Promise.all(locations)).map((file) => ({ 'new-metadata-location': file }))
        return answer.status === 204 ? Response.json({ results }) : answer
      })
      before = made.catch(() => {})
      return await made
    },
  })
}

const openOf = async (tenant: TestTenant) =>
  (await listIntents(service.store, tenant.tenant, { limit: 100 })).items

describe('transactions of two clients on the same two tables', () => {
  test('are audited before their answers, each row with the file that its own commit wrote', async () => {
    const names = await newTables(reading)
    await race(names, reading)
    expect(await openOf(reading)).toEqual([])
    expect(await wrongFiles(service.store, reading.tenant)).toEqual({ checked: 32, wrong: [] })
    expect(await audit(service, blind.tenant)).toEqual([])
  })

  test('are audited by the catalog’s reply where it names the files, though none can be read', async () => {
    await using naming = namingProxy()
    const named = await addTenant(service.store, 'named', naming.url.href.replace(/\/$/, ''), {
      atomic_transactions: true,
    })
    const names = await newTables(named)
    await race(names, named)
    expect(await openOf(named)).toEqual([])
    expect(await wrongFiles(service.store, named.tenant)).toEqual({ checked: 32, wrong: [] })
  })

  test('are told apart by a load between them where files cannot be read', async () => {
    const names = await newTables(blind)
    await race(names, blind)
    expect(await wrongFiles(service.store, blind.tenant)).toEqual({ checked: 32, wrong: [] })
    expect(await openOf(blind)).toEqual([])
  })

  test('name no file of another where nothing tells them apart: their intents stay open', async () => {
    const names = await newTables(blind)
    const before = await wrongFiles(service.store, blind.tenant)
    // The turns of transactions hold within one process.
    await using replica = await startTestService({ wrapStore: () => service.store })
    await race(names, blind, replica)
    const { checked, wrong } = await wrongFiles(service.store, blind.tenant)
    expect(wrong).toEqual([])
    expect(checked - before.checked + (await openOf(blind)).length).toBe(32)
  })
})
