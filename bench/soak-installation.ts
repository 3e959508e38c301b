/**
 * One installation of the soak: the service in a process of its own before the development catalog, with tenants that
 * commit, read, or send lineage events. It measures nothing but the time of a request.
 */

import { join } from 'node:path'
import { frames } from '../test/support/wire-client.ts'
import { startChild } from './child.ts'
import type { BenchStore } from './entry.ts'
import { RawClient } from './raw-client.ts'
import { createTableBody, tableSizes } from './sample-table.ts'
import type { MemoryProfile } from './settled-memory.ts'
import type { SoakOrder, SoakResults } from './soak-process.ts'
import type { Random } from './statistics.ts'
import { TableWriter } from './table-writer.ts'
import { connectUpstream, startCatalogProcess } from './upstream.ts'

export type Request = 'commit' | 'query' | 'lineage'

/** Visits of each tenant before the first turn: a connection that has been in use knows its tenants. */
const warmVisits = 3

export interface InstallationSize {
  readonly tenants: number
  readonly tables: number
  readonly 'audit-rows': number
  readonly 'usage-rows': number
  /** Service time of a commit upstream. */
  readonly 'upstream-ms': number
  /** What tenants do, in turn. */
  readonly requests: readonly Request[]
  /** Whether jobs run by time. */
  readonly jobs?: boolean
}

export interface Installation extends AsyncDisposable {
  addHistory(): Promise<void>
  /** Sends some requests for each tenant that sends such. */
  warm(request: Request): Promise<void>
  /** Sends a request for one of these tenants. @returns milliseconds */
  ask(request: Request): Promise<number>
  /** What the process of the service holds. */
  profile(settle: boolean): Promise<MemoryProfile>
}

export async function openInstallation(
  store: BenchStore,
  size: InstallationSize,
  random: Random,
): Promise<Installation> {
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
    jobs: size.jobs === true,
    upstream: catalog.address,
    catalog: { url, warehouse, credential, folder: catalog.folder },
  })
  // No two tenants have a table of the same name, because its name is that of its folder in the catalog that they share.
  const tablesOf = (namespace: string) =>
    Array.from({ length: size.tables }, (_, index) => `${namespace}_t${index}`)
  const one = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T

  /** @returns what sends a request for the new tenant, and its milliseconds */
  async function addTenant(namespace: string, request: Request): Promise<() => Promise<number>> {
    await upstream.create('/namespaces', JSON.stringify({ namespace: [namespace] }))
    const { secret } = await child.ask({
      kind: 'tenant',
      namespace,
      tables: tablesOf(namespace),
      reads: request === 'query',
    })
    switch (request) {
      case 'query':
        return await reader(namespace, secret)
      case 'commit':
        return writer(namespace, secret)
      case 'lineage':
        return sender(service.url, secret)
    }
  }

  function writer(namespace: string, secret: string) {
    const targets = { url: service.url, secret, ledger: undefined, proxies: {}, expires: true }
    const writers = new Map<string, TableWriter>()
    return async () => {
      const table = one(tablesOf(namespace))
      let writer = writers.get(table)
      if (writer === undefined) {
        // A table is made when its turn first comes, before the time begins.
        writer = new TableWriter(upstream, 'gateway', namespace, table, tableSizes.small, targets)
        await upstream.create(`/namespaces/${namespace}/tables`, createTableBody(table, tableSizes.small))
        await writer.begin()
        writers.set(table, writer)
      }
      const ms = await writer.append()
      await writer.trim()
      return ms
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

  const tenants: Record<Request, (() => Promise<number>)[]> = { commit: [], query: [], lineage: [] }
  for (let made = 0; made < size.tenants; made++) {
    const request = size.requests[made % size.requests.length] as Request
    tenants[request].push(await addTenant(`tenant_${made}`, request))
  }
  // From here on, because the tables to read were registered without waiting.
  const ms = size['upstream-ms']
  await catalog.setServiceTimes({ load: [ms / 2], conditionalLoad: [Math.min(ms, 1)], commit: [ms] })
  const opened = stack.move()
  return {
    async addHistory() {
      for (const request of size.requests) await tenants[request][0]?.()
      await child.ask({ kind: 'history', auditRows: size['audit-rows'], usageRows: size['usage-rows'] })
    },
    async warm(request) {
      for (let visit = 0; visit < warmVisits; visit++) for (const ask of tenants[request]) await ask()
    },
    profile: (settle) => child.ask({ kind: 'profile', settle }),
    ask: async (request) => await one(tenants[request])(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** @returns what sends an event of a run of its own: one input, one output, of a hundred datasets each */
function sender(url: string, secret: string): () => Promise<number> {
  let sent = 0
  const dataset = (name: string) => ({ namespace: 's3://soak', name })
  return async () => {
    const body = JSON.stringify({
      eventType: 'COMPLETE',
      eventTime: new Date().toISOString(),
      producer: 'https://github.com/example/etl/v1',
      schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
      run: { runId: crypto.randomUUID() },
      job: { namespace: 'soak', name: `job.${sent % 10}` },
      inputs: [dataset(`in.${sent % 100}`)],
      outputs: [dataset(`out.${sent++ % 100}`)],
    })
    const startMs = performance.now()
    const headers = { 'content-type': 'application/json', 'x-svc-session': secret }
    const response = await fetch(new URL('/v1/lineage', url), { method: 'POST', headers, body })
    const answer = await response.text()
    if (response.status !== 202) throw new Error(`the event was answered ${response.status}: ${answer}`)
    return performance.now() - startMs
  }
}
