/** The service with one governed Iceberg table on it, and two principals: one who sees all of it, one who does not. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import { type Field, tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { type App, startApp } from '../../../src/app.ts'
import { parseConfig } from '../../../src/config.ts'
import { checkPolicies } from '../../../src/query/protect.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credentials.ts'
import { putContract, putMask, putRowFilter } from '../../../src/store/contracts.ts'
import { createServiceSession } from '../../../src/store/sessions.ts'
import { createTenant } from '../../../src/store/tenants.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { openTestStore } from '../../support/store.ts'
import { orderColumns, orderCount, payload } from './oracle.ts'

/** What a client takes from its environment. */
export type ClientEnvironment = Readonly<
  Record<'PGHOST' | 'PGPORT' | 'PGUSER' | 'PGPASSWORD' | 'PGDATABASE' | 'PGSSLMODE' | 'PGTZ' | 'TZ', string>
>

export interface Lake extends AsyncDisposable {
  readonly app: App
  /** Sees every row and value. */
  readonly env: ClientEnvironment
  /** Sees the rows of the regions east and west, and e-mail addresses masked. */
  readonly restricted: ClientEnvironment
}

const orders = { namespace: ['sales'], name: 'orders' }
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

/** Starts the service, writes the table and registers it through the gateway. */
export async function startLake(): Promise<Lake> {
  const stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'covenant-lake-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  stack.defer(() => catalog.stop())
  const store = stack.use(await openTestStore())
  const { id: tenant } = await createTenant(store, { name: 'acme' })
  await putCatalogCredential(store, tenant, {
    nickname: 'lake',
    kind: 'alpha',
    endpoint: catalog.url,
    config: { endpoint: catalog.url, warehouse: 'dev', storage_roots: [pathToFileURL(folder).href] },
  })
  const loopback = '127.0.0.1:0'
  const app = await startApp({
    config: parseConfig({
      SVC_LISTEN_ADDR: loopback,
      SVC_METRICS_ADDR: loopback,
      SVC_PGWIRE_ADDR: loopback,
      UV_THREADPOOL_SIZE: '16',
      SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
      SVC_READ_DIR: folder,
    }),
    store,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
  })
  stack.defer(() => app.stop())
  const session = (sub: string, roles: readonly string[]) =>
    createServiceSession(store, tenant, { name: sub, principal: { sub, roles }, scopes: ['commit', 'read'] })
  const [ann, bob] = [await session('ann', ['auditor']), await session('bob', [])]

  await registerOrders(app, ann.secret, join(folder, 'catalog/warehouse'))
  const on = { store, tenant, actor: 'stella', checkPolicies }
  const exemptRoles = ['auditor']
  await putContract(on, orders, { id: 'orders', version: 1 })
  await putMask(on, { table: orders, column: 'email' }, { id: 'email', action: 'mask-alphanum', exemptRoles })
  await putRowFilter(
    on,
    { table: orders },
    {
      id: 'regions',
      expression: `region IN ('east', 'west')`,
      exemptRoles,
    },
  )
  const env = (user: string, secret: string): ClientEnvironment => ({
    PGHOST: '127.0.0.1',
    PGPORT: String(app.pgwirePort),
    PGUSER: user,
    PGPASSWORD: secret,
    PGDATABASE: 'lake',
    PGSSLMODE: 'disable',
    PGTZ: 'UTC',
    TZ: 'UTC',
  })
  return {
    app,
    env: env('ann', ann.secret),
    restricted: env('bob', bob.secret),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function registerOrders(app: App, secret: string, folder: string): Promise<void> {
  const columns = [...orderColumns, ['payload', 'bytea', payload.duckdb] as const]
  const fields = columns.map(([name, type], index) => ({
    id: index + 1,
    name,
    type: icebergTypes[type] as Field['type'],
  }))
  const list = columns
    .map(([name, type, expression]) => `CAST(${expression} AS ${type}) AS ${name}`)
    .join(', ')
  const bytes = await duckdbParquet(
    `SELECT ${list} FROM range(1, ${orderCount + 1}) AS t(i)`,
    `{${fields.map(({ id, name }) => `${name}: ${id}`).join(', ')}}`,
  )
  const table = tableInFolder(folder, 'orders', { fields, formatVersion: 2 })
  const { metadataLocation } = await table.append([{ rows: [], bytes, recordCount: orderCount }])
  const send = async (path: string, body: unknown) => {
    const response = await fetch(new URL(`/v1/iceberg/lake/v1/${path}`, app.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-session': secret },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  }
  await send('namespaces', { namespace: ['sales'] })
  await send('namespaces/sales/register', { name: 'orders', 'metadata-location': metadataLocation })
}
