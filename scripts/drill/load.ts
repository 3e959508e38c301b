/** The service of the drill under load: a tenant, tables in a development catalog, writers that note what was answered. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { createTable, orderFields, setProperties } from '../../demo/commits.ts'
import { type App, startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'

/** Each writes to a table of its own, so that none waits for another. */
const writers = 8

export interface Load extends AsyncDisposable {
  /** When each commit was answered with 200, in milliseconds since 1970, by its request id. */
  readonly answered: ReadonlyMap<string, number>
  readonly tables: number
  /** Commits until there are so many answers. @throws Error where a commit is refused */
  commitUntil(count: number): Promise<void>
  /** Ends the service and its store. The catalog stays. */
  stop(): Promise<void>
}

/** The settings of a service on this database. */
export function serviceSettings(
  databaseUrl: string,
  secretsKey: Uint8Array,
): Readonly<Record<string, string>> {
  const at = '127.0.0.1:0'
  return {
    ...{ SVC_LISTEN_ADDR: at, SVC_METRICS_ADDR: at, SVC_PGWIRE_ADDR: at, SVC_XMLA_ADDR: at },
    UV_THREADPOOL_SIZE: '16',
    SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
    SVC_DATABASE_URL: databaseUrl,
    SVC_SECRETS_KEY: Buffer.from(secretsKey).toString('base64'),
  }
}

/** Starts the service on this database. */
export async function startService(
  databaseUrl: string,
  secretsKey: Uint8Array,
): Promise<{ readonly app: App; readonly store: Store; stop(): Promise<void> }> {
  const store = await openStore({ databaseUrl, secretsKey, poolMax: 10, migrate: true, onNotice: () => {} })
  const app = await startApp({
    config: parseConfig(serviceSettings(databaseUrl, secretsKey)),
    store,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
  })
  return {
    app,
    store,
    async stop() {
      await app.stop()
      await store.close()
    },
  }
}

/** Starts everything; nothing is committed yet. */
export async function startLoad(databaseUrl: string, secretsKey: Uint8Array): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-drill-'))
  const catalog = await startDevCatalog({ folder, credential: 'gateway:s3cret' })
  const service = await startService(databaseUrl, secretsKey)
  const { app, store } = service
  const { id: tenant } = await createTenant(store, { name: 'drill' })
  const config = { endpoint: catalog.url, warehouse: 'dev', credential: 'gateway:s3cret' }
  await putCatalogCredential(store, tenant, {
    nickname: 'main',
    kind: 'alpha',
    endpoint: catalog.url,
    config,
  })
  const { secret } = await createServiceSession(store, tenant, {
    name: 'writer',
    principal: { sub: 'writer', roles: [] },
    scopes: ['commit', 'read'],
  })
  const headers = { 'content-type': 'application/json', 'x-svc-session': secret }
  const base = new URL('/v1/iceberg/main/', app.url)
  const send = async (path: string, body: string, requestId?: string) => {
    const answer = await fetch(new URL(path, base), {
      method: 'POST',
      body,
      headers: { ...headers, ...(requestId !== undefined && { 'x-request-id': requestId }) },
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${text.slice(0, 300)}`)
  }
  await send('v1/namespaces', '{"namespace":["drill"]}')
  const names = Array.from({ length: writers }, (_, index) => `orders_${index + 1}`)
  for (const name of names) {
    await send('v1/namespaces/drill/tables', createTable(name, orderFields))
    await putPolicy(
      store,
      tenant,
      { namespace: ['drill'], name },
      {
        ...{ id: `all-${name}`, name, kind: 'schema', mode: 'enforce', definitionCel: 'true', message: '' },
      },
    )
  }
  const answered = new Map<string, number>()
  let begun = 0
  return {
    answered,
    tables: writers,
    async commitUntil(count) {
      const write = async (name: string) => {
        while (begun < count) {
          const id = `drill-${++begun}`
          await send(`v1/namespaces/drill/tables/${name}`, setProperties({ n: id }), id)
          answered.set(id, Date.now())
        }
      }
      await Promise.all(names.map(write))
    },
    stop: service.stop,
    async [Symbol.asyncDispose]() {
      await catalog.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
