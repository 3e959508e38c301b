/**
 * The baseline poller (docs/reference/detection.md 1.2). It queues every snapshot that has no run, found in the audit
 * log, the graph and the upstream tables. So a failed ingest, or a commit that bypassed the gateway, is scanned too.
 */

import { inParallel } from '../base/in-parallel.ts'
import { rememberLooks } from '../base/last-looks.ts'
import { Lru } from '../base/lru.ts'
import type { StandBack } from '../base/right-of-way.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { capabilitiesOf } from '../core/catalog-kinds.ts'
import type { Hit } from '../core/detection.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import {
  findCatalogCredential,
  listCatalogCredentials,
  tenantsWithCatalogs,
} from '../store/catalog-credential/catalog-credentials.ts'
import { everyItem } from '../store/database/page.ts'
import { enqueueUnscanned, graphNamespaces, unscannedLocations } from '../store/detection/runs.ts'
import { activeTenants, tenantChanges } from '../store/jobs/due-tenants.ts'
import { metadataReader, parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import type { HitQueue } from './hit-queue.ts'
import type { DetectionParts } from './parts.ts'

interface PollOptions {
  /** Tables of one tenant that one round loads; a listing without new tables counts as one. */
  readonly tablesMax: number
  /** Audit rows and Snapshot nodes of one tenant that one round queues. */
  readonly rowsMax: number
  /** Milliseconds for one request to an upstream. */
  readonly requestMs: number
  /** Milliseconds after which a round sends no more requests to one tenant's upstreams, because others wait. */
  readonly tenantMs: number
  /** Tenants whose upstreams are polled concurrently. */
  readonly tenantsMax: number
}

const pollOptions: PollOptions = {
  tablesMax: 500,
  rowsMax: 1_000,
  requestMs: 10_000,
  tenantMs: limits.detectionPollMs,
  tenantsMax: 8,
}

const tablePage = 100
const etagsMax = 100_000

/** Where in the listing of a namespace a round starts. */
interface ListingPlace {
  readonly pageToken: string | undefined
  /** Tables of that page that earlier rounds have polled. */
  readonly skip: number
}

/** Where the next round of a tenant starts. */
interface Place extends ListingPlace {
  readonly nickname: string
  readonly namespace: string
}

const start: ListingPlace = { pageToken: undefined, skip: 0 }

/** What a tenant's rounds go by until it changes. */
interface Known {
  readonly state: string
  readonly namespaces: readonly (readonly string[])[]
  readonly credentials: readonly CatalogCredential[]
}

/** What a tenant's round may still use. */
interface Budget {
  tables: number
  /** On the clock of `performance.now`. */
  readonly endsMs: number
}

export class SnapshotPoller {
  /** Tenant, credential version and table → ETag of a loaded table whose locations all have runs. */
  readonly #etags = new Lru<string, string>(etagsMax)
  readonly #places = new Map<TenantId, Place>()
  /** Which tenants have no commits and snapshots to queue, since their last change. */
  readonly #queued = rememberLooks<TenantId>()
  readonly #known = new Map<TenantId, Known>()
  /** Tenants whose upstreams used all their time in their last round, the longest ago first. */
  readonly #slow = new Set<TenantId>()
  readonly #standBack: StandBack

  constructor(
    private readonly parts: DetectionParts,
    private readonly queue: HitQueue,
    private readonly wake: () => void,
    private readonly options: PollOptions = pollOptions,
  ) {
    this.#standBack = parts.commits.standBack()
  }

  /**
   * Runs one round over all active tenants: first their commits, then their upstreams. Slow tenants come last, and
   * only as many as fit into the time of one. The next round need not wait for all. A tenant or table that fails is
   * logged and left to the next round.
   */
  async poll(signal: AbortSignal): Promise<void> {
    this.#standBack.renew()
    const { store } = this.parts
    const tenants = await activeTenants(store)
    // Before the looks, so that a change during one is seen by the next round.
    const changes = await tenantChanges(store)
    for (const tenant of tenants) {
      const state = changes?.get(tenant)?.snapshots
      if (this.#queued.isDue(tenant, state))
        await this.#attempt(tenant, signal, () => this.#enqueue(tenant, state, signal))
    }
    this.#queued.keepOnly(new Set(tenants))
    const withCatalogs = await tenantsWithCatalogs(store)
    for (const tenant of this.#known.keys()) if (!withCatalogs.has(tenant)) this.#known.delete(tenant)
    const polled = new Set(tenants.filter((tenant) => withCatalogs.has(tenant)))
    const quick = [...polled].filter((tenant) => !this.#slow.has(tenant))
    const slow = [...this.#slow].filter((tenant) => polled.has(tenant))
    const pollUpstreams = (tenant: TenantId) =>
      this.#attempt(tenant, signal, () => {
        const tables = changes?.get(tenant)?.tables
        const state = tables === undefined ? undefined : `${withCatalogs.get(tenant)} ${tables}`
        return this.#pollUpstreams(tenant, state, signal)
      })
    await inParallel(quick, this.options.tenantsMax, pollUpstreams)
    const endsMs = performance.now() + this.options.tenantMs
    await inParallel(slow, this.options.tenantsMax, async (tenant) => {
      if (performance.now() < endsMs) await pollUpstreams(tenant)
    })
  }

  async #attempt(tenant: TenantId, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    signal.throwIfAborted()
    await this.#standBack.clear()
    try {
      await work()
    } catch (err) {
      signal.throwIfAborted()
      this.parts.log.warn(
        { err, tenant },
        'a tenant could not be polled for new snapshots; the next round retries',
      )
    }
  }

  async #enqueue(tenant: TenantId, state: string | undefined, signal: AbortSignal): Promise<void> {
    const queued = await enqueueUnscanned(this.parts.store, tenant, this.options.rowsMax, signal)
    this.parts.metrics.detectionHits.inc({ source: 'baseline-poller', outcome: 'queued' }, queued)
    if (queued > 0) this.wake()
    else this.#queued.note(tenant, state)
  }

  async #pollUpstreams(tenant: TenantId, state: string | undefined, signal: AbortSignal): Promise<void> {
    const budget = { tables: this.options.tablesMax, endsMs: performance.now() + this.options.tenantMs }
    await this.#pollCatalogs(tenant, await this.#knownOf(tenant, state), budget, signal)
    this.#slow.delete(tenant)
    if (performance.now() >= budget.endsMs) this.#slow.add(tenant)
  }

  async #pollCatalogs(tenant: TenantId, known: Known, budget: Budget, signal: AbortSignal): Promise<void> {
    const { catalogs, log } = this.parts
    const from = this.#places.get(tenant)
    this.#places.delete(tenant)
    for (const credential of known.credentials) {
      const { nickname } = credential
      if (from !== undefined && nickname < from.nickname) continue
      try {
        const catalog = catalogs.get(tenant, credential)
        for (const namespace of namespacesOf(credential, known.namespaces)) {
          const key = tableKey({ namespace, name: '' })
          const resumes = from?.nickname === nickname
          if (resumes && key < from.namespace) continue
          const place = resumes && key === from.namespace ? from : start
          const rest = await this.#pollNamespace(
            tenant,
            credential,
            catalog,
            namespace,
            place,
            budget,
            signal,
          )
          if (rest === undefined) continue
          this.#places.set(tenant, { ...rest, nickname, namespace: key })
          return
        }
      } catch (err) {
        signal.throwIfAborted()
        log.warn({ err, tenant, catalog: nickname }, 'a catalog could not be polled for new snapshots')
      }
    }
  }

  /** @param state of the tenant's catalogs and tables; undefined where it must be read again */
  async #knownOf(tenant: TenantId, state: string | undefined): Promise<Known> {
    const last = this.#known.get(tenant)
    if (last !== undefined && last.state === state) return last
    const { store } = this.parts
    const namespaces = await graphNamespaces(store, tenant)
    const credentials: CatalogCredential[] = []
    for await (const { kind, nickname } of everyItem((page) => listCatalogCredentials(store, tenant, page))) {
      const credential = capabilitiesOf(kind).live
        ? await findCatalogCredential(store, tenant, nickname)
        : undefined
      if (credential !== undefined) credentials.push(credential)
    }
    if (state === undefined) return { state: '', namespaces, credentials }
    const known = { state, namespaces, credentials }
    this.#known.set(tenant, known)
    return known
  }

  /** @returns where to continue, if the budget ran out */
  async #pollNamespace(
    tenant: TenantId,
    credential: CatalogCredential,
    catalog: Catalog,
    namespace: readonly string[],
    from: ListingPlace,
    budget: Budget,
    signal: AbortSignal,
  ): Promise<ListingPlace | undefined> {
    if (namespace.length > catalog.capabilities().namespaceDepthMax) return undefined
    let { pageToken, skip } = from
    do {
      if (isSpent(budget)) return { pageToken, skip }
      const page = await catalog
        .listTables(namespace, { pageSize: tablePage, pageToken, signal: this.#deadline(signal) })
        .catch((err: unknown) => {
          signal.throwIfAborted()
          // A namespace that the graph knows may belong to another catalog.
          this.parts.log.debug(
            { err, tenant, catalog: credential.nickname },
            'a namespace could not be listed',
          )
          return undefined
        })
      const tables = page?.identifiers ?? []
      // Some catalogs return all tables as one page regardless of the requested size. That page is not cut.
      for (const table of tables.slice(skip)) {
        if (performance.now() >= budget.endsMs) return { pageToken, skip }
        await this.#pollTable(tenant, credential, catalog, table, signal)
        skip++
      }
      // A page without tables is charged too, because an upstream may send such pages without end.
      budget.tables -= Math.max(tables.length, 1)
      pageToken = page?.nextPageToken
      skip = 0
    } while (pageToken !== undefined)
    return undefined
  }

  async #pollTable(
    tenant: TenantId,
    credential: CatalogCredential,
    catalog: Catalog,
    table: TableRef,
    signal: AbortSignal,
  ): Promise<void> {
    const key = JSON.stringify([tenant, credential.id, credential.version, tableKey(table)])
    const etag = this.#etags.get(key)
    await this.#standBack.clear()
    try {
      const loaded = await catalog.loadTable(table, {
        snapshots: 'refs',
        signal: this.#deadline(signal),
        ...(etag !== undefined && { ifNoneMatch: etag }),
      })
      if (loaded.status === 'not-modified') return
      const { metadataLocation, metadata } = parseLoadTableResult(loaded.body)
      // A table without a snapshot has no data to scan.
      const log = metadataReader.optionalObjects(metadata, 'metadata-log') ?? []
      const past = log.map((entry) => entry.get('metadata-file')).filter((file) => typeof file === 'string')
      const fresh = await unscannedLocations(this.parts.store, tenant, [...past, metadataLocation])
      await this.queue.push(
        tenant,
        fresh.map(
          (location): Hit => ({
            tenant,
            source: 'baseline-poller',
            metadataLocation: location,
            credentialId: credential.id,
            table,
          }),
        ),
      )
      if (loaded.etag !== undefined) this.#etags.set(key, loaded.etag)
    } catch (err) {
      signal.throwIfAborted()
      this.parts.log.warn({ err, tenant, catalog: credential.nickname, table }, 'a table could not be polled')
    }
  }

  #deadline(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, AbortSignal.timeout(this.options.requestMs)])
  }
}

function isSpent({ tables, endsMs }: Budget): boolean {
  return tables <= 0 || performance.now() >= endsMs
}

/**
 * The namespaces in which a catalog's tables are polled: those with tables in the graph, and those that its credential
 * lists (`namespaces`, levels joined by dots). The six operations cannot list namespaces.
 */
function namespacesOf(
  { config }: CatalogCredential,
  known: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const named = Array.isArray(config.namespaces)
    ? config.namespaces
        .filter((one) => typeof one === 'string' && one !== '')
        .map((one: string) => one.split('.'))
    : []
  const byKey = new Map(
    [...known, ...named].map((levels) => [tableKey({ namespace: levels, name: '' }), levels]),
  )
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, levels]) => levels)
}
