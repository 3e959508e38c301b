/**
 * The Iceberg REST catalog protocol that the adapters share: the operations, and what each reply means. Adapters differ
 * only in their `CatalogVariant`.
 */

import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonObject, jsonObject, parseJson, stringifyJson } from '../base/json.ts'
import { type CatalogCapabilities, type CatalogKind, capabilitiesOf } from '../core/catalog-kinds.ts'
import { foldTable } from '../core/name-case.ts'
import { namespaceKey, type TableRef, tableName } from '../core/table-ref.ts'
import { limits } from '../limits.ts'
import { currentSnapshotId, type LoadTableResult } from '../wire/iceberg/table-metadata.ts'
import {
  assertNames,
  type CallOptions,
  type Catalog,
  CatalogError,
  type CatalogOffer,
  type CommitTableOptions,
  type CommittedResponse,
  type ForwardedResponse,
  type ForwardRequest,
  type ListTablesOptions,
  type LoadedTable,
  type LoadTableOptions,
  type TablePage,
  type TableSummary,
} from './catalog.ts'
import type { RestCatalogConfig } from './config.ts'
import { changeUnknown, forwardPath, forwardRefusal, leavesOpen, refused } from './rest-forward.ts'
import { filesOfTransaction, parseTablePage, readResult } from './rest-responses.ts'
import {
  type CatalogVariant,
  credentialsExpired,
  type RestCatalogOptions,
  type RestRequest,
  replyClause,
  UpstreamSession,
} from './rest-session.ts'
import {
  type StreamedResponse,
  toUpstreamFault,
  UpstreamHttpError,
  type UpstreamResponse,
} from './upstream-http.ts'

/** Response headers that leave the adapter. */
const responseHeaders = ['content-type', 'etag'] as const

/** Opens a catalog that speaks the Iceberg REST protocol; sends nothing before the first operation. */
export function openRestCatalog(
  variant: CatalogVariant,
  config: RestCatalogConfig,
  options: RestCatalogOptions,
): Catalog {
  return new RestCatalog(variant, config, options)
}

class RestCatalog implements Catalog {
  readonly kind: CatalogKind
  readonly assertsAbsentRefs: boolean
  readonly checksRequirements: boolean
  readonly #foldsNames: boolean
  readonly #session: UpstreamSession
  readonly #capabilities: CatalogCapabilities
  readonly #loadMs: number
  readonly #commitMs: number

  constructor(
    readonly variant: CatalogVariant,
    config: RestCatalogConfig,
    options: RestCatalogOptions,
  ) {
    this.kind = variant.kind
    this.assertsAbsentRefs = variant.assertsAbsentRefs
    this.#foldsNames = config.foldsNames
    this.checksRequirements = variant.checksRequirements && config.pinsCommits !== false
    this.#loadMs = options.loadMs ?? limits.upstreamLoadMs
    this.#commitMs = options.commitMs ?? limits.upstreamCommitMs
    this.#session = new UpstreamSession(variant, config, options)
    const capabilities = capabilitiesOf(this.kind)
    const { atomicTransactions = capabilities.atomicTransactions } = config
    this.#capabilities = { ...capabilities, atomicTransactions }
  }

  capabilities(): CatalogCapabilities {
    return this.#capabilities
  }

  async listTables(namespace: readonly string[], options: ListTablesOptions = {}): Promise<TablePage> {
    assertNames(this.kind, namespace)
    const query = new URLSearchParams()
    // In the Iceberg REST specification a client requests pages by sending pageToken, even empty.
    if (options.pageToken !== undefined || options.pageSize !== undefined)
      query.set('pageToken', options.pageToken ?? '')
    if (options.pageSize !== undefined) query.set('pageSize', String(options.pageSize))
    const path = `/namespaces/${namespacePath(namespace)}/tables${query.size === 0 ? '' : `?${query}`}`
    const response = await this.#read({ method: 'GET', path }, options.signal)
    if (response.status !== 200) throw this.#refusal(response, `Namespace ${namespace.join('.')}`)
    const page = parseTablePage(response.body)
    return this.#foldsNames ? { ...page, identifiers: page.identifiers.map(foldTable) } : page
  }

  async getTable(table: TableRef, options: CallOptions = {}): Promise<TableSummary> {
    const loaded = await this.loadTable(table, { signal: options.signal, snapshots: 'refs' })
    if (loaded.status !== 'loaded')
      throw new Fault(
        'upstream_failed',
        'The upstream catalog answered 304 to a request that was not conditional.',
      )
    const { metadataLocation, metadata } = await readResult(loaded.body)
    const tableUuid = metadata.get('table-uuid')
    return {
      table,
      metadataLocation,
      tableUuid: typeof tableUuid === 'string' ? tableUuid : undefined,
      currentSnapshotId: currentSnapshotId(metadata),
    }
  }

  async loadTable(table: TableRef, options: LoadTableOptions = {}): Promise<LoadedTable> {
    const { snapshots, ifNoneMatch, signal } = options
    const path = `${tablePath(this.kind, table)}${snapshots === undefined ? '' : `?snapshots=${snapshots}`}`
    const headers = this.#headers({ accessDelegation: options.accessDelegation })
    if (ifNoneMatch !== undefined) headers['if-none-match'] = ifNoneMatch
    const response = await this.#read({ method: 'GET', path, headers }, signal)
    if (response.status === 304 && ifNoneMatch !== undefined) return { status: 'not-modified' }
    if (response.status !== 200) throw this.#refusal(response, `Table ${tableName(table)}`)
    const etag = response.headers.get('etag')
    return { status: 'loaded', body: response.body, ...(etag === null ? {} : { etag }) }
  }

  async commitTable(
    table: TableRef,
    body: Uint8Array,
    options: CommitTableOptions = {},
  ): Promise<CommittedResponse> {
    const path = tablePath(this.kind, table)
    const name = tableName(table)
    const request = { method: 'POST', path, headers: this.#headers(options), body, changes: true } as const
    const response = await this.#commit(request, name, options.signal)
    if (response.status !== 200) throw this.#commitRefusal(response, name, `Table ${name}`)
    let result: LoadTableResult
    try {
      result = await readResult(response.body)
    } catch (thrown) {
      throw commitUnknown(name, 'answered 200 with a body that is no LoadTableResult', thrown)
    }
    return {
      status: 200,
      headers: allowedHeaders(response.headers),
      body: response.body,
      result: await this.#located(path, result),
    }
  }

  async commitTables(
    tables: readonly TableRef[],
    body: Uint8Array,
    options: CallOptions = {},
  ): Promise<readonly (string | undefined)[]> {
    for (const { namespace, name } of tables) assertNames(this.kind, namespace, name)
    const names = tables.map(tableName).join(', ')
    const request = { method: 'POST', path: '/transactions/commit', body, changes: true } as const
    const response = await this.#commit(request, names, options.signal)
    if (response.status === 204) return []
    if (response.status === 200) {
      const reply = changeReply(response)
      if (reply === undefined)
        throw commitUnknown(names, 'answered 200 with a body that is no reply to a transaction')
      return filesOfTransaction(reply, tables.length)
    }
    throw this.#commitRefusal(response, names, 'A table of the transaction')
  }

  /** Sends a commit. @param names the tables, for errors */
  async #commit(
    request: RestRequest,
    names: string,
    signal: AbortSignal | undefined,
  ): Promise<UpstreamResponse> {
    try {
      return await this.#session.call(request, this.#commitMs, signal)
    } catch (thrown) {
      if (thrown instanceof UpstreamHttpError && thrown.sent)
        throw commitUnknown(names, thrown.publicMessage, thrown)
      throw toUpstreamFault(thrown)
    }
  }

  #commitRefusal(response: UpstreamResponse, names: string, subject: string): CatalogError | Fault {
    const reply = this.#session.replyOf(response)
    return leavesOpen(reply)
      ? commitUnknown(names, replyClause(reply), reply)
      : this.#refusal(response, subject)
  }

  /** The commit's result with the metadata file that a load of it names; unchanged where that load fails. */
  async #located(path: string, result: LoadTableResult): Promise<LoadTableResult> {
    const state = this.variant.committedState(result)
    if (state === undefined) return result
    try {
      const request = { method: 'GET', path: `${path}${encodeURIComponent(state)}` } as const
      const { status, body } = await this.#session.call(request, limits.lostAnswerWithinMs, undefined)
      if (status !== 200) return result
      return { ...result, metadataLocation: (await readResult(body)).metadataLocation }
    } catch {
      return result
    }
  }

  async expireSnapshots(
    table: TableRef,
    snapshotIds: readonly bigint[],
    options: CommitTableOptions = {},
  ): Promise<CommittedResponse> {
    if (snapshotIds.length === 0) throw new Fault('bad_request', 'There are no snapshots to expire.')
    const { tableUuid } = await this.getTable(table, { signal: options.signal })
    if (tableUuid === undefined)
      throw new Fault(
        'upstream_failed',
        'The upstream table has no uuid, so its snapshots cannot be expired safely.',
      )
    const requirements = [jsonObject({ type: 'assert-table-uuid', uuid: tableUuid })]
    // One update for each, because servers before Iceberg 1.9 accept a single id.
    const updates = snapshotIds.map((id) => jsonObject({ action: 'remove-snapshots', 'snapshot-ids': [id] }))
    const body = new TextEncoder().encode(stringifyJson(jsonObject({ requirements, updates })))
    return this.commitTable(table, body, options)
  }

  async offer(options: CallOptions = {}): Promise<CatalogOffer> {
    try {
      const { endpoints } = await this.#session.configuration(options.signal)
      return { endpoints }
    } catch (thrown) {
      throw toUpstreamFault(thrown)
    }
  }

  async forward(request: ForwardRequest): Promise<ForwardedResponse> {
    const { method, body, mutates, whole, subject, signal } = request
    const query = new URLSearchParams(request.query)
    const path = `${forwardPath(this.kind, request.path)}${query.size === 0 ? '' : `?${query}`}`
    const sent = { method, path, headers: this.#headers(request), changes: mutates, ...(body && { body }) }
    let response: UpstreamResponse | StreamedResponse
    try {
      response =
        mutates || whole
          ? await this.#session.call(sent, mutates ? this.#commitMs : this.#loadMs, signal)
          : await this.#session.stream(sent, this.#loadMs, signal)
    } catch (thrown) {
      if (mutates && thrown instanceof UpstreamHttpError && thrown.sent)
        throw changeUnknown(subject, thrown.publicMessage, thrown)
      throw toUpstreamFault(thrown)
    }
    const { status, headers } = response
    if (status >= 200 && status < 300) {
      if (mutates && changeReply(response) === undefined)
        throw changeUnknown(subject, `answered ${status} with a body that is no reply to a change`)
      return { status, headers: allowedHeaders(headers), body: response.body }
    }
    const reply = this.#session.replyOf({
      ...{ status, headers },
      body: response.body instanceof Uint8Array ? response.body : new Uint8Array(0),
    })
    throw forwardRefusal(this.variant, reply, request)
  }

  close(): void {
    this.#session.close()
  }

  #headers(options: Pick<CommitTableOptions, 'idempotencyKey' | 'accessDelegation'>): Record<string, string> {
    const headers: Record<string, string> = {}
    if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey
    if (options.accessDelegation !== undefined && this.capabilities().credentialVending)
      headers['x-iceberg-access-delegation'] = options.accessDelegation
    return headers
  }

  /** Sends a request that changes nothing. */
  async #read(request: RestRequest, signal: AbortSignal | undefined): Promise<UpstreamResponse> {
    try {
      return await this.#session.call(request, this.#loadMs, signal)
    } catch (thrown) {
      throw toUpstreamFault(thrown)
    }
  }

  /**
   * The error that a reply other than a success means (docs/reference/catalogs.md 3.2). An upstream's own message is
   * used unchanged, because clients show it and some parse it.
   */
  #refusal(response: UpstreamResponse, subject: string): CatalogError | Fault {
    const reply = this.#session.replyOf(response)
    const { status, message } = reply
    if (status === 401 || status === 419) return credentialsExpired(reply)
    if (status === 404 || this.variant.isTableNotFound(reply))
      return new CatalogError(
        'ErrTableNotFound',
        message ?? `${subject} does not exist in the upstream catalog.`,
        reply,
      )
    if (status === 409)
      return new CatalogError(
        'ErrCommitConflict',
        message ?? `${subject} has changed in the upstream catalog; rebase and retry.`,
        reply,
      )
    return refused(reply)
  }
}

function allowedHeaders(headers: Headers): Readonly<Record<string, string>> {
  const allowed: Record<string, string> = {}
  for (const name of responseHeaders) {
    const value = headers.get(name)
    if (value !== null) allowed[name] = value
  }
  return allowed
}

/**
 * What a success says of a change that was made: an object, empty where it says nothing.
 * @returns undefined where it is no reply to a change: a proxy may answer 200 with a page of its own
 */
function changeReply({ status, body }: UpstreamResponse | StreamedResponse): JsonObject | undefined {
  if (status !== 200 && status !== 201 && status !== 204) return undefined
  if (!(body instanceof Uint8Array)) return undefined
  if (body.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)) return new Map()
  try {
    const reply = parseJson(body, { depthMax: limits.jsonDepthMax })
    return isJsonObject(reply) ? reply : undefined
  } catch {
    return undefined
  }
}

function commitUnknown(names: string, clause: string, cause?: unknown): Fault {
  return new Fault(
    'commit_unknown',
    `The upstream catalog ${clause}; the commit on ${names} may or may not have been made.`,
    { cause, type: 'CommitStateUnknownException' },
  )
}

function namespacePath(namespace: readonly string[]): string {
  return encodeURIComponent(namespaceKey(namespace))
}

function tablePath(kind: CatalogKind, table: TableRef): string {
  assertNames(kind, table.namespace, table.name)
  return `/namespaces/${namespacePath(table.namespace)}/tables/${encodeURIComponent(table.name)}`
}
