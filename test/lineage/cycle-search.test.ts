/** The cycle check reads few edges of a dataset that has many, and events that are heavy all the same hold up no others. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { LineageReceiver } from '../../src/lineage/receiver.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import type { Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { lake, receivedEvent } from '../support/lineage.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

let store: TestStore
let tenant: TenantId
const leaves = 3_000

beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'home' })).id
  // Everything in the lake is made of `hub`, and `sink` is made of everything.
  const names = Array.from({ length: leaves }, (_, i) => `leaf${i}`)
  for (let at = 0; at < leaves; at += 500) {
    const some = names.slice(at, at + 500)
    await receiveLineage(store, tenant, [receivedEvent({ inputs: ['hub'], outputs: some })], true)
    await receiveLineage(store, tenant, [receivedEvent({ inputs: some, outputs: ['sink'] })], true)
  }
  await receiveLineage(store, tenant, [receivedEvent({ inputs: ['far'], outputs: ['before'] })], true)
}, 300_000)
afterAll(() => store[Symbol.asyncDispose]())

/** The path that closes an edge from `input` to `output`, and how many edges were read to find it. */
async function search(output: string, input: string, edgesMax = 1_000_000) {
  const node = (place: number) =>
    `(select array[d.id] from "Dataset" d where d.properties::text::jsonb ->> 'name' = $${place}
      and d.properties::text::jsonb ->> 'namespace' = '${lake}')`
  const [row] = await store.tenantQuery<{ edges_left: string; hops: number | null }>(
    tenant,
    `select edges_left, cardinality(path) - 1 as hops
     from svc.find_lineage_path(${node(1)}, ${node(2)}, 5, ${edgesMax})`,
    [output, input],
  )
  return { hops: row?.hops ?? null, read: edgesMax - Number(row?.edges_left) }
}

describe('a dataset of which thousands are made', () => {
  test('costs an event into it what its input costs', async () => {
    expect((await search('hub', 'before')).read).toBeLessThan(200)
    expect(await search('hub', 'before')).toMatchObject({ hops: null })
  })

  test('costs an event out of what is made of thousands what its output costs', async () => {
    expect((await search('before', 'sink')).read).toBeLessThan(200)
  })

  test('is still found on a cycle', async () => {
    expect(await search('hub', 'leaf7')).toMatchObject({ hops: 1 })
    expect((await search('hub', 'leaf7')).read).toBeLessThan(200)
    expect(await search('hub', 'sink')).toMatchObject({ hops: 2 })
  })
})

describe('bounds of a batch', () => {
  const kindsOf = (outcomes: readonly { readonly kind: string }[]) => outcomes.map(({ kind }) => kind)
  const stored = async (runId: string) => {
    const rows = await store.tenantQuery<{ state: string }>(
      tenant,
      'select state from lineage_inbox where run_id = $1::uuid',
      [runId],
    )
    return rows.map(({ state }) => state)
  }

  test('after its time no further event is begun, and nothing of those is stored', async () => {
    const [first, second] = [crypto.randomUUID(), crypto.randomUUID()]
    const batch = [first, second].map((runId, i) =>
      receivedEvent({ runId, inputs: [`bound${i}`], outputs: [`bound${i}.out`] }),
    )
    expect(kindsOf(await receiveLineage(store, tenant, batch, true, { batchMs: 0 }))).toEqual([
      'merged',
      'later',
    ])
    expect([await stored(first), await stored(second)]).toEqual([['merged'], []])
  })

  test('an event whose check reads too much is stored and drawn later; the others of its batch are merged', async () => {
    const [heavy, light] = [crypto.randomUUID(), crypto.randomUUID()]
    const batch = [
      receivedEvent({ runId: heavy, inputs: ['sink'], outputs: ['hub'] }),
      receivedEvent({ runId: light, inputs: ['light'], outputs: ['light.out'] }),
    ]
    expect(kindsOf(await receiveLineage(store, tenant, batch, true, { edgesMax: 100 }))).toEqual([
      'heavy',
      'merged',
    ])
    expect([await stored(heavy), await stored(light)]).toEqual([['pending'], ['merged']])
    const again = await receiveLineage(store, tenant, batch.slice(0, 1), true)
    expect(kindsOf(again)).toEqual(['refused'])
    expect(await stored(heavy)).toEqual(['refused'])
  })
})

describe('the receiver', () => {
  const receiverOn = (on: Store) => {
    const log = createLogger({ level: 'silent', destination: { write: () => {} } })
    return new LineageReceiver({ store: on, metrics: createMetrics(), log })
  }

  test('merges an event while a heavy one of its tenant is still being merged', async () => {
    const release = Promise.withResolvers<void>()
    const order: string[] = []
    const holding: Store = {
      ...store,
      async tenantQuery(of, text, params, options) {
        if (String(params?.[0]).includes('wide0')) await release.promise
        return await store.tenantQuery(of, text, params, options)
      },
    }
    const receiver = receiverOn(holding)
    const wide = Array.from({ length: 24 }, (_, i) => `wide${i}`)
    const heavy = receiver
      .receive(tenant, receivedEvent({ inputs: wide, outputs: wide.map((name) => `${name}.out`) }))
      .then(() => order.push('heavy'))
    await receiver.receive(tenant, receivedEvent({ inputs: ['n1'], outputs: ['n2'] }))
    order.push('light')
    release.resolve()
    await heavy
    expect(order).toEqual(['light', 'heavy'])
  })

  test('takes an event that turns out heavy through the other lane, and answers once', async () => {
    const calls: number[] = []
    const counting: Store = {
      ...store,
      tenantQuery(of, text, params, options) {
        // The first attempt of each finds the bound too low.
        if (/receive_lineage/.test(text)) calls.push(Number(params?.[4]))
        const given = calls.length === 1 ? params?.with(4, 1) : params
        return store.tenantQuery(of, text, given, options)
      },
    }
    const event = receivedEvent({ inputs: ['leaf1'], outputs: ['late.out', 'hub'] })
    expect(await receiverOn(counting).receive(tenant, event)).toMatchObject({ kind: 'refused', count: 1 })
    expect(calls).toEqual([10_000, Number.MAX_SAFE_INTEGER])
  })
})
