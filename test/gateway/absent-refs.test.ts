import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, createTable } from '../../demo/commits.ts'
import { answerLiteral as answer } from '../../src/gateway/literal-surface/literal-surface.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { closeIntent, countIntents, openIntent } from '../../src/store/commit/commit-intents.ts'
import { findServiceSession } from '../../src/store/session/sessions.ts'
import { intentOf } from '../support/commits.ts'
import { failingStore } from '../support/failing-store.ts'
import { addTenant, commit, startTestService, type TestService } from '../support/service.ts'
import { send } from '../support/surface.ts'

setDefaultTimeout(300_000)

let service: TestService
let tables = 0
let name: string
beforeAll(async () => {
  service = await startTestService()
  await putCatalogCredential(service.store, service.owner.tenant, {
    nickname: 'beta',
    kind: 'beta',
    endpoint: service.catalog.url,
    config: {
      endpoint: service.catalog.url,
      warehouse: 'dev',
      credential: 'gateway:s3cret',
      'oauth2-server-uri': `${service.catalog.url}/v1/oauth/tokens`,
    },
  })
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(async () => {
  name = `first_${++tables}`
  expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(name))).status).toBe(200)
  service.catalog.faults.reset()
})

/** How the key says that the branch must not exist. */
const absences = [{ 'snapshot-id': null }, {}]

function firstSnapshot(snapshotId: bigint, absence: object = absences[0] ?? {}): string {
  const text = appendSnapshot({ snapshotId, sequenceNumber: 1, timestampMs: 1_800_000_000_000 })
  const { updates } = JSON.parse(text) as { updates: unknown }
  const requirements = [{ type: 'assert-ref-snapshot-id', ref: 'main', ...absence }]
  return JSON.stringify({ requirements, updates })
}

const through = (prefix: string, body: string) =>
  commit(service, body, { path: `/v1/iceberg/${prefix}/namespaces/sales/tables/${name}` })
const reached = () => service.catalog.faults.counts.commit

test.each(absences)('a first snapshot goes through where there is none: %p', async (absence) => {
  expect((await through('beta', firstSnapshot(1n, absence))).status).toBe(200)
})

test.each(absences)(
  'a second first snapshot is 409 and does not reach a beta catalog: %p',
  async (absence) => {
    expect((await through('beta', firstSnapshot(1n, absence))).status).toBe(200)
    const answer = await through('beta', firstSnapshot(2n, absence))
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({ error: { type: 'CommitFailedException' } })
    expect(reached()).toBe(1)
    expect((await countIntents(service.store)).open).toBe(0)
  },
)

test('a first snapshot is 409 while another commit on the table is under way, a foreign tenant’s not counting', async () => {
  const { tenant } = await addTenant(service.store, `stranger-${name}`, service.catalog.url)
  const table = { namespace: ['sales'], name }
  const foreign = intentOf({ table })
  await openIntent(service.store, tenant, foreign)
  const mine = intentOf({ table })
  await openIntent(service.store, service.owner.tenant, mine)
  expect((await through('beta', firstSnapshot(1n))).status).toBe(409)
  expect(reached()).toBe(0)
  await closeIntent(service.store, service.owner.tenant, mine.commitId)
  expect((await through('beta', firstSnapshot(1n))).status).toBe(200)
  await closeIntent(service.store, tenant, foreign.commitId)
})

test('an alpha catalog is left to judge its own requirements', async () => {
  expect((await through('main', firstSnapshot(1n))).status).toBe(200)
  expect((await through('main', firstSnapshot(2n))).status).toBe(409)
  expect(reached()).toBe(2)
})

test('nothing is forwarded where the other commits cannot be looked up', async () => {
  const store = failingStore(service.store, /select commit_id from svc.commit_intent/)
  const session = await findServiceSession(service.store, service.owner.secret)
  const request = new Request(
    new URL(`/v1/iceberg/beta/namespaces/sales/tables/${name}`, service.app.url).href,
    { method: 'POST', body: firstSnapshot(1n) },
  )
  const response = await answer({ ...service.app.gateway, store }, request, async () => session, {
    identify: async () => ({ principal: { sub: 'spark', roles: [] }, source: 'session', verified: true }),
  })
  expect(response.status).toBeGreaterThanOrEqual(500)
  expect(reached()).toBe(0)
  expect((await countIntents(service.store)).open).toBe(0)
})
