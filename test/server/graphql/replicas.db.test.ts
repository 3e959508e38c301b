/** A subscription whose replica is killed, which needs a server that several processes share. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { putContract } from '../../../src/contract/put-contract.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { pinTable } from '../../../src/store/contract/pins.ts'
import { lastEvent } from '../../../src/store/event/events.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { subscribe } from '../../support/graphql.ts'
import { openTestStore, type TestStore, testSecretsKey } from '../../support/store.ts'

setDefaultTimeout(300_000)

const orders = { namespace: ['sales'], name: 'orders' }
const pinned = `subscription Pins($after: String) {
  pinEvents(after: $after) { sequence snapshotId } }`

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('subscriptions over replicas', () => {
  let store: TestStore
  let tenant: TenantId
  let secret: string

  beforeAll(async () => {
    store = await openTestStore({ poolMax: 8 })
    tenant = (await createTenant(store, { name: 'home' })).id
    await commitColumns(store, tenant, orders, { id: 'long' })
    await putContract({ store, tenant, actor: actorOf('stella'), checkPolicies }, orders, {
      ...{ id: 'orders', version: 1 },
    })
    const principal = { sub: 'ann', roles: [] }
    secret = (await createServiceSession(store, tenant, { name: 'ann', principal, scopes: ['read'] })).secret
  })
  afterAll(() => store?.[Symbol.asyncDispose]())

  async function startReplica() {
    const loopback = '127.0.0.1:0'
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../../support/graphql-replica.ts')], {
      env: {
        ...process.env,
        SVC_DATABASE_URL: store.databaseUrl ?? '',
        SVC_SECRETS_KEY: Buffer.from(testSecretsKey).toString('base64'),
        SVC_LISTEN_ADDR: loopback,
        SVC_METRICS_ADDR: loopback,
        SVC_PGWIRE_ADDR: loopback,
        SVC_XMLA_ADDR: loopback,
        UV_THREADPOOL_SIZE: '16',
      },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const { value } = await child.stdout.getReader().read()
    const url = new URL(new TextDecoder().decode(value).trim())
    return { app: { url }, child }
  }

  test('nothing is lost or repeated where each replica is killed while others write', async () => {
    const total = 60
    let after = String(await lastEvent(store, tenant))
    const writing = (async () => {
      for (let id = 1n; id <= total; id += 1n)
        await pinTable(
          store,
          tenant,
          { table: orders, actor: actorOf('stella'), atMs: 0 },
          {
            ...{ snapshotId: id, schemaId: 0n, catalog: 'main' },
          },
        )
    })()
    const seen: string[] = []
    while (seen.length < total) {
      const replica = await startReplica()
      await using stream = await subscribe(replica, secret, pinned, { after })
      for (const until = Math.min(seen.length + 20, total); seen.length < until; ) {
        const { sequence, snapshotId } = (await stream.next()).data.pinEvents
        seen.push(snapshotId)
        after = sequence
      }
      replica.child.kill('SIGKILL')
      await replica.child.exited
    }
    await writing
    expect(seen).toEqual(Array.from({ length: total }, (_, at) => String(at + 1)))
  })
})
