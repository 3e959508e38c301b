/** Events of several tenants: each tenant has a queue of its own. */

import { expect, test } from 'bun:test'
import { newTenantId } from '../../src/core/tenant.ts'
import { limits } from '../../src/limits.ts'
import { LineageReceiver } from '../../src/lineage/receiver.ts'
import type { Store } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { receivedEvent } from '../support/lineage.ts'

const [busy, quiet] = [newTenantId(), newTenantId()]

test('an event of a tenant is merged beside the full queue of another tenant, whose next event is refused', async () => {
  const held = Promise.withResolvers<void>()
  const store = {
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
