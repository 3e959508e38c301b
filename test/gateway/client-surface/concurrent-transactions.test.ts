/** Atomic transactions of several clients on the same tables: each row names the file that its own commit wrote. */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTable, setProperties } from '../../../demo/commits.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../../src/base/json.ts'
import { findAudit } from '../../../src/store/commit/audit.ts'
import { countIntents } from '../../../src/store/commit/commit-intents.ts'
import { eventually } from '../../support/eventually.ts'
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

const memberOf = (value: JsonObject, key: string): JsonObject => {
  const member = value.get(key)
  return isJsonObject(member) ? member : new Map()
}

/** The properties that a file has and the one before it lacks. */
function broughtBy(location: string): readonly string[] {
  const read = (file: string) => {
    const content = parseJson(readFileSync(fileURLToPath(file), 'utf8'))
    return isJsonObject(content) ? content : new Map()
  }
  const metadata = read(location)
  const log = (metadata.get('metadata-log') ?? []) as readonly JsonObject[]
  const before = memberOf(read(String(log.at(-1)?.get('metadata-file'))), 'properties')
  return [...memberOf(metadata, 'properties').keys()].filter((key) => !before.has(key))
}

/** The property that each audited commit set beside those that its file brought. */
async function rowsOn(names: readonly string[], tenant: TestTenant) {
  const rows = (await audit(service, tenant.tenant)).filter(
    ({ table, action }) => action === 'update-table' && names.includes(table.name),
  )
  return await Promise.all(
    rows.map(async ({ commitId, metadataLocation }) => {
      const found = await findAudit(service.store, tenant.tenant, commitId)
      const body = found && Bun.zstdDecompressSync(found.body as Uint8Array<ArrayBuffer>)
      const { updates } = JSON.parse(String(body)) as { updates: { updates: Record<string, string> }[] }
      return { set: Object.keys(updates[0]?.updates ?? {}), brought: broughtBy(metadataLocation ?? '') }
    }),
  )
}

/** Two clients, eight transactions each, over the same two tables. */
async function race(names: readonly string[], tenant: TestTenant): Promise<void> {
  service.catalog.faults.setDelay('commit', 60)
  const client = async (name: string) => {
    for (let number = 0; number < 8; number++) {
      const body = transaction(names, `by-${name}-${number}`)
      const { status } = await send(service, 'POST', '/transactions/commit', body, { tenant })
      expect(status).toBe(204)
    }
  }
  await Promise.all([client('alice'), client('bob')])
}

const openIntents = async () => (await countIntents(service.store)).open

describe('transactions of two clients on the same two tables', () => {
  test('are audited before their answers, each row with the file that its own commit wrote', async () => {
    const names = await newTables(reading)
    await race(names, reading)
    expect(await openIntents()).toBe(0)
    const rows = await rowsOn(names, reading)
    expect(rows.length).toBe(32)
    for (const { set, brought } of rows) expect(brought).toEqual(set)
  })

  test('leave open what no file that may be read tells apart, and name no file of another', async () => {
    const names = await newTables(blind)
    await race(names, blind)
    const rows = await rowsOn(names, blind)
    for (const { set, brought } of rows) expect(brought).toEqual(set)
    await eventually(async () => rows.length + (await openIntents()) === 32)
  })
})
