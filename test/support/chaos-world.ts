/**
 * The world of the chaos test: two replicas in processes of their own, each behind its own proxy to PostgreSQL and with
 * its own journal, and a catalog behind a proxy. A load balancer asks for readiness and picks a ready replica.
 */

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SQL } from 'bun'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import type { IntentTimes } from '../../src/store/commit/commit-intents.ts'
import { eventually } from './eventually.ts'
import { createOrders, equipTenant, type TestTenant } from './service.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'
import { openTenantStore, type TestStore, testSecretsKey } from './store.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

export interface Replica {
  readonly name: string
  readonly database: TcpProxy
  /** Undefined where no file system can be mounted. */
  readonly disk: SmallDisk | undefined
  url(): string
  /** What the load balancer believes. */
  ready: boolean
  process(): Bun.Subprocess
  /** Starts the process, and waits until it is ready. */
  start(): Promise<void>
  /** The checks of /readyz; undefined if it does not answer. */
  readiness(): Promise<Readonly<Record<string, boolean>> | undefined>
  log(): string
  /** Sets the clock of the replica, by milliseconds from the machine's. */
  setClock(aheadMs: number): void
}

export interface World extends AsyncDisposable {
  readonly store: TestStore
  readonly owner: TestTenant
  /** The catalog that runs now. */
  readonly catalog: DevCatalog
  /** Kills the catalog with all that it is working on, and starts it again. */
  restartCatalog(): Promise<void>
  /** Ends all sessions of the database, with what they are working on. */
  endSessions(): Promise<void>
  readonly upstream: TcpProxy
  readonly replicas: readonly Replica[]
}

const probeMs = 200

/** Starts everything. @param times lease and upstream time-out of intents, in milliseconds */
export async function startWorld(times: IntentTimes): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-chaos-'))
  const options = { folder: join(folder, 'catalog'), credential: 'gateway:s3cret' }
  let catalog = await startDevCatalog(options)
  const { port } = new URL(catalog.url)
  const upstream = await tcpProxy('127.0.0.1', Number(port))
  const { store, tenant } = await openTenantStore()
  if (store.databaseUrl === undefined) throw new Error('the chaos test needs a database server')
  const throughProxy = new URL(catalog.url)
  throughProxy.port = String(upstream.port)
  const url = throughProxy.href.replace(/\/$/, '')
  const owner = await equipTenant(store, tenant, 'acme', url, {
    atomic_transactions: true,
    storage_roots: [pathToFileURL(options.folder).href],
  })
  await createOrders(catalog)
  const databaseUrl = store.databaseUrl
  const replicas = await Promise.all(
    ['a', 'b'].map((name) => makeReplica(join(folder, name), name, databaseUrl, times)),
  )
  await Promise.all(replicas.map((replica) => replica.start()))
  let probing = true
  const probes = replicas.map(async (replica) => {
    while (probing) {
      const checks = await replica.readiness()
      replica.ready = checks !== undefined && Object.values(checks).every(Boolean)
      await Bun.sleep(probeMs)
    }
  })
  return {
    store,
    owner,
    get catalog() {
      return catalog
    },
    async endSessions() {
      const database = new URL(databaseUrl).pathname.slice(1)
      await using administrator = new SQL(process.env.SVC_TEST_DATABASE_URL ?? '', { max: 1 })
      await administrator`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database}`
    },
    async restartCatalog() {
      await catalog.stop()
      catalog = await startDevCatalog({ ...options, port: Number(port) })
    },
    upstream,
    replicas,
    async [Symbol.asyncDispose]() {
      probing = false
      await Promise.all(probes)
      for (const replica of replicas) replica.process().kill('SIGKILL')
      await Promise.all(replicas.map((replica) => replica.process().exited))
      for (const { database, disk } of replicas) {
        await database[Symbol.asyncDispose]()
        disk?.[Symbol.dispose]()
      }
      await upstream[Symbol.asyncDispose]()
      await store.close()
      await catalog.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function makeReplica(
  folder: string,
  name: string,
  databaseUrl: string,
  times: IntentTimes,
): Promise<Replica> {
  mkdirSync(folder, { recursive: true })
  const target = new URL(databaseUrl)
  const database = await tcpProxy(target.hostname, Number(target.port))
  target.hostname = '127.0.0.1'
  target.port = String(database.port)
  const disk = mountSmallDisk(1)
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  const env = {
    PATH: process.env.PATH ?? '',
    SVC_DATABASE_URL: target.href,
    SVC_SECRETS_KEY: Buffer.from(testSecretsKey).toString('base64'),
    SVC_JOURNAL_DIR: join(disk?.path ?? folder, 'journal'),
    SVC_LISTEN_ADDR: '127.0.0.1:0',
    SVC_METRICS_ADDR: '127.0.0.1:0',
    SVC_PGWIRE_ADDR: '127.0.0.1:0',
    SVC_XMLA_ADDR: '127.0.0.1:0',
    SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
    SVC_DRAIN_DELAY_SECONDS: '2',
    SVC_MIGRATE: '0',
    UV_THREADPOOL_SIZE: '16',
    CHAOS_INTENT_TIMES: JSON.stringify(times),
    CHAOS_CLOCK_FILE: clockFile,
  }
  let starts = 0
  let child: Bun.Subprocess | undefined
  let url = ''
  const logFile = () => join(folder, `log-${starts}.jsonl`)
  const log = () => readFileSync(logFile(), 'utf8')
  const replica: Replica = {
    name,
    database,
    disk,
    log,
    ready: false,
    setClock: (aheadMs) => writeFileSync(clockFile, String(aheadMs)),
    url: () => url,
    process() {
      if (child === undefined) throw new Error('the replica was not started')
      return child
    },
    async start() {
      starts++
      const started = Bun.spawn([process.execPath, join(import.meta.dir, 'chaos-replica.ts')], {
        env,
        stdout: Bun.file(logFile()),
        stderr: 'inherit',
      })
      child = started
      const line = await eventually(() => {
        if (started.exitCode !== null) throw new Error(`the replica ended: ${log()}`)
        return log()
          .split('\n')
          .find((one) => one.includes('"msg":"listening"'))
      })
      url = (JSON.parse(line) as { url: string }).url
      await eventually(async () => {
        const checks = await replica.readiness()
        return checks !== undefined && Object.values(checks).every(Boolean)
      })
    },
    async readiness() {
      try {
        const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(5_000) })
        // Not what keeps a replica from traffic: a fault may hold a lock for a while.
        const { degraded: _, ...checks } = (await response.json()) as Record<string, boolean>
        return checks
      } catch {
        return undefined
      }
    },
  }
  return replica
}
