import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recoverIntents } from '../../../src/gateway/recovery/recover-intents.ts'
import { findCatalogCredential } from '../../../src/store/catalog-credentials.ts'
import { countIntents, intentsOnTable, openIntent } from '../../../src/store/commit-intents.ts'
import { intentOf } from '../../support/commits.ts'
import { eventually } from '../../support/eventually.ts'
import { addTenant, orders, prefix, startTestService, type TestService } from '../../support/service.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(60_000)

let service: TestService
let hanging: ReturnType<typeof Bun.serve>
let asked = 0
beforeAll(async () => {
  service = await startTestService()
  hanging = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () => {
      asked++
      return new Promise<Response>(() => {})
    },
  })
})
afterAll(async () => {
  await hanging.stop(true)
  await service[Symbol.asyncDispose]()
})

/** Leaves a stale intent, as of a process that died before it forwarded anything. */
async function leaveIntent(tenant: TenantId): Promise<void> {
  const credential = await findCatalogCredential(service.store, tenant, prefix)
  const loaded = await service.app.gateway.catalogs
    .get(service.owner.tenant, await ownCredential())
    .getTable(orders)
  const baseMetadataLocation = loaded.metadataLocation
  const intent = intentOf({ table: orders, credentialId: credential?.id ?? '', baseMetadataLocation })
  await openIntent(service.store, tenant, intent, { leaseMs: -1, upstreamMs: -1 })
}
async function ownCredential() {
  const credential = await findCatalogCredential(service.store, service.owner.tenant, prefix)
  if (credential === undefined) throw new Error('the owner has no credential')
  return credential
}

test('an upstream that hangs keeps no other tenant’s intents waiting, and a stop does not wait for it', async () => {
  const { tenant: stuck } = await addTenant(service.store, 'stuck', hanging.url.origin)
  await leaveIntent(stuck)
  await leaveIntent(service.owner.tenant)
  const stop = new AbortController()
  const running = recoverIntents(service.app.gateway, stop.signal)
  await eventually(() => asked > 0)
  await eventually(
    async () => (await intentsOnTable(service.store, service.owner.tenant, orders)).length === 0,
  )
  stop.abort(new Error('the service is stopping'))
  expect(await running).toEqual({ committed: 0, notCommitted: 1, undecidable: 1 })
  expect((await countIntents(service.store)).open).toBe(1)
  expect(service.log()).not.toContain('intents could not be looked into')
})
