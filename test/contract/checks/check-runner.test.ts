/** A check run belongs to its tenant's contract, not to the request that wakes the runner. */

import { expect, test } from 'bun:test'
import { asOwner, currentOwner } from '../../../src/base/owner.ts'
import { CheckRunner } from '../../../src/contract/checks/check-runner.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { openTestStore } from '../../support/store.ts'

test('runs that a request wakes count for no tenant, and are not part of the request', async () => {
  await using store = await openTestStore()
  const owners: string[] = []
  const runner = new CheckRunner({
    store: {
      ...store,
      adminQuery: async (...asked) => {
        owners.push(currentOwner())
        return await store.adminQuery(...asked)
      },
    },
    ...{ log: createLogger({ level: 'silent' }), metrics: createMetrics(), kinds: [], lookMs: 0 },
    reads: { read: () => Promise.reject(new Error('nothing is due')) } as never,
    onEnd: async () => {},
  })
  await asOwner('tenant of the request', () => runner.runDue())
  expect(owners).toEqual([currentOwner()])
  await runner.stop()
})
