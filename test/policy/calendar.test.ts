/** Calendar getters on a host whose own clocks jump. */

import { afterEach, expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/compile.ts'
import { evaluatePolicy } from '../../src/policy/evaluate.ts'
import { sampleBindings } from './bindings.ts'

const zone = process.env.TZ
afterEach(() => {
  process.env.TZ = zone ?? 'UTC'
})

test.each([
  'timestamp("2024-03-10T02:30:00Z").getHours() == 2',
  'timestamp("2024-03-10T07:30:00Z").getHours("America/New_York") == 3',
  'timestamp("2024-03-10T01:30:00Z").getHours("+01:00") == 2',
  'timestamp("2024-03-10T01:30:00Z").getHours("-02:00") == 23',
  'timestamp("2024-03-10T02:30:15.123456Z").getMilliseconds() == 123',
  'timestamp("2024-12-31T23:00:00Z").getDayOfYear() == 365',
  'timestamp("0001-01-01T00:00:00Z").getFullYear() == 1',
])('%s on a host whose clocks skip that hour', (text) => {
  process.env.TZ = 'America/New_York'
  expect(evaluatePolicy(compilePolicy(text), sampleBindings(), { timeoutMs: 1_000, ticksMax: 1_000 })).toBe(
    true,
  )
})
