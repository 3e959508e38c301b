/** Steps 11 to 13 of SPEC 4.1 for one table: forward the commit, write its audit, ingest its snapshot. */

import type { Body } from '../../auth/read-body.ts'
import type { CommittedResponse } from '../../catalog/catalog.ts'
import type { CommitIntent } from '../../core/commit.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type CommitRequest, snapshotIdsAdded } from '../../wire/iceberg/commit-request.ts'
import { committedTable } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../parts.ts'
import type { DeclaredIntent } from './intent.ts'
import type { Judged } from './judge.ts'
import { cachedTable } from './load-current.ts'
import type { Upstream } from './open-upstream.ts'
import { recordApproval, surelyNotCommitted } from './record.ts'
import type { StageTimes } from './stage-times.ts'

export interface TableCommit {
  readonly commitId: string
  readonly tenant: TenantId
  readonly table: TableRef
  readonly identified: IdentifiedPrincipal
  readonly body: Body
  readonly request: CommitRequest
  /** Milliseconds since the Unix epoch. */
  readonly receivedAtMs: number
  /** Iceberg's Idempotency-Key, passed on as it came. */
  readonly idempotencyKey: string | undefined
  readonly signal: AbortSignal
  readonly stages: StageTimes
}

/**
 * The intent of a commit, before its base is known.
 * @throws Fault `bad_request` where an `add-snapshot` names no snapshot id
 */
export async function intentOf(
  upstream: Upstream,
  commit: TableCommit,
): Promise<Omit<CommitIntent, 'baseMetadataLocation'>> {
  return {
    commitId: commit.commitId,
    table: commit.table,
    credentialId: upstream.credential.id,
    principal: commit.identified.principal,
    principalSource: commit.identified.source,
    bodySha256: commit.body.sha256,
    body: await compress(commit.body.bytes),
    snapshotIds: snapshotIdsAdded(commit.request),
    receivedAtMs: commit.receivedAtMs,
  }
}

/** Above this many bytes compression would hold the HTTP thread for too long. */
const inlineCompressBytesMax = 256 * 1024

async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes.length <= inlineCompressBytesMax ? Bun.zstdCompressSync(bytes) : await Bun.zstdCompress(bytes)
}

/**
 * Forwards an allowed commit whose intent is durable, and audits it.
 * @throws what the catalog throws; nothing once the upstream has accepted
 */
export async function forwardCommit(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  declared: DeclaredIntent,
  judged: Judged,
): Promise<CommittedResponse> {
  parts.passCrashPoint('commit-not-forwarded')
  const { stages } = commit
  const response = await stages.time('forward', () => forward(parts, upstream, commit, declared))
  parts.passCrashPoint('commit-forwarded')
  await stages.time('record', () =>
    recordApproval(parts, commit.tenant, declared.intent, judged, () => committedTable(response.result)),
  )
  try {
    const entry = cachedTable(commit.table, response.body, response.result, response.headers.etag)
    parts.tables.set(commit.tenant, upstream.credential, commit.table, entry)
  } catch (err) {
    parts.log.warn({ err, commitId: commit.commitId }, 'the committed table could not be cached')
  }
  return response
}

async function forward(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  declared: DeclaredIntent,
): Promise<CommittedResponse> {
  try {
    // Not the client's signal: a commit under way is seen through even where the client has left.
    return await upstream.catalog.commitTable(commit.table, commit.body.bytes, {
      ...(commit.idempotencyKey === undefined ? {} : { idempotencyKey: commit.idempotencyKey }),
    })
  } catch (error) {
    if (surelyNotCommitted(error)) await declared.withdraw()
    else parts.log.error({ err: error, commitId: commit.commitId }, 'commit state unknown; its intent stays')
    throw error
  }
}
