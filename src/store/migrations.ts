/**
 * Forward-only, checksummed migrations of the control schema and of every tenant's schema and graph,
 * under one advisory lock. Works as a superuser, or as a role that owns the database and may create
 * roles once a superuser has run `migrations/bootstrap.sql`.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type postgres from 'postgres'
import { Fault } from '../base/fault.ts'
import { parseTenantId, type TenantId } from '../core/tenant.ts'
import { graphName, schemaName } from './names.ts'
import type { Tx } from './session.ts'

const directory = new URL('../../migrations/', import.meta.url)
const roles = ['svc_owner', 'svc_admin', 'svc_tenant'] as const
/** Any constant of our own. */
const lockKey = 7_242_001

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** Hex SHA-256 of the file. */
  readonly checksum: string
}

export interface MigrationStatus {
  /** 'control' or a tenant id. */
  readonly scope: string
  readonly applied: number
  readonly pending: readonly string[]
}

/**
 * The migrations of a directory in order. Numbers may be left out: parts have ranges of their own.
 * @throws Fault `misconfigured` where a name is not `NNNN_name.sql` or a number is doubled
 */
export function readMigrations(from: URL): readonly Migration[] {
  const files = readdirSync(from)
    .filter((file) => /^\d/.test(file))
    .sort()
  let last = 0
  return files.map((file) => {
    const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1])
    if (!(version > last))
      throw new Fault('misconfigured', `Migration ${file} does not follow its predecessor as NNNN_name.sql.`)
    last = version
    const text = readFileSync(new URL(file, from), 'utf8')
    return {
      version,
      name: file.slice(0, -'.sql'.length),
      sql: text,
      checksum: createHash('sha256').update(text).digest('hex'),
    }
  })
}

const controlMigrations = (base: URL) => readMigrations(base)
const tenantMigrations = (base: URL) => readMigrations(new URL('tenant/', base))

/** One value for the whole set: what a prepared template is kept under. */
export function migrationsChecksum(base: URL = directory): string {
  const hash = createHash('sha256').update(readFileSync(new URL('bootstrap.sql', base)))
  for (const { name, checksum } of [...controlMigrations(base), ...tenantMigrations(base)])
    hash.update(name + checksum)
  return hash.digest('hex')
}

interface AppliedRow {
  readonly scope: string
  readonly version: number
  readonly checksum: string
}

/**
 * Applies what is pending, or verifies that nothing is.
 * @param sql a session of the connecting user, of one connection
 * @throws Fault `misconfigured`: a privilege or extension is missing, an applied file has changed, the
 * database is newer than this program, or (`verify`) something is pending
 */
export async function migrate(
  sql: postgres.Sql,
  mode: 'apply' | 'verify',
  notice: (text: string) => void,
  base: URL = directory,
): Promise<void> {
  await holdMigrations(sql, notice)
  try {
    if (mode === 'apply') await prepareDatabase(sql, base, notice)
    const pending = await pendingMigrations(sql, base)
    if (mode === 'verify') {
      const behind = pending.filter(({ migrations }) => migrations.length > 0)
      if (behind.length > 0)
        throw new Fault('misconfigured', 'The database lacks migrations: run `bun run migrate` first.')
      return
    }
    for (const { scope, migrations } of pending)
      for (const migration of migrations) {
        if (scope === 'control') await applyControl(sql, migration)
        else await applyTenant(sql, scope, migration)
      }
  } finally {
    await sql`select pg_advisory_unlock(${lockKey})`.catch(() => {})
  }
}

/** Takes the lock, however long another process needs for its migrations: other locks are not waited for so long. */
async function holdMigrations(sql: postgres.Sql, notice: (text: string) => void): Promise<void> {
  const [row] = await sql<{ held: boolean }[]>`select pg_try_advisory_lock(${lockKey}) as held`
  if (row?.held) return
  notice('Waiting for another process that looks at the migrations of this database.')
  await sql.unsafe(`begin; set local lock_timeout = 0; select pg_advisory_lock(${lockKey}); commit`).simple()
}

/** What is applied and what is pending, per scope; applies nothing. */
export async function migrationStatus(
  sql: postgres.Sql,
  base: URL = directory,
): Promise<readonly MigrationStatus[]> {
  const pending = await pendingMigrations(sql, base)
  return pending.map(({ scope, applied, migrations }) => ({
    scope,
    applied,
    pending: migrations.map(({ name }) => name),
  }))
}

/**
 * Brings a new tenant's schema and graph into being, inside the owner transaction that made its row.
 * @throws Fault `misconfigured` where the database is newer than this program: it would make only a part
 */
export async function provisionTenant(tx: Tx, tenant: TenantId, base: URL = directory): Promise<void> {
  // A runner of a newer version must see this tenant, or this must see that version's migrations.
  await tx.query('select pg_advisory_xact_lock_shared($1::bigint)', [lockKey])
  const applied = await tx.query<{ readonly control: boolean; readonly version: number }>(
    `select distinct scope = 'control' as control, version from svc.migration`,
  )
  const versions = (migrations: readonly Migration[]) => new Set(migrations.map(({ version }) => version))
  const [control, perTenant] = [versions(controlMigrations(base)), versions(tenantMigrations(base))]
  if (applied.some((row) => !(row.control ? control : perTenant).has(row.version))) throw isNewer()
  for (const migration of tenantMigrations(base)) {
    await tx.script(tenantText(migration.sql, tenant))
    await tx.query(
      'insert into svc.migration (scope, version, name, checksum) values ($1, $2::int, $3, $4)',
      [tenant, migration.version, migration.name, migration.checksum],
    )
  }
}

function tenantText(text: string, tenant: TenantId): string {
  return text
    .replaceAll('{{schema}}', schemaName(tenant))
    .replaceAll('{{graph}}', graphName(tenant))
    .replaceAll('{{tenant}}', tenant)
}

async function applyControl(sql: postgres.Sql, migration: Migration): Promise<void> {
  await applyScript(sql, 'control', migration, '', 'svc, ag_catalog, pg_catalog', migration.sql)
}

async function applyTenant(sql: postgres.Sql, scope: string, migration: Migration): Promise<void> {
  const tenant = parseTenantId(scope)
  if (tenant === undefined) throw new Fault('internal', 'Internal error.', { detail: `tenant id ${scope}` })
  const path = `${schemaName(tenant)}, ${graphName(tenant)}, svc, ag_catalog, pg_catalog`
  await applyScript(sql, scope, migration, tenant, path, tenantText(migration.sql, tenant))
}

async function applyScript(
  sql: postgres.Sql,
  scope: string,
  migration: Migration,
  tenant: string,
  path: string,
  script: string,
): Promise<void> {
  await sql.unsafe('begin').simple()
  try {
    await sql`select set_config('role', 'svc_owner', true), set_config('app.tenant_id', ${tenant}, true),
      set_config('search_path', ${path}, true)`
    await sql.unsafe(script).simple()
    await sql`insert into svc.migration (scope, version, name, checksum)
      values (${scope}, ${migration.version}, ${migration.name}, ${migration.checksum})`
    await sql.unsafe('commit').simple()
  } catch (cause) {
    await sql.unsafe('rollback').simple()
    throw new Fault('misconfigured', `Migration ${migration.name} of ${scope} failed.`, {
      cause,
      detail: cause instanceof Error ? cause.message : String(cause),
    })
  }
}

/** Pending migrations per scope, control first; checks the checksums of those applied. */
async function pendingMigrations(
  sql: postgres.Sql,
  base: URL,
): Promise<readonly { scope: string; applied: number; migrations: readonly Migration[] }[]> {
  const control = controlMigrations(base)
  const perTenant = tenantMigrations(base)
  const [exists] = await sql<{ migration: boolean; tenant: boolean }[]>`
    select coalesce(bool_or(relname = 'migration'), false) as migration, coalesce(bool_or(relname = 'tenant'), false) as tenant
    from pg_class where relnamespace = (select oid from pg_namespace where nspname = 'svc')`
  const applied = exists?.migration
    ? await asRole<AppliedRow>(
        sql,
        'svc_owner',
        'select scope, version, checksum from svc.migration order by scope, version',
      )
    : []
  const tenants = exists?.tenant
    ? await asRole<{ tenant_id: string }>(
        sql,
        'svc_admin',
        'select tenant_id::text from svc.tenant order by 1',
      )
    : []
  const byScope = Map.groupBy(applied, ({ scope }) => scope)
  return ['control', ...tenants.map(({ tenant_id }) => tenant_id)].map((scope) => {
    const known = scope === 'control' ? control : perTenant
    const done = byScope.get(scope) ?? []
    for (const row of done) {
      const file = known.find(({ version }) => version === row.version)
      if (file === undefined) throw isNewer()
      if (file.checksum !== row.checksum)
        throw new Fault('misconfigured', `Migration ${file.name} was changed after it was applied.`)
    }
    const versions = new Set(done.map(({ version }) => version))
    const migrations = known.filter(({ version }) => !versions.has(version))
    return { scope, applied: done.length, migrations }
  })
}

function isNewer(): Fault {
  return new Fault('misconfigured', 'The database has migrations that this version does not know.')
}

async function asRole<Row extends object>(
  sql: postgres.Sql,
  role: string,
  text: string,
): Promise<readonly Row[]> {
  await sql.unsafe(`begin read only; set local role ${role}`).simple()
  try {
    return await sql.unsafe<Row[]>(text)
  } finally {
    await sql.unsafe('rollback').simple()
  }
}

/** Extension, roles and the schema svc: what the files need before the first of them. */
async function prepareDatabase(sql: postgres.Sql, base: URL, notice: (text: string) => void): Promise<void> {
  const [user] = await sql<{ name: string; super: boolean }[]>`
    select rolname as name, rolsuper as super from pg_roles where rolname = session_user`
  if (user?.super)
    await explained(
      sql.unsafe(readFileSync(new URL('bootstrap.sql', base), 'utf8')).simple(),
      'Apache AGE cannot be set up here: is it installed on the server?',
    )
  await checkExtension(sql, notice)
  // Roles belong to the whole server, so runners on other databases may be making them at this moment.
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
