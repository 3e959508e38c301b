/** A commit without anything speculative: no cached table, no returning caller. */

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, setProperties } from '../../demo/commits.ts'
import { systemClock } from '../../src/base/clock.ts'
import { TableCache } from '../../src/gateway/base/table-cache.ts'
import { answerLiteral } from '../../src/gateway/literal-surface/literal-surface.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { deletePolicy } from '../../src/store/policy/policies.ts'
import { findServiceSession } from '../../src/store/session/sessions.ts'
import type { Store } from '../../src/store/store.ts'
import { countManifestChecks } from '../../src/store/territory/manifest-checks.ts'
import { audit, governOrders, prefix, startTestService, type TestService } from '../support/service.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

let service: TestService
/** The store's functions as they were called, with what the upstream had been asked by then. */
const called: string[] = []
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())
afterEach(async () => {
  expect((await countIntents(service.store)).open).toBe(0)
  await deletePolicy(service.store, service.owner.tenant, 'rule')
})

/** Commits with caches that keep nothing. */
async function commitPlainly(definitionCel: string, body = setProperties({ a: '1' })): Promise<Response> {
  await governOrders(service, { id: 'rule', definitionCel })
  const { counts } = service.catalog.faults
  const store: Store = {
    ...service.store,
    tenantCall: (tenant, name, params) => {
      called.push(`${name} after ${counts.load} loads, ${counts.commit} commits`)
      return service.store.tenantCall(tenant, name, params)
    },
  }
  called.length = 0
  service.catalog.faults.reset()
  const session = await findServiceSession(service.store, service.owner.secret)
  const path = `/v1/iceberg/${prefix}/namespaces/sales/tables/orders`
  const request = new Request(new URL(path, service.app.url).href, {
    method: 'POST',
    body,
    headers: { 'content-length': `${body.length}` },
  })
  const parts = { ...service.app.gateway, store, tables: new TableCache(0, 0, systemClock) }
  return await answerLiteral(parts, request, async () => session, {
    identify: async () => ({ principal: { sub: 'spark', roles: [] }, source: 'session', verified: true }),
  })
}

test('is audited once its upstream has taken it, with an intent on the table that was loaded', async () => {
  for (let turn = 0; turn < 2; turn++) {
    expect((await commitPlainly('true')).status).toBe(200)
    expect(called).toEqual([
      'load_policies after 0 loads, 0 commits',
      'open_intent after 1 loads, 0 commits',
      // The table is new to the index.
      ...(turn === 0 ? ['claim_territory after 1 loads, 0 commits'] : []),
      'record_verdict after 1 loads, 1 commits',
    ])
    expect((await audit(service))[0]?.decision).toBe('APPROVED')
  }
})

test('is denied and not forwarded where a policy says so', async () => {
  expect((await commitPlainly('false')).status).toBe(403)
  expect(called.at(-1)).toBe('record_verdict after 1 loads, 0 commits')
  expect((await audit(service))[0]?.decision).toBe('REJECTED')
})

test('is 503, not forwarded and not audited where a policy is broken', async () => {
  const rows = (await audit(service)).length
  expect((await commitPlainly('nobody.knows')).status).toBe(503)
  expect(service.catalog.faults.counts.commit).toBe(0)
  expect(await audit(service)).toHaveLength(rows)
})

test('leaves no check of its manifests where the service reads no storage of the catalog', async () => {
  const body = appendSnapshot({ snapshotId: 1n, sequenceNumber: 1, timestampMs: Date.now() })
  expect((await commitPlainly('true', body)).status).toBe(200)
  expect(await countManifestChecks(service.store)).toBe(0)
})
