/** Starts a whole service for a test: store, development catalog, two tenants, the app on free ports. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnsecuredJWT } from 'jose'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { createTable, orderFields } from '../../demo/commits.ts'
import { type App, type AppOptions, startApp } from '../../src/app.ts'
import { RightOfWay } from '../../src/base/right-of-way.ts'
import { parseConfig } from '../../src/config.ts'
import type { Policy } from '../../src/core/policy.ts'
import type { SessionScope } from '../../src/core/session.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { licenseKeys } from '../../src/license/keys.ts'
import { limits } from '../../src/limits.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { type AuditRecord, findAudit } from '../../src/store/commit/audit.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import { putReadSettings } from '../../src/store/contract/read-settings.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import type { Store } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts'
import { actorOf } from './actor.ts'
import { testLicenseKey } from './license.ts'
import { makeTenant } from './spare-tenants.ts'
import { openTenantStore, testCatalogDirectory } from './store.ts'

export const orders: TableRef = { namespace: ['sales'], name: 'orders' }
export const prefix = 'main'

export interface TestTenant {
  readonly tenant: TenantId
  /** Secret of a session with every scope. */
  readonly secret: string
}

export interface TestService extends AsyncDisposable {
  readonly app: App
  readonly store: Store
  readonly metrics: Metrics
  readonly catalog: DevCatalog
  /** Tenant and session that own the catalog credential `main`. */
  readonly owner: TestTenant
  /** Everything logged so far, one JSON object a line. */
  readonly log: () => string
}

export interface TestServiceOptions
  extends Partial<
    Pick<
      AppOptions,
      | 'clock'
      | 'passCrashPoint'
      | 'journalDirectory'
      | 'intentTimes'
      | 'engines'
      | 'queries'
      | 'systemCatalog'
      | 'commits'
      | 'auditSleep'
      | 'sleep'
      | 'tracer'
    >
  > {
  /** Without `SVC_LICENSE` the service has no license; test/support/license.ts issues some. */
  readonly env?: Readonly<Record<string, string>>
  /** Wraps the store, to make it fail on purpose. */
  readonly wrapStore?: (store: Store) => Store
  /** Whether the development catalog folds names. */
  readonly foldsNames?: boolean
}

/** Starts a service with the table sales.orders in a development catalog of the alpha dialect. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-test-'))
  const catalog = await startDevCatalog({
    ...{ folder, credential: 'gateway:s3cret' },
    foldsNames: options.foldsNames ?? false,
  })
  const metrics = createMetrics()
  const { store: opened, tenant } = await openTenantStore({
    onCypher: (seconds) => metrics.cypherQuerySeconds.observe(seconds),
  })
  const store = options.wrapStore?.(opened) ?? opened
  const owner = await equipTenant(opened, tenant, 'acme', catalog.url)
  await createOrders(catalog)

  const lines: string[] = []
  const app = await startApp({
    lostAnswerWaitsMs: [0, 20],
    commits: new RightOfWay({ quietMs: 1, waitMsMax: limits.backgroundWaitMs }),
    licenseKeys: [...licenseKeys, testLicenseKey],
    jobsByTime: false,
    catalogDirectory: testCatalogDirectory,
    ...options,
    config: parseConfig({
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
      UV_THREADPOOL_SIZE: '16',
      SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
      ...options.env,
    }),
    store,
    metrics,
    log: createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } }),
  })
  return {
    app,
    store: opened,
    metrics,
    catalog,
    owner,
    log: () => lines.join(''),
    async [Symbol.asyncDispose]() {
      await app.stop()
      await opened.close()
      await catalog.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * A tenant with a session of every scope and the catalog credential `main`.
 * @param config further members of its `config_json`
 */
export async function addTenant(
  store: Store,
  name: string,
  catalogUrl: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<TestTenant> {
  const { id } = await makeTenant(store, { name })
  return equipTenant(store, id, name, catalogUrl, config)
}

/** Gives a tenant what `addTenant` gives a new one. */
export async function equipTenant(
  store: Store,
  tenant: TenantId,
  name: string,
  catalogUrl: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<TestTenant> {
  await putCatalogCredential(store, tenant, {
    nickname: prefix,
    kind: 'alpha',
    endpoint: catalogUrl,
    config: { endpoint: catalogUrl, warehouse: 'dev', credential: 'gateway:s3cret', ...config },
  })
  const scopes: readonly SessionScope[] = ['commit', 'read', 'lineage', 'admin']
  const { secret } = await createServiceSession(store, tenant, {
    name,
    principal: { sub: name, roles: [] },
    scopes,
  })
  return { tenant, secret }
}

/** Headers that the upstream lets in. */
export async function upstreamHeaders(catalog: DevCatalog): Promise<Readonly<Record<string, string>>> {
  const token = await fetch(`${catalog.url}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'gateway',
      client_secret: 's3cret',
    }),
  })
  const { access_token } = (await token.json()) as { access_token: string }
  return { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
}

/** Makes sales.orders upstream. @returns headers that the upstream lets in */
export async function createOrders(
  catalog: DevCatalog,
): Promise<{ readonly headers: Readonly<Record<string, string>> }> {
  const headers = await upstreamHeaders(catalog)
  const base = `${catalog.url}/v1/dev`
  await fetch(`${base}/namespaces`, { method: 'POST', headers, body: '{"namespace":["sales"]}' })
  const created = await fetch(`${base}/namespaces/sales/tables`, {
    method: 'POST',
    headers,
    body: createTable('orders', orderFields, { 'write.metadata.previous-versions-max': '100000' }),
  })
  if (!created.ok)
    throw new Error(`the development catalog answered ${created.status}: ${await created.text()}`)
  return { headers }
}

/** Another writer's commit to sales.orders, past the gateway. @throws Error unless the upstream takes it */
export async function commitUpstream(catalog: DevCatalog, body: string): Promise<void> {
  const headers = await upstreamHeaders(catalog)
  const table = `${catalog.url}/v1/dev/namespaces/sales/tables/orders`
  const response = await fetch(table, { method: 'POST', headers, body })
  if (response.status !== 200)
    throw new Error(`the development catalog answered ${response.status}: ${await response.text()}`)
}

export interface CommitOptions {
  readonly secret?: string
  readonly roles?: readonly string[]
  readonly sub?: string
  readonly email?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a single-table commit on sales.orders as the owner, with an unsigned bearer of the given subject. */
export async function commit(
  service: TestService,
  body: string | Uint8Array<ArrayBuffer>,
  options: CommitOptions = {},
): Promise<Response> {
  const { sub = 'spark', roles = [], email } = options
  const { path = `/v1/iceberg/${prefix}/namespaces/sales/tables/orders` } = options
  return await fetch(new URL(path, service.app.url), {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-svc-session': options.secret ?? service.owner.secret,
      authorization: `Bearer ${new UnsecuredJWT({ sub, roles, email }).encode()}`,
      ...options.headers,
    },
  })
}

/** Attaches a policy to sales.orders. */
export async function governOrders(
  service: TestService,
  policy: Partial<Policy> & Pick<Policy, 'id' | 'definitionCel'>,
): Promise<void> {
  await putPolicy(service.store, service.owner.tenant, orders, {
    kind: 'schema',
    mode: 'enforce',
    name: policy.id,
    message: '',
    ...policy,
  })
}

/** The tenant's decisions, newest first, each with all that is kept of it. */
export async function audit(
  service: TestService,
  tenant = service.owner.tenant,
): Promise<readonly AuditRecord[]> {
  const entries = (await listDecisions(service.store, tenant, { limit: 1000 })).items
  const records = await Promise.all(entries.map((entry) => findAudit(service.store, tenant, entry.commitId)))
  return records.filter((record) => record !== undefined)
}

/** Labels of the edges whose id is this commit's, in alphabetical order. */
export async function commitEdges(service: TestService, commitId: string): Promise<readonly string[]> {
  const rows = await service.store.tenantQuery<{ label: string }>(
    service.owner.tenant,
    `select c.relname as label from "_ag_label_edge" e join pg_class c on c.oid = e.tableoid
     where agtype_access_operator(variadic array[e.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype
     order by 1`,
    [commitId],
  )
  return rows.map((row) => row.label)
}

/** One series of the metrics, by its name with labels as the scrape shows it; 0 where it is absent. */
export async function metric(service: Pick<TestService, 'app'>, series: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', service.app.metricsUrl))).text()
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length + 1))
}

/** Lets readers of the tenants load tables without a contract. */
export async function openUncontracted(store: Store, ...tenants: readonly TestTenant[]): Promise<void> {
  for (const { tenant } of tenants)
    await putReadSettings(store, tenant, actorOf('stella'), { uncontracted: 'readable' })
}
