/**
 * A secrets key is lost: what no key opens is counted, and given up where an operator says so. Afterwards the service
 * starts with the new key, nothing of before is taken, and what can be made again is.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../../src/base/fault.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { secretsKeyProvider, tenantKey } from '../../../src/protection/tenant-keys.ts'
import { listAdministration } from '../../../src/store/administration/administration-log.ts'
import {
  findCatalogCredential,
  putCatalogCredential,
} from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { sealedColumns } from '../../../src/store/database/sealed-columns.ts'
import { type SecretsKeys, seal } from '../../../src/store/database/sealing.ts'
import { setEventAside } from '../../../src/store/detection/runs.ts'
import { readEvents } from '../../../src/store/event/events.ts'
import { loadDerivationRoots } from '../../../src/store/keys/derivation-roots.ts'
import { listKeyRecords } from '../../../src/store/keys/key-record.ts'
import { sealAgain } from '../../../src/store/keys/seal-again.ts'
import { assertSecretsKey, endTurn } from '../../../src/store/keys/secrets-key.ts'
import { findLostKeys, loseKeys } from '../../../src/store/lost/lose-keys.ts'
import { findSource } from '../../../src/store/reconcile/sources.ts'
import { createBrowserSession } from '../../../src/store/session/browser-sessions.ts'
import { createServiceSession, findServiceSession } from '../../../src/store/session/sessions.ts'
import { loadSigningKeys } from '../../../src/store/session/signing-keys.ts'
import type { Store } from '../../../src/store/store.ts'
import { addScopeVersion, firstVersions, scopeVersions } from '../../../src/store/transform/keys.ts'
import { findSubscription } from '../../../src/store/webhook/subscriptions.ts'
import { keyOf, under } from '../../support/secrets-keys.ts'
import { openTenantStore, type TestStore } from '../../support/store.ts'
import { type SealedValues, storeSealedValues } from '../keys/sealed-values.ts'

setDefaultTimeout(60_000)

const [first, second, third] = [keyOf(7), keyOf(8), keyOf(9)]

/** The store as a service with these keys has it after its start. */
async function started(store: Store, keys: SecretsKeys): Promise<Store> {
  const opened = under(store, keys)
  return { ...opened, roots: await loadDerivationRoots(opened, await assertSecretsKey(opened)) }
}

const session = { name: 'spark', principal: { sub: 'spark', roles: [] }, scopes: ['read'] as const }
/** Gives up what a look shows. */
const giveUp = async (store: Store) => await loseKeys(store, (await findLostKeys(store)).word)
const refusalOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'done',
    (fault: Fault) => fault.publicMessage,
  )

describe('a lost secrets key', () => {
  let store: TestStore
  let tenant: TenantId
  let before: Store
  let values: SealedValues
  let secret: string
  let signingKey: string
  let rootBefore: Uint8Array
  let lost: Store
  beforeAll(async () => {
    ;({ store, tenant } = await openTenantStore())
    before = await started(store, { secretsKey: first })
    values = await storeSealedValues(before, tenant)
    ;({ secret } = await createServiceSession(before, tenant, session))
    rootBefore = await tenantKey(before, secretsKeyProvider(before), tenant)
    await before.tenantTransaction(tenant, (tx) => addScopeVersion(tx, tenant, 'people'))
    await before.tenantQuery(
      tenant,
      `insert into svc.transform_subject_key (tenant_id, kind, ref, sid, wrapped)
       values ($1, 'person', repeat('r', 22), repeat('s', 22), '\\x00')`,
      [tenant],
    )
    await before.tenantQuery(
      tenant,
      `insert into svc.transform_subject_key (tenant_id, kind, ref, shredded_at)
       values ($1, 'person', repeat('e', 22), now())`,
      [tenant],
    )
    ;[{ id: signingKey }] = await loadSigningKeys(before)
    lost = under(store, { secretsKey: third })
  })
  afterAll(() => store?.[Symbol.asyncDispose]())

  test('is not taken to be lost while it is there: nothing is given up', async () => {
    expect((await findLostKeys(before)).isOtherKey).toBe(false)
    expect(await refusalOf(loseKeys(before, ''))).toBe(
      'The secrets key opens everything that is stored: nothing is lost.',
    )
  })

  test('is not lost where it stands in another setting: that is said instead', async () => {
    const misplaced = under(store, { secretsKey: third, nextKey: first })
    expect(await refusalOf(giveUp(misplaced))).toContain('start with that key')
    if (store.backend === 'embedded') return
    const unannounced = under(store, { secretsKey: third, formerKey: first })
    expect(await refusalOf(giveUp(unannounced))).toContain('SVC_SECRETS_KEY_NEXT')
  })

  test('takes with it one value of each kind, which a look counts and leaves', async () => {
    const counted = {
      isOtherKey: true,
      values: {
        ...{ catalogCredential: 1, signingKey: 1, webhookSubscription: 1, reconciliationSource: 1 },
        ...{ transformTenantKey: 1, idToken: 1, setAside: 1, derivationRoot: 2 },
      },
    }
    const { word, ...found } = await findLostKeys(lost)
    expect(found).toEqual(counted)
    expect(await findLostKeys(lost)).toEqual({ ...counted, word })
    expect(word).toMatch(/^[0-9a-f]{8}$/)
    expect((await findLostKeys(before)).values.webhookSubscription).toBe(0)
    expect(await findServiceSession(before, secret)).toBeDefined()
  })

  test('is given up by the word of a look alone: with the same keys, at the same database, for the same things', async () => {
    const { word } = await findLostKeys(lost)
    const others = [
      under(store, { secretsKey: second }),
      under(store, { secretsKey: third, formerKey: second }),
    ]
    for (const other of others) expect((await findLostKeys(other)).word).not.toBe(word)
    const sealed = seal(first, sealedColumns.setAside.place(tenant, 'two'), 'of an event')
    await setEventAside(before, tenant, { id: 'two', reason: 'seed', sealed })
    expect((await findLostKeys(lost)).word).not.toBe(word)
    expect(await refusalOf(loseKeys(lost, word))).toContain('is not the word of a look')
    await before.adminQuery('delete from svc.detection_set_aside where message_id = $1', ['two'])
    expect((await findLostKeys(lost)).word).toBe(word)
  })

  describe('that is given up', () => {
    let after: Store
    beforeAll(async () => {
      await giveUp(lost)
      after = await started(store, { secretsKey: third })
    })

    test('leaves nothing that is lost, so that to give it up again is refused, and records nothing twice', async () => {
      const { isOtherKey, values: left } = await findLostKeys(after)
      expect(isOtherKey).toBe(false)
      // The catalog and the webhook are still there, and open under no key.
      expect(Object.values(left).every((count) => count === 0)).toBe(true)
      expect(await refusalOf(giveUp(after))).toContain('nothing is lost')
      expect((await listAdministration(after, tenant, { action: 'lose-key' })).items).toHaveLength(5)
    })

    test('lets the service start with the new one, and with the old one no more', async () => {
      expect(await refusalOf(assertSecretsKey(under(store, { secretsKey: third })))).toBe('done')
      expect(await refusalOf(assertSecretsKey(under(store, { secretsKey: first })))).toContain(
        'is not the key',
      )
    })

    test('ends every session, and new ones are made', async () => {
      expect(await findServiceSession(after, secret)).toBeUndefined()
      expect(await findServiceSession(before, secret)).toBeUndefined()
      const { secret: made } = await createServiceSession(after, tenant, session)
      expect(await findServiceSession(after, made)).toBeDefined()
    })

    test('switches webhooks off, with one event of each', async () => {
      expect((await findSubscription(after, tenant, values.webhook)).state).toBe('unreadable')
      const events = await readEvents(after, tenant, 0n)
      expect(events.map(({ type, subject }) => [type, subject])).toEqual([
        ['webhook.unreadable', values.webhook],
      ])
    })

    test('clears the passwords of other databases, which says what to do', async () => {
      expect(await refusalOf(findSource(after, tenant, 'orders'))).toBe(
        'The password of this source was lost with a secrets key: save it again.',
      )
    })

    test('removes the keys that signed access tokens', async () => {
      expect((await loadSigningKeys(after)).map(({ id }) => id)).not.toContain(signingKey)
    })

    test('leaves catalogs, which work again once their credentials are saved', async () => {
      const opened = await refusalOf(findCatalogCredential(after, tenant, 'main'))
      expect(opened).toContain('cannot be opened')
      await putCatalogCredential(after, tenant, {
        ...{ nickname: 'main', kind: 'alpha', endpoint: 'https://catalog.example' },
        config: { credential: 'id:saved again' },
      })
      const { config } = (await findCatalogCredential(after, tenant, 'main')) ?? {}
      expect(config?.credential).toBe('id:saved again')
      const { values: lostAgain } = await findLostKeys(under(store, { secretsKey: second }))
      expect(lostAgain).toMatchObject({ catalogCredential: 1, webhookSubscription: 0 })
    })

    test('makes another transform key, below which scopes begin a version that no value of before names', async () => {
      const root = await tenantKey(after, secretsKeyProvider(after), tenant)
      expect(Buffer.from(root).equals(Buffer.from(rootBefore))).toBe(false)
      const run = <R extends object>(text: string, params: readonly string[]) =>
        after.tenantQuery<R>(tenant, text, params)
      expect(await scopeVersions(run, tenant)).toEqual(new Map([['people', 3]]))
      expect(await firstVersions(run, tenant)).toEqual(new Map([['people', 3]]))
    })

    test('forgets the keys of subjects, but not who was erased', async () => {
      const rows = await after.tenantQuery<{ readonly ref: string }>(
        tenant,
        'select ref from svc.transform_subject_key',
      )
      expect(rows).toEqual([{ ref: 'e'.repeat(22) }])
    })

    test('is on record, for the tenant and for the service', async () => {
      const { items } = await listAdministration(after, tenant, { action: 'lose-key' })
      expect(items.map(({ subject }) => Object.keys(subject)[0]).toSorted()).toEqual([
        ...['catalog', 'source', 'storage_event', 'transform', 'webhook'],
      ])
      expect(items.every(({ actor }) => actor.sub === 'operator')).toBe(true)
      const record = (await listKeyRecords(after)).map(({ kind, action, by }) => `${kind} ${action} ${by}`)
      expect(record.toSorted()).toEqual([
        ...['plan-signing', 'secrets', 'sessions', 'token-signing'].map((kind) => `${kind} lost operator`),
      ])
    })
  })
})

describe('a former key that is lost while the key turns', () => {
  test('is given up with what it sealed; what the new one seals and opens goes on', async () => {
    const { store, tenant } = await openTenantStore()
    await using _ = store
    await started(store, { secretsKey: first })
    await started(store, { secretsKey: first, nextKey: second })
    const turning = await started(store, { secretsKey: second, formerKey: first })
    await storeSealedValues(turning, tenant)
    const { secret } = await createServiceSession(turning, tenant, session)
    const alone = under(store, { secretsKey: second })
    const { isOtherKey, values } = await findLostKeys(alone)
    expect({ isOtherKey, ...values }).toMatchObject({
      ...{ isOtherKey: true, webhookSubscription: 0, catalogCredential: 0, derivationRoot: 2 },
    })
    await giveUp(alone)
    const after = await started(store, { secretsKey: second })
    expect((await findCatalogCredential(after, tenant, 'main'))?.config.credential).toBe('id:of a catalog')
    // Its root was sealed by the former key alone.
    expect(await findServiceSession(after, secret)).toBeUndefined()
  })
  test('is not asked for where it is the new one that is lost: the former one turns into another, and is needed until then', async () => {
    const { store, tenant } = await openTenantStore()
    await using _ = store
    const before = await started(store, { secretsKey: first })
    await storeSealedValues(before, tenant)
    const { secret } = await createServiceSession(before, tenant, session)
    await started(store, { secretsKey: first, nextKey: second })
    const turning = await started(store, { secretsKey: second, formerKey: first })
    await putCatalogCredential(turning, tenant, {
      ...{ nickname: 'other', kind: 'alpha', endpoint: 'https://catalog.example' },
      config: { credential: 'id:of the lost key' },
    })
    const keys = { secretsKey: third, formerKey: first }
    expect((await giveUp(under(store, keys))).values).toMatchObject({
      ...{ catalogCredential: 1, webhookSubscription: 0, transformTenantKey: 0, derivationRoot: 0 },
    })
    expect(await refusalOf(assertSecretsKey(under(store, { secretsKey: third })))).toContain(
      'set SVC_SECRETS_KEY_FORMER to it',
    )
    const goesOn = await started(store, keys)
    expect(await findServiceSession(goesOn, secret)).toBeDefined()
    await sealAgain(goesOn, new AbortController().signal)
    expect(await endTurn(goesOn)).toBe(true)
    const after = await started(store, { secretsKey: third })
    expect(await findServiceSession(after, secret)).toBeDefined()
    expect((await findCatalogCredential(after, tenant, 'main'))?.config.credential).toBe('id:of a catalog')
    expect(await refusalOf(findCatalogCredential(after, tenant, 'other'))).toContain('cannot be opened')
  })
})

describe('sessions that end with a lost key', () => {
  test('end a hundred in a transaction, each with a record; those that had expired are left', async () => {
    const { store, tenant } = await openTenantStore()
    await using _ = store
    const before = await started(store, { secretsKey: first })
    await createServiceSession(before, tenant, session)
    await before.tenantQuery(
      tenant,
      `insert into svc.service_session (tenant_id, session_id, secret_sha256, name, principal_sub, principal_roles, scopes,
         expires_at)
       select tenant_id, gen_random_uuid(), sha256(n::text::bytea), name, principal_sub, principal_roles, scopes,
         clock_timestamp() + case when n > 230 then interval '-1 hour' else '1 hour' end
       from svc.service_session, generate_series(1, 250) n where tenant_id = $1`,
      [tenant],
    )
    const cookie = { principal: session.principal, scopes: [], providerSid: undefined, idToken: undefined }
    await createBrowserSession(before, tenant, cookie, undefined)
    await giveUp(under(store, { secretsKey: third }))
    // What one transaction ends has one time.
    const ended = await store.adminQuery<{ readonly count: number }>(
      `select count(*)::int from svc.service_session where revoked_at is not null group by revoked_at order by 1`,
    )
    expect(ended.map(({ count }) => count)).toEqual([31, 100, 100])
    const [records] = await store.adminQuery<{ readonly count: number }>(
      `select count(distinct subject)::int from svc.administration_log where action = 'revoke-session'`,
    )
    expect(records?.count).toBe(232)
  })
})
