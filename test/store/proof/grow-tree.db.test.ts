/** The sequencer while transactions overlap, replicas compete and connections are cut, which needs several of them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordAdministration } from '../../../src/store/administration/administration-log.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { growOnce } from '../../../src/store/proof/grow-tree.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { intentOf, rejectedOf } from '../../support/commits.ts'
import { allLeaves, expectTreeOfRows, growAll, growOn } from '../../support/proof.ts'
import { openTestStore, type TestStore, testStoreOptions } from '../../support/store.ts'

setDefaultTimeout(300_000)

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('the sequencer on a server', () => {
  let store: TestStore
  let replica: Store
  let held: postgres.Sql
  beforeAll(async () => {
    store = await openTestStore({ poolMax: 12 })
    replica = await openStore({
      ...testStoreOptions,
      databaseUrl: store.databaseUrl,
      migrate: false,
      poolMax: 4,
    })
    held = postgres(store.databaseUrl ?? '', { max: 1, onnotice: () => {} })
  })
  afterAll(async () => {
    await held?.end()
    await replica?.close()
    await store?.[Symbol.asyncDispose]()
  })

  const newTenant = async (name: string): Promise<TenantId> => {
    const { id } = await createTenant(store, { name })
    await growAll(store, id)
    return id
  }
  const verdicts = async (tenant: TenantId) =>
    (await allLeaves(store, tenant)).filter(({ kind }) => kind === 'verdict')

  test('a decision whose number was drawn first and committed last gets its leaf, once', async () => {
    const tenant = await newTenant('late decision')
    const late = crypto.randomUUID()
    await held.begin(async (sql) => {
      await sql.unsafe('select pg_current_xact_id()')
      await sql.unsafe(`insert into svc.audit_log (tenant_id, commit_id, committer, decision, reason, principal_source, principal,
          table_id, namespace, table_name, credential_id, body_sha256, body, base_metadata_location, policies, outcomes, received_at)
        values ('${tenant}', '${late}', 'w', 'REJECTED', 'no', 'session', '{}', 't', '[]', 't', '${late}', '', '', '', '[]', '[]', now())`)
      for (let at = 0; at < 3; at += 1) {
        await recordVerdict(store, tenant, rejectedOf(intentOf()))
        await growOn(store, tenant)
      }
      expect(await verdicts(tenant)).toEqual([])
    })
    await growAll(store, tenant)
    expect(await verdicts(tenant)).toHaveLength(4)
    await expectTreeOfRows(store, tenant)
  })

  test('an act whose transaction had no id when it drew its number gets its leaf all the same', async () => {
    const tenant = await newTenant('late act')
    const [drawn] = await held.unsafe<{ number: string }[]>(
      `select nextval(pg_get_serial_sequence('svc.administration_log', 'administration_seq')) as number`,
    )
    for (let at = 0; at < 3; at += 1) {
      await store.tenantTransaction(tenant, (tx) =>
        recordAdministration(tx, actorOf('ann'), { action: 'put-settings', subject: { at } }),
      )
      await growAll(store, tenant)
    }
    await held.unsafe(
      `insert into svc.administration_log (tenant_id, administration_seq, action, subject, actor_sub, actor, request_id)
       overriding system value values ('${tenant}', ${drawn?.number}, 'put-settings', '{}', 'ann', '{}', 'r')`,
    )
    await store.tenantTransaction(tenant, (tx) =>
      recordAdministration(tx, actorOf('ann'), { action: 'put-settings', subject: {} }),
    )
    await growAll(store, tenant)
    const leaves = await expectTreeOfRows(store, tenant)
    expect(leaves.some(({ ref }) => ref === BigInt(drawn?.number ?? 0))).toBe(true)
  })

  test('two replicas, under writers and cut connections, leave no row out, and take none twice or out of order', async () => {
    const tenant = await newTenant('replicas')
    const foreign = await newTenant('replicas foreign')
    let isWriting = true
    const written = new Set<string>()
    const write = async () => {
      while (isWriting) {
        const intent = intentOf()
        await recordVerdict(store, tenant, rejectedOf(intent)).then(
          () => written.add(intent.commitId),
          () => {},
        )
      }
    }
    const sequence = async (on: Store) => {
      while (isWriting) await growOnce(on, tenant, 7).catch(() => {})
    }
    let cut = 0
    const cutOff = async () => {
      while (cut < 12) {
        const rows = await held.unsafe(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and query like '%audit\\_%' and state <> 'idle' limit 1`,
        )
        cut += rows.length
      }
      isWriting = false
    }
    await Promise.all([write(), write(), write(), sequence(store), sequence(replica), cutOff()])
    await growAll(replica, tenant)
    const leaves = await expectTreeOfRows(store, tenant)
    const entries = leaves.map(({ entry }) => Buffer.from(entry ?? []).toString())
    for (const id of written) expect(entries.filter((entry) => entry.includes(id))).toHaveLength(1)
    const numbers = leaves.filter(({ kind }) => kind === 'verdict').map(({ ref }) => ref)
    expect(numbers).toEqual(numbers.toSorted((a, b) => (a < b ? -1 : 1)))
    expect(await growAll(store, foreign)).toBe(0)
  })
})
