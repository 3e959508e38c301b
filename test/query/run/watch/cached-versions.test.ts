/** When a run may go on by the version that is cached, and when the store is asked. */

import { expect, test } from 'bun:test'
import type { Pace } from '../../../../src/base/right-of-way.ts'
import { newTenantId } from '../../../../src/core/tenant.ts'
import { limits } from '../../../../src/limits.ts'
import { CachedVersions } from '../../../../src/query/run/watch/cached-versions.ts'
import type { Store } from '../../../../src/store/store.ts'

const tenant = newTenantId()
const foreign = newTenantId()

/** Versions over a store that notifies when it is told to, and is at version 5. */
function world() {
  let nowMs = 0
  let asked = 0
  let notify = (_message: string) => {}
  const store = {
    subscribe: (onMessage: typeof notify) => {
      notify = onMessage
      return () => {}
    },
    tenantQuery: async () => {
      asked++
      return [{ version: '5' }]
    },
  } as unknown as Store
  const versions = new CachedVersions(store, { now: () => nowMs } as unknown as Pace)
  return {
    ...{ versions, asked: () => asked },
    notify: (message: string) => notify(message),
    at: (ms: number) => {
      nowMs = ms
    },
  }
}

test('a tenant of which nothing is known is asked for before a row is sent', () => {
  const { versions } = world()
  versions.learn(foreign, 5n, 0)
  expect(versions.standing(tenant, 5n)).toBe('stale')
})

test('a higher version is a change, whatever its age, and no other tenant’s', () => {
  const { versions, notify } = world()
  for (const one of [tenant, foreign]) versions.learn(one, 5n, 0)
  notify(`${tenant} 6`)
  expect(versions.standing(tenant, 5n)).toBe('changed')
  expect(versions.standing(tenant, 6n)).toBe('same')
  expect(versions.standing(foreign, 5n)).toBe('same')
})

test('a version that comes late lowers none, and a notification is no confirmation by the store', () => {
  const { versions, notify, at } = world()
  versions.learn(tenant, 6n, 0)
  versions.learn(tenant, 5n, 10)
  expect(versions.standing(tenant, 5n)).toBe('changed')
  at(limits.governanceStaleMs + 11)
  notify(`${tenant} 6`)
  expect(versions.standing(tenant, 6n)).toBe('stale')
})

test('the store is asked again before the version is too old, once for all runs', async () => {
  const { versions, at, asked } = world()
  versions.learn(tenant, 5n, 0)
  at(limits.governanceAskMs)
  expect(versions.standing(tenant, 5n)).toBe('same')
  expect(asked()).toBe(0)
  at(limits.governanceAskMs + 1)
  expect([versions.standing(tenant, 5n), versions.standing(tenant, 5n)]).toEqual(['same', 'same'])
  await versions.refresh(tenant)
  expect(asked()).toBe(1)
  at(limits.governanceAskMs + 1 + limits.governanceStaleMs)
  expect(versions.standing(tenant, 5n)).toBe('same')
})

test('a version that nobody confirmed for too long sends no row', () => {
  const { versions, at } = world()
  versions.learn(tenant, 5n, 0)
  at(limits.governanceStaleMs)
  expect(versions.standing(tenant, 5n)).toBe('same')
  at(limits.governanceStaleMs + 1)
  expect(versions.standing(tenant, 5n)).toBe('stale')
})
