/**
 * The secrets key turns: who may start with which keys, that every stored value is sealed again, and that nothing which
 * was handed out ends by it.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../../src/base/fault.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { planSigner } from '../../../src/protection/plan-signing.ts'
import { secretsKeyProvider, tenantKey } from '../../../src/protection/tenant-keys.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { schemaName } from '../../../src/store/database/names.ts'
import { type SealedColumn, sealedColumns } from '../../../src/store/database/sealed-columns.ts'
import type { SecretsKeys } from '../../../src/store/database/sealing.ts'
import { tryUnseal } from '../../../src/store/database/sealing.ts'
import { readGovernanceVersion } from '../../../src/store/governance/governance-versions.ts'
import { loadDerivationRoots } from '../../../src/store/keys/derivation-roots.ts'
import { sealAgain } from '../../../src/store/keys/seal-again.ts'
import { assertSecretsKey, endTurn, hasTurned } from '../../../src/store/keys/secrets-key.ts'
import { createServiceSession, findServiceSession } from '../../../src/store/session/sessions.ts'
import type { Store } from '../../../src/store/store.ts'
import { keyOf, under } from '../../support/secrets-keys.ts'
import { openTenantStore, openTestStore, type TestStore } from '../../support/store.ts'
import { openSealedValues, sealedTexts, storeSealedValues } from './sealed-values.ts'

setDefaultTimeout(60_000)

const [first, second, third] = [keyOf(7), keyOf(8), keyOf(9)]

/** What a start with these keys comes to. */
async function start(store: Store, keys: SecretsKeys): Promise<string> {
  return await assertSecretsKey(under(store, keys)).then(
    () => 'starts',
    (fault: Fault) => fault.publicMessage,
  )
}

const wrong =
  'SVC_SECRETS_KEY (or secrets.key) is not the key under which this database was filled: start with that key.'
const alone =
  'The secrets key turns, and SVC_SECRETS_KEY is the former one: set SVC_SECRETS_KEY to the new key and SVC_SECRETS_KEY_FORMER to this one.'
const formerMissing =
  'Secrets are still sealed under the former key: set SVC_SECRETS_KEY_FORMER to it until the log says that none is.'
const notBegun =
  'The secrets key has not begun to turn: start a replica with these keys first, or use the former key as SVC_SECRETS_KEY.'
const notAnnounced =
  'Other replicas may not have this secrets key yet: first start every replica with the former one as SVC_SECRETS_KEY and this one as SVC_SECRETS_KEY_NEXT.'

/** Announces the second key, and begins to seal with it. */
async function turnTo(store: Store): Promise<Store> {
  await assertSecretsKey(under(store, { secretsKey: first, nextKey: second }))
  const turning = under(store, { secretsKey: second, formerKey: first })
  await assertSecretsKey(turning)
  return turning
}

const never = new AbortController().signal

const catalogOf = (secret: string) =>
  ({ kind: 'alpha', endpoint: 'https://catalog.example', config: { credential: `id:${secret}` } }) as const

/** The columns and rows of a database whose value one of these keys opens. */
async function openedBy(store: Store, key: Uint8Array): Promise<string[]> {
  const opened: string[] = []
  for (const { table, column, key: names, place } of columnsList) {
    const rows = await store.adminQuery<Record<string, string> & { value: Uint8Array | null }>(
      `select ${Object.keys(names).map((name) => `${name}::text`)}, ${column} as value from ${table}`,
    )
    for (const row of rows) {
      const of = Object.keys(names).map((name) => row[name] ?? '')
      if (row.value !== null && tryUnseal(key, place(...of), row.value) !== undefined) opened.push(table)
    }
  }
  return opened.sort()
}

const columnsList: readonly SealedColumn[] = Object.values(sealedColumns)
const allTables = columnsList.map(({ table }) => table)

/** Bytes that no secrets key seals: digests, bodies, keys that a tenant's own key wraps, and the check itself. */
const notSealed = [
  'svc.access_request.sha256',
  ...['svc.audit_log.body', 'svc.audit_log.policy_set', 'svc.browser_session.secret_sha256'],
  ...['svc.commit_intent.body', 'svc.contract_move.sha256', 'svc.contract_sign_off.sha256'],
  ...['svc.contract_version.body', 'svc.contract_version.sha256', 'svc.ended_login.login_sha256'],
  ...['svc.ended_person.person_sha256'],
  ...['svc.graphql_operation.sha256', 'svc.intent_settlement.body', 'svc.loosening.sha256'],
  ...['svc.month_partition.running_sha256', 'svc.policy_set.sha256'],
  ...['svc.secrets_key_check.next_sealed', 'svc.secrets_key_check.sealed'],
  ...['svc.service_session.secret_sha256', 'svc.transform_subject_key.wrapped', 'svc.used_once.digest'],
  ...['tenant.audit_batch.entry', 'tenant.audit_salt.person', 'tenant.audit_salt.salt'],
  ...['tenant.audit_tile.hashes', 'tenant.audit_tile.keys', 'tenant.audit_tree.keys'],
  ...['tenant.lineage_event.body', 'tenant.lineage_event.body_sha256'],
  ...['tenant.lineage_inbox.body', 'tenant.lineage_inbox.body_sha256'],
]

describe('a start, while one key seals', () => {
  let store: TestStore
  beforeAll(async () => {
    store = (await openTenantStore()).store
    await assertSecretsKey(under(store, { secretsKey: first }))
  })
  afterAll(() => store?.[Symbol.asyncDispose]())

  test('with another key is refused, whatever stands beside it', async () => {
    expect(await start(store, { secretsKey: second })).toBe(wrong)
    expect(await start(store, { secretsKey: second, nextKey: first })).toBe(wrong)
    expect(await start(store, { secretsKey: second, formerKey: third })).toBe(wrong)
  })

  test('with a former key that opens nothing goes on', async () => {
    expect(await start(store, { secretsKey: first, formerKey: third })).toBe('starts')
  })

  test('with a new key is refused beside other replicas until that was announced to them', async () => {
    if (store.backend === 'embedded') return
    expect(await start(store, { secretsKey: second, formerKey: first })).toBe(notAnnounced)
    expect(await start(store, { secretsKey: first, nextKey: third })).toBe('starts')
    expect(await start(store, { secretsKey: second, formerKey: first })).toBe(notAnnounced)
    expect(await start(store, { secretsKey: first, nextKey: second })).toBe('starts')
    expect(await start(store, { secretsKey: first })).toBe('starts')
  })

  test('without the next key withdraws its announcement, so that no other replica begins to seal by it', async () => {
    if (store.backend === 'embedded') return
    expect(await start(store, { secretsKey: first, nextKey: second })).toBe('starts')
    expect(await start(store, { secretsKey: first })).toBe('starts')
    expect(await start(store, { secretsKey: second, formerKey: first })).toBe(notAnnounced)
    const [row] = await store.adminQuery<{ next_sealed: unknown; announced_at: unknown }>(
      'select next_sealed, announced_at from svc.secrets_key_check',
    )
    expect(row).toEqual({ next_sealed: null, announced_at: null })
  })

  test('by a command announces no key and begins no turn, because no job would follow', async () => {
    if (store.backend === 'embedded') return
    const command = (keys: SecretsKeys) =>
      assertSecretsKey(under(store, keys), false).then(
        () => 'goes on',
        (fault: Fault) => fault.publicMessage,
      )
    expect(await command({ secretsKey: first, nextKey: third })).toBe('goes on')
    expect(await start(store, { secretsKey: third, formerKey: first })).toBe(notAnnounced)
    await start(store, { secretsKey: first, nextKey: second })
    expect(await command({ secretsKey: second, formerKey: first })).toBe(notBegun)
    expect(await start(store, { secretsKey: first })).toBe('starts')
  })

  test('with the new key alone is refused: values are sealed under the former one', async () => {
    await start(store, { secretsKey: first, nextKey: second })
    expect(await start(store, { secretsKey: second })).toBe(formerMissing)
  })
})

describe('a start, while the key turns', () => {
  let store: TestStore
  beforeAll(async () => {
    store = (await openTenantStore()).store
    await assertSecretsKey(under(store, { secretsKey: first }))
    await turnTo(store)
  })
  afterAll(() => store?.[Symbol.asyncDispose]())

  test.each<[string, SecretsKeys, string]>([
    ['both keys, the new one sealing, goes on', { secretsKey: second, formerKey: first }, 'starts'],
    ['both keys, the former one sealing still, goes on', { secretsKey: first, nextKey: second }, 'starts'],
    ['the former key alone is refused', { secretsKey: first }, alone],
    ['the former key and another next one is refused', { secretsKey: first, nextKey: third }, alone],
    ['the new key alone is refused', { secretsKey: second }, formerMissing],
    [
      'the new key and another former one is refused',
      { secretsKey: second, formerKey: third },
      formerMissing,
    ],
    ['a third key is refused', { secretsKey: third, formerKey: first }, wrong],
  ])('with %s', async (_, keys, outcome) => {
    expect(await start(store, keys)).toBe(outcome)
    expect(await hasTurned(under(store, keys))).toBe(false)
  })
})

describe('sealing again', () => {
  let store: TestStore
  let tenant: TenantId
  let turning: Store
  let before: Store
  beforeAll(async () => {
    ;({ store, tenant } = await openTenantStore())
    before = under(store, { secretsKey: first })
    before = { ...before, roots: await loadDerivationRoots(before, await assertSecretsKey(before)) }
  })
  afterAll(() => store?.[Symbol.asyncDispose]())

  test('knows every column of the schema that holds bytes, but those that nothing seals', async () => {
    const columns = await store.adminQuery<{ name: string }>(
      `select distinct replace(n.nspname, $1, 'tenant') || '.' || c.relname || '.' || a.attname as name
       from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('svc', $1) and c.relkind in ('r', 'p') and not c.relispartition
         and a.atttypid = 'bytea'::regtype and not a.attisdropped order by 1`,
      [schemaName(tenant)],
    )
    const listed = columnsList.map(({ table, column }) => `${table}.${column}`)
    const others = columns.map(({ name }) => name).filter((name) => !listed.includes(name))
    expect(others.sort()).toEqual(notSealed)
  })

  test('reaches one value of every column, and nothing opens under the former key afterwards', async () => {
    const values = await storeSealedValues(before, tenant)
    const transformKey = await tenantKey(before, secretsKeyProvider(before), tenant)
    expect(new Set(await openedBy(store, first))).toEqual(new Set(allTables))
    const governance = await readGovernanceVersion(store, tenant)

    turning = await turnTo(before)
    const { seen, sealed, unreadable } = await sealAgain(turning, never)
    expect({ sealed, unreadable }).toEqual({ sealed: seen, unreadable: 0 })
    expect(await openedBy(store, first)).toEqual([])
    expect(new Set(await openedBy(store, second))).toEqual(new Set(allTables))
    // A cursor of a query is open for as long as this stays the same.
    expect(await readGovernanceVersion(store, tenant)).toEqual(governance)

    expect(await sealAgain(turning, never)).toEqual({ seen, sealed: 0, unreadable: 0 })
    const after = under(store, { secretsKey: second })
    expect(await tenantKey(after, secretsKeyProvider(after), tenant)).toEqual(transformKey)
    expect(await openSealedValues({ ...after, roots: before.roots }, values)).toEqual(sealedTexts)
  })

  test('ends with the former key, alone and with the new one beside it, refused by name', async () => {
    expect(await hasTurned(turning)).toBe(false)
    expect(await endTurn(turning)).toBe(true)
    expect(await endTurn(turning)).toBe(false)
    expect(await hasTurned(turning)).toBe(true)
    expect(await start(store, { secretsKey: first })).toBe(wrong)
    expect(await start(store, { secretsKey: first, nextKey: second })).toBe(wrong)
    expect(await start(store, { secretsKey: second })).toBe('starts')
    expect(await start(store, { secretsKey: second, formerKey: first })).toBe('starts')
  })

  test('sealing again after the end reaches what a replica of the step before sealed late', async () => {
    const late = under(store, { secretsKey: first, nextKey: second })
    const catalog = catalogOf('late')
    await putCatalogCredential(late, tenant, { ...catalog, nickname: 'late' })
    expect(await openedBy(store, first)).toEqual(['svc.catalog_credential'])
    expect((await sealAgain(turning, never)).sealed).toBe(1)
    expect(await openedBy(store, first)).toEqual([])
  })

  test('counts what neither key opens, and leaves it as it is', async () => {
    const lost = under(store, { secretsKey: third })
    const catalog = catalogOf('lost')
    await putCatalogCredential(lost, tenant, { ...catalog, nickname: 'lost' })
    expect(await sealAgain(turning, never)).toMatchObject({ sealed: 0, unreadable: 1 })
    expect(await openedBy(store, third)).toEqual(['svc.catalog_credential'])
  })

  test('goes through more values than are read at once, each once', async () => {
    const many = under(store, { secretsKey: first })
    const catalog = catalogOf('many')
    const names = Array.from({ length: 205 }, (_, at) => `${at % 2 === 0 ? 'A' : 'b'}_${at}`)
    for (const nickname of names) await putCatalogCredential(many, tenant, { ...catalog, nickname })
    expect((await sealAgain(turning, never)).sealed).toBe(205)
    expect(await openedBy(store, first)).toEqual([])
  })

  test('stops where its signal aborts', async () => {
    const stopped = await sealAgain(turning, AbortSignal.abort(new Error('the lock is lost'))).catch(
      (error: Error) => error.message,
    )
    expect(stopped).toBe('the lock is lost')
  })
})

describe('what is derived', () => {
  const person = { name: 'ann', principal: { sub: 'ann', roles: [] }, scopes: ['read'] } as const
  const rootsOf = async (store: Store) => await loadDerivationRoots(store, await assertSecretsKey(store))

  test('is the same before and after the key turned: sessions go on, and plans have the same signer', async () => {
    const { store, tenant } = await openTenantStore()
    await using _ = store
    const before = under(store, { secretsKey: first })
    const roots = await rootsOf(before)
    const { secret } = await createServiceSession({ ...before, roots }, tenant, person)
    const turning = await turnTo(store)
    expect(await rootsOf(turning)).toEqual(roots)
    await sealAgain(turning, never)
    await endTurn(turning)
    const after = under(store, { secretsKey: second })
    const kept = await rootsOf(after)
    expect(kept).toEqual(roots)
    expect((await findServiceSession({ ...after, roots: kept }, secret, undefined))?.tenant).toBe(tenant)
    expect(planSigner(kept.plans).jwk).toEqual(planSigner(roots.plans).jwk)
  })

  test('is the secrets key itself in a database that was filled before roots were stored', async () => {
    const { store } = await openTenantStore()
    await using _ = store
    const old = under(store, { secretsKey: first })
    expect(await rootsOf(old)).toEqual({ sessions: first, plans: first })
    await store.adminQuery('delete from svc.derivation_root')
    const turning = await turnTo(store)
    expect(await rootsOf(turning)).toEqual({ sessions: first, plans: first })
  })

  test('is random in a new database, and the same for replicas that start at once', async () => {
    await using store = await openTestStore()
    const all = await Promise.all([1, 2, 3].map(() => rootsOf(under(store, { secretsKey: first }))))
    expect(all[1]).toEqual(all[0] as never)
    expect(all[2]).toEqual(all[0] as never)
    expect(all[0]?.sessions).not.toEqual(first)
    expect(all[0]?.plans).not.toEqual(all[0]?.sessions as never)
  })

  test('is replaced where an operator says that the key is lost', async () => {
    const { store } = await openTenantStore()
    await using _ = store
    const roots = await rootsOf(under(store, { secretsKey: first }))
    await store.adminQuery('update svc.secrets_key_check set sealed = null')
    const later = await rootsOf(under(store, { secretsKey: second }))
    expect(later.sessions).not.toEqual(roots.sessions)
    expect(later.sessions).not.toEqual(second)
    expect(await rootsOf(under(store, { secretsKey: second }))).toEqual(later)
  })
})
