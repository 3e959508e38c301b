/**
 * The key of access tokens turns while two replicas issue and verify: no token is refused, and those of the former key
 * count until they end.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { decodeProtectedHeader } from 'jose'
import { AccessTokens } from '../../src/auth/access-token.ts'
import type { Session } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { listKeyRecords } from '../../src/store/keys/key-record.ts'
import { listInstallationKeys } from '../../src/store/keys/list-keys.ts'
import { turnSigningKey } from '../../src/store/session/signing-keys.ts'
import { actorOf } from '../support/actor.ts'
import { openTenantStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(120_000)

let store: TestStore
let tenant: TenantId
let replicas: readonly [AccessTokens, AccessTokens]
const now = { ms: Date.now() }
const clock = { now: () => now.ms }
beforeAll(async () => {
  ;({ store, tenant } = await openTenantStore())
  replicas = [new AccessTokens(store, clock), new AccessTokens(store, clock)]
})
afterAll(() => store?.[Symbol.asyncDispose]())

const session = (): Session => ({
  ...{ sessionId: crypto.randomUUID(), kind: 'service', tenant, organizationId: undefined },
  ...{ principal: { sub: 'spark', roles: [] }, scopes: ['read'] },
})
const issue = async (replica: AccessTokens) => (await replica.issue(session(), ['read'])).token
const keyOf = (token: string) => decodeProtectedHeader(token).kid

/** The same key, made so long ago. */
async function age(id: string, interval: string): Promise<void> {
  const [key] = await store.adminQuery<{ jwk: string; sealed: Uint8Array }>(
    'delete from svc.signing_key where key_id = $1::uuid returning public_jwk::text as jwk, sealed',
    [id],
  )
  await store.adminQuery(
    `insert into svc.signing_key (key_id, public_jwk, sealed, created_at)
     values ($1::uuid, $2::text::jsonb, $3, clock_timestamp() - $4::interval)`,
    [id, key?.jwk ?? '', key?.sealed ?? null, interval],
  )
}

test('each replica takes what the other signs at every moment of a turn', async () => {
  const [one, other] = replicas
  const first = await issue(one)
  await other.verify(first)
  const before = keyOf(first)
  // The other has read the keys at this moment, so that for a second it reads them no more.
  await other.verify(
    first.replace(/^[^.]+/, Buffer.from('{"alg":"ES256","kid":"none"}').toString('base64url')),
  )
  const turned = await turnSigningKey(store, actorOf('ada'))
  expect(turned).not.toBe(before)
  let issued: string
  let count = 0
  do {
    issued = await issue(one)
    expect(await other.verify(issued)).toBeDefined()
    expect(await one.verify(await issue(other))).toBeDefined()
    count += 1
    if (count === 20) {
      await age(before ?? '', '60 seconds')
      await age(turned, '10 seconds')
      now.ms += 10_000
    }
  } while (keyOf(issued) === before)
  expect(keyOf(issued)).toBe(turned)
  expect(await new AccessTokens(store).verify(first)).toBeDefined()
  const states = (await listInstallationKeys(store)).map(({ id, state }) => [id, state])
  expect(states).toContainEqual([turned, 'current'])
  expect(states).toContainEqual([before, 'former'])
  const [last] = await listKeyRecords(store)
  expect(last).toMatchObject({ kind: 'token-signing', action: 'turned', by: 'ada' })
})

test('a former key goes with the next turn, once no token of it can be valid', async () => {
  const [one] = replicas
  const token = await issue(one)
  const former = keyOf(token) ?? ''
  const next = await turnSigningKey(store, actorOf('ada'))
  await age(former, '5 hours')
  await age(next, '3 hours')
  expect(await new AccessTokens(store).verify(token)).toBeDefined()
  await turnSigningKey(store, actorOf('ada'))
  expect(await new AccessTokens(store).verify(token)).toBeUndefined()
})
