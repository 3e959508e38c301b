/** Prepares a database for its migrations: Apache AGE, the roles, and the schema svc with the records of migrations. */

import type postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { bootstrapText } from './migration-files.ts'

const roles = ['svc_owner', 'svc_admin', 'svc_tenant'] as const

/**
 * Creates the extension, roles and schema that the first migration needs, where they are missing.
 * @param base the directory of `bootstrap.sql`
 * @throws Fault `misconfigured` where a privilege or the extension is missing
 */
export async function prepareDatabase(
  sql: postgres.Sql,
  base: URL,
  notice: (text: string) => void,
): Promise<void> {
  const [user] = await sql<{ name: string; super: boolean }[]>`
    select rolname as name, rolsuper as super from pg_roles where rolname = session_user`
  if (user?.super)
    await explained(
      sql.unsafe(bootstrapText(base)).simple(),
      'Apache AGE cannot be created in this database: install it on the server.',
    )
  await checkExtension(sql, notice)
  // Roles belong to the whole server, so migrations of other databases may be creating them at this moment.
  for (const role of roles) {
    await sql
      .unsafe(`do $$ begin
  if not exists (select from pg_roles where rolname = '${role}') then create role ${role} nologin; end if;
exception when duplicate_object or unique_violation then null; end $$`)
      .simple()
    const [may] = await sql<{ set: boolean }[]>`select pg_has_role(session_user, ${role}, 'SET') as set`
    if (!may?.set)
      await explained(
        sql.unsafe(`grant ${role} to current_user with inherit false, set true`).simple(),
        `The database user may not act as ${role}: grant it that role.`,
      )
  }
  const [state] = await sql<{ database: string; schema: boolean; create: boolean }[]>`
    select current_database() as database, exists (select from pg_namespace where nspname = 'svc') as schema,
      has_database_privilege('svc_owner', current_database(), 'CREATE') as create`
  if (!state?.create)
    await explained(
      sql`grant create on database ${sql(state?.database ?? '')} to svc_owner`,
      'The database user must own the database.',
    )
  if (state?.schema) return
  await sql
    .unsafe(`begin; set local role svc_owner;
create schema svc;
create table svc.migration (
  scope text, version int, name text not null, checksum text not null,
  applied_at timestamptz not null default now(), primary key (scope, version));
commit`)
    .simple()
}

async function checkExtension(sql: postgres.Sql, notice: (text: string) => void): Promise<void> {
  const [age] = await sql<
    { version: string }[]
  >`select extversion as version from pg_extension where extname = 'age'`
  const byHand = 'a superuser must run migrations/bootstrap.sql in this database'
  if (age === undefined) throw new Fault('misconfigured', `Apache AGE is not installed here: ${byHand}.`)
  const [major = 0, minor = 0] = age.version.split('.').map(Number)
  if (major < 1 || (major === 1 && minor < 7))
    throw new Fault(
      'misconfigured',
      `Apache AGE ${age.version} ignores row-level security: 1.7 or later is needed.`,
    )
  const [marked] = await sql<{ all: boolean }[]>`
    select bool_and(proleakproof) as all from pg_proc
    where pronamespace = to_regnamespace('ag_catalog') and proname in ('agtype_access_operator', 'agtype_eq', 'graphid_eq')`
  if (!marked?.all) notice(`Look-ups in the graph will be slow: ${byHand}.`)
}

async function explained(work: PromiseLike<unknown>, message: string): Promise<void> {
  try {
    await work
  } catch (cause) {
    throw new Fault('misconfigured', message, { cause })
  }
}
