/** Which changes raise a tenant's governance version, and that the replica that makes one knows it at once. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { ChangeContext } from '../../../src/contract/change.ts'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { deleteMask } from '../../../src/contract/delete-mask.ts'
import { deleteRowFilter } from '../../../src/contract/delete-row-filter.ts'
import { deleteTag } from '../../../src/contract/delete-tag.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import type { GrantLifts } from '../../../src/core/access-grant.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import {
  putCatalogCredential,
  removeCatalogCredential,
  rotateCatalogCredential,
} from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { dueGrants, endGrant, insertGrant, lockGrant } from '../../../src/store/contract/access-grants.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { putReadSettings } from '../../../src/store/contract/read-settings.ts'
import { loadGovernance } from '../../../src/store/governance/governance.ts'
import {
  readGovernanceVersion,
  subscribeToGovernanceVersions,
} from '../../../src/store/governance/governance-versions.ts'
import { loadRead } from '../../../src/store/governance/read-call.ts'
import {
  createBrowserSession,
  endBrowserSession,
  findBrowserSession,
} from '../../../src/store/session/browser-sessions.ts'
import {
  createServiceSession,
  findServiceSessionById,
  revokeServiceSession,
} from '../../../src/store/session/sessions.ts'
import { createTenant, resumeTenant, suspendTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['hr'], name: 'people' }
const email = { table, column: 'email' }
const endpoint = 'https://catalog.example'
const credential = {
  nickname: 'main',
  kind: 'alpha',
  endpoint,
  config: { endpoint, warehouse: 'w' },
} as const
const principal = { sub: 'ada', roles: [] }
const everyone = { exemptRoles: [] }
const change = { table, actor: actorOf('stella'), atMs: 0 }
let store: TestStore
let tenant: TenantId
let foreign: TenantId
let on: ChangeContext
let heard: string[]

beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'home' })).id
  foreign = (await createTenant(store, { name: 'foreign' })).id
  on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  await commitColumns(store, tenant, table, { id: 'long', email: 'string' })
  await putCatalogCredential(store, tenant, credential)
  subscribeToGovernanceVersions(store, (whose, version) => heard.push(`${whose} ${version}`))
})
afterAll(() => store[Symbol.asyncDispose]())

/** By how much the versions rise, the tenant's and the foreign one's. @returns what `work` gives */
async function raises<T>(by: number, work: () => Promise<T>): Promise<T> {
  const before = await readGovernanceVersion(store, tenant)
  const foreignBefore = await readGovernanceVersion(store, foreign)
  heard = []
  const result = await work()
  // Sessions that wait hear of it, too.
  const told = [...new Set(heard)]
  const version = await readGovernanceVersion(store, tenant)
  expect(version - before).toBe(BigInt(by))
  expect(told).toEqual(by === 0 ? [] : [`${tenant} ${version}`])
  expect(await readGovernanceVersion(store, foreign)).toBe(foreignBefore)
  return result
}

describe('raises the version by one, and is heard of before it has returned:', () => {
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'a contract that is put': () => putContract(on, table, { id: 'people', version: 1 }),
    'a contract that is put in its place': () => putContract(on, table, { id: 'people', version: 2 }),
    'a contract that is ended': () => deleteContract(on, table),
    'a row filter': () => putRowFilter(on, { table }, { id: 'f', expression: 'id > 1', ...everyone }),
    'a row filter that is changed': () =>
      putRowFilter(on, { table }, { id: 'f', expression: 'id > 2', ...everyone }),
    'a row filter that is removed': () => deleteRowFilter(on, { table }, 'f'),
    'a mask': () => putMask(on, email, { id: 'm', action: 'replace-with-null', ...everyone }),
    'a mask that is removed': () => deleteMask(on, email, 'm'),
    'a mask of a tag': () =>
      putMask(on, { tag: 'pii' }, { id: 't', action: 'replace-with-null', ...everyone }),
    'a row filter of a tag': () =>
      putRowFilter(on, { tag: 'pii' }, { id: 'r', expression: 'id > 1', ...everyone }),
    'a tag': () => putTag(on, table, 'email', 'pii'),
    'a tag that is removed': () => deleteTag(on, table, 'email', 'pii'),
    'a pin': () => pinTable(store, tenant, change, { snapshotId: 1n, schemaId: 0n, catalog: 'main' }),
    'a pin that is ended': () => unpinTable(store, tenant, change),
    'an opt-in': () => putReadSettings(store, tenant, actorOf('stella'), { uncontracted: 'readable' }),
    'an opt-in that is withdrawn': () =>
      putReadSettings(store, tenant, actorOf('stella'), { uncontracted: 'to_writers' }),
    'a catalog credential that is put': () => putCatalogCredential(store, tenant, credential),
    'a catalog credential that is rotated': () =>
      rotateCatalogCredential(store, tenant, 'main', { credential: 'a:b' }),
    'a catalog credential that is removed': () => removeCatalogCredential(store, tenant, 'main'),
    'a tenant that is suspended': () => suspendTenant(store, tenant),
    'a tenant that is resumed': () => resumeTenant(store, tenant),
  }
  test.each(Object.entries(changes))('%s', async (_, work) => void (await raises(1, work)))

  test('a service session that is revoked', async () => {
    const session = { name: 'bi', principal, scopes: ['read'] } as const
    const { id } = await raises(0, () => createServiceSession(store, tenant, session))
    await raises(1, () => revokeServiceSession(store, tenant, id))
  })

  test('a browser session that is ended, and not its use', async () => {
    const session = { principal, scopes: ['read'], providerSid: undefined } as const
    const secret = (await raises(0, () => createBrowserSession(store, tenant, session, undefined))) ?? ''
    await raises(0, () => findBrowserSession(store, secret))
    await raises(1, () => endBrowserSession(store, secret))
  })
})

describe('a grant of access', () => {
  const fromMs = 1_800_000_000_000
  const [from, until] = [new Date(fromMs), new Date(fromMs + 3_600_000)]
  const given = async (lifts: GrantLifts = { columns: [], filters: ['f'] }) => {
    const id = crypto.randomUUID()
    await store.tenantTransaction(tenant, (tx) =>
      insertGrant(tx, tenant, {
        ...{ id, request: crypto.randomUUID(), table, contract: 'people', grantee: { sub: 'ann' }, lifts },
        ...{ purpose: 'refund', ticket: undefined, grantedAt: from, grantedBy: actorOf('stella') },
        ...{ from, until },
      }),
    )
    return id
  }
  const revoked = (id: string, at: Date) =>
    store.tenantTransaction(tenant, async (tx) => {
      const grant = await lockGrant(tx, tenant, id)
      if (grant === undefined) throw new Error('there is no such grant')
      await endGrant(tx, tenant, grant, { at, by: actorOf('stella'), reason: 'enough' })
    })

  test('raises it where it is given and where it is revoked', async () => {
    const id = await raises(1, given)
    await raises(1, () => revoked(id, new Date(fromMs + 1)))
  })

  test('raises it where somebody ends it at the time of a clock that is ahead', async () => {
    const id = await given()
    await raises(1, () => revoked(id, new Date(until.getTime() + 1)))
  })

  test('raises nothing where it is written down that its time is over, which every reader sees by the time', async () => {
    await given()
    await raises(0, () =>
      store.tenantTransaction(tenant, async (tx) => {
        const due = await dueGrants(tx, tenant, until)
        expect(due).toHaveLength(1)
        for (const grant of due)
          await endGrant(tx, tenant, grant, { at: grant.until, reason: 'its time was over' })
      }),
    )
  })

  test('is held by what governs reads as far as it is about reads', async () => {
    const policies = [{ id: 'freeze', effect: 'e' }]
    await given({ columns: [], filters: [], policies })
    const both = await given({ columns: [], filters: ['f'], policies })
    const governance = await loadGovernance(store, tenant, table)
    expect(governance?.grants).toMatchObject([{ id: both }])
    expect(governance?.grants?.[0]?.lifts).toEqual({ columns: [], filters: ['f'] })
  })
})

test('a commit raises nothing, whatever it makes of the columns', async () => {
  await raises(0, () =>
    commitColumns(store, tenant, table, { id: 'long', name: 'string' }, 1_800_000_000_000),
  )
})

test('a change that is taken back raises nothing', async () => {
  await raises(0, () =>
    store
      .tenantTransaction(tenant, async (tx) => {
        await tx.query(`insert into svc.read_setting values ($1, 'readable') on conflict do nothing`, [
          tenant,
        ])
        await tx.query(`update svc.read_setting set uncontracted = 'readable'`)
        throw new Error('taken back')
      })
      .catch(() => {}),
  )
})

test('a load tells the version, and the foreign tenant its own', async () => {
  for (const whose of [tenant, foreign]) await putCatalogCredential(store, whose, credential)
  for (const whose of [tenant, foreign])
    expect((await loadRead(store, whose, 'main', []))?.governanceVersion).toBe(
      await readGovernanceVersion(store, whose),
    )
  expect(await readGovernanceVersion(store, foreign)).toBe(1n)
})

test('every label by which a read finds its policies raises it', async () => {
  const { labels, raising } = await store.ownerTransaction(tenant, async (tx) => {
    const [found] = await tx.query<{ readonly text: string }>(
      `select pg_get_functiondef('svc.governance'::regproc) as text`,
    )
    const rows = await tx.query<{ readonly label: string }>(
      `select c.relname as label from pg_trigger g join pg_class c on c.oid = g.tgrelid
       where g.tgname = 'governance_version' and c.relnamespace = $1::regnamespace`,
      [`g_${tenant.replaceAll('-', '_')}`],
    )
    const named = [...(found?.text ?? '').matchAll(/(?:from|join) "(\w+)"/g)].map(([, label = '']) => label)
    return { labels: new Set(named), raising: new Set(rows.map(({ label }) => label)) }
  })
  // What commits write: a policy stays with the node of its column or tag. Pins are found by their edge.
  const written = ['Table', 'Column', 'HAS_COLUMN', 'Tag', 'PinEvent']
  expect(new Set([...raising, ...written])).toEqual(labels)
})

test('a session is found with its end', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000)
  const session = { name: 'bi', principal, scopes: ['read'], expiresAt } as const
  const { id } = await createServiceSession(store, tenant, session)
  expect((await findServiceSessionById(store, id))?.expiresAtMs).toBe(expiresAt.getTime())
})
