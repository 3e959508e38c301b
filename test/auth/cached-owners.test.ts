import { describe, expect, test } from 'bun:test'
import { CachedOwners } from '../../src/auth/cached-owners.ts'
import { asOwner, currentOwner, nobody } from '../../src/base/owner.ts'
import type { Session } from '../../src/core/session.ts'
import { parseTenantId } from '../../src/core/tenant.ts'

const [acme, globex] = ['a', 'b'].map((digit) =>
  parseTenantId(`${digit.repeat(8)}-0000-4000-8000-000000000000`),
)
const sessions = new Map([
  ['secret-of-acme', { tenant: acme } as Session],
  ['secret-of-globex', { tenant: globex } as Session],
])
const requestOf = (headers: Record<string, string>) => new Request('http://x/', { headers })

describe('whose a request is', () => {
  test('is known once its session was found, for the rest of it and for the next one', async () => {
    const owners = new CachedOwners()
    const find = owners.telling(async (credential) => sessions.get(credential))
    const request = requestOf({ 'x-svc-session': 'secret-of-acme' })
    expect(owners.of(request)).toBe(nobody)
    await asOwner(owners.of(request), async () => {
      await find('secret-of-acme')
      expect(currentOwner()).toBe(String(acme))
    })
    expect(owners.of(request)).toBe(String(acme))
    expect(owners.of(requestOf({ authorization: 'Bearer secret-of-acme' }))).toBe(String(acme))
    expect(owners.of(requestOf({ 'x-svc-session': 'secret-of-globex' }))).toBe(nobody)
  })

  test('is nobody’s again once its session is not found any more', async () => {
    const owners = new CachedOwners()
    let found: Session | undefined = sessions.get('secret-of-acme')
    const find = owners.telling(async () => found)
    await find('secret-of-acme')
    const empty = requestOf({ 'x-svc-session': '', authorization: 'Bearer secret-of-acme' })
    expect(owners.of(empty)).toBe(String(acme))
    found = undefined
    await find('secret-of-acme')
    expect(owners.of(requestOf({ 'x-svc-session': 'secret-of-acme' }))).toBe(nobody)
  })

  test('is nobody’s for credentials that no session has, however many they are', async () => {
    const owners = new CachedOwners()
    const find = owners.telling(async (credential) => sessions.get(credential))
    const seen = new Set<string>()
    for (let made = 0; made < 100; made++) {
      await asOwner(nobody, async () => {
        expect(await find(`made-up-${made}`)).toBeUndefined()
        seen.add(currentOwner())
      })
      seen.add(owners.of(requestOf({ 'x-svc-session': `made-up-${made}` })))
    }
    expect([...seen]).toEqual([nobody])
  })
})
