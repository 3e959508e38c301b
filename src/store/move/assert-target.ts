/** Refuses a database that a move must not fill: one that holds something, is in use, or was filled under another key. */

import type postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { tryUnseal } from '../database/sealing.ts'

/** Any constant of our own, and another than that of migrations. */
const lockKey = 7_242_002

/** Holds the database against another move until the connection ends. @throws Fault `misconfigured` where one holds it */
export async function holdTarget(sql: postgres.Sql): Promise<void> {
  const [row] = await sql<{ held: boolean; encoding: string }[]>`
    select pg_try_advisory_lock(${lockKey}) as held, current_setting('server_encoding') as encoding`
  if (!row?.held) throw new Fault('misconfigured', 'Another `covenant move` fills this database now.')
  if (row.encoding !== 'UTF8')
    throw new Fault('misconfigured', `The database has the encoding ${row.encoding}: make one with UTF8.`)
}

/** @throws Fault `misconfigured` where a service was connected before */
export async function assertUnused(sql: postgres.Sql): Promise<void> {
  // Of a session of another user, the server may not say when it began.
  const others = await sql`
    select from pg_stat_activity a where a.datname = current_database() and a.application_name = 'covenant'
      and coalesce(a.backend_start, '-infinity') < (select o.backend_start from pg_stat_activity o where o.pid = pg_backend_pid())`
  if (others.length > 0)
    throw new Fault(
      'misconfigured',
      'A service is connected to the database: stop it, and use an empty database.',
    )
}

/**
 * A database may hold what `covenant migrate` makes, and nothing else.
 * @throws Fault `misconfigured` where it holds tables of others, a tenant, or the mark of another secrets key
 */
export async function assertEmpty(sql: postgres.Sql, secretsKey: Uint8Array): Promise<void> {
  const [row] = await sql<{ foreign: string | null; migrated: boolean }[]>`
    select (select min(format('%I.%I', n.nspname, c.relname)) from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'svc', 'svc_health')
          and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')) as foreign,
      to_regclass('svc.tenant') is not null and to_regclass('svc.secrets_key_check') is not null as migrated`
  if (row?.migrated) await assertNoTenant(sql, secretsKey)
  if (row?.foreign != null)
    throw new Fault('misconfigured', `The database is not empty, it has ${row.foreign}: use an empty one.`)
}

async function assertNoTenant(sql: postgres.Sql, secretsKey: Uint8Array): Promise<void> {
  await sql.unsafe('begin read only; set local role svc_admin').simple()
  try {
    const tenants = await sql`select from svc.tenant limit 1`
    if (tenants.length > 0)
      throw new Fault('misconfigured', 'The database is not empty, it has tenants: use an empty one.')
    const checks = await sql<{ sealed: Uint8Array | null }[]>`select sealed from svc.secrets_key_check`
    if (
      checks.some(
        ({ sealed }) => sealed !== null && tryUnseal(secretsKey, ['secrets_key_check'], sealed) === undefined,
      )
    )
      throw new Fault(
        'misconfigured',
        'The database was filled under another secrets key than that of the embedded data: use an empty one.',
      )
  } finally {
    await sql.unsafe('rollback').simple()
  }
}
