/** Recovery where metadata files can be read: what they show decides, and what they leave open is proposed to a person. */

import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { dirname } from 'node:path'
import { appendSnapshot, createTable, orderFields, setProperties } from '../../../demo/commits.ts'
import type { CommitIntent } from '../../../src/core/commit.ts'
import { recoverIntents } from '../../../src/gateway/recovery/recover-intents.ts'
import { listCatalogCredentials } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { noteProposal } from '../../../src/store/commit/intent-settlements.ts'
import { runOn } from '../../admin/command-line.ts'
import { intentOf } from '../../support/commits.ts'
import { call, session } from '../../support/identity.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(60_000)

let service: TestService
let tenant: TestTenant
/** Has intents of its own on tables of the same names. */
let foreign: TestTenant
let steward: string
let name = ''
let tables = 0

beforeAll(async () => {
  service = await startTestService()
  const loaded = await send(service, 'GET', '/namespaces/sales/tables/orders')
  const { 'metadata-location': file } = (await loaded.json()) as { 'metadata-location': string }
  const config = { storage_roots: [dirname(dirname(dirname(dirname(file))))] }
  tenant = await addTenant(service.store, 'reading', service.catalog.url, config)
  foreign = await addTenant(service.store, 'foreign', service.catalog.url, config)
  steward = await session(service, tenant.tenant, ['read', 'admin'], ['steward'], 'stella')
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(async () => {
  name = `read_${++tables}`
  // The log names the one file before, as that of a busy table does for a second.
  const body = createTable(name, orderFields, { 'write.metadata.previous-versions-max': '1' })
  expect((await send(service, 'POST', '/namespaces/sales/tables', body, { tenant })).status).toBe(200)
  for (const one of [tenant, foreign])
    await service.store.tenantQuery(one.tenant, 'delete from svc.commit_intent')
})

const table = () => ({ namespace: ['sales'], name })
const path = () => `/namespaces/sales/tables/${name}`

async function locationNow(): Promise<string> {
  const loaded = await send(service, 'GET', path(), undefined, { tenant })
  return ((await loaded.json()) as { 'metadata-location': string })['metadata-location']
}

/** Commits past the gateway. @returns the file that it wrote */
async function pastTheGateway(body: string): Promise<string> {
  const headers = await upstreamHeaders(service.catalog)
  const url = `${service.catalog.url}/v1/dev${path()}`
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200)
  return await locationNow()
}

async function through(body: string): Promise<void> {
  expect((await send(service, 'POST', path(), body, { tenant })).status).toBe(200)
}

/** Leaves the intent of a commit whose process died. */
async function leave(body: string, change: Partial<CommitIntent> = {}, as = tenant): Promise<string> {
  const { items } = await listCatalogCredentials(service.store, as.tenant)
  const intent = intentOf({
    table: table(),
    credentialId: items[0]?.id ?? '',
    baseMetadataLocation: await locationNow(),
    body: Bun.zstdCompressSync(body),
    bodySha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
    receivedAtMs: Date.now(),
    ...change,
  })
  await openIntent(service.store, as.tenant, intent, { leaseMs: 0, upstreamMs: 0 })
  return intent.commitId
}

const fileOf = async (commitId: string, as = tenant) =>
  (await audit(service, as.tenant)).find((row) => row.commitId === commitId)?.metadataLocation
const recover = () => recoverIntents(service.app.gateway)
const append = (snapshotId: bigint) =>
  appendSnapshot({ snapshotId, sequenceNumber: 1, timestampMs: Date.now() })

test('a busy table leaves nothing undecided: far behind its log, files show what was made, past the gateway and through it', async () => {
  const lost = [setProperties({ a: 'made' }), append(7n)] as const
  const made = await leave(lost[0])
  const never = await leave(setProperties({ b: 'never' }))
  const first = await pastTheGateway(lost[0])
  await through(setProperties({ x: '1' }))
  const snapshot = await leave(lost[1], { snapshotIds: [7n] })
  const second = await pastTheGateway(lost[1])
  await pastTheGateway(setProperties({ other: 'writer' }))
  for (const x of ['2', '3']) await through(setProperties({ x }))
  await pastTheGateway(
    JSON.stringify({ requirements: [], updates: [{ action: 'remove-properties', removals: ['a'] }] }),
  )
  for (const x of ['4', '5']) await through(setProperties({ x }))
  expect(await recover()).toMatchObject({ committed: 2, notCommitted: 1, undecidable: 0 })
  expect([await fileOf(made), await fileOf(never), await fileOf(snapshot)]).toEqual([
    first,
    undefined,
    second,
  ])
})

test('an intent whose base is in no history stands in nobody’s way', async () => {
  await leave(setProperties({ gone: 'yes' }), { baseMetadataLocation: 'file:///gone/metadata.json' })
  const lost = setProperties({ a: 'made' })
  const made = await leave(lost)
  const file = await pastTheGateway(lost)
  expect(await recover()).toMatchObject({ committed: 1, undecidable: 1 })
  expect(await fileOf(made)).toBe(file)
})

test('of two that died, each row names its own file, whichever was received first', async () => {
  const [one, other] = [setProperties({ one: '1' }), setProperties({ other: '1' })]
  const late = await leave(one, { receivedAtMs: Date.now() })
  const early = await leave(other, { receivedAtMs: Date.now() - 60_000 })
  const files = [await pastTheGateway(one), await pastTheGateway(other)]
  expect(await recover()).toMatchObject({ committed: 2, undecidable: 0 })
  expect([await fileOf(late), await fileOf(early)]).toEqual(files)
})

interface Listed {
  readonly items: readonly { readonly commit_id: string; readonly proposed?: Record<string, unknown> }[]
}

test('what the files leave open is proposed with its evidence, and settled at once by a person who has looked', async () => {
  const lost = setProperties({ a: 'made' })
  const mine = await leave(lost)
  const [first, second] = ['ann', 'bob'].map((sub) => ({ principal: { sub, roles: [] } }))
  const file = await pastTheGateway(setProperties({ a: 'made', b: 'too' }))
  const alike = setProperties({ c: '1' })
  const twins = [await leave(alike, first), await leave(alike, second)]
  const theirs = await leave(lost, {}, foreign)
  const shared = await pastTheGateway(alike)
  expect(await recover()).toMatchObject({ committed: 0 })
  const list = async () => {
    const listed = await call(service, 'GET', `/api/v1/intents?namespace=sales&table=${name}`, {
      secret: steward,
    })
    return ((await listed.json()) as Listed).items
  }
  const proposed = new Map((await list()).map((one) => [one.commit_id, one.proposed]))
  expect(proposed.get(mine)).toEqual({
    metadata_location: file,
    evidence: 'the file holds this change, and another',
    proven: true,
  })
  for (const twin of twins)
    expect(proposed.get(twin)).toEqual({
      metadata_location: shared,
      evidence: 'the file holds this change and no other',
      proven: true,
    })
  const settled = await call(service, 'POST', '/api/v1/intents/settle-proven', {
    secret: steward,
    body: { reason: 'seen', namespace: ['sales'], table: name },
  })
  // Which of the twins wrote the file is not proven.
  expect(await settled.json()).toEqual({
    settled: [
      {
        commit_id: mine,
        table: table(),
        metadata_location: file,
        evidence: 'the file holds this change, and another',
      },
    ],
  })
  expect(await fileOf(mine)).toBe(file)
  expect((await list()).map((one) => one.commit_id).toSorted()).toEqual(twins.toSorted())
  expect(await fileOf(theirs, foreign)).toBeUndefined()
})

test('a file that another change may have written is settled by the id of its intent, and never with all others', async () => {
  const mine = await leave(setProperties({ a: 'made' }))
  const file = await pastTheGateway(setProperties({ a: 'made', b: 'too' }))
  await recover()
  const proposal = { metadataLocation: file, evidence: 'another may have come since' }
  for (const isProven of [false, undefined]) {
    await noteProposal(service.store, tenant.tenant, mine, { ...proposal, isProven } as never)
    const settled = await call(service, 'POST', '/api/v1/intents/settle-proven', {
      secret: steward,
      body: { reason: 'seen' },
    })
    expect(await settled.json()).toEqual({ settled: [] })
  }
  expect(await fileOf(mine)).toBeUndefined()
})

test('the command line settles what is proven, of one table or all, and takes no other flags then', async () => {
  const mine = await leave(setProperties({ a: 'made' }))
  const file = await pastTheGateway(setProperties({ a: 'made', b: 'too' }))
  await recover()
  const run = (words: string) => runOn(service.store, words.split(' '))
  const settle = `intent settle --tenant ${tenant.tenant} --all-proven --reason seen`
  expect((await run(`${settle} --id ${mine}`)).status).toBe(64)
  expect(JSON.parse((await run(`${settle} --table sales.none`)).stdout)).toEqual({ settled: [] })
  expect(JSON.parse((await run(settle)).stdout)).toMatchObject({ settled: [{ commit_id: mine }] })
  expect(await fileOf(mine)).toBe(file)
})
