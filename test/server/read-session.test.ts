/** The session of every read surface, and its check for each message or request. */

import { describe, expect, test } from 'bun:test'
import type { ReadCredential } from '../../src/auth/read-credential.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { ReadSession } from '../../src/server/read-session.ts'

interface Asked {
  readonly session: ReadSession
  /** Calls of `stillValid`. */
  count: number
}

function sessionOf(change: Partial<ReadCredential> = {}): Asked {
  const stillValid = async () => {
    asked.count++
    return (await change.stillValid?.()) ?? true
  }
  const credential: ReadCredential = {
    tenant: 'a-tenant' as TenantId,
    principal: { sub: 'ada', roles: ['analyst'] },
    principalSource: 'session',
    expiresAtMs: 1_000,
    sessionToCheck: () => 'a-session',
    ...change,
    stillValid,
  }
  const asked: Asked = { session: new ReadSession(credential), count: 0 }
  return asked
}

const verdict = (passed: Promise<void>) =>
  passed.then(
    () => 'passed',
    ({ kind }) => kind,
  )

test('a context names the tenant, the principal and the end of the session', () => {
  const { session } = sessionOf()
  const context = session.queryContext('mcp', 'main', ['sales'])
  expect(context).toMatchObject({
    tenant: 'a-tenant',
    principal: { sub: 'ada', roles: ['analyst'] },
    principalSource: 'session',
    surface: 'mcp',
    catalog: 'main',
    searchPath: ['sales'],
  })
  expect([context.reader.expiresAtMs, context.reader.sessionToCheck?.()]).toEqual([1_000, 'a-session'])
})

describe('a check', () => {
  test.each([
    [true, 'passed'],
    [false, 'unauthenticated'],
  ])(
    'that a load has taken has the result %p of the load, without a round trip',
    async (isValid, expected) => {
      const asked = sessionOf()
      const check = asked.session.openCheck()
      expect([check.take(), check.take()]).toEqual(['a-session', undefined])
      check.askUnlessTaken()
      check.report(isValid)
      check.ask()
      expect([await verdict(check.passed), asked.count]).toEqual([expected, 0])
    },
  )

  test('that no load has taken asks by itself, once, and no load takes it later', async () => {
    const asked = sessionOf()
    const check = asked.session.openCheck()
    check.askUnlessTaken()
    expect(check.take()).toBeUndefined()
    check.ask()
    expect([await verdict(check.passed), asked.count]).toEqual(['passed', 1])
  })

  test('whose load has failed asks by itself', async () => {
    const asked = sessionOf({ stillValid: async () => false })
    const check = asked.session.openCheck()
    check.take()
    check.ask()
    expect([await verdict(check.passed), asked.count]).toEqual(['unauthenticated', 1])
  })

  test('of a session on which more than the store decides is left to no load', async () => {
    const asked = sessionOf({ sessionToCheck: () => undefined })
    const check = asked.session.openCheck()
    expect(check.take()).toBeUndefined()
    check.askUnlessTaken()
    expect([await verdict(check.passed), asked.count]).toEqual(['passed', 1])
  })

  test('that cannot be told does not pass', async () => {
    const { session } = sessionOf({ stillValid: () => Promise.reject(new Error('the store is away')) })
    const check = session.openCheck()
    check.ask()
    expect(await verdict(check.passed)).toBe('unavailable')
  })

  test('says nothing of the next one', async () => {
    let isValid = true
    const { session } = sessionOf({ stillValid: async () => isValid })
    const [first, second] = [session.openCheck(), session.openCheck()]
    first.ask()
    expect(await verdict(first.passed)).toBe('passed')
    isValid = false
    second.ask()
    expect(await verdict(second.passed)).toBe('unauthenticated')
  })
})
