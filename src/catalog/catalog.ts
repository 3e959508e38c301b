/**
 * The interface of every upstream catalog: the six operations of docs/reference/catalogs.md 3.1, a pass-through for the
 * rest of the Iceberg REST API, and four sentinels. It knows no protocol; the adapters do.
 */

import { Fault } from '../base/fault.ts'
import { type CatalogCapabilities, type CatalogKind, capabilitiesOf } from '../core/catalog-kinds.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import type { LoadTableResult } from '../wire/iceberg/table-metadata.ts'

/** The four sentinels of docs/reference/catalogs.md 3.2. */
export type CatalogErrorCode =
  | 'ErrTableNotFound'
  | 'ErrCommitConflict'
  | 'ErrCredentialsExpired'
  | 'ErrAdapterStub'

/** What the upstream replied, where it replied. */
export interface UpstreamReply {
  readonly status: number
  /** The ErrorModel `type`, if any. */
  readonly type?: string
  /** The ErrorModel `message`, shortened and without our own credentials. */
  readonly message?: string
  /** `Retry-After` in one of its two forms, if any. */
  readonly retryAfter?: string
}

/** An adapter error that maps to a sentinel. Nothing was committed. Any other failure is a `Fault`. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError'

  /**
   * @param code the sentinel
   * @param publicMessage one sentence for the client; holds no secret
   * @param upstream the upstream's reply, if any
   */
  constructor(
    readonly code: CatalogErrorCode,
    readonly publicMessage: string,
    readonly upstream?: UpstreamReply,
  ) {
    super(`${code}: ${publicMessage}`)
  }
}

export interface CallOptions {
  /** Ends the call early. A commit that was already sent then fails as `commit_unknown`. */
  readonly signal?: AbortSignal | undefined
}

export interface ListTablesOptions extends CallOptions {
  readonly pageToken?: string | undefined
  readonly pageSize?: number | undefined
}

export interface TablePage {
  readonly identifiers: readonly TableRef[]
  /** Names beside these that the product cannot address, each with its namespace. */
  readonly unusable?: readonly (readonly string[])[]
  /** Set where there is another page. */
  readonly nextPageToken?: string
}

export interface TableSummary {
  readonly table: TableRef
  readonly metadataLocation: string
  /** Absent in tables of format version 1 without one. */
  readonly tableUuid: string | undefined
  /** Absent where the table has no current snapshot. */
  readonly currentSnapshotId: bigint | undefined
}

export interface LoadTableOptions extends CallOptions {
  /** 'refs' leaves out snapshots that no branch or tag names. The upstream's default is 'all'. */
  readonly snapshots?: 'all' | 'refs' | undefined
  /** An ETag of an earlier response for the same `snapshots`. */
  readonly ifNoneMatch?: string | undefined
  /** Forwarded as `X-Iceberg-Access-Delegation` where the kind vends credentials, dropped otherwise. */
  readonly accessDelegation?: string | undefined
}

export type LoadedTable =
  | {
      readonly status: 'loaded'
      /** The LoadTableResult, byte for byte. */
      readonly body: Uint8Array
      readonly etag?: string
    }
  | { readonly status: 'not-modified' }

export interface CommitTableOptions extends CallOptions {
  /** Forwarded as `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined
  /** Forwarded as `X-Iceberg-Access-Delegation` where the kind vends credentials, dropped otherwise. */
  readonly accessDelegation?: string | undefined
}

export interface CommittedResponse {
  readonly status: 200
  /** By allow-list; names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The upstream's LoadTableResult, byte for byte. */
  readonly body: Uint8Array
  /**
   * `body`, parsed; one that does not parse is `commit_unknown`. Its metadata location is the one that a load of this
   * state names, because `body` may name another (Nessie). If that load fails, it is the one in `body`.
   */
  readonly result: LoadTableResult
}

/** What the upstream supports, as its configuration says. */
export interface CatalogOffer {
  /** `METHOD /v1/{prefix}/…` of each operation; undefined where the upstream does not say. */
  readonly endpoints: readonly string[] | undefined
}

export interface ForwardRequest extends CallOptions {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE'
  /** Below `/v1/{prefix}`: words, or the levels of a namespace. Decoded; the adapter encodes them again. */
  readonly path: readonly (string | readonly string[])[]
  /** Decoded. */
  readonly query?: Readonly<Record<string, string>>
  readonly idempotencyKey?: string | undefined
  readonly accessDelegation?: string | undefined
  /** JSON. */
  readonly body?: Uint8Array | undefined
  /**
   * Whether the upstream's state may change. Then a lost reply is `commit_unknown`, and the response body is not
   * streamed.
   */
  readonly mutates: boolean
  /** Whether the response body is read whole, as that of a mutating request is. */
  readonly whole?: boolean
  /** Named in errors: `Table a.b`. */
  readonly subject: string
}

export interface ForwardedResponse {
  /** A success, 2xx. */
  readonly status: number
  /** By allow-list; names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Unchanged; a stream only where the request neither mutates nor asks for it whole. */
  readonly body: Uint8Array | ReadableStream<Uint8Array>
}

/**
 * One open upstream catalog. Every operation throws a `CatalogError` for a sentinel, and otherwise a `Fault`:
 * - `bad_request`: a name or a namespace depth that this kind does not support; nothing was sent
 * - `upstream_failed`: the upstream failed or refused. A commit was **certainly not made**: it was never sent (name
 *   resolution, connection refused, TLS, no token), or it was refused with a 4xx or 501, which `Fault.refusal` holds
 * - `upstream_forbidden`: as `upstream_failed`, and the upstream answered 403: its own permissions forbid the request
 * - `commit_unknown`: only from CommitTable, ExpireSnapshots and mutating forwards, after the request was sent: another
 *   5xx, 3xx, 408, 499, a timeout, a dropped connection, or a success that is not readable. It may have been committed
 */
export interface Catalog {
  readonly kind: CatalogKind
  /** Whether the upstream checks `assert-ref-snapshot-id` with a null id: the ref must not exist. */
  readonly assertsAbsentRefs: boolean
  /**
   * Whether the upstream checks every requirement of the Iceberg REST specification in the step in which it commits, so
   * that a commit can be held to the table that it was judged on.
   */
  readonly checksRequirements: boolean
  /** Capabilities (docs/reference/catalogs.md 2.1). */
  capabilities(): CatalogCapabilities
  /** ListTables: one page of the tables of a namespace. */
  listTables(namespace: readonly string[], options?: ListTablesOptions): Promise<TablePage>
  /** GetTable: what identifies a table's current state. */
  getTable(table: TableRef, options?: CallOptions): Promise<TableSummary>
  /** LoadTable: the whole metadata as raw bytes; conditional where `ifNoneMatch` is given. */
  loadTable(table: TableRef, options?: LoadTableOptions): Promise<LoadedTable>
  /** CommitTable: raw UpdateTableRequest bytes in, raw LoadTableResult bytes out. Never retried once sent. */
  commitTable(table: TableRef, body: Uint8Array, options?: CommitTableOptions): Promise<CommittedResponse>
  /**
   * CommitTable, in its form for several tables at once: raw CommitTransactionRequest bytes. It changes all of `tables`
   * or none only where the Capabilities say `atomicTransactions`. Never retried once sent.
   * @returns the metadata file of each table, in their order, as far as the reply names them: that of the Iceberg REST
   *   specification names none
   */
  commitTables(
    tables: readonly TableRef[],
    body: Uint8Array,
    options?: CallOptions,
  ): Promise<readonly (string | undefined)[]>
  /** ExpireSnapshots: a commit that removes the snapshots, provided the table is still the same one. */
  expireSnapshots(
    table: TableRef,
    snapshotIds: readonly bigint[],
    options?: CommitTableOptions,
  ): Promise<CommittedResponse>
  /** The operations that the upstream supports, from its configuration. */
  offer(options?: CallOptions): Promise<CatalogOffer>
  /**
   * Forwards any other request of the Iceberg REST API. A refusal is a Fault of the kind for its status (`bad_request`,
   * `not_found`, `conflict`, `not_acceptable`, `unprocessable`, `not_implemented`), with the upstream's ErrorModel
   * type; other failures are as above.
   */
  forward(request: ForwardRequest): Promise<ForwardedResponse>
  /** Drops tokens and ends their renewal; requests in flight finish. */
  close(): void
}

/**
 * Refuses names that a catalog of this kind cannot hold, before anything is sent. The identifier pattern also refuses
 * `table@branch`, which beta upstreams would read as another branch, and dot segments in upstream paths.
 * @throws Fault `bad_request`
 */
export function assertNames(kind: CatalogKind, namespace: readonly string[], name?: string): void {
  const depthMax = capabilitiesOf(kind).namespaceDepthMax
  if (namespace.length === 0) throw new Fault('bad_request', 'A namespace needs at least one level.')
  if (namespace.length > depthMax)
    throw new Fault(
      'bad_request',
      `The namespace has ${namespace.length} levels; this catalog allows ${depthMax}.`,
    )
  for (const text of name === undefined ? namespace : [...namespace, name])
    if (!isPathIdentifier(text))
      throw new Fault('bad_request', 'A namespace level or table name does not match ^[a-zA-Z0-9_-]+$.')
}
