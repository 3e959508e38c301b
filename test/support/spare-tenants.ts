/**
 * Tenants that a template of stores has ready: to make one takes as long as to open a store. A spare one is a schema
 * and a graph without the rows that say that there is a tenant, so that nothing sees it before it is taken.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { operator } from '../../src/core/administration.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { recordAdministration } from '../../src/store/administration/administration-log.ts'
import { embeddedBackend } from '../../src/store/database/embedded.ts'
import type { Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'

/** Most tests have their own tenant, a foreign one, and that of the operator. */
const sparesCount = 3
const sparesFile = 'spare-tenants'

interface MigrationRow {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

interface Spares {
  readonly tenants: TenantId[]
  /** What is recorded of each. */
  readonly migrations: readonly MigrationRow[]
}

/** Makes the spare tenants of a closed data directory, which `open` opens. */
export async function addSpareTenants(dataDirectory: string, open: () => Promise<Store>): Promise<void> {
  const tenants = await createSpares(await open())
  const engine = await embeddedBackend({ dataDirectory, statementMs: 60_000 })
  const { sql, close } = await engine.open('connecting')
  const spares = await forgetSpares(sql, tenants)
  await close()
  await engine.close()
  writeFileSync(join(dataDirectory, 'pg', sparesFile), JSON.stringify(spares))
}

/** The same on a server's database; what it returns is kept as the comment of the database. */
export async function addServerSpares(databaseUrl: string, open: () => Promise<Store>): Promise<void> {
  const tenants = await createSpares(await open())
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const text = JSON.stringify(await forgetSpares(sql, tenants))
    await sql.unsafe(
      `do $$ begin execute format('comment on database %I is %L', current_database(), '${text}'); end $$`,
    )
  } finally {
    await sql.end()
  }
}

/** Closes the store. */
async function createSpares(store: Store): Promise<TenantId[]> {
  const tenants: TenantId[] = []
  while (tenants.length < sparesCount) tenants.push((await createTenant(store, { name: 'spare' })).id)
  await store.close()
  return tenants
}

/** Removes the rows that say that there are such tenants. */
async function forgetSpares(sql: postgres.Sql, tenants: TenantId[]): Promise<Spares> {
  const migrations = await sql<MigrationRow[]>`
    select version, name, checksum from svc.migration where scope = ${tenants[0] ?? ''} order by version`
  await sql`delete from svc.migration where scope not in ('control', 'functions')`
  // Nobody may take a row from the log otherwise; of a spare tenant nothing is recorded before it is taken.
  await sql`alter table svc.administration_log disable trigger append_only`
  await sql`delete from svc.administration_log`
  await sql`alter table svc.administration_log enable trigger append_only`
  await sql`delete from svc.tenant`
  return { tenants, migrations }
}

const sparesOf = new WeakMap<Store, Spares>()

/** Lets `makeTenant` take the spare tenants of the template that the store was opened from. */
export function registerSpares(store: Store, template: string): void {
  const path = join(template, sparesFile)
  if (existsSync(path)) registerSparesText(store, readFileSync(path, 'utf8'))
}

/** The same by the text that the comment of a template on a server has. */
export function registerSparesText(store: Store, text: string): void {
  sparesOf.set(store, JSON.parse(text) as Spares)
}

/**
 * As `createTenant`, of a spare tenant where the store has one left. It observes its territory, because the commits of
 * most tests name manifest lists that do not exist. Tests of locations enforce it.
 */
export async function makeTenant(
  store: Store,
  { name, organizationId }: { readonly name: string; readonly organizationId?: string },
): Promise<{ readonly id: TenantId }> {
  const spares = sparesOf.get(store)
  const id = spares?.tenants.shift()
  if (spares === undefined || id === undefined) {
    const made = await createTenant(store, { name, organizationId })
    await observeTerritory(store, made.id)
    return made
  }
  await store.ownerTransaction(id, async (tx) => {
    await tx.query('insert into svc.tenant (tenant_id, organization_id, name) values ($1, $2, $3)', [
      id,
      organizationId ?? null,
      name,
    ])
    for (const { version, name: file, checksum } of spares.migrations)
      await tx.query(
        'insert into svc.migration (scope, version, name, checksum) values ($1, $2::int, $3, $4)',
        [id, version, file, checksum],
      )
    const value = { name, organization_id: organizationId }
    await recordAdministration(tx, operator(), { action: 'create-tenant', subject: { tenant: id }, value })
  })
  await observeTerritory(store, id)
  return { id }
}

/** Switches a tenant of a test to `observe`. */
export async function observeTerritory(store: Store, tenant: TenantId): Promise<void> {
  await store.tenantQuery(tenant, `update svc.territory_state set mode = 'observe' where tenant_id = $1`, [
    tenant,
  ])
}
