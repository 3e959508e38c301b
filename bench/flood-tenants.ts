/** The two tenants of the bench of floods: what each sends to the program, and what the store holds before it starts. */

import { join } from 'node:path'
import { putCatalogCredential } from '../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession } from '../src/store/session/sessions.ts'
import { openStore } from '../src/store/store.ts'
import { createTenant } from '../src/store/tenant/tenants.ts'
import { type ContainedService, commitOf } from '../test/support/contained-service.ts'
import { startLake } from '../test/support/lake.ts'
import { ordersTable } from '../test/support/lake-tables.ts'
import { storeTemplate, testStoreOptions } from '../test/support/store.ts'
import { frames } from '../test/support/wire-client.ts'
import { openBenchStore } from './bench-store.ts'
import type { BenchStore } from './entry.ts'
import { RawClient } from './raw-client.ts'
import { createTableBody, tableSizes } from './sample-table.ts'
import { connectUpstream, startCatalogProcess } from './upstream.ts'

export const quietRequests = ['commit', 'read', 'event'] as const
export type QuietRequest = (typeof quietRequests)[number]

/** Bytes of the answer of the catalog that sends `[`. */
const hostileBytes = 5_000_000
const side = 50
const loudTable = 'loud_events'

export interface FloodTenants extends AsyncDisposable {
  /** Settings of the program. */
  readonly env: Readonly<Record<string, string>>
  /** Called once the program listens. */
  connect(service: ContainedService): Promise<void>
  /** Sends one request of the quiet tenant. @returns whether it was served; throws for an answer that is no refusal */
  ask(request: QuietRequest): Promise<boolean>
  /** Sends one of the loud tenant. @returns whether it was served */
  send(path: string, init: RequestInit): Promise<boolean>
  readonly loudHeaders: Readonly<Record<string, string>>
}

/** Prepares a store below the folder or on the server, with a governed table of the quiet tenant. */
export async function prepareFlood(store: BenchStore, folder: string): Promise<FloodTenants> {
  await using stack = new AsyncDisposableStack()
  const catalog = stack.use(await startCatalogProcess())
  const { endpoint, warehouse, credential } = catalog.address
  const upstream = await connectUpstream(catalog.address)
  await upstream.create('/namespaces', JSON.stringify({ namespace: ['loud'] }))
  await upstream.create('/namespaces/loud/tables', createTableBody(loudTable, tableSizes.small))
  const brackets = '['.repeat(hostileBytes)
  const hostile = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const path = new URL(request.url).pathname
      if (path.endsWith('/config')) return Response.json({ defaults: {}, overrides: {} })
      if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'a', token_type: 'bearer' })
      return new Response(brackets, { headers: { 'content-type': 'application/json' } })
    },
  })
  stack.defer(() => hostile.stop(true))
  const onServer = store.kind === 'postgres' ? stack.use(await openBenchStore(store)) : undefined
  const opened =
    onServer?.store ??
    (await openStore({
      ...testStoreOptions,
      dataDirectory: join(folder, 'data', 'store'),
      template: await storeTemplate(),
    }))
  const lake = await startLake({
    store: opened,
    catalog: { url: endpoint, warehouse, credential, folder: catalog.folder },
    tables: [ordersTable],
  })
  const quiet = lake.env.PGPASSWORD
  const events = await createServiceSession(opened, lake.tenant, {
    ...{ name: 'events', principal: { sub: 'events', roles: [] }, scopes: ['lineage'] },
  })
  const { id: tenant } = await createTenant(opened, { name: 'loud' })
  const config = { endpoint, warehouse, ...(credential !== undefined && { credential }) }
  await putCatalogCredential(opened, tenant, { kind: 'alpha', nickname: 'own', endpoint, config })
  const hostileUrl = `http://127.0.0.1:${hostile.port}`
  await putCatalogCredential(opened, tenant, {
    ...{ kind: 'alpha', nickname: 'hostile', endpoint: hostileUrl },
    config: { endpoint: hostileUrl, warehouse: 'x' },
  })
  const loud = await createServiceSession(opened, tenant, {
    ...{ name: 'loud', principal: { sub: 'loud', roles: [] }, scopes: ['commit', 'read', 'lineage'] },
  })
  await lake[Symbol.asyncDispose]()
  if (onServer === undefined) await opened.close()
  const small = commitOf(200)
  let url = ''
  let reader: RawClient | undefined
  const query = frames.query('SELECT id, email FROM sales.orders WHERE id = 18')
  const post = async (path: string, init: RequestInit): Promise<boolean> => {
    const response = await fetch(new URL(path, url), { method: 'POST', ...init })
    const text = await response.text()
    if (response.ok) return true
    if (response.status !== 503 && response.status < 500)
      throw new Error(`${path}: ${response.status} ${text}`)
    return false
  }
  const headersOf = (secret: string) => ({ 'content-type': 'application/json', 'x-svc-session': secret })
  const moved = stack.move()
  return {
    env: {
      SVC_READ_DIR: catalog.folder,
      ...(onServer?.databaseUrl !== undefined && { SVC_DATABASE_URL: onServer.databaseUrl }),
    },
    loudHeaders: headersOf(loud.secret),
    async connect(service) {
      url = service.url
      const login = { user: lake.env.PGUSER, database: lake.env.PGDATABASE, password: quiet }
      reader = await RawClient.connect({ port: service.pgwirePort, ...login })
    },
    async ask(request) {
      switch (request) {
        case 'commit':
          return await post('/v1/iceberg/lake/v1/namespaces/sales/tables/orders', {
            headers: headersOf(quiet),
            body: small,
          })
        case 'event':
          return await post('/v1/lineage', { headers: headersOf(events.secret), body: eventOf(1, 'quiet') })
        case 'read':
          return (await reader?.ask(query))?.rows === 1
      }
    },
    send: post,
    async [Symbol.asyncDispose]() {
      reader?.close()
      await moved.disposeAsync()
    },
  }
}

let sent = 0

function eventOf(width: number, name: string): string {
  const of = (end: string) =>
    Array.from({ length: width }, (_, index) => ({
      namespace: `s3://${name}`,
      name: `${end}.${index + (sent % 20) * width}`,
    }))
  sent++
  return JSON.stringify({
    eventType: 'COMPLETE',
    eventTime: new Date().toISOString(),
    producer: 'https://github.com/example/etl/v1',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: crypto.randomUUID() },
    job: { namespace: name, name: 'job' },
    inputs: of('in'),
    outputs: of('out'),
  })
}

/** One request of each kind of flood. @returns whether it was served */
export const floodRequests = {
  lineage: ({ send, loudHeaders }: FloodTenants) =>
    send('/v1/lineage', { headers: loudHeaders, body: eventOf(side, 'loud') }),
  /** Its answer is read, found to be no table, and refused. */
  answers: async ({ send, loudHeaders }: FloodTenants) => {
    await send('/v1/iceberg/hostile/v1/namespaces/n/tables/t', { method: 'GET', headers: loudHeaders })
    return true
  },
  commits: ({ send, loudHeaders }: FloodTenants, body?: Uint8Array<ArrayBuffer>) =>
    send(`/v1/iceberg/own/v1/namespaces/loud/tables/${loudTable}`, {
      headers: loudHeaders,
      body: body ?? null,
    }),
} as const
