/** Migrations on a server on which replicas of two versions start at once and connections end at any moment. */

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import type { Fault } from '../../../src/base/fault.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { migrate } from '../../../src/store/database/migrations.ts'
import { eventually } from '../../support/eventually.ts'
import { answering, migrationCopies } from '../../support/migration-files.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

const files = migrationCopies()
afterAll(() => files[Symbol.dispose]())

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Fault) => error.publicMessage,
  )
const quiet = () => {}
const connect = (url: string | undefined) => postgres(url ?? '', { max: 1, onnotice: () => {} })

/** How many sessions of this database wait for an advisory lock. */
async function waiting(sql: postgres.Sql): Promise<number> {
  const rows = await sql`select 1 from pg_stat_activity
    where wait_event = 'advisory' and datname = current_database()`
  return rows.length
}

// Skipped where no server is named: `bun run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('migrations on a server', () => {
  test.each([
    ['the older first', ['older', 'newer'], ['none', 'none']],
    ['the newer first', ['newer', 'older'], ['none', expect.stringContaining('does not have')]],
  ] as const)(
    'two replicas start at once, one with newer functions, %s: the newer functions stay',
    async (_, order, outcomes) => {
      await using store = await openTestStore()
      const superuser = connect(store.databaseUrl)
      const versions = { older: files.copy(), newer: files.version(1, answering('newer')) }
      await superuser`select pg_advisory_lock(7242001)`
      const starts: { sql: postgres.Sql; outcome: Promise<string> }[] = []
      for (const name of order) {
        const sql = connect(store.databaseUrl)
        starts.push({ sql, outcome: failure(migrate(sql, 'apply', quiet, versions[name])) })
        await eventually(async () => (await waiting(superuser)) === starts.length)
      }
      await superuser`select pg_advisory_unlock(7242001)`
      expect(await Promise.all(starts.map(({ outcome }) => outcome))).toEqual([...outcomes])
      // A replica of the older version that starts again changes nothing.
      expect(await failure(migrate(superuser, 'apply', quiet, versions.older))).toContain('does not have')
      const [row] = await superuser`select svc.canonical_location('s3a://lake/x') as answer`
      expect(row?.answer).toBe('newer')
      await Promise.all([superuser, ...starts.map(({ sql }) => sql)].map((sql) => sql.end()))
    },
  )

  test('a change of a text takes one lock for each tenant, however many functions it has', async () => {
    await using store = await openTestStore()
    const tenants: TenantId[] = []
    for (const name of ['a', 'b', 'c', 'd']) tenants.push((await makeTenant(store, { name })).id)
    const superuser = connect(store.databaseUrl)
    const locks = await superuser.begin(async (sql) => {
      await sql`set local role svc_owner`
      const held: number[] = []
      for (const tenant of tenants) {
        await sql`select svc.make_tenant_functions(${tenant}::uuid)`
        const [row] = await sql<{ count: string }[]>`
          select count(*) as count from pg_locks where pid = pg_backend_pid() and locktype in ('object', 'relation')`
        held.push(Number(row?.count))
      }
      return held
    })
    const more = locks.slice(1).map((count, index) => count - (locks[index] ?? 0))
    expect(more).toEqual([1, 1, 1])
    await superuser.end()
  })

  test('a replica that dies while it migrates leaves nothing, and the next one completes its work', async () => {
    await using store = await openTestStore()
    const superuser = connect(store.databaseUrl)
    const dying = connect(store.databaseUrl)
    const newer = files.version(1, {
      ...answering('newer'),
      'control/1999_more.sql': () => 'create table svc.more (a int); select pg_advisory_xact_lock(1999);',
    })
    await superuser`select pg_advisory_lock(1999)`
    const outcome = failure(migrate(dying, 'apply', quiet, newer))
    await eventually(async () => (await waiting(superuser)) === 1)
    await superuser`select pg_terminate_backend(pid) from pg_stat_activity
      where wait_event = 'advisory' and datname = current_database()`
    expect(await outcome).not.toBe('none')
    await superuser`select pg_advisory_unlock(1999)`
    const state = async () => {
      const [row] = await superuser`select to_regclass('svc.more')::text as more,
        svc.canonical_location('s3a://lake/x') as answer`
      return { ...row }
    }
    expect(await state()).toEqual({ more: null, answer: 's3://lake/x' })

    await migrate(superuser, 'apply', quiet, newer)
    expect(await state()).toEqual({ more: 'svc.more', answer: 'newer' })
    await Promise.all([superuser.end(), dying.end({ timeout: 0 })])
  })
})
