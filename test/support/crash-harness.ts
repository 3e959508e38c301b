/** Starts services in processes of their own to kill them, and recovers what they leave. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { parseLoadTableResult } from '../../src/wire/iceberg/table-metadata.ts'
import type { CrashChildOrders, CrashChildReady } from './crash-child.ts'
import { type CrashReport, crashReport } from './crash-report.ts'
import { leaseMs, startCrashService } from './crash-service.ts'
import { createOrders, type TestTenant } from './service.ts'
import { tenantTemplate, testStoreOptions } from './store.ts'

export interface Child {
  readonly ready: CrashChildReady
  readonly process: Bun.Subprocess
}

export interface CrashHarness extends AsyncDisposable {
  readonly catalog: DevCatalog
  /** Starts a service; the first one equips the tenant. */
  start(orders?: Pick<CrashChildOrders, 'crashAt' | 'crashAtPass' | 'approveCovering'>): Promise<Child>
  readonly owner: () => TestTenant
  /**
   * Starts a service, in this process, that settles what is open, and says what is on record.
   * @param look looks at the store besides
   */
  settle(look?: (store: Store, tenant: TenantId) => Promise<void>): Promise<CrashReport>
  /** Metadata files that the catalog made of a table in sales, without the one of its creation. */
  accepted(table?: string): Promise<readonly string[]>
  /** Asks the catalog directly, below its prefix. */
  upstream(method: string, path: string, body?: string): Promise<Response>
  currentSnapshotId(): Promise<bigint | undefined>
}

const settleTriesMax = 100

/**
 * One catalog, one store directory, and processes that come and go.
 * @param given further members of the catalog credential's `config_json`
 * @param isReadable whether the service may read the metadata files: without them, recovery leaves open which of several
 * commits that were accepted at once wrote which file
 */
export async function crashHarness(
  given: Readonly<Record<string, unknown>> = {},
  { isReadable = false } = {},
): Promise<CrashHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-crash-'))
  const files = join(folder, 'catalog')
  const config = isReadable ? { storage_roots: [pathToFileURL(files).href], ...given } : given
  const catalog = await startDevCatalog({ folder: files, credential: 'gateway:s3cret' })
  const upstream = await createOrders(catalog)
  const dataDirectory = join(folder, 'store')
  const { path: template, tenant } = await tenantTemplate()
  const children = new Set<Bun.Subprocess>()
  let owner: TestTenant | undefined

  function spawn(orders: Omit<CrashChildOrders, 'dataDirectory' | 'template'>) {
    const all: CrashChildOrders = { dataDirectory, template, ...orders }
    const process_ = Bun.spawn([process.execPath, join(import.meta.dir, 'crash-child.ts')], {
      env: { ...process.env, CRASH_CHILD: JSON.stringify(all) },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    children.add(process_)
    return process_
  }

  async function ask(method: string, path: string, body?: string): Promise<Response> {
    const init = { method, headers: upstream.headers, ...(body === undefined ? {} : { body }) }
    return await fetch(`${catalog.url}/v1/dev${path}`, init)
  }

  async function load(table: string) {
    return parseLoadTableResult(await (await ask('GET', `/namespaces/sales/tables/${table}`)).bytes())
  }

  function started(): TestTenant {
    if (owner === undefined) throw new Error('no service was started yet')
    return owner
  }

  return {
    catalog,
    owner: started,
    async start(orders = {}) {
      const child = spawn({
        ...orders,
        ...(owner === undefined && { equip: { tenant, catalogUrl: catalog.url, config } }),
      })
      const ready = JSON.parse(await firstLine(child.stdout)) as CrashChildReady
      owner ??= ready.owner
      return { ready, process: child }
    },
    async settle(look) {
      await using stack = new AsyncDisposableStack()
      const store = await openStore({ ...testStoreOptions, dataDirectory })
      stack.defer(() => store.close())
      const app = await startCrashService(store, join(dataDirectory, 'journal'))
      stack.defer(() => app.stop())
      for (let tries = 0; tries < settleTriesMax && (await countIntents(store)).open > 0; tries++) {
        await Bun.sleep(leaseMs / 3)
        await recoverIntents(app.gateway)
      }
      await look?.(store, started().tenant)
      return await crashReport(store, started().tenant)
    },
    upstream: ask,
    async accepted(table = 'orders') {
      const loaded = await load(table)
      const log = (loaded.metadata.get('metadata-log') ?? []) as readonly JsonObject[]
      const files = log.map((entry) => String(entry.get('metadata-file')))
      return [...files, loaded.metadataLocation].slice(1)
    },
    async currentSnapshotId() {
      const id = (await load('orders')).metadata.get('current-snapshot-id')
      return typeof id === 'bigint' && id !== -1n ? id : undefined
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill('SIGKILL')
      await Promise.all([...children].map((child) => child.exited))
      await catalog.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.indexOf('\n')
    if (end >= 0) return text.slice(0, end)
  }
  throw new Error(`the service ended before it was ready: ${text}`)
}
