/** Events of several tenants: each tenant has a queue of its own. */

import { describe, expect, test } from 'bun:test'
import { newTenantId } from '../../src/core/tenant.ts'
import { limits } from '../../src/limits.ts'
import { LineageReceiver } from '../../src/lineage/receiver.ts'
import type { Store } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { handPace } from '../support/hand-pace.ts'
import { receivedEvent } from '../support/lineage.ts'

const [busy, quiet] = [newTenantId(), newTenantId()]

test('an event of a tenant is merged beside the full queue of another tenant, whose next event is refused', async () => {
  const held = Promise.withResolvers<void>()
  const store = {
    poolUse: () => ({ max: 10 }),
    async tenantQuery(tenant: string, _text: string, [items]: readonly string[]) {
      if (tenant === busy) await held.promise
      return JSON.parse(items ?? '[]').map((_: unknown, place: number) => ({ place, outcome: 'merged' }))
    },
  } as unknown as Store
  const receiver = new LineageReceiver({
    store,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
  })
  const event = () => receivedEvent({ inputs: ['a'], outputs: ['b'] })
  const backlog = Array.from({ length: limits.lineageQueueCount + 1 }, () => receiver.receive(busy, event()))
  const outcomes = Promise.allSettled(backlog)
  await expect(receiver.receive(busy, event())).rejects.toThrow('Too many lineage events are waiting.')
  expect(await receiver.receive(quiet, event())).toEqual({ kind: 'merged' })
  held.resolve()
  await outcomes
})

describe('an event of 2,500 edges on the only connection of a store', () => {
  const names = (end: string) => Array.from({ length: 50 }, (_, index) => `${end}${index}`)
  const large = () => receivedEvent({ inputs: names('in'), outputs: names('out') })

  /** @param quietMs how long others have been quiet @returns when, by the clock, each event was merged */
  async function mergedAt(max: number, quietMs: () => number, events: number, event = large) {
    const pace = handPace()
    const times: number[] = []
    const store = {
      poolUse: () => ({
        max,
        get quietMs() {
          return quietMs()
        },
      }),
      async tenantQuery(_tenant: string, _text: string, [items]: readonly string[]) {
        times.push(pace.now())
        return JSON.parse(items ?? '[]').map((_: unknown, place: number) => ({ place, outcome: 'merged' }))
      },
    } as unknown as Store
    const log = createLogger({ level: 'silent' })
    const receiver = new LineageReceiver({ store, metrics: createMetrics(), log, pace })
    for (let sent = 0; sent < events; sent++) await receiver.receive(busy, event())
    return times
  }

  test('waits for others at work, a second at most, so that one in a second is merged beside them', async () => {
    expect(await mergedAt(1, () => 0, 3)).toEqual([1_000, 2_000, 3_000])
  })

  test('goes on once others have been quiet for a while', async () => {
    const quiet = [10, 50]
    expect(await mergedAt(1, () => quiet.shift() ?? 50, 1)).toEqual([40])
  })

  test('waits for nobody where nobody is at work, or there are other connections, or it is small', async () => {
    expect(await mergedAt(1, () => Number.POSITIVE_INFINITY, 2)).toEqual([0, 0])
    expect(await mergedAt(10, () => 0, 2)).toEqual([0, 0])
    const small = () => receivedEvent({ inputs: ['a'], outputs: ['b'] })
    expect(await mergedAt(1, () => 0, 2, small)).toEqual([0, 0])
  })
})
