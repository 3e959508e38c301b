/** Tests of the steps to usage records and to an audit log by month, on a store that has records. The caller says where the database is. */

import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import type postgres from 'postgres'
import { migrate } from '../../../src/store/database/migrations.ts'
import { migrationCopies } from '../../support/migration-files.ts'

export interface EmptyDatabase extends AsyncDisposable {
  /** As a superuser. */
  readonly sql: postgres.Sql
}

const [home, foreign] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
const quiet = () => {}

/** The control migrations that change the tables of history, and what rests on those. */
const ofHistory = [1422, 1423, 1424, 1540, 1541, 1542, 1560, 1750]

/** A version of the program before the one of {@link ofHistory} with this number. */
function before(number: number): URL {
  const base = files.copy()
  for (const file of readdirSync(new URL('control/', base))) {
    const own = Number(file.slice(0, 4))
    if (own >= number && ofHistory.includes(own)) rmSync(new URL(`control/${file}`, base))
  }
  return base
}

const files = migrationCopies()

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Error) => error.message,
  )

const insert = (tenant: string, query: string, startedAt: string) =>
  `insert into svc.query_usage (tenant_id, query_id, started_at, principal_sub, principal_source, surface, contracts, reads,
     policies, rows_out, bytes_out, queue_ms, plan_ms, run_ms, outcome)
   values ('${tenant}', '${query}', ${startedAt}, 'ada', 'session', 'http', '[]', '[]', '[]', 1, 1, 0, 0, 0, 'completed')
   returning usage_seq`

/** Runs as the role that serves requests, for a tenant. */
async function asTenant<T>(
  sql: postgres.Sql,
  tenant: string,
  text: string,
  role = 'svc_tenant',
): Promise<T[]> {
  await sql.unsafe(`begin; set local role ${role}; set local app.tenant_id = '${tenant}'`).simple()
  try {
    const rows = await sql.unsafe(text)
    await sql.unsafe('commit').simple()
    return rows as unknown as T[]
  } catch (error) {
    await sql.unsafe('rollback').simple()
    throw error
  }
}

/** @param openEmpty gives a database without any table */
export function testUpgradeToMonths(openEmpty: () => Promise<EmptyDatabase>): void {
  afterAll(() => files[Symbol.dispose]())

  describe('the step to usage records by month', () => {
    test('keeps every record and its number, on a store that has records', async () => {
      await using database = await openEmpty()
      const { sql } = database
      await migrate(sql, 'apply', quiet, before(1422))
      for (const id of [home, foreign])
        await sql.unsafe(`insert into svc.tenant (tenant_id, name) values ('${id}', 'x')`)
      const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
      const times = [`'2020-02-29'`, `now() - interval '40 days'`, 'now()', `now() + interval '70 days'`]
      for (const [i, time] of times.entries()) await asTenant(sql, home, insert(home, id(i), time))
      const rows = () => sql.unsafe('select * from svc.query_usage order by usage_seq')
      const kept = await rows()
      await migrate(sql, 'apply', quiet)
      expect([...(await rows())]).toEqual([...kept])
      const last = Number(kept.at(-1)?.usage_seq)

      const [added] = await asTenant<{ usage_seq: string }>(sql, home, insert(home, id(5), 'now()'))
      expect(Number(added?.usage_seq)).toBe(last + 1)
      // A month that nobody made yet, and one long before.
      for (const [n, time] of [
        [6, `'2099-01-01'`],
        [7, `'1999-01-01'`],
      ] as const)
        await asTenant(sql, home, insert(home, id(n), time))
      expect(
        await failure(
          asTenant(
            sql,
            home,
            insert(
              home,
              id(2),
              `(select started_at from svc.query_usage
        where query_id = '${id(2)}')`,
            ),
          ),
        ),
      ).toContain('duplicate key')
      const seen = 'select count(*)::int as n from svc.query_usage'
      expect(await asTenant<object>(sql, home, seen)).toEqual([{ n: 7 }])
      expect(await asTenant<object>(sql, foreign, seen)).toEqual([{ n: 0 }])
    })

    test('leaves no right to a partition, and no way to change one', async () => {
      await using database = await openEmpty()
      const { sql } = database
      await migrate(sql, 'apply', quiet)
      await sql.unsafe(`insert into svc.tenant (tenant_id, name) values ('${home}', 'x')`)
      const partitions = await sql<{ name: string; inside: boolean }[]>`
        select c.relid::text as name, p.name is not null as inside
        from pg_partition_tree('svc.query_usage') c left join svc.month_partition p on 'svc.' || p.name = c.relid::text
        where c.isleaf order by 1`
      // This month and the next three, and what no month has.
      expect(partitions.map(({ inside }) => inside)).toEqual([true, true, true, true, false])
      await asTenant(sql, home, insert(home, crypto.randomUUID(), 'now()'))
      for (const { name } of partitions) {
        expect(await failure(asTenant(sql, home, `select * from ${name}`))).toContain('permission denied')
        for (const change of [`delete from ${name}`, `update ${name} set rows_out = 0`, `truncate ${name}`])
          expect(await failure(asTenant(sql, home, change, 'svc_owner'))).toContain('append-only')
      }
    })
  })

  describe('the step to an audit log by month', () => {
    const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`

    test('keeps every row and its number, on a store that has rows', async () => {
      await using database = await openEmpty()
      const { sql } = database
      await migrate(sql, 'apply', quiet, before(1424))
      for (const tenant of [home, foreign])
        await sql.unsafe(`insert into svc.tenant (tenant_id, name) values ('${tenant}', 'x')`)
      const times = [`'2020-02-29'`, `now() - interval '40 days'`, 'now()', `now() + interval '70 days'`]
      for (const [i, time] of times.entries()) await asTenant(sql, home, decide(home, id(i), time))
      const rows = () => sql.unsafe('select * from svc.audit_log order by audit_seq')
      const kept = [...(await rows())]
      await migrate(sql, 'apply', quiet)
      const now = [...(await rows())] as Record<string, unknown>[]
      expect(now.map(({ policy_set: _, ...row }) => row)).toEqual(kept as never)
      const last = Number(kept.at(-1)?.audit_seq)

      const [added] = await asTenant<{ audit_seq: string }>(sql, home, decide(home, id(5), 'now()'))
      expect(Number(added?.audit_seq)).toBe(last + 1)
      // A month that nobody made yet, and one long before.
      for (const [n, time] of [
        [6, `'2099-01-01'`],
        [7, `'1999-01-01'`],
      ] as const)
        await asTenant(sql, home, decide(home, id(n), time))
      const again = decide(
        home,
        id(2),
        `(select received_at from svc.audit_log where commit_id = '${id(2)}')`,
      )
      expect(await failure(asTenant(sql, home, again))).toContain('duplicate key')
      const seen = 'select count(*)::int as n from svc.audit_log'
      expect(await asTenant<object>(sql, home, seen)).toEqual([{ n: 7 }])
      expect(await asTenant<object>(sql, foreign, seen)).toEqual([{ n: 0 }])
      await changeNothing(sql)
    })

    test('leaves no right to a partition, and no way to change one', async () => {
      await using database = await openEmpty()
      const { sql } = database
      await migrate(sql, 'apply', quiet)
      await sql.unsafe(`insert into svc.tenant (tenant_id, name) values ('${home}', 'x')`)
      await asTenant(sql, home, decide(home, id(1), 'now()'))
      await asTenant(sql, home, decide(home, id(2), `'1999-01-01'`))
      await changeNothing(sql)
    })
  })
}

/** Tries every partition of the audit log as a tenant and as its owner. */
async function changeNothing(sql: postgres.Sql): Promise<void> {
  const partitions = await sql<{ name: string }[]>`
    select relid::text as name from pg_partition_tree('svc.audit_log') where isleaf order by 1`
  expect(partitions.length).toBeGreaterThanOrEqual(2)
  for (const { name } of partitions) {
    expect(await failure(asTenant(sql, home, `select * from ${name}`))).toContain('permission denied')
    for (const change of [`delete from ${name}`, `truncate ${name}`])
      expect(await failure(asTenant(sql, home, change, 'svc_owner'))).toContain('append-only')
    const [row] = await sql.unsafe(`select 1 from ${name} limit 1`)
    if (row === undefined) continue
    for (const change of [`update ${name} set reason = 'x'`, `update ${name} set body = '\\x01'`])
      expect(await failure(asTenant(sql, home, change, 'svc_owner'))).toContain('append-only')
  }
}

const decide = (tenant: string, commit: string, receivedAt: string) =>
  `insert into svc.audit_log (tenant_id, commit_id, committer, decision, reason, principal_source, principal, table_id,
     namespace, table_name, credential_id, body_sha256, body, base_metadata_location, policies, outcomes, received_at)
   values ('${tenant}', '${commit}', 'ada', 'REJECTED', 'no', 'session', '{}', 't', '["s"]', 't', '${commit}', 'ab',
     '\\x02', '', '[]', '[]', ${receivedAt})
   returning audit_seq`
