/**
 * Caches of metadata, policies, catalogs, tokens and prepared statements never change a response. A change between two
 * commits is seen by the second.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { orderFields, replaceSchema, setProperties } from '../../demo/commits.ts'
import {
  putCatalogCredential,
  removeCatalogCredential,
  rotateCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { deletePolicy } from '../../src/store/policy/policies.ts'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import { resumeTenant, suspendTenant } from '../../src/store/tenant/tenants.ts'
import {
  addTenant,
  commit,
  commitUpstream,
  createOrders,
  governOrders,
  prefix,
  startTestService,
  type TestService,
} from '../support/service.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

let commits = 0
const write = (secret = service.owner.secret) =>
  commit(service, setProperties({ n: `${++commits}` }), { secret })
const statusOf = async (secret?: string) => (await write(secret)).status

/** Enough commits that every cache holds what the next one needs, and every kept plan is made. */
async function warmUp(secret?: string): Promise<void> {
  for (let turn = 0; turn < 8; turn++) expect(await statusOf(secret)).toBe(200)
}

beforeEach(() => warmUp())

describe('a policy', () => {
  test('that is added denies the next commit, and allows it again once it is removed', async () => {
    await governOrders(service, { id: 'added', definitionCel: 'false' })
    expect(await statusOf()).toBe(403)
    expect(await deletePolicy(service.store, service.owner.tenant, 'added')).toBe(true)
    expect(await statusOf()).toBe(200)
  })

  test('whose text changes denies by its new text, and allows by it', async () => {
    for (const [definitionCel, status] of [
      ['true', 200],
      ['principal.sub == "nobody"', 403],
      ['principal.sub == "spark"', 200],
      ['false', 403],
      ['true', 200],
    ] as const) {
      await governOrders(service, { id: 'changing', definitionCel })
      expect({ definitionCel, status: await statusOf() }).toEqual({ definitionCel, status })
    }
  })

  test('whose message or mode alone changes is told by its new one', async () => {
    await governOrders(service, { id: 'moody', definitionCel: 'false', mode: 'warn' })
    expect((await write()).headers.get('x-svc-policy-warning')).toBe('moody')
    await governOrders(service, { id: 'moody', definitionCel: 'false', message: 'no more' })
    expect(await (await write()).text()).toBe('policy denied: moody: no more')
    await governOrders(service, { id: 'moody', definitionCel: 'false', mode: 'shadow' })
    expect(await statusOf()).toBe(200)
  })
})

describe('a session', () => {
  test('that is revoked is refused at once, though its catalog credential is known', async () => {
    const { id, secret } = await createServiceSession(service.store, service.owner.tenant, {
      name: 'revoked',
      principal: { sub: 'revoked', roles: [] },
      scopes: ['commit'],
    })
    await warmUp(secret)
    expect(await revokeServiceSession(service.store, service.owner.tenant, id)).toBe(true)
    expect(await statusOf(secret)).toBe(401)
    expect(await statusOf()).toBe(200)
  })

  test('of a tenant that is suspended is refused at once, and let in once it is resumed', async () => {
    await suspendTenant(service.store, service.owner.tenant)
    expect(await statusOf()).toBe(401)
    await resumeTenant(service.store, service.owner.tenant)
    expect(await statusOf()).toBe(200)
  })
})

describe('a catalog credential', () => {
  const original = () => ({
    nickname: prefix,
    kind: 'alpha' as const,
    endpoint: service.catalog.url,
    config: { endpoint: service.catalog.url, warehouse: 'dev', credential: 'gateway:s3cret' },
  })

  test('whose secret is rotated is used with its new secret', async () => {
    const { store, owner } = service
    await rotateCatalogCredential(store, owner.tenant, prefix, { credential: 'gateway:wrong' })
    expect(await statusOf()).toBe(401)
    await rotateCatalogCredential(store, owner.tenant, prefix, { credential: 'gateway:s3cret' })
    expect(await statusOf()).toBe(200)
  })

  test('that names another catalog sends the next commit there, judged by the table there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'covenant-other-'))
    const other = await startDevCatalog({ folder, credential: 'gateway:s3cret' })
    try {
      const { headers } = await createOrders(other)
      const added = replaceSchema([...orderFields, { id: 99, name: 'only_there', type: 'string' }])
      const table = `${other.url}/v1/dev/namespaces/sales/tables/orders`
      expect((await fetch(table, { method: 'POST', headers, body: added })).status).toBe(200)
      await governOrders(service, {
        id: 'there',
        definitionCel: '!manifest.has_column(table, "only_there")',
      })
      const { store, owner } = service
      const before = { here: service.catalog.faults.counts.commit, there: other.faults.counts.commit }
      await putCatalogCredential(store, owner.tenant, {
        ...original(),
        endpoint: other.url,
        config: { ...original().config, endpoint: other.url },
      })
      expect(await statusOf()).toBe(403)
      await deletePolicy(store, owner.tenant, 'there')
      expect(await statusOf()).toBe(200)
      expect({ here: service.catalog.faults.counts.commit, there: other.faults.counts.commit }).toEqual({
        here: before.here,
        there: before.there + 1,
      })
      await putCatalogCredential(store, owner.tenant, original())
      expect(await statusOf()).toBe(200)
    } finally {
      await other.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('that is removed leaves its {prefix} unknown, whatever a foreign tenant registers under it', async () => {
    const { store, owner } = service
    await addTenant(store, 'foreign', service.catalog.url)
    await removeCatalogCredential(store, owner.tenant, prefix)
    expect(await statusOf()).toBe(404)
    await putCatalogCredential(store, owner.tenant, original())
    expect(await statusOf()).toBe(200)
  })
})

describe('a table', () => {
  test('that another writer changes is judged as it is now, though the gateway has its metadata', async () => {
    await governOrders(service, { id: 'clean', definitionCel: '!manifest.has_column(table, "ssn")' })
    await warmUp()
    const original = '{"requirements":[],"updates":[{"action":"set-current-schema","schema-id":0}]}'
    const added = replaceSchema([...orderFields, { id: 98, name: 'ssn', type: 'string' }])
    await commitUpstream(service.catalog, added)
    expect(await statusOf()).toBe(403)
    await commitUpstream(service.catalog, original)
    expect(await statusOf()).toBe(200)
  })
})
