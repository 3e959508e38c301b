/** Opens a single-table commit: checks its body, starts its loads and prepares its intent. */

import { requestOrigin } from '../../auth/request-origin.ts'
import { afterSending } from '../../base/turn.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { CommitIntent } from '../../core/commit.ts'
import { claimOf, type KeyClaim, type KeyedRequest } from '../../core/idempotency.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { aboutRequest } from '../../http/about-request.ts'
import { storageRoots } from '../../storage/roots.ts'
import {
  assertIdentifierMatches,
  type CommitRequest,
  manifestListsAdded,
  snapshotIdsAdded,
} from '../../wire/iceberg/commit-request.ts'
import type { CommitBody } from '../base/body.ts'
import { originOf } from '../base/origin.ts'
import type { GatewayParts } from '../base/parts.ts'
import { PendingIntent } from '../base/pending-intent.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from './change.ts'
import type { SpeculativeVerdict } from './judge.ts'
import { type Loads, startLoads } from './loads.ts'
import { ownTable } from './own-names.ts'

export interface TableCommit extends Change {
  readonly commitId: string
  readonly body: CommitBody
  /** Iceberg's Idempotency-Key, passed on unchanged. */
  readonly idempotencyKey: string | undefined
  /** Set where the request may be repeated by that key. */
  readonly claim?: KeyClaim | undefined
  /** See `CommitIntent.transaction`. */
  readonly transaction?: readonly string[]
}

/** A request whose body was read completely. */
export interface WholeRequest
  extends Omit<
    TableCommit,
    'request' | 'table' | 'idempotencyKey' | 'claim' | 'signal' | 'requestId' | 'origin'
  > {
  readonly request: Request
  /** Set where the surface answers repeats of the request by its Idempotency-Key. */
  readonly keyed: KeyedRequest | undefined
}

/** The commit that a request asks for. */
export function tableCommit(
  { request, commitId, tenant, identified, body, receivedAtMs, stages, keyed }: WholeRequest,
  table: TableRef,
  commitRequest: CommitRequest,
): TableCommit {
  const idempotencyKey = request.headers.get('idempotency-key') ?? undefined
  const requestId = aboutRequest(request).id
  const whole = { commitId, tenant, identified, body, receivedAtMs, stages, requestId }
  const origin = originOf(requestOrigin(identified, request.headers), commitRequest)
  const claim = claimOf(keyed, [commitId])
  return { ...whole, table, request: commitRequest, idempotencyKey, claim, signal: request.signal, origin }
}

/** A commit's loads and its intent. */
export interface OpenedCommit {
  readonly loads: Loads
  readonly intent: PendingIntent
  /** The table to which the commit may be pinned. Then it is loaded only once it is asked for. */
  readonly known?: CachedTable | undefined
  /** Set by speculative work only. */
  readonly speculativeVerdict?: SpeculativeVerdict
}

/**
 * Opens a commit.
 * @param known the table to which it may be pinned
 * @throws Fault `bad_request` for a body that names another table, or an `add-snapshot` without an id
 */
export async function openCommit(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  known?: CachedTable,
): Promise<OpenedCommit> {
  assertCommits(commit, upstream)
  const loads = startLoads(parts, upstream, commit, known === undefined)
  // Both loads are sent before this thread compresses the intent's body.
  await afterSending()
  return { loads, known, intent: await pendingIntent(parts, upstream, commit) }
}

/** Throws a Fault `bad_request` for a body that is invalid whatever the table's state. */
export function assertCommits(
  { request, table }: Pick<TableCommit, 'request' | 'table'>,
  upstream: Pick<Upstream, 'credential'>,
): void {
  const { identifier } = request
  if (identifier !== undefined)
    assertIdentifierMatches({ ...request, identifier: ownTable(upstream, identifier) }, table)
  snapshotIdsAdded(request)
}

/**
 * The intent of a commit, not declared yet because its base is not loaded.
 * @throws Fault `bad_request` if an `add-snapshot` names no snapshot id
 */
export async function pendingIntent(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
): Promise<PendingIntent> {
  const manifestLists = manifestListsAdded(commit.request)
  const withoutBase: Omit<CommitIntent, 'baseMetadataLocation' | 'baseHeld'> = {
    commitId: commit.commitId,
    table: commit.table,
    credentialId: upstream.credential.id,
    catalog: catalogOf(upstream.credential),
    ...(storageRoots(upstream.credential.config).length === 0 && { storageUnread: true as const }),
    principal: commit.identified.principal,
    principalSource: commit.identified.source,
    bodySha256: commit.body.sha256,
    body: await compress(commit.body.bytes),
    snapshotIds: snapshotIdsAdded(commit.request),
    ...(manifestLists && { manifestLists }),
    receivedAtMs: commit.receivedAtMs,
    ...(commit.transaction && { transaction: commit.transaction }),
    ...(commit.requestId !== undefined && { requestId: commit.requestId }),
    origin: commit.origin,
    ...(commit.claim && { claim: commit.claim }),
  }
  return new PendingIntent(parts, commit.tenant, withoutBase, commit.stages)
}

/** Compressing more bytes than this would block the HTTP thread for too long. */
const inlineCompressBytesMax = 256 * 1024

async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes.length <= inlineCompressBytesMax ? Bun.zstdCompressSync(bytes) : await Bun.zstdCompress(bytes)
}
