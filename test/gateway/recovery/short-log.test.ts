/** Recovery of commits that add no snapshot, where the table's metadata log is short or the table goes on changing. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTable, orderFields, setProperties } from '../../../demo/commits.ts'
import { recoverIntents } from '../../../src/gateway/recovery/recover-intents.ts'
import { listCatalogCredentials } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import {
  closeIntent,
  countIntents,
  intentsOnTable,
  openIntent,
} from '../../../src/store/commit/commit-intents.ts'
import { intentOf } from '../../support/commits.ts'
import { startCrashService } from '../../support/crash-service.ts'
import { audit, commit, startTestService, type TestService, upstreamHeaders } from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(60_000)

let service: TestService
const folder = mkdtempSync(join(tmpdir(), 'covenant-orphans-'))
beforeAll(async () => {
  service = await startTestService()
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** A table whose metadata log names one earlier file. */
async function newTable(name: string): Promise<void> {
  const body = createTable(name, orderFields, { 'write.metadata.previous-versions-max': '1' })
  expect((await send(service, 'POST', '/namespaces/sales/tables', body)).status).toBe(200)
}

const table = (name: string) => ({ namespace: ['sales'], name })
const commitTo = (name: string, value: string) =>
  commit(service, setProperties({ owner: value }), {
    path: `/v1/iceberg/main/namespaces/sales/tables/${name}`,
  })

async function locationOf(name: string): Promise<string> {
  const loaded = await send(service, 'GET', `/namespaces/sales/tables/${name}`)
  return ((await loaded.json()) as { 'metadata-location': string })['metadata-location']
}

async function pastTheGateway(name: string, body: string): Promise<void> {
  const headers = await upstreamHeaders(service.catalog)
  const url = `${service.catalog.url}/v1/dev/namespaces/sales/tables/${name}`
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200)
}

/** Leaves the intent of a commit whose process died. @returns its commit id */
async function leave(name: string, body: string, times = { leaseMs: 0, upstreamMs: 0 }): Promise<string> {
  const { items } = await listCatalogCredentials(service.store, service.owner.tenant)
  const intent = intentOf({
    table: table(name),
    credentialId: items[0]?.id ?? '',
    baseMetadataLocation: await locationOf(name),
    body: Bun.zstdCompressSync(body),
    receivedAtMs: Date.now(),
  })
  await openIntent(service.store, service.owner.tenant, intent, times)
  return intent.commitId
}

const decisionOf = async (id: string) => (await audit(service)).find(({ commitId }) => commitId === id)

test('a commit that was never made is closed although the metadata log no longer reaches back to its base', async () => {
  await newTable('closed')
  await commitTo('closed', 'first')
  const id = await leave('closed', setProperties({ owner: 'lost' }))
  for (const value of ['a', 'b', 'c', 'd']) expect((await commitTo('closed', value)).status).toBe(200)
  expect(await recoverIntents(service.app.gateway)).toMatchObject({
    committed: 0,
    notCommitted: 1,
    undecidable: 0,
  })
  expect(await decisionOf(id)).toBeUndefined()
})

test('it stays undecidable where a commit past the gateway breaks the chain of audited files', async () => {
  await newTable('broken')
  await commitTo('broken', 'first')
  const id = await leave('broken', setProperties({ owner: 'lost' }))
  await pastTheGateway('broken', setProperties({ owner: 'other' }))
  for (const value of ['a', 'b', 'c']) expect((await commitTo('broken', value)).status).toBe(200)
  expect(await recoverIntents(service.app.gateway)).toMatchObject({
    committed: 0,
    notCommitted: 0,
    undecidable: 1,
  })
  expect(await decisionOf(id)).toBeUndefined()
  await service.store.tenantQuery(
    service.owner.tenant,
    'delete from svc.commit_intent where commit_id = $1',
    [id],
  )
})

/** One commit that was never made, one that was, and then an audited one: what is open of the two afterwards. */
async function openAfter(name: string, audited: string): Promise<readonly string[]> {
  const body = createTable(name, orderFields, { old: 'yes' })
  expect((await send(service, 'POST', '/namespaces/sales/tables', body)).status).toBe(200)
  const lost = await leave(name, setProperties({ lost: 'yes' }))
  const made = await leave(name, setProperties({ made: 'yes' }))
  await pastTheGateway(name, setProperties({ made: 'yes' }))
  const path = `/v1/iceberg/main/namespaces/sales/tables/${name}`
  expect((await commit(service, audited, { path })).status).toBe(200)
  await recoverIntents(service.app.gateway)
  const open = await intentsOnTable(service.store, service.owner.tenant, table(name))
  for (const id of open) await closeIntent(service.store, service.owner.tenant, id)
  return ['lost', 'made'].filter((_, index) => open.includes([lost, made][index] ?? ''))
}

test('one that the table lacks leaves the file to the other, as audited commits took nothing away', async () => {
  expect(await openAfter('kept', setProperties({ other: 'yes' }))).not.toContain('made')
})

const without = (property: string) =>
  JSON.stringify({
    requirements: [],
    updates: [{ action: 'remove-properties', removals: [property] }],
  })

test('both stay open where an audited commit took properties away', async () => {
  expect(await openAfter('taken', without('old'))).toEqual(['lost', 'made'])
})

test('a commit that changed nothing does not explain the file that it found: the one that wrote it is audited', async () => {
  expect(await openAfter('unchanged', without('absent'))).toEqual([])
  const rows = (await audit(service)).filter(({ table: { name } }) => name === 'unchanged')
  const written = rows.filter((row) => row.metadataLocation !== row.baseMetadataLocation)
  expect(written).toMatchObject([
    { metadataLocation: await locationOf('unchanged') },
    { action: 'create-table' },
  ])
})

test('both stay open where an audited request is too long to look into, however well it is compressed', async () => {
  const long = setProperties({ other: 'x'.repeat(2 * 1024 * 1024) })
  expect(Bun.zstdCompressSync(long).length).toBeLessThan(64 * 1024)
  expect(await openAfter('long', long)).toEqual(['lost', 'made'])
})

// Skipped where the store is a server, because several processes share that.
test.skipIf(process.env.SVC_TEST_DATABASE_URL !== undefined)(
  'an embedded store audits at its start what was made, before the lease ends, and leaves what may still be made',
  async () => {
    for (const name of ['made', 'waiting']) await newTable(name)
    const lost = setProperties({ owner: 'lost' })
    const long = { leaseMs: 600_000, upstreamMs: 600_000 }
    const made = await leave('made', lost, long)
    const waiting = await leave('waiting', lost, long)
    await pastTheGateway('made', lost)
    const location = await locationOf('made')
    const next = await startCrashService(service.store, join(folder, 'journal'))
    await next.stop()
    expect(await decisionOf(made)).toMatchObject({ decision: 'APPROVED', metadataLocation: location })
    expect(await decisionOf(waiting)).toBeUndefined()
    expect((await countIntents(service.store)).open).toBe(1)
    // The upstream may have made it since.
    await pastTheGateway('waiting', lost)
    const after = await startCrashService(service.store, join(folder, 'journal'))
    await after.stop()
    expect(await decisionOf(waiting)).toMatchObject({ metadataLocation: await locationOf('waiting') })
    expect((await countIntents(service.store)).open).toBe(0)
  },
)
