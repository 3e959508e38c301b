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
 * - `gateway`: the commit request, sent to the gateway
 */
export const routes = ['direct', 'bare', 'durable', 'gateway'] as const
export type Route = (typeof routes)[number]

export interface GatewayAddress {
  readonly url: string
  readonly secret: string
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
    gateway: GatewayAddress,
    /** For the route `durable`. */
    readonly ledger?: Ledger | undefined,
  ) {
    this.#appends = new Appends(size)
    const path = `/v1/iceberg/${prefix}/namespaces/${namespace}/tables/${table}`
    const token = new UnsecuredJWT({ sub: 'spark@example.com', roles: [writerRole] }).encode()
    this.#url = route === 'gateway' ? new URL(path, gateway.url).href : upstream.tableUrl(namespace, table)
    this.#headers =
      route === 'gateway'
        ? {
            'content-type': 'application/json',
            'x-svc-session': gateway.secret,
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
      this.route === 'durable' ? this.ledger?.open(this.#ref, body, this.#metadataLocation) : undefined
    if (this.route === 'bare' || this.route === 'durable') await this.#load()
    const opened = await intent
    const response = await fetch(this.#url, { method: 'POST', headers: this.#headers, body })
    const answer = await response.bytes()
    if (response.status !== 200)
      throw new Error(`${this.route}: the commit was answered ${response.status}: ${Buffer.from(answer)}`)
    if (opened !== undefined) this.#metadataLocation = (await this.ledger?.record(opened, answer)) ?? ''
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
