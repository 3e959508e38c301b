/** What a replay finds holds values that writers wrote: no answer shows them to anyone who may not read them. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { setProperties } from '../../../demo/commits.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { ask, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { addTenant, audit, commit, prefix } from '../../support/service.ts'

setDefaultTimeout(120_000)

const secret = 'salary-4711'
const definition_cel = 'commit.updates.all(u, u.action != "set-properties" || u.updates["note"] == "planted")'

let service: IdentityService
let steward: string
let administrator: string
let outsider: string
let own: string

beforeAll(async () => {
  service = await startIdentityService()
  const { tenant } = service.owner
  const endpoint = service.catalog.url
  const config = { endpoint, warehouse: 'dev', credential: 'gateway:s3cret' }
  await putCatalogCredential(service.store, tenant, {
    ...{ nickname: prefix, kind: 'alpha', endpoint },
    config: { ...config, storage_roots: [pathToFileURL(tmpdir()).href] },
  })
  const foreign = await addTenant(service.store, 'foreign', endpoint)
  steward = await session(service, tenant, ['read', 'admin'], ['steward'], 'stella')
  administrator = await session(service, tenant, ['read', 'admin'], ['administrator'], 'adam')
  outsider = await session(service, foreign.tenant, ['read', 'admin'], ['steward'], 'mallory')
  own = `/admin/tenants/${tenant}`
  expect((await commit(service, setProperties({ note: secret }))).status).toBe(200)
})
afterAll(() => service[Symbol.asyncDispose]())

/** Starts a replay, and waits for its end. @returns its id */
async function replayed(base: string, by: string): Promise<string> {
  const draft = { namespace: ['sales'], kind: 'schema', definition_cel }
  const { status, body } = await ask(service, 'POST', `${base}/policy-replays`, by, draft)
  expect(status).toBe(202)
  await service.app.jobs.run('replay-policies')
  return String(body.id)
}

/** All that can be read of a replay, as text, and its counts. */
async function told(base: string, id: string, by: string) {
  const read = async (what: string) => (await ask(service, 'GET', `${base}/policy-replays${what}`, by)).body
  const { counts } = await read(`/${id}`)
  const all = [counts, await read(`/${id}/findings`), await read(`/${id}/summary`), await read('')]
  return { counts, text: JSON.stringify(all) }
}

test('a steward reads in the findings of a replay the value that failed', async () => {
  const found = await told('/api/v1', await replayed('/api/v1', steward), steward)
  expect(found.counts).toEqual({ newly_denied: 1 })
  expect(found.text).toContain(secret)
})

test.each([
  ['a steward', () => replayed('/api/v1', steward)],
  ['an administrator', () => replayed('/api/v1', administrator)],
  ['the operator', () => replayed(own, service.operator)],
])(
  'of a replay that %s started, only stewards see what concerns a table without a contract',
  async (_who, start) => {
    const id = await start()
    for (const [base, by] of [
      ['/api/v1', administrator],
      [own, service.operator],
    ] as const) {
      const { counts, text } = await told(base, id, by)
      expect([base, counts, text.includes(secret), text.includes('orders')]).toEqual([
        base,
        { unavailable: 1 },
        false,
        false,
      ])
    }
    expect((await told('/api/v1', id, outsider)).text).not.toContain(secret)
  },
)

test('a policy is tried on a stored commit of a table without a contract by stewards alone', async () => {
  const commit_id = (await audit(service))[0]?.commitId
  const tries = (by: string) =>
    ask(service, 'POST', '/api/v1/policies/try', by, { definition_cel, commit_id })
  const [shown, kept] = [await tries(steward), await tries(administrator)]
  expect([shown.status, JSON.stringify(shown.body).includes(secret)]).toEqual([200, true])
  expect([kept.status, JSON.stringify(kept.body).includes(secret)]).toEqual([403, false])
})
