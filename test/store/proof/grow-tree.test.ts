/** The audit tree: what is in it, in which order, and that it is the tree of the rows. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordAdministration } from '../../../src/store/administration/administration-log.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { endGrant, listGrants } from '../../../src/store/contract/access-grants.ts'
import { recordChange } from '../../../src/store/contract/changes.ts'
import { growOnce, importProgress } from '../../../src/store/proof/grow-tree.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { seedAccess } from '../../support/access-rows.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, intentOf, rejectedOf } from '../../support/commits.ts'
import { allLeaves, expectTreeOfRows, growAll, storedRoot } from '../../support/proof.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { usageRecord } from '../../support/usage.ts'

let store: TestStore
beforeAll(async () => {
  store = await openTestStore()
})
afterAll(() => store?.[Symbol.asyncDispose]())

const newTenant = async (name: string): Promise<TenantId> => (await makeTenant(store, { name })).id
const commits = async (tenant: TenantId, count: number) => {
  for (let at = 0; at < count; at += 1) await recordVerdict(store, tenant, rejectedOf(intentOf()))
}
/** The leaves after the first, which says that the tenant was made. */
const kindsOf = async (tenant: TenantId) => {
  const counts: Record<string, number> = {}
  for (const { kind } of (await allLeaves(store, tenant)).slice(1)) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

describe('the tree of a tenant', () => {
  test('has a leaf for each decision, change, grant, end of a grant and act of administration', async () => {
    const tenant = await newTenant('kinds')
    await growAll(store, tenant)
    await recordVerdict(store, tenant, approvedOf(intentOf()))
    await commits(tenant, 1)
    await seedAccess(store, tenant)
    await store.tenantTransaction(tenant, async (tx) => {
      const subject = { table: { namespace: ['a'], name: 'b' }, tag: 'pii' }
      await recordChange(tx, actorOf('ann'), { action: 'put-tag', subject, value: { by: 'ann' } })
    })
    const [grant] = (await listGrants(store, tenant, {}, undefined, {})).items
    if (grant === undefined) throw new Error('no grant')
    await growAll(store, tenant)
    expect(await kindsOf(tenant)).toEqual({ verdict: 2, change: 1, administration: 1, grant: 1 })

    await store.tenantTransaction(tenant, (tx) =>
      endGrant(tx, tenant, grant, { at: new Date(), by: actorOf('bob'), reason: 'no longer needed' }),
    )
    await growAll(store, tenant)
    expect((await kindsOf(tenant))['grant-end']).toBe(1)
    await expectTreeOfRows(store, tenant)
  })

  test('shows no subject and no word of a person, and says which commit it proves', async () => {
    const tenant = await newTenant('words')
    await growAll(store, tenant)
    const intent = intentOf()
    await recordVerdict(store, tenant, rejectedOf(intent, 'The order of Ann is missing.'))
    await growAll(store, tenant)
    const [, leaf] = await expectTreeOfRows(store, tenant)
    const text = Buffer.from(leaf?.entry ?? []).toString()
    expect(text).toStartWith('covenant/verdict/v1\n{')
    expect(text).toContain(`"commit":"${intent.commitId}"`)
    expect(text).toContain('"decision":"REJECTED"')
    for (const word of ['writer', 'example.com', 'Ann', 'etl']) expect(text).not.toContain(word)
  })

  test('marks what was there before it as imported, in bounded steps, and says how far it is', async () => {
    const tenant = await newTenant('imported')
    await commits(tenant, 7)
    expect(await growOnce(store, tenant, 3)).toEqual({ added: 0, goesOn: true })
    await commits(tenant, 2)
    expect(await growOnce(store, tenant, 3)).toEqual({ added: 3, goesOn: true })
    const half = await importProgress(store, tenant)
    expect(half.done).toBeGreaterThan(0n)
    expect(half.done).toBeLessThan(half.all)
    expect(await growAll(store, tenant)).toBe(7)
    const { done, all } = await importProgress(store, tenant)
    expect(done).toBe(all)
    const leaves = await expectTreeOfRows(store, tenant)
    const imported = leaves.map(({ entry }) => Buffer.from(entry ?? []).includes('"imported":true'))
    expect(imported).toEqual([...Array(8).fill(true), false, false])
  })

  test('grows over full tiles, and is the same whatever the steps', async () => {
    const tenant = await newTenant('tiles')
    await growAll(store, tenant)
    await store.tenantTransaction(tenant, async (tx) => {
      for (let at = 0; at < 600; at += 1)
        await recordAdministration(tx, actorOf('ann'), { action: 'put-settings', subject: { at } })
    })
    let step = { added: 0, goesOn: true }
    for (let most = 1; step.goesOn; most += 60) step = await growOnce(store, tenant, most)
    expect((await storedRoot(store, tenant)).size).toBe(601)
    await expectTreeOfRows(store, tenant)
    expect(await growAll(store, tenant)).toBe(0)
  })

  test('has one leaf for the usage of an hour, which stays when its records go', async () => {
    const tenant = await newTenant('usage')
    await growAll(store, tenant)
    for (let at = 0; at < 5; at += 1) await recordUsage(store, tenant, usageRecord())
    await growAll(store, tenant)
    expect(await kindsOf(tenant)).toEqual({})
    await hourPasses(tenant)
    await growAll(store, tenant)
    const [, leaf] = await expectTreeOfRows(store, tenant)
    expect(leaf?.kind).toBe('usage-hour')
    expect(Buffer.from(leaf?.entry ?? []).toString()).toContain('"rows":5')
  })

  test('does not know the rows of another tenant', async () => {
    const [home, foreign] = [await newTenant('home'), await newTenant('foreign')]
    for (const tenant of [home, foreign]) await growAll(store, tenant)
    await commits(foreign, 3)
    expect(await growAll(store, home)).toBe(0)
    expect(await growAll(store, foreign)).toBe(3)
    expect((await storedRoot(store, home)).size).toBe(1)
    const seen = await store
      .tenantQuery(home, `select from "t_${foreign.replaceAll('-', '_')}".audit_leaf`)
      .catch(() => [])
    expect(seen).toEqual([])
  })

  test('cannot be changed through the store', async () => {
    const tenant = await newTenant('append')
    await growAll(store, tenant)
    await commits(tenant, 1)
    await growAll(store, tenant)
    for (const text of [
      'update audit_leaf set index = 7',
      'delete from audit_leaf',
      'delete from audit_tile',
      "update audit_batch set entry = ''",
      'delete from audit_checkpoint',
    ]) {
      const refused = await store.tenantQuery(tenant, text).then(
        () => false,
        () => true,
      )
      expect(refused).toBe(true)
    }
  })
})

/** As if the numbers of the last hour had been noted in that hour. */
async function hourPasses(tenant: TenantId): Promise<void> {
  await store.tenantQuery(tenant, `update audit_mark set newest_at = newest_at - interval '1 hour'`)
}
