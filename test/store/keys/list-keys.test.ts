/** What is listed of keys: kind, age and state, for the service and for a tenant, and never a key. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import type { SecretsKeys } from '../../../src/store/database/sealing.ts'
import { loadDerivationRoots } from '../../../src/store/keys/derivation-roots.ts'
import { listKeyRecords } from '../../../src/store/keys/key-record.ts'
import { keyAges, listInstallationKeys, listTenantKeys } from '../../../src/store/keys/list-keys.ts'
import { assertSecretsKey, endTurn } from '../../../src/store/keys/secrets-key.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import type { Store } from '../../../src/store/store.ts'
import { rotateSecret } from '../../../src/store/webhook/subscriptions.ts'
import { actorOf } from '../../support/actor.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTenantStore, type TestStore } from '../../support/store.ts'
import { sealedTexts, storeSealedValues } from './sealed-values.ts'

setDefaultTimeout(60_000)

const keyOf = (byte: number) => new Uint8Array(32).fill(byte)
const [first, second] = [keyOf(7), keyOf(8)]
const under = (store: Store, keys: SecretsKeys): Store => ({
  ...store,
  ...{ nextKey: undefined, formerKey: undefined },
  ...keys,
})
const by = actorOf('ada')

let store: TestStore
let tenant: TenantId
let foreign: TenantId
let webhook: string
beforeAll(async () => {
  ;({ store, tenant } = await openTenantStore())
  await loadDerivationRoots(store, await assertSecretsKey(store))
  ;({ webhook } = await storeSealedValues(store, tenant))
  await createServiceSession(store, tenant, {
    name: 'spark',
    principal: { sub: 'spark', roles: [] },
    scopes: ['read'],
  })
  foreign = (await makeTenant(store, { name: 'other' })).id
})
afterAll(() => store?.[Symbol.asyncDispose]())

const short = (keys: readonly { kind: string; state: string }[]) =>
  keys.map(({ kind, state }) => `${kind} ${state}`)

describe('the keys of the service', () => {
  test('are each listed with their state and age', async () => {
    const keys = await listInstallationKeys(store)
    expect(short(keys)).toEqual([
      ...['plan-signing current', 'secrets current', 'sessions current', 'token-signing current'],
    ])
    for (const { ageSeconds, createdAt } of keys) {
      expect(ageSeconds).toBeGreaterThanOrEqual(0)
      expect(createdAt).toBeInstanceOf(Date)
    }
  })

  test('that the process cannot open are unreadable', async () => {
    const states = short(await listInstallationKeys(under(store, { secretsKey: keyOf(9) })))
    expect(states.every((state) => state.endsWith(' unreadable'))).toBe(true)
  })

  test('show the next secrets key once it is announced, and no longer when it is withdrawn', async () => {
    const announcing = under(store, { secretsKey: first, nextKey: second })
    await assertSecretsKey(announcing)
    expect(short(await listInstallationKeys(announcing))).toContain('secrets announced')
    await assertSecretsKey(under(store, { secretsKey: first }))
    expect(short(await listInstallationKeys(announcing))).not.toContain('secrets announced')
  })

  test('show both secrets keys while one turns into the other, and what became of them is on record', async () => {
    await assertSecretsKey(under(store, { secretsKey: first, nextKey: second }))
    const turning = under(store, { secretsKey: second, formerKey: first })
    await assertSecretsKey(turning)
    const keys = (await listInstallationKeys(turning)).filter(({ kind }) => kind === 'secrets')
    expect(short(keys)).toEqual(['secrets current', 'secrets former'])
    await endTurn(turning)
    expect(short(await listInstallationKeys(turning))).toContain('secrets current')
    expect(short(await listInstallationKeys(turning))).not.toContain('secrets former')
    const record = (await listKeyRecords(store)).map(({ kind, action }) => `${kind} ${action}`)
    const announced = ['secrets turned', 'secrets begun', 'secrets announced']
    // The embedded store withdraws and announces as the others do; it only needs no announcement.
    expect(record).toEqual([...announced, 'secrets withdrawn', 'secrets announced'])
    await store.adminQuery('update svc.secrets_key_check set sealed = null')
    await assertSecretsKey(store)
  })
})

describe('the keys of a tenant', () => {
  test('are its webhooks, the key of its transform and its sessions', async () => {
    const { items } = await listTenantKeys(store, tenant)
    expect(short(items)).toEqual(['session current', 'transform current', 'webhook current'])
    expect(items.find(({ kind }) => kind === 'session')).toMatchObject({ count: 1 })
    expect(items.find(({ kind }) => kind === 'webhook')).toMatchObject({ id: webhook, name: 'orders' })
  })

  test('show a former secret of a webhook for as long as it signs, and when it turned', async () => {
    await rotateSecret(store, tenant, webhook, 'a new one', 3_600_000, by)
    const { items } = await listTenantKeys(store, tenant)
    const [current, former] = items.filter(({ kind }) => kind === 'webhook')
    expect(current).toMatchObject({ state: 'current', turnedAt: expect.any(Date) })
    expect(former).toMatchObject({ state: 'former', until: expect.any(Date) })
  })

  test('come in pages without a gap', async () => {
    const all = (await listTenantKeys(store, tenant)).items
    const paged: unknown[] = []
    let after: string | undefined
    do {
      const page = await listTenantKeys(store, tenant, { limit: 1, after })
      paged.push(...page.items.map(({ kind, state }) => `${kind} ${state}`))
      after = page.next
    } while (after !== undefined)
    expect(paged).toEqual(short(all))
  })

  test('that no key opens are unreadable', async () => {
    const { items } = await listTenantKeys(under(store, { secretsKey: keyOf(9) }), tenant)
    expect(short(items)).toContain('transform unreadable')
    expect(short(items)).toContain('webhook unreadable')
  })

  test('are no other tenant’s', async () => {
    expect((await listTenantKeys(store, foreign)).items).toEqual([])
  })
})

test('nothing that is listed holds a secret', async () => {
  const listed = JSON.stringify([
    await listInstallationKeys(store),
    (await listTenantKeys(store, tenant)).items,
    await listKeyRecords(store),
  ])
  for (const secret of sealedTexts) if (typeof secret === 'string') expect(listed).not.toContain(secret)
})

test('the oldest present key of each kind gives its age', async () => {
  const before = await keyAges(store)
  expect([...before.keys()].map(String).toSorted()).toEqual([
    ...['plan-signing', 'secrets', 'session', 'sessions', 'token-signing', 'transform', 'webhook'],
  ])
  await store.adminQuery(`update svc.secrets_key_check set in_force_at = now() - interval '500 days'`)
  expect((await keyAges(store)).get('secrets')).toBeGreaterThanOrEqual(500 * 86_400)
  await store.adminQuery('update svc.secrets_key_check set in_force_at = clock_timestamp()')
  expect((await keyAges(store)).get('secrets')).toBeLessThan(86_400)
})
