/**
 * The single-table commit of SPEC 4.1, from the body on: the fourteen steps in their order of outcome.
 * Steps overlap where no outcome depends on it; nothing is forwarded before the verdict is in and the intent
 * is durable; and once the upstream accepted, the answer is its answer, whatever fails here afterwards.
 */

import type { Body } from '../auth/read-body.ts'
import { Fault } from '../base/fault.ts'
import { CatalogError, type CommittedResponse } from '../catalog/catalog.ts'
import { appliedPolicy, type CommitIntent, type VerdictRecord } from '../core/commit.ts'
import type { PolicyOutcome } from '../core/decision.ts'
import type { IdentifiedPrincipal } from '../core/principal.ts'
import { type TableRef, tableName } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { recordVerdict } from '../store/verdicts.ts'
import {
  assertIdentifierMatches,
  type CommitRequest,
  snapshotIdsAdded,
} from '../wire/iceberg/commit-request.ts'
import { committedTable } from '../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from './parts.ts'
import { DeclaredIntent } from './stages/intent.ts'
import { assertAllowed, type Judged, judgeChange } from './stages/judge.ts'
import { cachedTable } from './stages/load-current.ts'
import type { Upstream } from './stages/open-upstream.ts'

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
}

export interface TableCommitted {
  readonly response: CommittedResponse
  /** Outcomes of `warn` policies that were not true. */
  readonly warnings: readonly PolicyOutcome[]
}

/**
 * Judges one commit and, if it is allowed, forwards it and audits it.
 * @throws Fault by SPEC 7; CatalogError for the four sentinels
 */
export async function commitTable(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
): Promise<TableCommitted> {
  assertIdentifierMatches(commit.request, commit.table)
  const declared = await declareEarly(parts, upstream, commit)
  let judged: Judged
  try {
    judged = await judgeChange(parts, upstream, commit, declared)
    if (judged.verdict.kind === 'allow') await declared.durable()
  } catch (error) {
    await declared.withdraw()
    throw error
  }
  const { verdict } = judged
  if (verdict.kind === 'deny') await recordRejection(parts, commit, declared.intent, judged, verdict.reason)
  if (verdict.kind === 'unavailable') {
    parts.metrics.commitRejected.inc({ reason: 'policy_engine_unavailable' })
    await declared.withdraw()
  }
  assertAllowed(verdict)

  parts.passCrashPoint('commit-not-forwarded')
  const response = await forward(parts, upstream, commit, declared)
  parts.passCrashPoint('commit-forwarded')
  await recordApproval(parts, upstream, commit, declared.intent, judged, response)
  return { response, warnings: verdict.outcomes.filter((o) => o.mode === 'warn' && o.value !== true) }
}

/** Where the cache foretells the base, the intent is written while the table loads. */
async function declareEarly(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
): Promise<DeclaredIntent> {
  const declared = new DeclaredIntent(parts, commit.tenant, {
    commitId: commit.commitId,
    table: commit.table,
    credentialId: upstream.credential.id,
    principal: commit.identified.principal,
    principalSource: commit.identified.source,
    bodySha256: commit.body.sha256,
    body: await compress(commit.body.bytes),
    snapshotIds: snapshotIdsAdded(commit.request),
    receivedAtMs: commit.receivedAtMs,
  })
  const foretold = parts.tables.get(commit.tenant, upstream.credential, commit.table)
  if (foretold !== undefined) declared.declare(foretold.metadataLocation)
  return declared
}

/** Above this many bytes compression would hold the HTTP thread for too long. */
const inlineCompressBytesMax = 256 * 1024

async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes.length <= inlineCompressBytesMax ? Bun.zstdCompressSync(bytes) : await Bun.zstdCompress(bytes)
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

function surelyNotCommitted(error: unknown): boolean {
  return error instanceof CatalogError || (error instanceof Fault && error.kind === 'upstream_failed')
}

async function recordRejection(
  parts: GatewayParts,
  commit: TableCommit,
  intent: CommitIntent,
  judged: Judged,
  reason: string,
): Promise<void> {
  parts.metrics.commitRejected.inc({ reason: 'policy_denied' })
  parts.passCrashPoint('rejection-not-recorded')
  const record: VerdictRecord = {
    intent,
    decision: 'REJECTED',
    reason,
    policies: judged.policies.map(appliedPolicy),
    outcomes: judged.verdict.outcomes,
  }
  try {
    await recordVerdict(parts.store, commit.tenant, record)
  } catch (cause) {
    parts.metrics.auditFailures.inc()
    throw new Fault(
      'unavailable',
      'A policy denied the commit, but the denial could not be audited. Retry.',
      { cause },
    )
  }
  parts.passCrashPoint('rejection-recorded')
}

/** Never throws: the upstream has accepted. What could not be written stays as an intent for recovery. */
async function recordApproval(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  intent: CommitIntent,
  judged: Judged,
  response: CommittedResponse,
): Promise<void> {
  const log = parts.log.child({ commitId: commit.commitId, table: tableName(commit.table) })
  try {
    const recorded = await recordVerdict(parts.store, commit.tenant, {
      intent,
      decision: 'APPROVED',
      reason: '',
      policies: judged.policies.map(appliedPolicy),
      outcomes: judged.verdict.outcomes,
      committed: committedTable(response.result),
    })
    if (!recorded.ingested) {
      parts.metrics.snapshotIngestFailures.inc()
      log.warn({ err: recorded.ingestError }, 'the snapshot was not ingested into the graph')
    }
  } catch (err) {
    parts.metrics.auditFailures.inc()
    log.error({ err }, 'an accepted commit could not be audited; its intent stays for recovery')
    return
  }
  parts.passCrashPoint('approval-recorded')
  try {
    const entry = cachedTable(commit.table, response.body, response.result, response.headers.etag)
    parts.tables.set(commit.tenant, upstream.credential, commit.table, entry)
  } catch (err) {
    log.warn({ err }, 'the committed table could not be cached')
  }
}
