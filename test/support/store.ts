/**
 * Opens stores for tests: embedded, from prepared data directories; or a fresh database on the server that
 * SVC_TEST_DATABASE_URL names.
 * Do not write `expect(promise).rejects` about an embedded store, because it blocks the messages of the store's
 * Worker. Write `await promise.catch(…)`. The hook that opens the first store prepares the templates, so give it 60
 * seconds.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { parseTenantId, type TenantId } from '../../src/core/tenant.ts'
import { migrationsChecksum } from '../../src/store/database/migration-files.ts'
import { openStore, type Store, type StoreOptions } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { shrinkStore } from './shrink-store.ts'
import {
  addServerSpares,
  addSpareTenants,
  makeTenant,
  registerSpares,
  registerSparesText,
} from './spare-tenants.ts'

const cache = new URL('../../.cache/', import.meta.url).pathname
const tenantFile = 'test-tenant'

/** Where the empty database of pg_catalog is kept for all tests: to make it takes many seconds. */
export const testCatalogDirectory = cache
export const testSecretsKey = new Uint8Array(32).fill(7)
/** What every store of a test is opened with. */
export const testStoreOptions = {
  secretsKey: testSecretsKey,
  migrate: true,
  onNotice: () => {},
  // A busy machine may need many times what a statement takes on a quiet one.
  statementMs: 120_000,
} as const

export interface TestStore extends Store, AsyncDisposable {
  /** The server's database, where the store is on one. */
  readonly databaseUrl: string | undefined
  readonly dataDirectory: string | undefined
}

type TestStoreOptions = Partial<Omit<StoreOptions, 'databaseUrl' | 'dataDirectory' | 'template'>>

/** Opens an empty store of the test's own; to close it removes what it left. */
export async function openTestStore(options: TestStoreOptions = {}): Promise<TestStore> {
  const server = process.env.SVC_TEST_DATABASE_URL
  if (server !== undefined) return openServerTestStore(server, options)
  return openEmbeddedTestStore(options, await spareTemplate())
}

/** The same with one tenant, `acme`. */
export async function openTenantStore(
  options: TestStoreOptions = {},
): Promise<{ readonly store: TestStore; readonly tenant: TenantId }> {
  const store = await openTestStore(options)
  return { store, tenant: (await makeTenant(store, { name: 'acme' })).id }
}

/** The same as `storeTemplate`, with tenants that `makeTenant` takes. */
function spareTemplate(): Promise<string> {
  return template('spare', async (dataDirectory) => {
    const options = { ...testStoreOptions, dataDirectory, template: await storeTemplate() }
    await addSpareTenants(dataDirectory, () => openStore(options))
    await shrinkStore(dataDirectory)
  })
}

/** A migrated, empty database, shared by test processes; made if it is not there. */
export function storeTemplate(): Promise<string> {
  return template('store', async (dataDirectory) => {
    await (await openStore({ ...testStoreOptions, dataDirectory })).close()
    await shrinkStore(dataDirectory)
  })
}

/** The same with the tenant `acme` in it: to make one takes as long as to open a database. */
export async function tenantTemplate(): Promise<{ readonly path: string; readonly tenant: TenantId }> {
  const path = await template('tenant', async (dataDirectory) => {
    const store = await openStore({ ...testStoreOptions, dataDirectory, template: await storeTemplate() })
    const { id } = await createTenant(store, { name: 'acme' })
    await store.close()
    await shrinkStore(dataDirectory)
    writeFileSync(join(dataDirectory, 'pg', tenantFile), id)
  })
  const tenant = parseTenantId(readFileSync(join(path, tenantFile), 'utf8'))
  if (tenant === undefined) throw new Error(`no tenant id in ${path}`)
  return { path, tenant }
}

async function template(name: string, prepare: (dataDirectory: string) => Promise<void>): Promise<string> {
  const directory = join(cache, `prepared-small-${name}-${migrationsChecksum().slice(0, 16)}`)
  if (!existsSync(directory)) {
    mkdirSync(cache, { recursive: true })
    const making = mkdtempSync(`${directory}.`)
    try {
      await prepare(making)
      renameSync(making, directory)
    } catch (error) {
      rmSync(making, { recursive: true, force: true })
      // Another process may have been first; what it made is as good.
      if (!existsSync(directory)) throw error
    }
  }
  return join(directory, 'pg')
}

async function openEmbeddedTestStore(options: TestStoreOptions, from: string): Promise<TestStore> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'covenant-store-'))
  // The template is migrated.
  const store = await openStore({
    ...testStoreOptions,
    migrate: false,
    ...options,
    dataDirectory,
    template: from,
  })
  const opened = disposable(store, { databaseUrl: undefined, dataDirectory }, async () => {
    rmSync(dataDirectory, { recursive: true, force: true })
  })
  registerSpares(opened, from)
  return opened
}

async function openServerTestStore(server: string, options: TestStoreOptions): Promise<TestStore> {
  serverTemplates[server] ??= serverTemplate(server)
  const from = await serverTemplates[server]
  const name = `covenant_${crypto.randomUUID().replaceAll('-', '')}`
  await administer(server, (sql) => sql.unsafe(`create database ${name} template ${from.name}`))
  const databaseUrl = urlOf(server, name)
  const store = await openStore({ ...testStoreOptions, poolMax: 4, ...options, databaseUrl })
  const opened = disposable(store, { databaseUrl, dataDirectory: undefined }, async () => {
    await administer(server, (sql) => sql.unsafe(`drop database ${name} with (force)`))
  })
  registerSparesText(opened, from.spares)
  return opened
}

interface ServerTemplate {
  /** Of the database. */
  readonly name: string
  readonly spares: string
}

const serverTemplates: Record<string, Promise<ServerTemplate>> = {}

/** A migrated database with spare tenants on a server, made once for all processes: to migrate one takes seconds. */
function serverTemplate(server: string): Promise<ServerTemplate> {
  const name = `covenant_template_${migrationsChecksum().slice(0, 16)}`
  return administer(server, async (sql) => {
    const find = async () => {
      const [found] = await sql<{ spares: string }[]>`
        select shobj_description(oid, 'pg_database') as spares from pg_database where datname = ${name}`
      return found === undefined ? undefined : { name, spares: found.spares }
    }
    // One process makes it, the others wait.
    await sql`select pg_advisory_lock(hashtext(${name}))`
    const found = await find()
    if (found !== undefined) return found
    const making = `covenant_making_${crypto.randomUUID().replaceAll('-', '')}`
    await sql.unsafe(`create database ${making}`)
    const databaseUrl = urlOf(server, making)
    await addServerSpares(databaseUrl, () => openStore({ ...testStoreOptions, databaseUrl }))
    await sql.unsafe(`alter database ${making} rename to ${name}`)
    const made = await find()
    if (made === undefined) throw new Error(`the server lost the database ${name}`)
    return made
  })
}

function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

async function administer<Result>(
  server: string,
  work: (sql: postgres.Sql) => PromiseLike<Result>,
): Promise<Result> {
  const sql = postgres(server, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

function disposable(
  store: Store,
  where: Pick<TestStore, 'databaseUrl' | 'dataDirectory'>,
  clean: () => Promise<void>,
): TestStore {
  let closed: Promise<void> | undefined
  const close = () => (closed ??= store.close().then(clean))
  return { ...store, ...where, close, [Symbol.asyncDispose]: close }
}
