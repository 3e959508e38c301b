/** What a webhook's receiver and its owner may rely on, on every store. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { parseCidr } from '../../src/base/cidr.ts'
import { systemClock } from '../../src/base/clock.ts'
import { addressRules } from '../../src/catalog/address.ts'
import type { NewEvent } from '../../src/core/event.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { seal } from '../../src/store/database/sealing.ts'
import { appendEvent, lastEvent, readEvents } from '../../src/store/event/events.ts'
import { assertSecretsKey } from '../../src/store/keys/secrets-key.ts'
import { suspendTenant } from '../../src/store/tenant/tenants.ts'
import { claimSubscriptions } from '../../src/store/webhook/claims.ts'
import {
  findDelivery,
  listDeliveries,
  pruneDeliveries,
  replayDead,
  replayEvents,
} from '../../src/store/webhook/deliveries.ts'
import {
  addSubscription,
  changeSubscription,
  deleteSubscription,
  findSubscription,
  listSubscriptions,
  rotateSecret,
} from '../../src/store/webhook/subscriptions.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { Deliverer, queued } from '../../src/webhook/deliverer.ts'
import { newSecret, sender } from '../../src/webhook/receiver.ts'
import { retryWaitsMs } from '../../src/webhook/retry.ts'
import { actorOf } from '../support/actor.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const by = actorOf('ada')
const source = new URL('https://covenant.example')
const rules = addressRules({ cidrs: [parseCidr('127.0.0.0/8') ?? never()], hosts: [] })
const event = (subject: string, type: NewEvent['type'] = 'contract.moved'): NewEvent => {
  return { type, subject, data: { to: 'active' } }
}

function never(): never {
  throw new Error('not a range')
}

/** The tests of an engine. */
export function deliveryTests(engine: 'embedded' | 'postgres'): void {
  describe(`webhooks on ${engine}`, () => {
    let store: TestStore
    let home: TenantId
    let foreign: TenantId
    let receiver: Bun.Server<undefined>
    let received: Received[] = []
    /** Answers to come, by path; 200 where there is none. */
    let answers: Record<string, (number | Response | Promise<Response>)[]> = {}
    let lines: string[] = []

    beforeAll(async () => {
      store = await openTestStore()
      home = (await makeTenant(store, { name: 'home' })).id
      foreign = (await makeTenant(store, { name: 'foreign' })).id
      receiver = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        async fetch(request) {
          const path = new URL(request.url).pathname
          const headers = Object.fromEntries(request.headers)
          received.push({ path: path + new URL(request.url).search, headers, body: await request.text() })
          const answer = answers[path]?.shift() ?? 200
          return typeof answer === 'number' ? new Response(null, { status: answer }) : await answer
        },
      })
    })
    afterAll(async () => {
      await receiver.stop(true)
      await store[Symbol.asyncDispose]()
    })
    beforeEach(async () => {
      for (const tenant of [home, foreign])
        for (const { id } of (await listSubscriptions(store, tenant)).items)
          await deleteSubscription(store, tenant, id, by)
      received = []
      answers = {}
      lines = []
    })

    const append = (tenant: TenantId, given: NewEvent) =>
      store.tenantTransaction(tenant, (tx) => appendEvent(tx, given))
    const subscribe = async (tenant: TenantId, path: string, types: readonly string[] = ['*']) => {
      const secret = newSecret()
      const url = new URL(path, receiver.url)
      const from = await lastEvent(store, tenant)
      const { id } = await addSubscription(
        store,
        tenant,
        { name: `receiver ${types.join()}`, url, types },
        secret,
        from,
        by,
      )
      return { id, secret, from }
    }
    const deliverer = (options: { attemptMs?: number } = {}) =>
      new Deliverer({
        store,
        metrics: createMetrics(),
        log: createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } }),
        send: sender({ addressRules: rules, clock: systemClock, ...options }),
        publicUrl: () => source,
        byTime: false,
      })
    const deliver = async (options: { attemptMs?: number } = {}) => {
      const one = deliverer(options)
      await one.deliver()
      await one.stop()
    }
    /** Makes everything due that waits, as time would. */
    const passTime = async () => {
      for (const tenant of [home, foreign]) {
        await store.tenantQuery(
          tenant,
          `update svc.webhook_delivery set due_at = clock_timestamp() where state = 'waiting'`,
        )
        await store.tenantQuery(tenant, `update svc.webhook_subscription set rest_until = '-infinity'`)
      }
    }
    const subjects = (path: string) =>
      received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body).subject as string)
    const states = async (tenant: TenantId, id: string) =>
      (await listDeliveries(store, tenant, id)).items.map(({ state, attempts, lastOutcome, lastStatus }) => ({
        ...{ state, attempts, lastOutcome, lastStatus },
      }))

    test('an event arrives as CloudEvents 1.0 JSON that the library of Standard Webhooks verifies', async () => {
      const { secret, from } = await subscribe(home, '/hook?code=1')
      await append(home, event('people'))
      await deliver()
      const [{ path, headers, body } = never()] = received
      expect(path).toBe('/hook?code=1')
      expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
      const id = `evt_${home}_${from + 1n}`
      expect(headers['webhook-id']).toBe(id)
      expect(new Webhook(secret).verify(body, headers)).toEqual({
        specversion: '1.0',
        id,
        source: `https://covenant.example/tenants/${home}`,
        type: 'contract.moved',
        subject: 'people',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        sequence: String(from + 1n).padStart(20, '0'),
        datacontenttype: 'application/json',
        data: { to: 'active' },
      })
      expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow('No matching signature')
    })

    test('only events of the types that it wants, of its own tenant, after it was made', async () => {
      await append(home, event('before'))
      await subscribe(home, '/some', ['contract.moved'])
      await subscribe(foreign, '/theirs')
      await append(home, event('wanted'))
      await append(home, event('unwanted', 'contract.signed_off'))
      await append(foreign, event('of another tenant'))
      await deliver()
      expect(subjects('/some')).toEqual(['wanted'])
      expect(subjects('/theirs')).toEqual(['of another tenant'])
    })

    test('events are first sent in the order of their numbers, and a failed one is sent again later', async () => {
      const { id } = await subscribe(home, '/order')
      answers['/order'] = [200, 500]
      for (const subject of ['a', 'b', 'c']) await append(home, event(subject))
      await deliver()
      expect(subjects('/order')).toEqual(['a', 'b'])
      await passTime()
      await deliver()
      expect(subjects('/order')).toEqual(['a', 'b', 'b', 'c'])
      expect(await states(home, id)).toEqual([
        { state: 'delivered', attempts: 1, lastOutcome: 'delivered', lastStatus: 200 },
        { state: 'delivered', attempts: 2, lastOutcome: 'delivered', lastStatus: 200 },
        { state: 'delivered', attempts: 1, lastOutcome: 'delivered', lastStatus: 200 },
      ])
      const again = received.filter(({ body }) => body.includes('"subject":"b"'))
      expect(again.map(({ headers }) => headers['webhook-id'])).toEqual(
        Array.from(again, () => again[0]?.headers['webhook-id'] ?? never()),
      )
      expect(again[0]?.body).toBe(again[1]?.body ?? never())
    })

    test('a redirect is not followed and counts as a refusal', async () => {
      const { id, from } = await subscribe(home, '/moved')
      answers['/moved'] = [Response.redirect(new URL('/elsewhere', receiver.url).href, 307)]
      await append(home, event('a'))
      await deliver()
      expect(received.map(({ path }) => path)).toEqual(['/moved'])
      expect((await findDelivery(store, home, id, from + 1n)).tried).toEqual([
        expect.objectContaining({ outcome: 'refused', status: 307 }),
      ])
    })

    test('a receiver that does not answer in time is tried again', async () => {
      const { id } = await subscribe(home, '/slow')
      answers['/slow'] = [new Promise<Response>(() => {})]
      await append(home, event('a'))
      await deliver({ attemptMs: 50 })
      expect(await states(home, id)).toEqual([
        { state: 'waiting', attempts: 1, lastOutcome: 'timed_out', lastStatus: undefined },
      ])
      await passTime()
      await deliver()
      expect(await states(home, id)).toEqual([
        { state: 'delivered', attempts: 2, lastOutcome: 'delivered', lastStatus: 200 },
      ])
    })

    test('a receiver of one tenant that never answers holds up neither another tenant nor another webhook', async () => {
      await subscribe(home, '/stuck')
      await subscribe(home, '/own')
      await subscribe(foreign, '/theirs')
      const hanging = Promise.withResolvers<Response>()
      answers['/stuck'] = [hanging.promise]
      await append(home, event('a'))
      await append(foreign, event('b'))
      const one = deliverer()
      const ended = one.deliver()
      while (subjects('/own').length === 0 || subjects('/theirs').length === 0) await Bun.sleep(5)
      expect(subjects('/stuck')).toEqual(['a'])
      hanging.resolve(new Response())
      await ended
      await one.stop()
    })

    test('a tenant has four lanes at once, however many webhooks wait', async () => {
      for (let count = 0; count < 6; count++) await subscribe(home, `/lane${count}`)
      await subscribe(foreign, '/theirs')
      const options = { limit: 64, lanesMax: 4, leaseMs: 60_000, isEager: true }
      const claimed = await claimSubscriptions(store, options)
      expect(claimed.filter(({ tenant }) => tenant === home)).toHaveLength(4)
      expect(claimed.filter(({ tenant }) => tenant === foreign)).toHaveLength(1)
      expect(await claimSubscriptions(store, options)).toEqual([])
    })

    test('after the last attempt an event is dead until it is asked for again, and others go on', async () => {
      const { id } = await subscribe(home, '/dead')
      answers['/dead'] = Array.from({ length: retryWaitsMs.length + 1 }, () => 503)
      await append(home, event('lost'))
      for (let attempt = 0; attempt <= retryWaitsMs.length; attempt++) {
        await passTime()
        await deliver()
      }
      expect(await states(home, id)).toEqual([
        { state: 'dead', attempts: retryWaitsMs.length + 1, lastOutcome: 'refused', lastStatus: 503 },
      ])
      await append(home, event('next'))
      await passTime()
      await deliver()
      expect(subjects('/dead').at(-1)).toBe('next')
      expect((await listDeliveries(store, home, id, { state: 'dead' })).items).toHaveLength(1)

      expect(await replayDead(store, foreign, id, 10)).toBe(0)
      expect(await replayDead(store, home, id, 10)).toBe(1)
      await deliver()
      expect(subjects('/dead').at(-1)).toBe('lost')
      expect((await listDeliveries(store, home, id, { state: 'dead' })).items).toEqual([])
    })

    test('a range is sent again under the same ids, also to a webhook that is younger than it', async () => {
      await append(home, event('older'))
      const { id, from } = await subscribe(home, '/range')
      const events = await readEvents(store, home, from - 1n, 10)
      expect(await replayEvents(store, home, id, queued(home, events, source))).toBe(1)
      await deliver()
      await replayEvents(store, home, id, queued(home, events, source))
      await deliver()
      expect(subjects('/range')).toEqual(['older', 'older'])
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    })

    test('two secrets sign while a rotation overlaps, one afterwards', async () => {
      const { id, secret } = await subscribe(home, '/rotated')
      const next = newSecret()
      await rotateSecret(store, home, id, next, 60_000, by)
      await append(home, event('a'))
      await deliver()
      for (const valid of [secret, next])
        new Webhook(valid).verify(received[0]?.body ?? '', received[0]?.headers ?? {})
      await rotateSecret(store, home, id, newSecret(), 0, by)
      await append(home, event('b'))
      await deliver()
      expect(received[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(1)
      expect(() => new Webhook(next).verify(received[1]?.body ?? '', received[1]?.headers ?? {})).toThrow()
    })

    test('what happened while a webhook was off follows once it is on', async () => {
      const { id } = await subscribe(home, '/off')
      await changeSubscription(store, home, id, { enabled: false }, by)
      await append(home, event('meanwhile'))
      await deliver()
      expect(subjects('/off')).toEqual([])
      await changeSubscription(store, home, id, { enabled: true }, by)
      await deliver()
      expect(subjects('/off')).toEqual(['meanwhile'])
    })

    test('410 ends it until somebody enables it', async () => {
      const { id } = await subscribe(home, '/gone')
      answers['/gone'] = [410]
      await append(home, event('a'))
      await deliver()
      expect((await findSubscription(store, home, id)).state).toBe('gone')
      await passTime()
      await deliver()
      expect(subjects('/gone')).toEqual(['a'])
      await changeSubscription(store, home, id, { enabled: true }, by)
      await passTime()
      await deliver()
      expect(subjects('/gone')).toEqual(['a', 'a'])
    })

    test('one that no secrets key opens is switched off and said once, and one that opens is sent to', async () => {
      const lost = await subscribe(home, '/lost')
      await subscribe(home, '/found')
      const sealed = seal(new Uint8Array(32).fill(9), ['webhook_subscription', home, lost.id], '{}')
      await store.tenantQuery(
        home,
        'update svc.webhook_subscription set sealed = $2 where subscription_id = $1::uuid',
        [lost.id, sealed],
      )
      await assertSecretsKey(store)
      await append(home, event('a'))
      await deliver()
      await append(home, event('b'))
      await passTime()
      await deliver()
      expect((await findSubscription(store, home, lost.id)).state).toBe('unreadable')
      expect(subjects('/lost')).toEqual([])
      // The third is the event that it is off: one, however often the others are sent to.
      expect(subjects('/found').toSorted()).toEqual(['a', 'b', lost.id].toSorted())
      const off = (await readEvents(store, home, 0n)).filter(({ type }) => type === 'webhook.unreadable')
      expect(off.map(({ subject, data }) => ({ subject, data }))).toEqual([
        { subject: lost.id, data: { name: 'receiver *', address: receiver.url.origin } },
      ])
      expect(lines.filter((line) => line.includes('no secrets key opens'))).toHaveLength(1)
      expect(lines.filter((line) => line.includes('could not be sent'))).toEqual([])
      await deleteSubscription(store, home, lost.id, by)
    })

    test.each([
      ['the secrets key turns', `next_sealed = '', turning_since = clock_timestamp()`],
      ['this process has a key of before', `sealed = ''`],
    ])('one that does not open while %s stays on, because another replica may open it', async (_, state) => {
      await assertSecretsKey(store)
      const { id } = await subscribe(home, '/turning')
      const sealed = seal(new Uint8Array(32).fill(9), ['webhook_subscription', home, id], '{}')
      await store.tenantQuery(
        home,
        'update svc.webhook_subscription set sealed = $2 where subscription_id = $1::uuid',
        [id, sealed],
      )
      await store.adminQuery(`update svc.secrets_key_check set ${state}`)
      await append(home, event('a'))
      await deliver()
      await store.adminQuery(
        'update svc.secrets_key_check set sealed = null, next_sealed = null, turning_since = null',
      )
      expect((await findSubscription(store, home, id)).state).toBe('enabled')
      expect(lines.some((line) => line.includes('could not be sent'))).toBe(true)
      await deleteSubscription(store, home, id, by)
    })

    test('nothing is sent for a suspended tenant', async () => {
      const lone = (await makeTenant(store, { name: 'lone' })).id
      await subscribe(lone, '/lone')
      await append(lone, event('a'))
      await suspendTenant(store, lone)
      await deliver()
      expect(subjects('/lone')).toEqual([])
    })

    test('a name that leads to a private address is never connected to, whatever it led to before', async () => {
      const url = new URL(`http://rebound.example:${receiver.port}/inside`)
      const log = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } })
      const { id } = await addSubscription(
        store,
        home,
        { name: 'rebound', url, types: ['*'] },
        newSecret(),
        await lastEvent(store, home),
        by,
      )
      await append(home, event('a'))
      const one = new Deliverer({
        ...{ store, metrics: createMetrics(), log, publicUrl: () => source, byTime: false },
        send: sender({
          addressRules: addressRules({ cidrs: [], hosts: [] }),
          clock: systemClock,
          lookup: async () => [{ address: '127.0.0.1' }],
        }),
      })
      await one.deliver()
      await one.stop()
      expect(received).toEqual([])
      expect(await states(home, id)).toEqual([
        { state: 'waiting', attempts: 1, lastOutcome: 'address_refused', lastStatus: undefined },
      ])
    })

    test('secrets, path and query of the URL are in no log, no listing and no row', async () => {
      const { id, secret } = await subscribe(home, '/quiet-Zk4canary?token=Zk4canary')
      answers['/quiet-Zk4canary'] = [500, 500]
      await append(home, event('a'))
      await deliver()
      const rows = await store.tenantQuery(
        home,
        'select * from svc.webhook_subscription where tenant_id = $1',
        [home],
      )
      const shown = JSON.stringify([await findSubscription(store, home, id), rows, lines], (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      expect(shown).toContain('http://127.0.0.1:')
      expect(shown).not.toContain('Zk4canary')
      expect(shown).not.toContain(secret.slice(6))
    })

    test('another tenant finds, changes, rotates and removes nothing of it', async () => {
      const { id } = await subscribe(home, '/mine')
      const kind = (work: Promise<unknown>) =>
        work.then(
          () => 'done',
          (fault: { kind: string }) => fault.kind,
        )
      expect(await kind(findSubscription(store, foreign, id))).toBe('not_found')
      expect(await kind(changeSubscription(store, foreign, id, { enabled: false }, by))).toBe('not_found')
      expect(await kind(rotateSecret(store, foreign, id, newSecret(), 0, by))).toBe('not_found')
      expect(await kind(deleteSubscription(store, foreign, id, by))).toBe('not_found')
      expect((await listSubscriptions(store, foreign)).items).toEqual([])
      expect((await findSubscription(store, home, id)).state).toBe('enabled')
    })

    test('ended deliveries are kept for their time and then removed with their attempts', async () => {
      const { id } = await subscribe(home, '/kept')
      await append(home, event('a'))
      await deliver()
      const day = 86_400_000
      expect(await pruneDeliveries(store, home, { deliveredMs: day, deadMs: day, limit: 10 })).toBe(0)
      expect(await pruneDeliveries(store, home, { deliveredMs: -day, deadMs: day, limit: 10 })).toBe(1)
      expect(await states(home, id)).toEqual([])
    })
  })
}
