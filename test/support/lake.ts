/** Starts the service with governed Iceberg tables, and two principals: one sees all of them, the other does not. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { duckdbParquet } from '../../demo/lake/duckdb-parquet.ts'
import { tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import { type App, type AppOptions, startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putRowFilter } from '../../src/contract/put-row-filter.ts'
import type { ColumnMask } from '../../src/core/mask.ts'
import type { SessionScope } from '../../src/core/session.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { licenseKeys } from '../../src/license/keys.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import type { Store } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { actorOf } from './actor.ts'
import { type LakeTable, ordersTable, selectList } from './lake-tables.ts'
import { testLicenseKey } from './license.ts'
import { makeTenant } from './spare-tenants.ts'
import { openTenantStore, testCatalogDirectory } from './store.ts'
import { readOverWire } from './wire-client.ts'
import { startRecorder } from './wire-recorder.ts'

/** What a client takes from its environment. */
export type ClientEnvironment = Readonly<
  Record<'PGHOST' | 'PGPORT' | 'PGUSER' | 'PGPASSWORD' | 'PGDATABASE' | 'PGSSLMODE' | 'PGTZ' | 'TZ', string>
>

/** A statement over the wire, as {@link readOverWire} gives it. */
export function readAs(
  env: ClientEnvironment,
  text: string,
  database = env.PGDATABASE,
): Promise<readonly string[]> {
  const login = { user: env.PGUSER, password: env.PGPASSWORD, database }
  return readOverWire({ port: Number(env.PGPORT), ...login }, text)
}

export interface Lake extends AsyncDisposable {
  readonly app: App
  readonly store: Store
  readonly tenant: TenantId
  /** Nickname of the catalog's credential. */
  readonly catalog: string
  /** Sees every row and value. */
  readonly env: ClientEnvironment
  /** Is an officer of nothing: row filters and masks apply. */
  readonly restricted: ClientEnvironment
}

/** A development catalog that runs already. */
export interface LakeCatalog {
  readonly url: string
  readonly warehouse: string
  /** `id:secret`, where it asks for one. */
  readonly credential?: string | undefined
  /** The catalog's own is `catalog` below it. */
  readonly folder: string
}

export interface LakeOptions
  extends Partial<Pick<AppOptions, 'clock' | 'engines' | 'jobsByTime' | 'log' | 'metrics' | 'tracer'>> {
  /** In the namespace `sales`; `orders` where absent. */
  readonly tables?: readonly LakeTable[]
  /** Beside them, in namespaces of their own. */
  readonly written?: readonly WrittenTable[]
  readonly catalog?: LakeCatalog
  /** Stays open; one of the lake's own where absent. */
  readonly store?: Store
  /** `SVC_LICENSE` of test/support/license.ts, and the like. */
  readonly env?: Readonly<Record<string, string>>
}

/** A table whose files a test writes. Filter and masks concern everybody but officers. */
export interface WrittenTable {
  readonly ref: TableRef
  /** @returns where its metadata file lies, below the folder */
  readonly write: (folder: string) => Promise<string>
  readonly rowFilter?: string | undefined
  /** By column. */
  readonly masks?: Readonly<Record<string, ColumnMask>> | undefined
}

const nickname = 'lake'
const icebergTypes: Readonly<Record<string, Field['type']>> = {
  bigint: 'long',
  text: 'string',
  'numeric(10,2)': 'decimal(10,2)',
  integer: 'int',
  'double precision': 'double',
  boolean: 'boolean',
  date: 'date',
  timestamptz: 'timestamptz',
  timestamp: 'timestamp',
  uuid: 'uuid',
  bytea: 'binary',
}

async function storeWithTenant(given: Store | undefined, stack: AsyncDisposableStack) {
  if (given !== undefined) return { store: given, tenant: (await makeTenant(given, { name: 'acme' })).id }
  const { store, tenant } = await openTenantStore()
  return { store: stack.use(store), tenant }
}

/** Starts the service, writes the tables, registers them through the gateway and governs them. */
export async function startLake(options: LakeOptions = {}): Promise<Lake> {
  const stack = new AsyncDisposableStack()
  const catalog = options.catalog ?? (await ownCatalog(stack))
  const { store, tenant } = await storeWithTenant(options.store, stack)
  await putCatalogCredential(store, tenant, credentialOf(catalog))
  const loopback = '127.0.0.1:0'
  const app = await startApp({
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
    catalogDirectory: testCatalogDirectory,
    licenseKeys: [...licenseKeys, testLicenseKey],
    jobsByTime: false,
    ...options,
    config: parseConfig({
      SVC_LISTEN_ADDR: loopback,
      SVC_METRICS_ADDR: loopback,
      SVC_PGWIRE_ADDR: loopback,
      SVC_XMLA_ADDR: loopback,
      UV_THREADPOOL_SIZE: '16',
      SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
      SVC_READ_DIR: catalog.folder,
      ...options.env,
    }),
    store,
  })
  stack.defer(() => app.stop())
  const session = (sub: string, roles: readonly string[]) =>
    createServiceSession(store, tenant, { name: sub, principal: { sub, roles }, scopes: ['commit', 'read'] })
  const [ann, bob] = [await session('ann', ['officer']), await session('bob', [])]
  await send(app, ann.secret, 'namespaces', { namespace: ['sales'] })
  const tables = options.tables ?? [ordersTable]
  // Beside a filter or mask, registering needs a write policy.
  for (const table of tables)
    await register(app, ann.secret, join(catalog.folder, 'catalog/warehouse'), table)
  const written = options.written ?? []
  for (const { ref, write } of written) {
    const location = await write(join(catalog.folder, 'catalog/warehouse', ...ref.namespace))
    await send(app, ann.secret, 'namespaces', { namespace: ref.namespace })
    await registerAt(app, ann.secret, ref, location)
  }
  for (const table of tables) await govern(store, tenant, table)
  for (const table of written) await governWritten(store, tenant, table)
  const recorded = process.env.RECORD_WIRE
  const recorder =
    recorded === undefined || app.pgwirePort === undefined
      ? undefined
      : stack.use(await startRecorder(app.pgwirePort, recorded))
  const env = (user: string, secret: string): ClientEnvironment => ({
    PGHOST: '127.0.0.1',
    PGPORT: String(recorder?.port ?? app.pgwirePort),
    PGUSER: user,
    PGPASSWORD: secret,
    PGDATABASE: nickname,
    PGSSLMODE: 'disable',
    PGTZ: 'UTC',
    TZ: 'UTC',
  })
  return {
    app,
    store,
    tenant,
    catalog: nickname,
    env: env('ann', ann.secret),
    restricted: env('bob', bob.secret),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/**
 * Lets another tenant read a table of the lake, in a namespace of its own, which exists. It has the same files, and is
 * governed in the same way.
 * @returns the password of the user `bob`, to whom filter and mask apply
 */
export async function addReader(
  { app, store, env }: Lake,
  tenant: TenantId,
  catalog: LakeCatalog,
  { table, namespace }: { readonly table: LakeTable; readonly namespace: string },
): Promise<string> {
  await putCatalogCredential(store, tenant, credentialOf(catalog))
  const session = (sub: string, scopes: readonly SessionScope[]) =>
    createServiceSession(store, tenant, { name: sub, principal: { sub, roles: [] }, scopes })
  const original = new URL(`/v1/iceberg/${nickname}/v1/namespaces/sales/tables/${table.name}`, app.url)
  const loaded = await fetch(original, { headers: { 'x-svc-session': env.PGPASSWORD } })
  const { 'metadata-location': location } = (await loaded.json()) as { 'metadata-location': string }
  const { secret: writer } = await session('ann', ['commit', 'read'])
  await registerAt(app, writer, { namespace: [namespace], name: table.name }, location)
  await govern(store, tenant, table, namespace)
  return (await session('bob', ['read'])).secret
}

function credentialOf({ url, warehouse, credential, folder }: LakeCatalog) {
  const config = {
    endpoint: url,
    warehouse,
    ...(credential !== undefined && { credential }),
    storage_roots: [pathToFileURL(folder).href],
  }
  return { nickname, kind: 'alpha', endpoint: url, config } as const
}

async function ownCatalog(stack: AsyncDisposableStack): Promise<LakeCatalog> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-lake-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  stack.defer(() => catalog.stop())
  return { url: catalog.url, warehouse: 'dev', folder }
}

async function govern(store: Store, tenant: TenantId, table: LakeTable, namespace = 'sales'): Promise<void> {
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  const ref = { namespace: [namespace], name: table.name }
  const exemptRoles = ['officer']
  await putContract(on, ref, {
    id: table.name,
    version: 1,
    ...(table.schema && { schema: table.schema }),
  })
  const { mask, rowFilter: expression } = table
  if (mask !== undefined)
    await putMask(
      on,
      { table: ref, column: mask.column },
      { id: `${table.name}-${mask.column}`, action: mask.action, exemptRoles },
    )
  if (expression !== undefined)
    await putRowFilter(on, { table: ref }, { id: `${table.name}-rows`, expression, exemptRoles })
}

async function governWritten(
  store: Store,
  tenant: TenantId,
  { ref, rowFilter, masks = {} }: WrittenTable,
): Promise<void> {
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  const exemptRoles = ['officer']
  const id = ref.namespace.join('-')
  await putContract(on, ref, { id, version: 1 })
  for (const [column, mask] of Object.entries(masks))
    await putMask(on, { table: ref, column }, { id: `${id}-${column}`, ...mask, exemptRoles })
  if (rowFilter !== undefined)
    await putRowFilter(on, { table: ref }, { id: `${id}-rows`, expression: rowFilter, exemptRoles })
}

async function registerAt(app: App, secret: string, ref: TableRef, location: string): Promise<void> {
  const body = { name: ref.name, 'metadata-location': location }
  await send(app, secret, `namespaces/${ref.namespace.join('.')}/register`, body)
}

async function register(
  app: App,
  secret: string,
  folder: string,
  { name, columns, rowCount, fileCount = 1 }: LakeTable,
): Promise<void> {
  const fields = columns.map(([column, type], index) => ({
    id: index + 1,
    name: column,
    type: icebergTypes[type] as Field['type'],
  }))
  const ids = `{${fields.map((field) => `${field.name}: ${field.id}`).join(', ')}}`
  const from = (file: number) => Math.floor((rowCount * file) / fileCount) + 1
  const files = []
  for (let file = 0; file < fileCount; file++) {
    const [first, end] = [from(file), from(file + 1)]
    const bytes = await duckdbParquet(
      `SELECT ${selectList(columns)} FROM range(${first}, ${end}) AS t(i)`,
      ids,
    )
    files.push({ rows: [], bytes, recordCount: end - first })
  }
  const table = tableInFolder(folder, name, { fields, formatVersion: 2 })
  const { metadataLocation } = await table.append(files)
  await registerAt(app, secret, { namespace: ['sales'], name }, metadataLocation)
}

async function send(app: App, secret: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(new URL(`/v1/iceberg/${nickname}/v1/${path}`, app.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-session': secret },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
}
