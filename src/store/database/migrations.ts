/**
 * Applies migrations forward only, under one advisory lock: the control schema with the SQL functions, then every
 * tenant's schema and graph. Works as a superuser, or as a role that owns the database and may create roles once a
 * superuser has run `migrations/bootstrap.sql`.
 */

import type postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { parseTenantId, type TenantId } from '../../core/tenant.ts'
import {
  baselineVersion,
  type FunctionTexts,
  type Migration,
  type MigrationFiles,
  migrationsDirectory,
  readMigrationFiles,
} from './migration-files.ts'
import { assertNotFilling } from './move-mark.ts'
import { graphName, schemaName } from './names.ts'
import { prepareDatabase } from './prepare-database.ts'
import { scriptedTransaction } from './scripted-transaction.ts'
import type { Tx } from './session.ts'

/** Any constant of our own. */
const lockKey = 7_242_001

interface MigrationStatus {
  /** 'control' or a tenant id. */
  readonly scope: string
  readonly applied: number
  readonly pending: readonly string[]
}

/** A row of svc.migration. Its scope is 'control', 'functions' or a tenant id. */
interface AppliedRow {
  readonly scope: string
  readonly version: number
  readonly checksum: string
}

interface Pending {
  readonly scope: string
  readonly applied: number
  readonly migrations: readonly Migration[]
}

/** What a database lacks. */
interface Plan {
  readonly control: Pending
  /** The functions, where the database has older ones or none. */
  readonly functions: FunctionTexts | undefined
  readonly tenants: readonly Pending[]
}

/**
 * Applies what is pending, or verifies that nothing is. The control schema and the functions change in one
 * transaction; then each tenant changes in one of its own. A run that was interrupted is completed by the next.
 * @param sql a client of one connection, as the connecting user
 * @throws Fault `misconfigured`: a privilege or extension is missing, an applied file has changed, the database is
 * older than the baseline or newer than this program, a move fills it, or (`verify`) something is pending
 */
export async function migrate(
  sql: postgres.Sql,
  mode: 'apply' | 'verify',
  notice: (text: string) => void,
  base: URL = migrationsDirectory,
): Promise<void> {
  await assertNotFilling(sql)
  // Once more while nothing else migrates, because a move may have begun while this waited.
  await migrateHeld(sql, mode, notice, base, assertNotFilling)
}

/** The same for the move that fills the database. @throws Fault as `migrate` */
export async function migrateFilling(
  sql: postgres.Sql,
  mode: 'apply' | 'verify',
  notice: (text: string) => void,
  base: URL = migrationsDirectory,
): Promise<void> {
  await migrateHeld(sql, mode, notice, base, async () => {})
}

async function migrateHeld(
  sql: postgres.Sql,
  mode: 'apply' | 'verify',
  notice: (text: string) => void,
  base: URL,
  assertFree: (sql: postgres.Sql) => Promise<void>,
): Promise<void> {
  const files = readMigrationFiles(base)
  await holdMigrations(sql, notice)
  try {
    await assertFree(sql)
    if (mode === 'apply') await prepareDatabase(sql, base, notice)
    const plan = await planMigrations(sql, files)
    if (mode === 'apply') await applyPlan(sql, files.functions, plan)
    else if (statusOf(plan).some(({ pending }) => pending.length > 0))
      throw new Fault('misconfigured', 'The database lacks migrations: run `covenant migrate` first.')
  } finally {
    await sql`select pg_advisory_unlock(${lockKey})`.catch(() => {})
  }
}

/** Takes the lock without a timeout, because another process may need long for its migrations. */
async function holdMigrations(sql: postgres.Sql, notice: (text: string) => void): Promise<void> {
  const [row] = await sql<{ held: boolean }[]>`select pg_try_advisory_lock(${lockKey}) as held`
  if (row?.held) return
  notice('Waiting for another process that checks or applies the migrations of this database.')
  await sql.unsafe(`begin; set local lock_timeout = 0; select pg_advisory_lock(${lockKey}); commit`).simple()
}

/** What is applied and what is pending, per scope; applies nothing. */
export async function migrationStatus(
  sql: postgres.Sql,
  base: URL = migrationsDirectory,
): Promise<readonly MigrationStatus[]> {
  return statusOf(await planMigrations(sql, readMigrationFiles(base)))
}

function statusOf({ control, functions, tenants }: Plan): readonly MigrationStatus[] {
  const status = [control, ...tenants].map(({ scope, applied, migrations }) => ({
    scope,
    applied,
    pending: migrations.map(({ name }) => name),
  }))
  if (functions !== undefined) status[0]?.pending.push(nameOf(functions))
  return status
}

/** Keeps migrations from being applied until the transaction ends. */
export async function lockMigrations(tx: Tx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock_shared($1::bigint)', [lockKey])
}

/**
 * Creates a new tenant's schema and graph, inside the owner transaction that made its row.
 * @throws Fault `misconfigured` where the database is newer than this program, which would create only a part
 */
export async function provisionTenant(
  tx: Tx,
  tenant: TenantId,
  base: URL = migrationsDirectory,
): Promise<void> {
  // Either a migration of a newer version sees this tenant, or this process sees the migrations of that version.
  await lockMigrations(tx)
  const files = readMigrationFiles(base)
  const applied = await tx.query<Pick<AppliedRow, 'scope' | 'version'>>(
    `select distinct case when scope in ('control', 'functions') then scope else 'tenant' end as scope, version
     from svc.migration`,
  )
  if (applied.some((row) => isUnknown(row, files))) throw isNewer()
  for (const migration of files.perTenant) {
    await tx.script(tenantText(migration.sql, tenant))
    await tx.query(
      'insert into svc.migration (scope, version, name, checksum) values ($1, $2::int, $3, $4)',
      [tenant, migration.version, migration.name, migration.checksum],
    )
  }
  await tx.query('select svc.make_tenant_functions($1::uuid)', [tenant])
}

/** Whether only a newer program can have applied this row. */
function isUnknown(
  { scope, version }: Pick<AppliedRow, 'scope' | 'version'>,
  files: MigrationFiles,
): boolean {
  if (scope === 'functions') return version > files.functions.version
  return !migrationsOf(scope, files).some((file) => file.version === version)
}

function migrationsOf(scope: string, { control, perTenant }: MigrationFiles): readonly Migration[] {
  return scope === 'control' ? control : perTenant
}

function tenantText(text: string, tenant: TenantId): string {
  return text
    .replaceAll('{{schema}}', schemaName(tenant))
    .replaceAll('{{graph}}', graphName(tenant))
    .replaceAll('{{tenant}}', tenant)
}

function nameOf({ version }: FunctionTexts): string {
  return `functions_${version}`
}

async function applyPlan(sql: postgres.Sql, texts: FunctionTexts, plan: Plan): Promise<void> {
  const { control, functions, tenants } = plan
  if (control.migrations.length > 0 || functions !== undefined)
    await inTransaction(sql, '', 'svc, ag_catalog, pg_catalog', async () => {
      await runScript(sql, 'control', texts.foundation.name, texts.foundation.sql)
      for (const migration of control.migrations)
        await applyMigration(sql, 'control', migration, migration.sql)
      // Also where only a table changed, because a migration may have dropped a function in order to change it.
      for (const { name, sql: text } of texts.rest) await runScript(sql, 'control', name, text)
      // In the same transaction, so that no tenant is left with older ones.
      for (const { scope } of tenants) await makeFunctions(sql, scope)
      if (functions !== undefined)
        await recordApplied(sql, 'functions', { ...functions, name: nameOf(functions) })
    })
  for (const { scope, migrations } of tenants) {
    const tenant = parseTenantId(scope)
    if (tenant === undefined) throw new Fault('internal', 'Internal error.', { detail: `tenant id ${scope}` })
    if (migrations.length === 0) continue
    const path = `${schemaName(tenant)}, ${graphName(tenant)}, svc, ag_catalog, pg_catalog`
    await inTransaction(sql, tenant, path, async () => {
      for (const migration of migrations)
        await applyMigration(sql, scope, migration, tenantText(migration.sql, tenant))
      await makeFunctions(sql, scope)
    })
  }
}

/** Makes the tenant's own functions of those of svc. */
async function makeFunctions(sql: postgres.Sql, tenant: string): Promise<void> {
  await sql`select svc.make_tenant_functions(${tenant}::uuid)`
}

async function inTransaction(
  sql: postgres.Sql,
  tenant: string,
  path: string,
  work: () => Promise<void>,
): Promise<void> {
  await scriptedTransaction(sql, 'begin', async () => {
    await sql`select set_config('role', 'svc_owner', true), set_config('app.tenant_id', ${tenant}, true),
      set_config('search_path', ${path}, true)`
    await work()
  })
}

async function applyMigration(
  sql: postgres.Sql,
  scope: string,
  migration: Migration,
  script: string,
): Promise<void> {
  await runScript(sql, scope, migration.name, script)
  await recordApplied(sql, scope, migration)
}

async function runScript(sql: postgres.Sql, scope: string, name: string, script: string): Promise<void> {
  try {
    await sql.unsafe(script).simple()
  } catch (cause) {
    throw new Fault('misconfigured', `Migration ${name} of ${scope} failed.`, {
      cause,
      detail: cause instanceof Error ? cause.message : String(cause),
    })
  }
}

async function recordApplied(
  sql: postgres.Sql,
  scope: string,
  { version, name, checksum }: Omit<Migration, 'sql'>,
): Promise<void> {
  await sql`insert into svc.migration (scope, version, name, checksum)
    values (${scope}, ${version}, ${name}, ${checksum})`
}

/** Compares the files with what the database has recorded. */
async function planMigrations(sql: postgres.Sql, files: MigrationFiles): Promise<Plan> {
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
  if (applied.some(({ scope, version }) => scope !== 'functions' && version < baselineVersion))
    throw new Fault(
      'misconfigured',
      'The database is older than the baseline of the migrations and cannot be upgraded: use an empty database, or an empty SVC_DATA_DIR.',
    )
  const tenants = exists?.tenant
    ? await asRole<{ tenant_id: string }>(
        sql,
        'svc_admin',
        'select tenant_id::text from svc.tenant order by 1',
      )
    : []
  const byScope = Map.groupBy(applied, ({ scope }) => scope)
  const pendingOf = (scope: string) => pendingMigrations(scope, files, byScope.get(scope) ?? [])
  return {
    control: pendingOf('control'),
    functions: pendingFunctions(files, byScope.get('functions') ?? []),
    tenants: tenants.map(({ tenant_id }) => pendingOf(tenant_id)),
  }
}

function pendingMigrations(scope: string, files: MigrationFiles, applied: readonly AppliedRow[]): Pending {
  const known = migrationsOf(scope, files)
  if (applied.some((row) => isUnknown(row, files))) throw isNewer()
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]))
  for (const { version, checksum, name } of known)
    if ((checksums.get(version) ?? checksum) !== checksum)
      throw new Fault(
        'misconfigured',
        `Migration ${name} was changed after it was applied: restore its file.`,
      )
  return {
    scope,
    applied: applied.length,
    migrations: known.filter(({ version }) => !checksums.has(version)),
  }
}

function pendingFunctions(files: MigrationFiles, applied: readonly AppliedRow[]): FunctionTexts | undefined {
  const { functions } = files
  if (applied.some((row) => isUnknown(row, files))) throw isNewer()
  const same = applied.find(({ version }) => version === functions.version)
  if (same === undefined) return functions
  if (same.checksum !== functions.checksum)
    throw new Fault(
      'misconfigured',
      `The SQL functions were changed after number ${functions.version} of them was applied: raise the number in migrations/functions/VERSION.`,
    )
  return undefined
}

function isNewer(): Fault {
  return new Fault(
    'misconfigured',
    'The database has migrations that this version does not have: run the newer version.',
  )
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
