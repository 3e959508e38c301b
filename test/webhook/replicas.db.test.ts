/** Webhooks that two replicas send, which needs several connections. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parseCidr } from '../../src/base/cidr.ts'
import { systemClock } from '../../src/base/clock.ts'
import { addressRules } from '../../src/catalog/address.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { appendEvent, lastEvent } from '../../src/store/event/events.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { claimSubscriptions, loadClaimed } from '../../src/store/webhook/claims.ts'
import { listDeliveries, queueEvents } from '../../src/store/webhook/deliveries.ts'
import { addSubscription } from '../../src/store/webhook/subscriptions.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { Deliverer } from '../../src/webhook/deliverer.ts'
import { newSecret, sender } from '../../src/webhook/receiver.ts'
import { actorOf } from '../support/actor.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('webhooks of several replicas', () => {
  let store: TestStore
  let home: TenantId
  let receiver: Bun.Server<undefined>
  let ids: string[] = []

  beforeAll(async () => {
    store = await openTestStore({ poolMax: 16 })
    home = (await createTenant(store, { name: 'home' })).id
    receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        ids.push(request.headers.get('webhook-id') ?? '')
        return new Response()
      },
    })
  })
  afterAll(async () => {
    await receiver?.stop(true)
    await store?.[Symbol.asyncDispose]()
  })

  const range = parseCidr('127.0.0.0/8')
  const replica = () =>
    new Deliverer({
      store,
      metrics: createMetrics(),
      log: createLogger({ level: 'silent' }),
      send: sender({
        addressRules: addressRules({ cidrs: range === undefined ? [] : [range], hosts: [] }),
        clock: systemClock,
      }),
      publicUrl: () => new URL('https://covenant.example'),
      byTime: false,
    })
  const subscribe = async (name: string) => {
    const subscription = { name, url: receiver.url, types: ['*'] }
    const from = await lastEvent(store, home)
    return await addSubscription(store, home, subscription, newSecret(), from, actorOf('ada'))
  }
  const append = (count: number) =>
    store.tenantTransaction(home, async (tx) => {
      for (let index = 0; index < count; index++)
        await appendEvent(tx, { type: 'contract.moved', subject: `s${index}`, data: {} })
    })

  test('each event is sent once, in order, however many replicas look at once', async () => {
    const { id } = await subscribe('once')
    await append(60)
    const replicas = Array.from({ length: 4 }, replica)
    for (let round = 0; round < 6; round++) await Promise.all(replicas.map((one) => one.deliver()))
    await Promise.all(replicas.map((one) => one.stop()))
    const numbers = ids.map((text) => Number(text.slice(text.lastIndexOf('_') + 1)))
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, index) => (numbers[0] ?? 0) + index))
    expect((await listDeliveries(store, home, id, { state: 'delivered' })).items).toHaveLength(60)
  })

  test('after a lease, another replica sends; what the first does late changes no position', async () => {
    ids = []
    const { id } = await subscribe('lease')
    await append(1)
    const [lost] = (
      await claimSubscriptions(store, { limit: 9, lanesMax: 4, leaseMs: 0, isEager: true })
    ).filter((claim) => claim.id === id)
    if (lost === undefined) throw new Error('not claimed')
    await replica().deliver()
    expect(ids).toHaveLength(2)
    expect(await loadClaimed(store, lost)).toBeUndefined()
    expect(await queueEvents(store, lost, [], 1_000_000n)).toBe(false)
  })
})
