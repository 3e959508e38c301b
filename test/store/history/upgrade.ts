/** Tests of the step to usage records by month, on a store that has records. The caller says where the database is. */

import { afterAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import type postgres from 'postgres'
import { migrate } from '../../../src/store/database/migrations.ts'
import { migrationCopies } from '../../support/migration-files.ts'

export interface EmptyDatabase extends AsyncDisposable {
  /** As a superuser. */
  readonly sql: postgres.Sql
}

const [home, foreign] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
const quiet = () => {}

/** A version of the program before the records were partitioned. */
function before(): URL {
  const base = files.copy()
  for (const file of ['1422_usage_by_month', '1423_list_indexes'])
    rmSync(new URL(`control/${file}.sql`, base))
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
      await migrate(sql, 'apply', quiet, before())
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
}
