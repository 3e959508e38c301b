/**
 * Values that a writer put into a change are on record: in the explanation of its denial, in its body, in the path of a
 * file in quarantine or outside of the table's territory. Stewards read them, and who may read every value of the table; of a foreign tenant nobody does.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { explainDecision } from '../../src/gateway/oversight/explain-decision.ts'
import { listCatalogCredentials } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { showsWritten } from '../../src/store/governance/written-values.ts'
import { intentOf, rejectedOf } from '../support/commits.ts'
import { call } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { type SeenTables, seenTables, startSeenTables } from '../support/seen-tables.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { catalogA, noteConflict, quarantineSnapshot } from '../support/territory.ts'

setDefaultTimeout(300_000)

const secret = 'salary-4711'
const kinds = ['open', 'filtered', 'masked', 'bare'] as const
type Kind = (typeof kinds)[number]

let s: SeenTables
const denied = new Map<Kind, string>()
const held = new Map<Kind, string>()

async function plant(tenant: TenantId, kind: Kind, table: TableRef): Promise<void> {
  const { store } = s.service
  const credentialId = (await listCatalogCredentials(store, tenant)).items[0]?.id ?? ''
  const setting = { requirements: [], updates: [{ action: 'set-properties', updates: { note: secret } }] }
  const body = Bun.zstdCompressSync(JSON.stringify(setting))
  const intent = intentOf({ table, credentialId, body, principal: { sub: 'etl', roles: [] } })
  await openIntent(store, tenant, intent)
  const outcome = { policyId: 'p', name: 'note', mode: 'enforce', value: false } as const
  const explanation = `commit.updates[0].updates.note = "${secret}"`
  await recordVerdict(store, tenant, {
    ...rejectedOf(intent, 'note: set no note'),
    outcomes: [{ ...outcome, explanation }],
  })
  const left = intentOf({ table, credentialId, body })
  await openIntent(store, tenant, left)
  const detail = `data file s3://lake/pay=${secret}/1.parquet`
  await quarantineSnapshot(store, tenant, catalogA, undefined, table.name, detail)
  await noteConflict(store, tenant, { table, credentialId, prefix: `s3://lake/pay=${secret}/` })
  if (tenant !== s.service.owner.tenant) return
  denied.set(kind, intent.commitId)
  held.set(kind, left.commitId)
}

beforeAll(async () => {
  s = await startSeenTables({ env: { SVC_LICENSE: licenseForAll() } })
  for (const kind of kinds) {
    await plant(s.service.owner.tenant, kind, seenTables[kind])
    await plant(s.foreign.tenant, kind, seenTables[kind])
  }
})
afterAll(() => s[Symbol.asyncDispose]())

const callers = [
  ['a steward', ['steward'], kinds],
  ['an administrator', ['administrator'], ['open']],
  ['an owner', ['owner'], ['open']],
  ['an administrator who is exempt', ['administrator', 'officer'], ['open', 'filtered', 'masked']],
  ['an auditor', ['auditor'], []],
] as const
type Reads = (ask: (path: string) => Promise<string>, kind: Kind) => Promise<string>
const of = (kind: Kind) => `namespace=sales&table=${kind}`
const reads: readonly (readonly [string, Reads])[] = [
  ['a decision', (ask, kind) => ask(`decisions/${denied.get(kind)}`)],
  ['a list of decisions', (ask, kind) => ask(`decisions?explain=true&${of(kind)}`)],
  ['an export of decisions', (ask, kind) => ask(`decisions/export?${of(kind)}`)],
  ['an export as CSV', (ask, kind) => ask(`decisions/export?format=csv&${of(kind)}`)],
  ['a list of refusals', (ask, kind) => ask(`refusals?${of(kind)}`)],
  ['an intent', (ask, kind) => ask(`intents/${held.get(kind)}`)],
  ['a list of quarantined snapshots', (ask, kind) => ask(`territory/quarantine?${of(kind)}`)],
  ['a list of conflicts', (ask, kind) => ask(`territory/conflicts?${of(kind)}`)],
  [
    'a quarantined snapshot',
    async (ask, kind) => {
      const [found] = (
        JSON.parse(await ask(`territory/quarantine?${of(kind)}`)) as { items?: { id: string }[] }
      ).items ?? [{ id: crypto.randomUUID() }]
      return await ask(`territory/quarantine/${found?.id}`)
    },
  ],
]

describe.each(callers)('%s', (_, roles, shown) => {
  test.each(reads)('reads in %s the values of tables all of whose values it may read', async (_, read) => {
    const session = await s.session(roles.join(' '), [...roles], ['read'])
    for (const kind of kinds) {
      const text = await read(
        async (path) => await (await call(s.service, 'GET', `/api/v1/${path}`, { secret: session })).text(),
        kind,
      )
      const isRefused = text.includes('"error"')
      expect([kind, text.includes(secret)]).toEqual([kind, !isRefused && shown.includes(kind as never)])
      if (!isRefused) expect(text).toContain(kind)
    }
  })

  test('is told as much of why a commit was denied by the tool of agents', async () => {
    const { store, owner } = s.service
    for (const kind of kinds) {
      const found = await explainDecision(store, callerOf(owner.tenant, 'x', roles), denied.get(kind) ?? '')
      expect([kind, JSON.stringify(found).includes(secret)]).toEqual([kind, shown.includes(kind as never)])
      expect(JSON.stringify(found)).toContain('note: set no note')
    }
  })
})

const callerOf = (
  tenant: TenantId,
  sub: string,
  roles: readonly string[] = [],
  sessionId: string = crypto.randomUUID(),
) => ({ tenant, principal: { sub, roles }, session: { sessionId } })

test('a writer whose commit names another subject is told by the session that it came with, and nobody else is', async () => {
  const { store, owner } = s.service
  const id = crypto.randomUUID()
  const intent = intentOf({ origin: { session: { id, name: 'ci-writer' } } })
  await openIntent(store, owner.tenant, intent)
  await recordVerdict(store, owner.tenant, rejectedOf(intent))
  const ask = (sub: string, sessionId?: string, tenant = owner.tenant) =>
    explainDecision(store, callerOf(tenant, sub, [], sessionId), intent.commitId)
  expect(await ask('ci-writer', id)).toMatchObject({ commitId: intent.commitId })
  expect(await ask(intent.principal.sub)).toMatchObject({ commitId: intent.commitId })
  expect(await ask('ci-writer')).toBeUndefined()
  const foreign = await makeTenant(store, { name: 'another writer' })
  expect(await ask('ci-writer', id, foreign.id)).toBeUndefined()
})

test('the committer reads the reason of a denial, and not the explanation', async () => {
  const { store, owner } = s.service
  const found = await explainDecision(store, callerOf(owner.tenant, 'etl'), denied.get('open') ?? '')
  expect(found).toMatchObject({ reason: 'note: set no note', policies: [{ name: 'note' }] })
  expect(JSON.stringify(found)).not.toContain(secret)
})

test('the operator reads no value of any table, and a foreign steward none of these', async () => {
  const { store, owner } = s.service
  const shown = await showsWritten(store, owner.tenant, 'operator', Object.values(seenTables))
  expect(Object.values(seenTables).some(shown)).toBe(false)
  for (const kind of kinds)
    expect((await s.call('foreign', 'GET', `/api/v1/decisions/${denied.get(kind)}`)).status).toBe(404)
})
