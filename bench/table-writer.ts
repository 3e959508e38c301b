/** One client that commits to one table of its own: directly, by the gateway's calls without it, or through it. */

import { UnsecuredJWT } from 'jose'
import { prefix } from './gateway-process.ts'
import { writerRole } from './sample-policies.ts'
import { Appends, type TableSize } from './sample-table.ts'
import type { Upstream } from './upstream.ts'

/**
 * - `direct`: the commit request alone, sent to the upstream; what SPEC 8 compares with
 * - `bare`: the upstream calls that the gateway makes, conditional load and commit, without the gateway
 * - `gateway`: the commit request, sent to the gateway
 */
export const routes = ['direct', 'bare', 'gateway'] as const
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
  /** Commits that were accepted, the table's first included. */
  committedCount = 0

  constructor(
    readonly upstream: Upstream,
    readonly route: Route,
    readonly namespace: string,
    readonly table: string,
    readonly size: TableSize,
    gateway: GatewayAddress,
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
    if (this.route === 'bare') await this.#load()
    const response = await fetch(this.#url, { method: 'POST', headers: this.#headers, body })
    const answer = await response.bytes()
    const takenMs = performance.now() - startMs
    if (response.status !== 200)
      throw new Error(`${this.route}: the commit was answered ${response.status}: ${Buffer.from(answer)}`)
    this.#etag = response.headers.get('etag')
    this.committedCount++
    return takenMs
  }

  async #load(): Promise<void> {
    const condition = this.#etag === null ? {} : { 'if-none-match': this.#etag }
    const response = await fetch(this.#url, { headers: { ...this.#headers, ...condition } })
    await response.bytes()
    if (response.status !== 200 && response.status !== 304)
      throw new Error(`bare: the load was answered ${response.status}`)
  }
}
