/** One client that commits to a table of its own by one route: direct, through a proxy, through the gateway, …. */

import { UnsecuredJWT } from 'jose'
import type { TableRef } from '../src/core/table-ref.ts'
import type { Ledger } from './durable.ts'
import { prefix } from './prepare-tenant.ts'
import { writerRole } from './sample-policies.ts'
import { Appends, type TableSize } from './sample-table.ts'
import { type DirectUpstream, plainAnswers } from './upstream.ts'

/**
 * - `direct`: the commit request alone, sent to the upstream, with which docs/reference/operations.md 5.1 compares
 * - `bare`: the gateway's upstream calls without the gateway: the load (conditional if the catalog sends ETags), the
 *   commit, and a load of the new state if the commit's reply names no file
 * - `durable`: the same, with the gateway's durable transactions: one beside the load and one after the commit
 * - `nginx`: the commit request alone, to the upstream through a plain reverse proxy
 * - `least`: the same through a proxy that does the least that a gateway must (least-process.ts)
 * - `gateway`: the commit request, sent to the gateway's client surface, which engines use and which pins commits
 * - `loaded`: the same, sent to its literal path, which loads the table for every commit
 */
export type Route = 'direct' | 'bare' | 'durable' | 'least' | 'nginx' | 'gateway' | 'loaded'

/** The routes through the gateway. */
export const gatewayRoutes: readonly Route[] = ['gateway', 'loaded']

/** Base addresses of proxies that take requests in the upstream's form. */
export type Proxies = { readonly [route in 'nginx' | 'least']?: string | undefined }

/** What the routes other than `direct` and `bare` need. */
export interface RouteTargets {
  /** The gateway's base address, and a session's secret. */
  readonly url: string
  readonly secret: string
  readonly ledger: Ledger | undefined
  /** Base addresses of the proxies, by route. */
  readonly proxies: Proxies
  /** Whether the upstream allows the expiry of snapshots. */
  readonly expires: boolean
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
    readonly upstream: DirectUpstream,
    readonly route: Route,
    readonly namespace: string,
    readonly table: string,
    readonly size: TableSize,
    readonly targets: RouteTargets,
  ) {
    this.#appends = new Appends(size, table)
    const token = new UnsecuredJWT({ sub: 'spark@example.com', roles: [writerRole] }).encode()
    this.#url = urlOf(this)
    this.#headers = gatewayRoutes.includes(route)
      ? {
          'content-type': 'application/json',
          ...plainAnswers,
          'x-svc-session': targets.secret,
          authorization: `Bearer ${token}`,
        }
      : upstream.headers
  }

  /** Commits the first snapshots of the new table. */
  async begin(): Promise<void> {
    await this.#exchange(this.#appends.first(Date.now()))
  }

  /** Commits an append. @returns milliseconds until the whole response had arrived */
  async append(): Promise<number> {
    return await this.#exchange(this.#appends.next(Date.now()))
  }

  /** Brings the table back to its size if it has grown and the catalog allows it. */
  async trim(): Promise<void> {
    const body = this.targets.expires ? this.#appends.trim() : undefined
    if (body !== undefined) await this.#exchange(body)
  }

  async #exchange(body: string): Promise<number> {
    const startMs = performance.now()
    const intent =
      this.route === 'durable'
        ? this.targets.ledger?.open(this.#ref, body, this.#metadataLocation)
        : undefined
    const isBare = this.route === 'bare' || this.route === 'durable'
    if (isBare) await this.#load()
    const opened = await intent
    const response = await fetch(this.#url, { method: 'POST', headers: this.#headers, body })
    const answer = await response.bytes()
    if (response.status !== 200)
      throw new Error(`${this.route}: the commit was answered ${response.status}: ${Buffer.from(answer)}`)
    const state = isBare && this.upstream.address.kind === 'beta' ? committedState(answer) : undefined
    if (state !== undefined) await this.#get(`${this.#url}${encodeURIComponent(state)}`, {})
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
    // Names `snapshots`, because Iceberg's own server gives the response of a commit the ETag of such a load.
    await this.#get(`${this.#url}?snapshots=all`, this.#etag === null ? {} : { 'if-none-match': this.#etag })
  }

  async #get(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const response = await fetch(url, { headers: { ...this.#headers, ...headers } })
    await response.bytes()
    if (response.status !== 200 && response.status !== 304)
      throw new Error(`${this.route}: the load was answered ${response.status}`)
  }
}

/** The address that loads exactly the state of a commit, if the response has Nessie's own address of its file. */
function committedState(answer: Uint8Array): string | undefined {
  const text = Buffer.from(answer).toString()
  if (!/"metadata-location"\s*:\s*"https?:/.test(text)) return undefined
  const [ref, id] = ['ref', 'id'].map(
    (key) => new RegExp(`"nessie.commit.${key}"\\s*:\\s*"([^"]+)"`).exec(text)?.[1],
  )
  return ref === undefined || id === undefined ? undefined : `@${ref}#${id}`
}

function urlOf({ route, upstream, namespace, table, targets }: TableWriter): string {
  const direct = upstream.tableUrl(namespace, table)
  if (gatewayRoutes.includes(route)) {
    const surface = route === 'loaded' ? '' : 'v1/'
    const path = `${surface}namespaces/${namespace}/tables/${table}`
    return new URL(`/v1/iceberg/${prefix}/${path}`, targets.url).href
  }
  return route === 'nginx' || route === 'least'
    ? new URL(new URL(direct).pathname, targets.proxies[route]).href
    : direct
}
