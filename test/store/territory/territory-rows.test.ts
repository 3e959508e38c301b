/** The territory index: who owns which prefix, and that no tenant sees or meets another's. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { territoryOf } from '../../../src/core/territory-owner.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { closeIntent, openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { loadRead } from '../../../src/store/governance/read-call.ts'
import { loadWriteGovernance } from '../../../src/store/policy/policies.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { claimTerritory } from '../../../src/store/territory/territory-rows.ts'
import { intentOf } from '../../support/commits.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { ancestorsOf, catalogA, catalogB, credentialA, tableOf, take } from '../../support/territory.ts'

setDefaultTimeout(300_000)

let store: TestStore
let ours: TenantId
let theirs: TenantId

beforeAll(async () => {
  store = await openTestStore()
  ours = (await createTenant(store, { name: 'ours' })).id
  theirs = (await createTenant(store, { name: 'theirs' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

const prefixesOf = async (name: string, tenant = ours, catalog = catalogA, tableUuid?: string) => {
  const { territory } = await loadWriteGovernance(store, tenant, tableOf(name))
  return territoryOf(territory, { catalog, table: tableOf(name), tableUuid }).prefixes
}
const versionOf = async (tenant = ours) =>
  (await loadWriteGovernance(store, tenant, tableOf('none'))).territory.version
const overlaps = async (taken: ReturnType<typeof take>) =>
  (await taken).overlaps.map(({ row }) => [row.table.name, row.prefix])
const conflicts = (name: string, tenant = ours) =>
  store.tenantQuery<{ prefix: string; reason: string; owner: unknown; seen: string }>(
    tenant,
    `select prefix, reason, owner, seen from svc.territory_conflict where table_name = $1 order by prefix`,
    [name],
  )

describe('a prefix', () => {
  test('is the first table’s that takes it', async () => {
    expect(await overlaps(take(store, ours, 'first', 's3://one/t/'))).toEqual([])
    expect(await prefixesOf('first')).toEqual(['s3://one/t/'])
    expect(await overlaps(take(store, ours, 'second', 's3://one/t/'))).toEqual([['first', 's3://one/t/']])
    expect(await prefixesOf('second')).toEqual([])
  })

  test('is not taken above or below another table’s', async () => {
    await take(store, ours, 'middle', 's3://two/a/b/')
    expect(await overlaps(take(store, ours, 'above', 's3://two/a/'))).toEqual([['middle', 's3://two/a/b/']])
    expect(await overlaps(take(store, ours, 'below', 's3://two/a/b/c/'))).toEqual([
      ['middle', 's3://two/a/b/'],
    ])
  })

  test('is taken beside one that its text merely begins with', async () => {
    await take(store, ours, 'short', 's3://three/t/')
    for (const prefix of ['s3://three/t2/', 's3://three/t-/', 's3://three/s/', 's3://three-b/t/'])
      expect(await overlaps(take(store, ours, `beside ${prefix}`, prefix))).toEqual([])
  })

  test('is the table’s own to widen and to take again', async () => {
    await take(store, ours, 'own', 's3://four/a/b/')
    expect(await overlaps(take(store, ours, 'own', 's3://four/a/'))).toEqual([])
    expect(await overlaps(take(store, ours, 'own', 's3://four/a/'))).toEqual([])
    expect([...(await prefixesOf('own'))].sort()).toEqual(['s3://four/a/', 's3://four/a/b/'])
  })

  test('of another catalog’s table of that name is another table’s, unless its uuid is the same', async () => {
    await take(store, ours, 'twin', 's3://five/t/', { tableUuid: 'u1' })
    const there = { catalog: catalogB }
    expect(await overlaps(take(store, ours, 'twin', 's3://five/t/', there))).toEqual([
      ['twin', 's3://five/t/'],
    ])
    expect(await overlaps(take(store, ours, 'twin', 's3://five/t/', { ...there, tableUuid: 'u2' }))).toEqual([
      ['twin', 's3://five/t/'],
    ])
    expect(await prefixesOf('twin', ours, catalogB, 'u2')).toEqual([])
    expect(await overlaps(take(store, ours, 'twin', 's3://five/t/', { ...there, tableUuid: 'u1' }))).toEqual(
      [],
    )
    expect(await prefixesOf('twin', ours, catalogB, 'u1')).toEqual(['s3://five/t/'])
  })

  test('of another tenant is neither met nor seen', async () => {
    await take(store, theirs, 'foreign', 's3://six/t/')
    expect(await overlaps(take(store, ours, 'ours', 's3://six/t/'))).toEqual([])
    const { territory } = await loadWriteGovernance(store, ours, tableOf('x'), ancestorsOf('s3://six/t/'))
    expect(territory.rows.map(({ table }) => table.name)).toEqual(['ours'])
    expect(await prefixesOf('foreign')).toEqual([])
  })
})

test('a strict claim takes nothing where one of its prefixes is another table’s, any other takes the rest', async () => {
  await take(store, ours, 'held', 's3://seven/held/')
  const claim = (name: string, strict: boolean) =>
    claimTerritory(store, ours, {
      owner: { catalog: catalogA, credentialId: credentialA, table: tableOf(name), tableUuid: undefined },
      source: 'commit',
      strict,
      prefixes: [`s3://seven/${name}/`, 's3://seven/held/'].map((prefix) => ({
        prefix,
        kind: 'location' as const,
        ancestors: ancestorsOf(prefix),
      })),
    })
  await claim('strict', true)
  expect(await prefixesOf('strict')).toEqual([])
  await claim('lax', false)
  expect(await prefixesOf('lax')).toEqual(['s3://seven/lax/'])
})

test('an overlap is listed once, with how often it was seen', async () => {
  await take(store, ours, 'listed', 's3://eight/t/')
  for (let time = 0; time < 3; time++) await take(store, ours, 'lister', 's3://eight/t/below/')
  expect(await conflicts('lister')).toEqual([
    {
      prefix: 's3://eight/t/below/',
      reason: 'overlap',
      owner: { namespace: ['sales'], name: 'listed' },
      seen: '3',
    },
  ])
  expect(await conflicts('lister', theirs)).toEqual([])
})

test('what is at or above the prefixes that are asked for comes with the policies', async () => {
  await take(store, ours, 'asked', 's3://nine/a/b/')
  const rows = async (ancestors: readonly string[]) =>
    (await loadWriteGovernance(store, ours, tableOf('asker'), ancestors)).territory.rows.map(
      (row) => row.prefix,
    )
  expect(await rows(ancestorsOf('s3://nine/a/b/c/x.avro'))).toEqual(['s3://nine/a/b/'])
  expect(await rows(ancestorsOf('s3://nine/a/x.avro'))).toEqual([])
  expect(await rows([])).toEqual([])
})

test('what a commit took goes with its intent, and stays once its table was seen', async () => {
  const table = tableOf('failed')
  const opened = async () => {
    const intent = intentOf({ table })
    await openIntent(store, ours, intent)
    return intent.commitId
  }
  const failed = await opened()
  await take(store, ours, 'failed', 's3://ten/t/', { commitId: failed })
  expect(await prefixesOf('failed')).toEqual(['s3://ten/t/'])
  await closeIntent(store, ours, failed)
  expect(await prefixesOf('failed')).toEqual([])
  const made = await opened()
  await take(store, ours, 'failed', 's3://ten/t/', { commitId: made })
  await take(store, ours, 'failed', 's3://ten/t/', { tableUuid: 'seen' })
  await closeIntent(store, ours, made)
  expect(await prefixesOf('failed')).toEqual(['s3://ten/t/'])
})

test('a renamed table keeps its territory under its new name, and only in its own catalog', async () => {
  await take(store, ours, 'old', 's3://eleven/t/')
  await take(store, ours, 'old', 's3://eleven/other/', { catalog: catalogB })
  const intent = intentOf({ table: tableOf('old'), action: 'rename-table', catalog: catalogA })
  const approved = { intent, decision: 'APPROVED', reason: '', policies: [], outcomes: [] } as const
  await recordVerdict(store, ours, { ...approved, renamedTo: tableOf('new') })
  expect(await prefixesOf('new')).toEqual(['s3://eleven/t/'])
  expect(await prefixesOf('old')).toEqual([])
  expect(await prefixesOf('old', ours, catalogB)).toEqual(['s3://eleven/other/'])
})

describe('the version', () => {
  test('rises with every change of the territory, and with nothing else', async () => {
    const before = await versionOf()
    const foreign = await versionOf(theirs)
    await take(store, ours, 'versioned', 's3://twelve/t/')
    const after = await versionOf()
    expect(BigInt(after)).toBe(BigInt(before) + 1n)
    await take(store, ours, 'versioned', 's3://twelve/t/')
    await take(store, ours, 'late', 's3://twelve/t/')
    expect(await versionOf()).toBe(after)
    expect(await versionOf(theirs)).toBe(foreign)
  })
})

test('a new tenant enforces its territory', async () => {
  expect((await loadWriteGovernance(store, ours, tableOf('x'))).territory.mode).toBe('enforce')
})

test('a read loads the territory of its tables in the same call, and no other table’s', async () => {
  const endpoint = 'https://catalog.example'
  for (const tenant of [ours, theirs])
    await putCatalogCredential(store, tenant, { nickname: 'main', kind: 'alpha', endpoint, config: {} })
  await take(store, ours, 'read', 's3://read/t/')
  await take(store, ours, 'unread', 's3://read/u/')
  await take(store, theirs, 'read', 's3://read/theirs/')
  const call = await loadRead(store, ours, 'main', [tableOf('read')])
  expect(call?.territory.rows.map(({ prefix }) => prefix)).toEqual(['s3://read/t/'])
  expect(call?.territory.mode).toBe('enforce')
})

test('a tenant whose state cannot be seen gets no verdict', async () => {
  const lost = (await createTenant(store, { name: 'lost' })).id
  await store.ownerTransaction(lost, (tx) => tx.query('delete from svc.territory_state', []))
  const kind = await loadWriteGovernance(store, lost, tableOf('x')).then(
    () => 'none',
    (fault) => fault.kind,
  )
  expect(kind).toBe('policy_engine_unavailable')
})
