/** The sequence of events while transactions overlap, which needs several connections. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { appendEvent, lastEvent, readEvents } from '../../../src/store/event/events.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { intentOf, rejectedOf } from '../../support/commits.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('events on a server', () => {
  let store: TestStore
  let home: TenantId
  let foreign: TenantId
  let held: postgres.Sql

  beforeAll(async () => {
    store = await openTestStore({ poolMax: 16 })
    held = postgres(store.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    home = (await createTenant(store, { name: 'home' })).id
    foreign = (await createTenant(store, { name: 'foreign' })).id
  })
  afterAll(async () => {
    await held?.end()
    await store?.[Symbol.asyncDispose]()
  })

  /** Reads to the end, and keeps what came. */
  async function readOn(tenant: TenantId, seen: { after: bigint; ids: string[] }): Promise<void> {
    for (;;) {
      const events = await readEvents(store, tenant, seen.after)
      if (events.length === 0) return
      for (const { sequence, subject, data } of events) {
        expect(sequence).toBe(seen.after + 1n)
        seen.after = sequence
        seen.ids.push(String(data.commit_id ?? subject))
      }
    }
  }

  test('a decision whose number was drawn first and committed last is read once it is there', async () => {
    const seen = { after: await lastEvent(store, home), ids: [] as string[] }
    const [late, early] = [intentOf(), intentOf()]
    const insert = `insert into svc.audit_log (tenant_id, commit_id, committer, decision, reason, principal_source, principal,
        table_id, namespace, table_name, credential_id, body_sha256, body, base_metadata_location, policies, outcomes, received_at)
      values ('${home}', '${late.commitId}', 'w', 'REJECTED', 'no', 'session', '{}', 't', '[]', 't', '${late.credentialId}', '',
        '', '', '[]', '[]', now())`
    await held.begin(async (sql) => {
      await sql.unsafe('select pg_current_xact_id()')
      await sql.unsafe(insert)
      // Others commit and are read, several times, while the number before theirs is not committed.
      for (let reading = 0; reading < 4; reading += 1) {
        await recordVerdict(store, home, rejectedOf(reading === 0 ? early : intentOf()))
        await readOn(home, seen)
      }
      expect(seen.ids).toHaveLength(4)
    })
    await readOn(home, seen)
    expect(seen.ids).toHaveLength(5)
    expect(seen.ids[0]).toBe(early.commitId)
    expect(seen.ids[4]).toBe(late.commitId)
  })

  test('no event is lost or told twice while 12 writers and 3 readers work on two tenants', async () => {
    const tenants = [home, foreign]
    const begins = await Promise.all(tenants.map((tenant) => lastEvent(store, tenant)))
    const written = tenants.map(() => new Set<string>())
    let writing = 12
    const writers = Array.from({ length: writing }, async (_, writer) => {
      const at = writer % 2
      const tenant = tenants[at] as TenantId
      for (let count = 0; count < 25; count += 1) {
        const intent = intentOf()
        if (count % 3 === 0) {
          await store.tenantTransaction(tenant, (tx) =>
            appendEvent(tx, { type: 'contract.moved', subject: intent.commitId, data: {} }),
          )
        } else await recordVerdict(store, tenant, rejectedOf(intent))
        written[at]?.add(intent.commitId)
      }
      writing -= 1
    })
    const readers = [0, 1, 0].map(async (at) => {
      const seen = { after: begins[at] ?? 0n, ids: [] as string[] }
      while (writing > 0) await readOn(tenants[at] as TenantId, seen)
      await readOn(tenants[at] as TenantId, seen)
      return { at, ids: seen.ids }
    })
    await Promise.all(writers)
    for (const { at, ids } of await Promise.all(readers)) {
      expect(ids).toHaveLength(written[at]?.size ?? 0)
      expect(new Set(ids)).toEqual(written[at] as Set<string>)
    }
  })

  test('once nothing is under way, reading again writes nothing', async () => {
    await readOn(home, { after: await lastEvent(store, home), ids: [] })
    const isPassed = async () => {
      const [head] = await held`select decided >= (select max(audit_seq) from svc.audit_log
        where tenant_id = ${home}) as is_passed from svc.event_head where tenant_id = ${home}`
      return head?.is_passed === true
    }
    // A transaction of another database of this server holds the numbering back too, until it ends.
    while (!(await isPassed())) await lastEvent(store, home)
    const version = () => held`select xmin::text from svc.event_head where tenant_id = ${home}`
    const before = await version()
    await lastEvent(store, home)
    expect(await version()).toEqual(before)
  })
})
