/**
 * The Iceberg REST catalog protocol as alpha and beta share it: configuration, tokens, the six operations, and
 * what each answer means. What differs between them is their `Dialect`. Upstream-supplied addresses, tokens and
 * storage settings are ignored; of the configuration only the prefix is used.
 */

import { type Clock, systemClock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { type JsonObject, type JsonValue, jsonObject, parseJson, stringifyJson } from '../base/json.ts'
import type { CatalogKind } from '../core/catalog.ts'
import { isPathIdentifier, namespaceKey, type TableRef, tableName } from '../core/table-ref.ts'
import { limits } from '../limits.ts'
import { parseErrorModel } from '../wire/iceberg/error-model.ts'
import {
  currentSnapshotId,
  type LoadTableResult,
  parseLoadTableResult,
} from '../wire/iceberg/table-metadata.ts'
import { type AddressRules, type Lookup, PinnedHost } from './address.ts'
import {
  assertNames,
  type CallOptions,
  type Catalog,
  type CatalogCapabilities,
  CatalogError,
  type CommitTableOptions,
  type CommittedResponse,
  catalogCapabilities,
  type ListTablesOptions,
  type LoadedTable,
  type LoadTableOptions,
  type TablePage,
  type TableSummary,
  type UpstreamAnswer,
} from './catalog.ts'
import type { RestCatalogConfig } from './config.ts'
import { OAuthTokens } from './oauth.ts'
import {
  raceSignal,
  sendUpstream,
  toUpstreamFault,
  UpstreamError,
  type UpstreamResponse,
} from './upstream-http.ts'

export interface Dialect {
  readonly kind: CatalogKind
  /** Below the endpoint's path; begins with '/'. */
  configPath(config: RestCatalogConfig): string
  /** The prefix of the upstream's configuration as path text, or undefined where it cannot stand in a path. */
  prefixPath(prefix: string): string | undefined
  /** Whether an answer other than 404 also says that the table does not exist. */
  isTableNotFound(answer: UpstreamAnswer): boolean
}

export interface RestCatalogOptions {
  readonly addressRules: AddressRules
  readonly lookup?: Lookup
  readonly clock?: Clock
  /** Milliseconds for ListTables, GetTable, LoadTable and a token; `limits.upstreamLoadMs`. */
  readonly loadMs?: number
  /** Milliseconds for one commit with all that it waits for; `limits.upstreamCommitMs`. */
  readonly commitMs?: number
  /** `limits.upstreamResponseBytesMax`. */
  readonly responseBytesMax?: number
}

interface TableRequest {
  readonly method: 'GET' | 'POST'
  /** Below `/v1/{prefix}`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** Response headers that leave the adapter after a commit. */
const commitResponseHeaders = ['content-type', 'etag'] as const
const sentenceLengthMax = 1_000
const errorType = /^[A-Za-z_]{1,100}$/

/** Opens a catalog that speaks the Iceberg REST protocol; nothing is sent before the first operation. */
export function openRestCatalog(
  dialect: Dialect,
  config: RestCatalogConfig,
  options: RestCatalogOptions,
): Catalog {
  return new RestCatalog(dialect, config, options)
}

class RestCatalog implements Catalog {
  readonly kind: CatalogKind
  readonly #host: PinnedHost
  readonly #tokens: OAuthTokens | undefined
  readonly #loadMs: number
  readonly #commitMs: number
  readonly #responseBytesMax: number
  #prefixPath: string | undefined
  #configuring: Promise<string> | undefined

  constructor(
    readonly dialect: Dialect,
    readonly config: RestCatalogConfig,
    options: RestCatalogOptions,
  ) {
    const { addressRules, lookup, clock = systemClock } = options
    this.kind = dialect.kind
    this.#host = new PinnedHost(config.endpoint, addressRules, lookup, clock)
    this.#loadMs = options.loadMs ?? limits.upstreamLoadMs
    this.#commitMs = options.commitMs ?? limits.upstreamCommitMs
    this.#responseBytesMax = options.responseBytesMax ?? limits.upstreamResponseBytesMax
    if (config.auth.kind === 'client-credentials') {
      const { credentials } = config.auth
      const tokenHost = new PinnedHost(credentials.tokenUrl, addressRules, lookup, clock)
      this.#tokens = new OAuthTokens(credentials, (form) => this.#sendTokenRequest(tokenHost, form), clock)
    }
  }

  capabilities(): CatalogCapabilities {
    return catalogCapabilities[this.kind]
  }

  async listTables(namespace: readonly string[], options: ListTablesOptions = {}): Promise<TablePage> {
    assertNames(this.kind, namespace)
    const query = new URLSearchParams()
    // The Iceberg REST specification: pageToken, even empty, is how a client asks for pages.
    if (options.pageToken !== undefined || options.pageSize !== undefined)
      query.set('pageToken', options.pageToken ?? '')
    if (options.pageSize !== undefined) query.set('pageSize', String(options.pageSize))
    const path = `/namespaces/${namespacePath(namespace)}/tables${query.size === 0 ? '' : `?${query}`}`
    const response = await this.#read({ method: 'GET', path }, options.signal)
    if (response.status !== 200) throw this.#refusal(response, `Namespace ${namespace.join('.')}`)
    return parseTablePage(response.body)
  }

  async getTable(table: TableRef, options: CallOptions = {}): Promise<TableSummary> {
    const loaded = await this.loadTable(table, { signal: options.signal, snapshots: 'refs' })
    if (loaded.status !== 'loaded')
      throw new Fault('upstream_failed', 'The upstream catalog answered 304 unasked.')
    const { metadataLocation, metadata } = parseResult(loaded.body)
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
    const headers: Record<string, string> = ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }
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
    const headers: Record<string, string> = {}
    if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey
    if (options.accessDelegation !== undefined && this.capabilities().credentialVending)
      headers['x-iceberg-access-delegation'] = options.accessDelegation
    let response: UpstreamResponse
    try {
      response = await this.#call({ method: 'POST', path, headers, body }, this.#commitMs, options.signal)
    } catch (thrown) {
      if (thrown instanceof UpstreamError && thrown.sent)
        throw commitUnknown(table, thrown.publicMessage, thrown)
      throw toUpstreamFault(thrown)
    }
    const { status } = response
    if (status !== 200) {
      const answer = this.#answer(response)
      // 408 comes from a proxy that may have passed the request on.
      if (status < 300 || status >= 500 || status === 408 || answer.type === 'CommitStateUnknownException')
        throw commitUnknown(table, answered(answer))
      throw this.#refusal(response, `Table ${tableName(table)}`)
    }
    let result: LoadTableResult
    try {
      result = parseResult(response.body)
    } catch (thrown) {
      throw commitUnknown(table, 'answered 200 with a body that is no LoadTableResult', thrown)
    }
    const kept: Record<string, string> = {}
    for (const name of commitResponseHeaders) {
      const value = response.headers.get(name)
      if (value !== null) kept[name] = value
    }
    return { status: 200, headers: kept, body: response.body, result }
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
    // One update for each, because servers before Iceberg 1.9 take a single id.
    const updates = snapshotIds.map((id) => jsonObject({ action: 'remove-snapshots', 'snapshot-ids': [id] }))
    const body = new TextEncoder().encode(stringifyJson(jsonObject({ requirements, updates })))
    return this.commitTable(table, body, options)
  }

  close(): void {
    this.#tokens?.close()
  }

  /** A call that changes nothing. */
  async #read(request: TableRequest, signal: AbortSignal | undefined): Promise<UpstreamResponse> {
    try {
      return await this.#call(request, this.#loadMs, signal)
    } catch (thrown) {
      throw toUpstreamFault(thrown)
    }
  }

  /** One deadline over configuration, token and request, so that a commit never outlives its intent. */
  async #call(
    request: TableRequest,
    deadlineMs: number,
    callerSignal: AbortSignal | undefined,
  ): Promise<UpstreamResponse> {
    const deadline = AbortSignal.timeout(deadlineMs)
    const signal = callerSignal === undefined ? deadline : AbortSignal.any([deadline, callerSignal])
    const prefixPath = this.#prefixPath ?? (await raceSignal(this.#configure(), signal))
    return this.#send({ ...request, path: `/v1${prefixPath}${request.path}` }, signal)
  }

  /** The path text of the upstream's prefix, asked for once; a failure is not kept. */
  #configure(): Promise<string> {
    this.#configuring ??= this.#fetchPrefix().finally(() => {
      this.#configuring = undefined
    })
    return this.#configuring
  }

  async #fetchPrefix(): Promise<string> {
    const { warehouse } = this.config
    const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`
    const path = `${this.dialect.configPath(this.config)}${query}`
    let response: UpstreamResponse
    try {
      response = await this.#send({ method: 'GET', path }, AbortSignal.timeout(this.#loadMs))
    } catch (thrown) {
      throw toUpstreamFault(thrown)
    }
    if (response.status === 401 || response.status === 419) throw this.#refusal(response, 'The warehouse')
    if (response.status !== 200)
      throw new Fault(
        'upstream_failed',
        `The upstream catalog gave no configuration for the warehouse: it ${answered(this.#answer(response))}.`,
      )
    const prefix = parseConfigPrefix(response.body)
    const prefixPath = prefix === undefined || prefix === '' ? '' : this.dialect.prefixPath(prefix)
    if (prefixPath === undefined)
      throw new Fault(
        'upstream_failed',
        "The upstream catalog's configuration holds a prefix that cannot stand in a path.",
      )
    this.#prefixPath = prefixPath === '' ? '' : `/${prefixPath}`
    return this.#prefixPath
  }

  /** Sends with the present token; once more with a new one where the upstream refuses it. */
  async #send(request: TableRequest, signal: AbortSignal): Promise<UpstreamResponse> {
    const { auth } = this.config
    const token = auth.kind === 'token' ? auth.token : await this.#tokens?.token(signal)
    const response = await this.#sendOnce(request, token, signal)
    if (
      (response.status !== 401 && response.status !== 419) ||
      this.#tokens === undefined ||
      token === undefined
    )
      return response
    this.#tokens.invalidate(token)
    return this.#sendOnce(request, await this.#tokens.token(signal), signal)
  }

  #sendOnce(
    request: TableRequest,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<UpstreamResponse> {
    return sendUpstream(this.#host, {
      method: request.method,
      path: request.path,
      headers: {
        accept: 'application/json',
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: request.body }),
      signal,
      responseBytesMax: this.#responseBytesMax,
    })
  }

  #sendTokenRequest(host: PinnedHost, form: URLSearchParams): Promise<UpstreamResponse> {
    return sendUpstream(host, {
      method: 'POST',
      path: '',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      signal: AbortSignal.timeout(this.#loadMs),
      responseBytesMax: limits.upstreamErrorBytesMax,
    })
  }

  /** What an answer that is no success means (SPEC 7). */
  #refusal(response: UpstreamResponse, subject: string): CatalogError | Fault {
    const answer = this.#answer(response)
    const because = answer.message === undefined ? '' : `: ${answer.message}`
    if (answer.status === 401 || answer.status === 419)
      return new CatalogError(
        'ErrCredentialsExpired',
        "The upstream catalog refused this catalog's credentials; an administrator must renew them.",
        answer,
      )
    if (answer.status === 404 || this.dialect.isTableNotFound(answer))
      return new CatalogError(
        'ErrTableNotFound',
        `${subject} does not exist in the upstream catalog${because}`,
        answer,
      )
    if (answer.status === 409)
      return new CatalogError(
        'ErrCommitConflict',
        `${subject} has changed in the upstream catalog; rebase and retry${because}`,
        answer,
      )
    return new Fault('upstream_failed', `The upstream catalog ${answered(answer)}.`)
  }

  /** What the upstream said. A refused token is not unlikely to be repeated in the answer, so 401 says nothing. */
  #answer({ status, body }: UpstreamResponse): UpstreamAnswer {
    if (status === 401 || status === 419) return { status }
    const { type, message } = parseErrorModel(body)
    let sentence = message ?? ''
    for (const secret of this.#secrets()) sentence = sentence.replaceAll(secret, '…')
    sentence = sentence
      .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
      .slice(0, sentenceLengthMax)
      .trim()
    return {
      status,
      ...(type !== undefined && errorType.test(type) ? { type } : {}),
      ...(sentence === '' ? {} : { message: sentence }),
    }
  }

  #secrets(): readonly string[] {
    const { auth } = this.config
    if (auth.kind === 'token') return [auth.token]
    return this.#tokens?.secrets() ?? []
  }
}

function commitUnknown(table: TableRef, clause: string, cause?: unknown): Fault {
  return new Fault(
    'commit_unknown',
    `The upstream catalog ${clause}; the commit on ${tableName(table)} may or may not have been made.`,
    { cause, type: 'CommitStateUnknownException' },
  )
}

function answered(answer: UpstreamAnswer): string {
  return `answered ${answer.status}${answer.message === undefined ? '' : ` (${answer.message})`}`
}

function namespacePath(namespace: readonly string[]): string {
  return encodeURIComponent(namespaceKey(namespace))
}

function tablePath(kind: CatalogKind, table: TableRef): string {
  assertNames(kind, table.namespace, table.name)
  return `/namespaces/${namespacePath(table.namespace)}/tables/${encodeURIComponent(table.name)}`
}

function unreadable(what: string, cause?: unknown): Fault {
  return new Fault('upstream_failed', `The upstream catalog answered 200 with a body that is no ${what}.`, {
    cause,
  })
}

function parseResult(body: Uint8Array): LoadTableResult {
  try {
    return parseLoadTableResult(body)
  } catch (cause) {
    throw unreadable('LoadTableResult', cause)
  }
}

function parseObject(body: Uint8Array, what: string): JsonObject {
  let value: JsonValue
  try {
    value = parseJson(body)
  } catch (cause) {
    throw unreadable(what, cause)
  }
  if (!(value instanceof Map)) throw unreadable(what)
  return value
}

/** ConfigResponse: overrides win over defaults. */
function parseConfigPrefix(body: Uint8Array): string | undefined {
  const config = parseObject(body, 'ConfigResponse')
  for (const name of ['overrides', 'defaults']) {
    const properties = config.get(name)
    const prefix = properties instanceof Map ? properties.get('prefix') : undefined
    if (typeof prefix === 'string') return prefix
  }
  return undefined
}

/** ListTablesResponse. Tables whose names the product cannot address are left out, as if they were not there. */
function parseTablePage(body: Uint8Array): TablePage {
  const page = parseObject(body, 'ListTablesResponse')
  const identifiers = page.get('identifiers') ?? []
  if (!Array.isArray(identifiers)) throw unreadable('ListTablesResponse')
  const tables: TableRef[] = []
  for (const identifier of identifiers as readonly JsonValue[]) {
    const namespace = identifier instanceof Map ? identifier.get('namespace') : undefined
    const name = identifier instanceof Map ? identifier.get('name') : undefined
    if (!Array.isArray(namespace) || typeof name !== 'string') throw unreadable('ListTablesResponse')
    const levels = namespace as readonly JsonValue[]
    if (
      isPathIdentifier(name) &&
      levels.every((level) => typeof level === 'string' && isPathIdentifier(level))
    )
      tables.push({ namespace: levels as readonly string[], name })
  }
  const token = page.get('next-page-token')
  return {
    identifiers: tables,
    ...(typeof token === 'string' && token !== '' ? { nextPageToken: token } : {}),
  }
}
