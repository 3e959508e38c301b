/** One client that commits to one table of its own: directly, by the gateway's calls without it, or through it. */

import { UnsecuredJWT } from 'jose'
import type { TableRef } from '../src/core/table-ref.ts'
import type { Ledger } from './durable.ts'
import { prefix } from './gateway-process.ts'
import { writerRole } from './sample-policies.ts'
import { Appends, type TableSize } from './sample-table.ts'
import type { Upstream } from './upstream.ts'

/**
 * - `direct`: the commit request alone, sent to the upstream; what SPEC 8 compares with
 * - `bare`: the upstream calls that the gateway makes, conditional load and commit, without the gateway
 * - `durable`: the same, with the intent made durable beside the load and the verdict after the commit
 * - `nginx`: the commit request alone, to the upstream through a plain reverse proxy
 * - `gateway`: the commit request, sent to the gateway
 */
export type Route = 'direct' | 'bare' | 'durable' | 'nginx' | 'gateway'

/** What the routes beside `direct` and `bare` need. */
export interface RouteTargets {
  /** The gateway's base address, and a session's secret. */
  readonly url: string
  readonly secret: string
  readonly ledger: Ledger | undefined
  readonly proxyUrl: string | undefined
}

export class TableWriter {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #appends: Appends
  #etag: string | null = null
  #metadataLocation = ''
  /** Commits that were accepted, the table's first included. */
  committedCount = 0

  constructor(
    readonly upstream: Upstream,
    readonly route: Route,
    readonly namespace: string,
    readonly table: string,
    readonly size: TableSize,
    readonly targets: RouteTargets,
  ) {
    this.#appends = new Appends(size)
    const token = new UnsecuredJWT({ sub: 'spark@example.com', roles: [writerRole] }).encode()
    this.#url = urlOf(this)
    this.#headers =
      route === 'gateway'
        ? {
            'content-type': 'application/json',
            'x-svc-session': targets.secret,
            authorization: `Bearer ${token}`,
          }
        : upstream.headers
  }

  /** Gives the new table its first snapshots. */
  async begin(): Promise<void> {
    await this.#exchange(this.#appends.first(Date.now()))
  }

  /** Commits an append. @returns milliseconds until the whole answer was there */
  async append(): Promise<number> {
    return await this.#exchange(this.#appends.next(Date.now()))
  }

  /** Brings the table back to its size where it has grown. */
  async trim(): Promise<void> {
    const body = this.#appends.trim()
    if (body !== undefined) await this.#exchange(body)
  }

  async #exchange(body: string): Promise<number> {
    const startMs = performance.now()
    const intent =
      this.route === 'durable'
        ? this.targets.ledger?.open(this.#ref, body, this.#metadataLocation)
        : undefined
    if (this.route === 'bare' || this.route === 'durable') await this.#load()
    const opened = await intent
    const response = await fetch(this.#url, { method: 'POST', headers: this.#headers, body })
    const answer = await response.bytes()
    if (response.status !== 200)
      throw new Error(`${this.route}: the commit was answered ${response.status}: ${Buffer.from(answer)}`)
    if (opened !== undefined)
      this.#metadataLocation = (await this.targets.ledger?.record(opened, answer)) ?? ''
    const takenMs = performance.now() - startMs
    this.#etag = response.headers.get('etag')
    this.committedCount++
    return takenMs
  }

  get #ref(): TableRef {
    return { namespace: [this.namespace], name: this.table }
  }

  async #load(): Promise<void> {
    const condition = this.#etag === null ? {} : { 'if-none-match': this.#etag }
    const response = await fetch(this.#url, { headers: { ...this.#headers, ...condition } })
    await response.bytes()
    if (response.status !== 200 && response.status !== 304)
      throw new Error(`${this.route}: the load was answered ${response.status}`)
  }
}

function urlOf({ route, upstream, namespace, table, targets }: TableWriter): string {
  const direct = upstream.tableUrl(namespace, table)
  if (route === 'gateway')
    return new URL(`/v1/iceberg/${prefix}/namespaces/${namespace}/tables/${table}`, targets.url).href
  return route === 'nginx' ? new URL(new URL(direct).pathname, targets.proxyUrl).href : direct
}
