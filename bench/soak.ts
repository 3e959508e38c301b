/**
 * Compares requests to an installation with many tenants and a long history with those to an empty one of two tenants, by
 * turns; and to one with as many tenants and no history, which tells the two apart. Half of the tenants commit through
 * the gateway, and half send governed queries over the PostgreSQL wire. Jobs do not run.
 */

import { join } from 'node:path'
import { frames } from '../test/support/wire-client.ts'
import { startChild } from './child.ts'
import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  type BenchStore,
  BenchUsageError,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { RawClient } from './raw-client.ts'
import { createTableBody, tableSizes } from './sample-table.ts'
import type { SoakOrder, SoakResults } from './soak-process.ts'
import { percentile, type Random, seededRandom, shuffled } from './statistics.ts'
import { rounded } from './table.ts'
import { TableWriter } from './table-writer.ts'
import { connectUpstream, startCatalogProcess } from './upstream.ts'

const ratioMax = 1.2
/** Visits of each tenant before the first turn: a connection that has been in use knows its tenants. */
const warmVisits = 3

const sizes = {
  tenants: { min: 2, default: 200, smoke: 2, about: 'tenants (default 200)' },
  tables: { min: 1, default: 50, smoke: 2, about: 'tables of each tenant (default 50)' },
  'audit-rows': {
    min: 1,
    default: 1_000_000,
    smoke: 50,
    about: 'rows of the audit log in all (default 1,000,000)',
  },
  'usage-rows': { min: 1, default: 5_000_000, smoke: 50, about: 'usage records in all (default 5,000,000)' },
  'upstream-ms': { min: 0, default: 20, smoke: 0, about: 'service time of a commit upstream (default 20)' },
  rounds: { min: 1, default: 1_000, smoke: 3, about: 'turns that are measured (default 1,000)' },
} as const
type Sizes = Readonly<Record<keyof typeof sizes, number>>

export const soak: BenchEntry = {
  name: 'soak',
  about: 'commits and queries with many tenants and a long history, by turns with an empty installation',
  options: {
    ...storeOptions,
    ...Object.fromEntries(
      Object.entries(sizes).map(([name, { about }]) => [
        name,
        { type: 'string' as const, value: 'N', about },
      ]),
    ),
  },
  run,
  conclude,
}

const requests = ['commit', 'query'] as const
type Request = (typeof requests)[number]

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const [store] = chosenStores(run).filter(({ kind }) => kind === 'postgres')
  if (store === undefined) {
    if (run.smoke) return
    throw new BenchUsageError('soak needs PostgreSQL: --database-url or SVC_TEST_DATABASE_URL.')
  }
  const size = Object.fromEntries(
    Object.entries(sizes).map(([name, each]) => [
      name,
      run.flags.number(name, each.min, 1_000_000_000) ?? (run.smoke ? each.smoke : each.default),
    ]),
  ) as Sizes
  const random = seededRandom(run.seed)
  await using stack = new AsyncDisposableStack()
  const open = async (tenants: number) =>
    stack.use(await openInstallation(store, { ...size, tenants }, random))
  run.smoke || run.note('  soak: making tenants')
  const all = [await open(requests.length), await open(size.tenants), await open(size.tenants)]
  run.smoke || run.note('  soak: loading')
  await all[2]?.addHistory()
  run.smoke || run.note('  soak: measuring')
  for (const request of requests) {
    for (const one of all) await one.warm(request)
    const times: number[][] = all.map(() => [])
    for (let round = 0; round < size.rounds; round++)
      for (const index of shuffled([...all.keys()], random)) {
        const taken = await all[index]?.ask(request)
        if (taken !== undefined) times[index]?.push(taken)
      }
    yield resultOf(request, size, times)
  }
}

function resultOf(request: Request, size: Sizes, times: readonly (readonly number[])[]): BenchResult {
  const at = (quantile: number) => times.map((each) => percentile(each, quantile))
  const [[emptyP50 = 0, , p50 = 0], [empty = 0, young = 0, p95 = 0]] = [at(0.5), at(0.95)]
  const ratio = p95 / empty
  return {
    bench: 'soak',
    case: {
      ...{ request, tenants: size.tenants, tables: size.tables, upstream_ms: size['upstream-ms'] },
      ...{ audit_rows: size['audit-rows'], usage_rows: size['usage-rows'] },
    },
    figures: {
      ...{ empty_p50_ms: rounded(emptyP50), p50_ms: rounded(p50) },
      ...{ empty_p95_ms: rounded(empty), no_history_p95_ms: rounded(young), p95_ms: rounded(p95) },
      ...{ ratio: rounded(ratio), history_ratio: rounded(p95 / young) },
    },
    verdict: ratio <= ratioMax ? `within ${ratioMax}` : `above ${ratioMax}`,
  }
}

interface Installation extends AsyncDisposable {
  addHistory(): Promise<void>
  /** Sends some requests for each tenant that sends such. */
  warm(request: Request): Promise<void>
  /** Sends a request for one of these tenants. @returns milliseconds */
  ask(request: Request): Promise<number>
}

async function openInstallation(store: BenchStore, size: Sizes, random: Random): Promise<Installation> {
  await using stack = new AsyncDisposableStack()
  const catalog = stack.use(await startCatalogProcess())
  const upstream = await connectUpstream(catalog.address)
  const { endpoint: url, warehouse, credential } = catalog.address
  const child = stack.use(
    startChild<SoakOrder, SoakResults>(join(import.meta.dir, 'soak-process.ts'), 'the service'),
  )
  const service = await child.ask({
    kind: 'open',
    store,
    upstream: catalog.address,
    catalog: { url, warehouse, credential, folder: catalog.folder },
  })
  const tables = Array.from({ length: size.tables }, (_, index) => `t${index}`)
  const one = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T

  /** @returns what sends a request for the new tenant, and its milliseconds */
  async function addTenant(namespace: string, request: Request): Promise<() => Promise<number>> {
    await upstream.create('/namespaces', JSON.stringify({ namespace: [namespace] }))
    const { secret } = await child.ask({ kind: 'tenant', namespace, tables, reads: request === 'query' })
    return request === 'query' ? await reader(namespace, secret) : writer(namespace, secret)
  }

  function writer(namespace: string, secret: string) {
    const targets = { url: service.url, secret, ledger: undefined, proxies: {}, expires: true }
    const writers = new Map<string, TableWriter>()
    return async () => {
      const table = one(tables)
      let writer = writers.get(table)
      if (writer === undefined) {
        // A table is made when its turn first comes, before the time begins.
        writer = new TableWriter(upstream, 'gateway', namespace, table, tableSizes.small, targets)
        await upstream.create(`/namespaces/${namespace}/tables`, createTableBody(table, tableSizes.small))
        await writer.begin()
        writers.set(table, writer)
      }
      return await writer.append()
    }
  }

  async function reader(namespace: string, password: string) {
    const client = await RawClient.connect({ ...service, user: 'bob', password })
    stack.defer(() => client.close())
    const query = frames.query(`SELECT id, email FROM ${namespace}.orders WHERE id = 18`)
    return async () => {
      const startMs = performance.now()
      const { rows } = await client.ask(query)
      if (rows !== 1) throw new Error(`the answer has ${rows} rows`)
      return performance.now() - startMs
    }
  }

  const tenants: Record<Request, (() => Promise<number>)[]> = { commit: [], query: [] }
  for (let made = 0; made < size.tenants; made++) {
    const request = made % 2 === 0 ? 'commit' : 'query'
    tenants[request].push(await addTenant(`tenant_${made}`, request))
  }
  // From here on, because the tables to read were registered without waiting.
  const ms = size['upstream-ms']
  await catalog.setServiceTimes({ load: [ms / 2], conditionalLoad: [Math.min(ms, 1)], commit: [ms] })
  const opened = stack.move()
  return {
    async addHistory() {
      for (const request of requests) await tenants[request][0]?.()
      await child.ask({ kind: 'history', auditRows: size['audit-rows'], usageRows: size['usage-rows'] })
    },
    async warm(request) {
      for (let visit = 0; visit < warmVisits; visit++) for (const ask of tenants[request]) await ask()
    },
    ask: async (request) => await one(tenants[request])(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function conclude(results: readonly BenchResult[]) {
  const above = results.filter(({ verdict }) => verdict?.startsWith('above'))
  return {
    line:
      above.length === 0
        ? `Soak: the 95th percentiles are within ${ratioMax} times of an empty installation.`
        : `Soak: ${above.map((one) => `${one.case.request} is ${one.figures.ratio} times`).join(', ')} of an empty installation.`,
    failed: above.length > 0,
  }
}
