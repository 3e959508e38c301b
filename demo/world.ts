/** Starts what the demo runs on: the whole service, two catalogs and two tenants, in this process and one folder. */

import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UnsecuredJWT } from 'jose'
import { license } from '../src/admin/license.ts'
import { type App, startApp } from '../src/app.ts'
import { parseConfig } from '../src/config.ts'
import { serviceSubject } from '../src/core/principal.ts'
import type { TableRef } from '../src/core/table-ref.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { openConfiguredStore } from '../src/open-store.ts'
import { putCatalogCredential } from '../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession } from '../src/store/session/sessions.ts'
import type { Store } from '../src/store/store.ts'
import { createTenant } from '../src/store/tenant/tenants.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { type DevCatalog, startDevCatalog } from './catalog/dev-catalog.ts'
import { createTable as createTableBody, type SampleField } from './commits.ts'
import { writeOrders } from './lake/order-files.ts'
import type { DemoReader } from './psql.ts'

export const orders: TableRef = { namespace: ['sales'], name: 'orders' }
const upstreamCredential = { id: 'gateway', secret: 's3cret' }

export interface Writer {
  readonly sub: string
  readonly roles: readonly string[]
}

export interface DemoTenant {
  readonly name: string
  readonly id: TenantId
  /** The secret of a service session with the scope `commit`. */
  readonly secret: string
  readonly catalog: DevCatalog
  /** Folder of the catalog's tables. */
  readonly warehouse: string
  /** Data files that are written but not yet committed to a table. */
  readonly orders: Awaited<ReturnType<typeof writeOrders>>
}

export interface World extends AsyncDisposable {
  readonly app: App
  readonly store: Store
  readonly acme: DemoTenant
  readonly globex: DemoTenant
  /** The reading principals of acme: an officer and an analyst. */
  readonly readers: Readonly<Record<'ann' | 'bob', DemoReader>>
  /** The file to which the service logs. */
  readonly logFile: string
}

/** Starts everything on free loopback ports. Disposal stops it and removes the folder. */
export async function startWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-demo-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const logFile = join(folder, 'service.log')
  const config = parseConfig({
    SVC_LISTEN_ADDR: '127.0.0.1:0',
    SVC_METRICS_ADDR: '127.0.0.1:0',
    SVC_PGWIRE_ADDR: '127.0.0.1:0',
    SVC_XMLA_ADDR: '127.0.0.1:0',
    UV_THREADPOOL_SIZE: '16',
    SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_READ_DIR: join(folder, 'read'),
    // The transform needs a license; one of development holds for walkthroughs on loopback.
    SVC_DEMO: '1',
    SVC_LICENSE: await developmentLicense(),
  })
  const metrics = createMetrics()
  const log = createLogger({
    level: config.logLevel,
    destination: { write: (line) => appendFileSync(logFile, line) },
  })
  const store = await openConfiguredStore(config, metrics, log)
  stack.defer(() => store.close())
  const startCatalog = async (name: string) => {
    const { id, secret } = upstreamCredential
    const catalog = await startDevCatalog({ folder: join(folder, name), credential: `${id}:${secret}` })
    stack.defer(() => catalog.stop())
    await createOrders(catalog)
    return { catalog, warehouse: join(folder, name, 'warehouse') }
  }
  const acme = await addTenant(store, 'acme', await startCatalog('acme'))
  const globex = await addTenant(store, 'globex', await startCatalog('globex'))
  const app = await startApp({ config, store, metrics, log })
  stack.defer(() => app.stop())
  const reader = (sub: string, roles: readonly string[]) => addReader(store, acme, sub, roles, app.pgwirePort)
  const readers = { ann: await reader('ann', ['officer']), bob: await reader('bob', ['analyst']) }
  const owned = stack.move()
  return { app, store, acme, globex, readers, logFile, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function developmentLicense(): Promise<string> {
  const lines: string[] = []
  await license(['issue', '--licensee', 'demo', '--capabilities', 'transform'], {
    env: {},
    stdin: async () => '',
    print: (line) => void lines.push(line),
    complain: (line) => void lines.push(line),
  })
  return lines.join('')
}

/** Makes a tenant with a session, and the nickname `main` for its catalog. */
async function addTenant(
  store: Store,
  name: string,
  place: Pick<DemoTenant, 'catalog' | 'warehouse'>,
): Promise<DemoTenant> {
  const { id } = await createTenant(store, { name })
  await registerCatalog(store, { id, ...place }, 'main')
  const { secret } = await createServiceSession(store, id, {
    name: 'demo',
    principal: { sub: serviceSubject('demo'), roles: [] },
    scopes: ['commit'],
  })
  return { name, id, secret, ...place, orders: await writeOrders(place.warehouse) }
}

/** Makes a service session that may read through the nickname `main`. Its user name is the subject's without `service:`. */
async function addReader(
  store: Store,
  { id }: DemoTenant,
  sub: string,
  roles: readonly string[],
  port: number,
): Promise<DemoReader> {
  const { secret } = await createServiceSession(store, id, {
    name: sub,
    principal: { sub: serviceSubject(sub), roles },
    scopes: ['read'],
  })
  return { sub, secret, host: '127.0.0.1', port, database: 'main' }
}

/** Stores a credential for the tenant's catalog under a {prefix}, with the storage roots that may be read. */
export async function registerCatalog(
  store: Store,
  tenant: Pick<DemoTenant, 'id' | 'catalog' | 'warehouse'>,
  nickname: string,
): Promise<void> {
  const { id, secret } = upstreamCredential
  await putCatalogCredential(store, tenant.id, {
    nickname,
    kind: 'alpha',
    endpoint: tenant.catalog.url,
    config: {
      warehouse: 'dev',
      credential: `${id}:${secret}`,
      storage_roots: [pathToFileURL(tenant.warehouse).href],
    },
  })
}

async function createOrders(catalog: DevCatalog): Promise<void> {
  await upstreamPost(catalog, `${catalog.url}/v1/dev/namespaces`, '{"namespace":["sales"]}')
  await createTable(catalog, orders.name)
}

/** Makes a table in the namespace sales, past the gateway. @param fields those of orders where absent */
export async function createTable(
  catalog: DevCatalog,
  name: string,
  fields?: readonly SampleField[],
): Promise<void> {
  const url = `${catalog.url}/v1/dev/namespaces/sales/tables`
  await upstreamPost(catalog, url, createTableBody(name, fields))
}

async function upstreamPost(catalog: DevCatalog, url: string, body: string): Promise<void> {
  const token = await fetch(`${catalog.url}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: upstreamCredential.id,
      client_secret: upstreamCredential.secret,
    }),
  })
  const { access_token } = (await token.json()) as { readonly access_token: string }
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  if (!response.ok)
    throw new Error(`the development catalog answered ${response.status}: ${await response.text()}`)
}

/** The path of a commit on sales.orders through a {prefix}. */
export function commitPath(prefix: string): string {
  return `/v1/iceberg/${prefix}/namespaces/${orders.namespace.join('.')}/tables/${orders.name}`
}

/** A writer's headers: the tenant's session, and an unsigned token that says who the writer is. */
export function commitHeaders(tenant: DemoTenant, writer: Writer): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'x-svc-session': tenant.secret,
    authorization: `Bearer ${new UnsecuredJWT({ ...writer }).encode()}`,
  }
}
