/** Calls of one principal at once. */

import { expect, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { mcpBounds } from '../../../src/server/mcp/bounds.ts'
import { CallSlots } from '../../../src/server/mcp/call-tool.ts'

const callerOf = (tenant: string, sub: string) => ({
  tenant: tenant as TenantId,
  principal: { sub, roles: [] },
})
const ada = callerOf('a', 'ada')

test('a principal has so many calls at once, another and one of another tenant have their own', async () => {
  const slots = new CallSlots()
  const { promise, resolve } = Promise.withResolvers<void>()
  const under = Array.from({ length: mcpBounds.callsMax }, () => slots.run(ada, () => promise))
  const [refused] = await Promise.allSettled([slots.run(ada, async () => 'ran')])
  expect(refused).toMatchObject({ status: 'rejected', reason: { kind: 'overloaded' } })
  for (const other of [callerOf('a', 'bob'), callerOf('b', 'ada')])
    expect(await slots.run(other, async () => 'ran')).toBe('ran')
  resolve()
  await Promise.all(under)
  expect(await slots.run(ada, async () => 'ran')).toBe('ran')
})

test('a call that fails gives its slot back', async () => {
  const slots = new CallSlots()
  const fail = () => slots.run(ada, () => Promise.reject(new Error('x')))
  await Promise.allSettled(Array.from({ length: mcpBounds.callsMax }, fail))
  expect(await slots.run(ada, async () => 'ran')).toBe('ran')
})
