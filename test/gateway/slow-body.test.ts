/** A body that arrives slowly: credential and catalog are checked again once the body is complete. */

import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import {
  putCatalogCredential,
  removeCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import { prefix, startTestService, type TestService } from '../support/service.ts'
import { type Begun, beginSlowly, type SlowRequest } from '../support/slow-body.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

let service: TestService
let found = Promise.withResolvers<void>()
beforeAll(async () => {
  service = await startTestService({
    wrapStore: (store) => ({
      ...store,
      adminCall: async (name, params) => {
        const rows = await store.adminCall(name, params)
        if (name === 'find_service_session') found.resolve()
        return rows as never
      },
    }),
  })
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => {
  found = Promise.withResolvers()
})

const paths = {
  'the literal path': `/v1/iceberg/${prefix}/namespaces/sales/tables/orders`,
  'the client surface': `/v1/iceberg/${prefix}/v1/namespaces/sales/tables/orders`,
} as const
const upstreamCommits = () => service.catalog.faults.counts.commit ?? 0

let sessions = 0
/** One that no commit has been made by. */
const newSession = () =>
  createServiceSession(service.store, service.owner.tenant, {
    name: `slow ${++sessions}`,
    principal: { sub: 'slow', roles: [] },
    scopes: ['commit'],
  })

/** A commit of which only the beginning has come, by a session that has been found. */
async function begin(path: string, secret: string, length: SlowRequest['length']): Promise<Begun> {
  const text = setProperties({ slow: 'yes' })
  const begun = beginSlowly(service.app.url, { method: 'POST', path, secret, text, length })
  await found.promise
  return begun
}

for (const [where, path] of Object.entries(paths))
  for (const length of ['declared', 'chunked'] as const) {
    test(`a session that is revoked meanwhile is refused: ${where}, ${length} length`, async () => {
      const { id, secret } = await newSession()
      const before = upstreamCommits()
      const begun = await begin(path, secret, length)
      await revokeServiceSession(service.store, service.owner.tenant, id)
      expect(await begun.end()).toStartWith('HTTP/1.1 401')
      expect(upstreamCommits()).toBe(before)
    })

    test(`one that still holds commits: ${where}, ${length} length`, async () => {
      const { secret } = await newSession()
      const before = upstreamCommits()
      expect(await (await begin(path, secret, length)).end()).toStartWith('HTTP/1.1 200')
      expect(upstreamCommits()).toBe(before + 1)
    })
  }

for (const [where, path] of Object.entries(paths))
  test(`a catalog credential that is removed meanwhile serves nobody: ${where}`, async () => {
    const { secret } = await newSession()
    const before = upstreamCommits()
    const begun = await begin(path, secret, 'declared')
    await removeCatalogCredential(service.store, service.owner.tenant, prefix)
    expect(await begun.end()).toStartWith('HTTP/1.1 404')
    expect(upstreamCommits()).toBe(before)
    const endpoint = service.catalog.url
    const config = { endpoint, warehouse: 'dev', credential: 'gateway:s3cret' }
    const credential = { nickname: prefix, kind: 'alpha', endpoint, config } as const
    await putCatalogCredential(service.store, service.owner.tenant, credential)
  })
