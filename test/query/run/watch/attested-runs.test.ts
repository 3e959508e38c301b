/** A run that reads by an attestation ends when that ends, and when anything of the tenant's governance changes. */

import { describe, expect, test } from 'bun:test'
import type { QueryContext } from '../../../../src/query/query-service.ts'
import type { Load } from '../../../../src/query/run/attempt/attempt.ts'
import { type CheckParts, RunCheck } from '../../../../src/query/run/watch/run-check.ts'

/** An open run at 1,000 ms by the clock. @param standing what the cached governance version says of the run's */
function checkOf(liftedUntilMs: number | undefined, standing: 'same' | 'changed') {
  const parts = {
    clock: { now: () => 1_000 },
    pace: { now: () => 0, sleep: async () => {} },
    versions: { standing: () => standing, refresh: async () => {} },
  } as unknown as CheckParts
  const load = {
    loaded: { governanceVersion: 1n },
    compiled: { reads: [], lifted: [], ...(liftedUntilMs !== undefined && { liftedUntilMs }) },
    expansion: { liftedUntilMs },
  } as unknown as Load
  return new RunCheck(parts, { tenant: 't', reader: {} } as unknown as QueryContext, load)
}

const sqlStateOf = async (asked: Promise<void> | undefined) =>
  await asked?.then(
    () => 'goes on',
    (thrown: unknown) => Reflect.get(thrown as object, 'sqlState'),
  )

describe('an open run', () => {
  test('goes on without a question while nothing has changed and the attestation stands', () => {
    expect(checkOf(2_000, 'same').look()).toBeUndefined()
    expect(checkOf(undefined, 'same').look()).toBeUndefined()
  })

  test('ends with the attestation', async () => {
    expect(await sqlStateOf(checkOf(1_000, 'same').look())).toBe('55000')
  })

  test('ends at any change of governance where it reads by an attestation', async () => {
    expect(await sqlStateOf(checkOf(2_000, 'changed').look())).toBe('55000')
  })
})
