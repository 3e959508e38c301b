/** What a single-table commit begins with: its own faults first, then its loads and the intent that it will need. */

import { afterSending } from '../../base/turn.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { CommitIntent } from '../../core/commit.ts'
import type { TableRef } from '../../core/table-ref.ts'
import {
  assertIdentifierMatches,
  type CommitRequest,
  snapshotIdsAdded,
} from '../../wire/iceberg/commit-request.ts'
import type { CommitBody } from '../base/body.ts'
import type { GatewayParts } from '../base/parts.ts'
import { PendingIntent } from '../base/pending-intent.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from './change.ts'
import type { SpeculativeVerdict } from './judge.ts'
import { type Loads, startLoads } from './loads.ts'

export interface TableCommit extends Change {
  readonly commitId: string
  readonly body: CommitBody
  /** Iceberg's Idempotency-Key, passed on as it came. */
  readonly idempotencyKey: string | undefined
}

/** What is known of a request once its body is whole. */
export interface WholeRequest extends Omit<TableCommit, 'request' | 'table' | 'idempotencyKey' | 'signal'> {
  readonly request: Request
}

/** The commit that a request asks for. */
export function tableCommit(
  { request, commitId, tenant, identified, body, receivedAtMs, stages }: WholeRequest,
  table: TableRef,
  commitRequest: CommitRequest,
): TableCommit {
  const idempotencyKey = request.headers.get('idempotency-key') ?? undefined
  const whole = { commitId, tenant, identified, body, receivedAtMs, stages }
  return { ...whole, table, request: commitRequest, idempotencyKey, signal: request.signal }
}

/** What a commit has begun. */
export interface Opening {
  readonly loads: Loads
  readonly intent: PendingIntent
  /** Set by speculative work only. */
  readonly speculativeVerdict?: SpeculativeVerdict
}

/**
 * Begins a commit.
 * @throws Fault `bad_request` for a body that names another table, or an `add-snapshot` without an id
 */
export async function openCommit(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
): Promise<Opening> {
  assertCommits(commit)
  const loads = startLoads(parts, upstream, commit)
  // Both questions are sent before this thread turns to the intent.
  await afterSending()
  return { loads, intent: await pendingIntent(parts, upstream, commit) }
}

/** @throws Fault `bad_request` for a body that is wrong by itself */
export function assertCommits({ request, table }: Pick<TableCommit, 'request' | 'table'>): void {
  assertIdentifierMatches(request, table)
  snapshotIdsAdded(request)
}

/**
 * The intent of a commit, not declared yet: its base is not known.
 * @throws Fault `bad_request` where an `add-snapshot` names no snapshot id
 */
export async function pendingIntent(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
): Promise<PendingIntent> {
  const withoutBase: Omit<CommitIntent, 'baseMetadataLocation'> = {
    commitId: commit.commitId,
    table: commit.table,
    credentialId: upstream.credential.id,
    catalog: catalogOf(upstream.credential),
    principal: commit.identified.principal,
    principalSource: commit.identified.source,
    bodySha256: commit.body.sha256,
    body: await compress(commit.body.bytes),
    snapshotIds: snapshotIdsAdded(commit.request),
    receivedAtMs: commit.receivedAtMs,
  }
  return new PendingIntent(parts, commit.tenant, withoutBase, commit.stages)
}

/** Above this many bytes compression would hold the HTTP thread for too long. */
const inlineCompressBytesMax = 256 * 1024

async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes.length <= inlineCompressBytesMax ? Bun.zstdCompressSync(bytes) : await Bun.zstdCompress(bytes)
}
