/** Webhooks that two replicas send, which needs several connections. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parseCidr } from '../../src/base/cidr.ts'
import { systemClock } from '../../src/base/clock.ts'
import { addressRules } from '../../src/catalog/address.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { appendEvent, lastEvent } from '../../src/store/event/events.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { claimSubscriptions, loadClaimed, renewClaims } from '../../src/store/webhook/claims.ts'
import { listDeliveries, queueEvents, recordAttempt } from '../../src/store/webhook/deliveries.ts'
import {
  addSubscription,
  deleteSubscription,
  listSubscriptions,
} from '../../src/store/webhook/subscriptions.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { Deliverer } from '../../src/webhook/deliverer.ts'
import { HeldClaims, leaseMs } from '../../src/webhook/held-claims.ts'
import { newSecret, sender } from '../../src/webhook/receiver.ts'
import { actorOf } from '../support/actor.ts'
import { eventually } from '../support/eventually.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('webhooks of several replicas', () => {
  let store: TestStore
  let home: TenantId
  let receiver: Bun.Server<undefined>
  let ids: string[] = []
  /** Answers a request; it may never. */
  let answer: () => Response | Promise<Response> = () => new Response()

  beforeAll(async () => {
    store = await openTestStore({ poolMax: 16 })
    home = (await createTenant(store, { name: 'home' })).id
    receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        ids.push(request.headers.get('webhook-id') ?? '')
        return answer()
      },
    })
  })
  afterAll(async () => {
    await receiver?.stop(true)
    await store?.[Symbol.asyncDispose]()
  })

  beforeEach(async () => {
    ids = []
    answer = () => new Response()
    for (const { id } of (await listSubscriptions(store, home)).items)
      await deleteSubscription(store, home, id, actorOf('ada'))
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
    const { id } = await subscribe('lease')
    await append(1)
    const [lost] = (
      await claimSubscriptions(store, { limit: 9, lanesMax: 4, leaseMs: 0, isEager: true })
    ).filter((claim) => claim.id === id)
    if (lost === undefined) throw new Error('not claimed')
    await replica().deliver()
    expect(ids).toHaveLength(1)
    expect(await loadClaimed(store, lost)).toBeUndefined()
    expect(await queueEvents(store, lost, [], 1_000_000n)).toBe(false)
    expect(await renewClaims(store, [lost.leaseId], leaseMs)).toEqual(new Set())
  })

  test('a replica that is killed in an attempt leaves a lease of seconds; another sends what it had, in order', async () => {
    const { id } = await subscribe('killed')
    const asked = Promise.withResolvers<void>()
    answer = () => {
      asked.resolve()
      return new Promise(() => {})
    }
    await append(3)
    const child = Bun.spawn(
      [
        process.execPath,
        new URL('../support/webhook-replica.ts', import.meta.url).pathname,
        store.databaseUrl ?? '',
      ],
      { stdout: 'inherit', stderr: 'inherit' },
    )
    await asked.promise
    child.kill('SIGKILL')
    await child.exited
    const [lease] = await store.adminQuery<{ readonly ms: number }>(
      `select extract(epoch from leased_until - clock_timestamp())::float8 * 1000 as ms
       from svc.webhook_subscription where subscription_id = $1`,
      [id],
    )
    expect(lease?.ms).toBeLessThanOrEqual(leaseMs)
    expect(leaseMs).toBeLessThan(9_000)
    const unanswered = ids.length
    answer = () => new Response()
    const second = replica()
    await eventually(async () => {
      await second.deliver()
      return (await listDeliveries(store, home, id, { state: 'delivered' })).items.length === 3
    })
    await second.stop()
    const sent = ids.slice(unanswered).map((text) => Number(text.slice(text.lastIndexOf('_') + 1)))
    expect(sent.toSorted((a, b) => a - b)).toEqual(sent)
    expect(new Set(ids.slice(unanswered)).size).toBeGreaterThanOrEqual(3)
  })

  test('a claim is prolonged while its holder lives, and is lost at once where the store gave it to another', async () => {
    const { id } = await subscribe('renewed')
    await append(1)
    const takenMs = performance.now()
    const [claim] = (
      await claimSubscriptions(store, { limit: 99, lanesMax: 9, leaseMs, isEager: true })
    ).filter((one) => one.id === id)
    if (claim === undefined) throw new Error('not claimed')
    const held = new HeldClaims({ store, log: createLogger({ level: 'silent' }) })
    const lost = held.hold(claim, takenMs)
    const until = async () => {
      const [row] = await store.adminQuery<{ readonly until: number }>(
        'select extract(epoch from leased_until)::float8 as until from svc.webhook_subscription where subscription_id = $1',
        [id],
      )
      return row?.until ?? 0
    }
    const before = await until()
    await held.renew()
    expect(await until()).toBeGreaterThan(before)
    expect(lost.aborted).toBe(false)
    await store.adminQuery(
      `update svc.webhook_subscription set lease_id = gen_random_uuid() where subscription_id = $1 returning 1`,
      [id],
    )
    await held.renew()
    expect(lost.aborted).toBe(true)
    await held.stop()
  })

  test('an attempt of a lost lease cannot take back what another replica delivered', async () => {
    const { id } = await subscribe('late')
    await append(1)
    const [claim] = (
      await claimSubscriptions(store, { limit: 99, lanesMax: 9, leaseMs: 0, isEager: true })
    ).filter((one) => one.id === id)
    if (claim === undefined) throw new Error('not claimed')
    await replica().deliver()
    const [delivered] = (await listDeliveries(store, home, id)).items
    if (delivered === undefined) throw new Error('nothing was delivered')
    const failed = {
      outcome: 'timed_out',
      status: undefined,
      at: new Date(),
      durationMs: 1,
      afterMs: 0,
    } as const
    const again = { state: 'waiting', retryMs: 0, restMs: 0 } as const
    await recordAttempt(store, claim, delivered.sequence, failed, again)
    expect((await listDeliveries(store, home, id)).items).toEqual([delivered])
  })
})
