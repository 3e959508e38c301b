/** Steps 11 to 13 of SPEC 4.1 for one table: forward the commit, write its audit, ingest its snapshot. */

import type { Body } from '../../auth/read-body.ts'
import { inNextTurn } from '../../base/turn.ts'
import type { CommittedResponse } from '../../catalog/catalog.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { CommitIntent, CommittedTable } from '../../core/commit.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type CommitRequest, snapshotIdsAdded } from '../../wire/iceberg/commit-request.ts'
import { committedTable } from '../../wire/iceberg/table-metadata.ts'
import { discloseAnswer, tableMembers } from '../client-surface/disclosure.ts'
import type { GatewayParts } from '../parts.ts'
import { type SettledCommit, settleCommit } from '../recovery/settle.ts'
import { assertRefsAbsent } from './assert-refs-absent.ts'
import type { DeclaredIntent } from './intent.ts'
import type { Judged } from './judge.ts'
import { judgeRaced, wasThere } from './judge-raced.ts'
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
    catalog: catalogOf(upstream.credential),
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

/** An accepted commit: the upstream's answer, or the table as it is now where that answer was lost. */
export interface Forwarded extends CommittedResponse {
  /** Set where the answer was lost: what the commit made, which `result` may be past. */
  readonly settled?: CommittedTable
}

/**
 * Forwards an allowed commit whose intent is durable, and audits it.
 * @throws Fault `conflict` for a ref that must not exist yet; what the catalog throws, save where the table shows
 *   that the commit was made; nothing once the upstream has accepted
 */
export async function forwardCommit(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  declared: DeclaredIntent,
  judged: Judged,
): Promise<Forwarded> {
  try {
    await assertRefsAbsent(parts, upstream, commit)
    // The look may have taken its time.
    await declared.durable()
  } catch (error) {
    await declared.withdraw()
    throw error
  }
  parts.passCrashPoint('commit-not-forwarded')
  const { stages } = commit
  const response = await stages.time('forward', () => forward(parts, upstream, commit, declared))
  parts.passCrashPoint('commit-forwarded')
  const { result, settled } = response
  const made = () => settled ?? committedTable(result)
  // Where the table has moved past a commit whose answer was lost, nothing shows it as the commit left it.
  const isItsOwn = settled === undefined || settled.metadataLocation === result.metadataLocation
  const raced = isItsOwn ? await judgeRaced(parts, commit, judged, result) : []
  const outcomes = [...judged.verdict.outcomes, ...raced]
  const decided = { policies: judged.policies, verdict: { outcomes } }
  const { base } = judged
  const mayRepeat = commit.idempotencyKey !== undefined && (base === undefined || wasThere(base, result))
  await stages.time('record', () =>
    recordApproval(parts, commit.tenant, declared.intent, decided, made, mayRepeat),
  )
  inNextTurn(() => remember(parts, upstream, commit, response))
  return response
}

/** Keeps what the next commit begins with. Where that comes before, it loads the table in full. */
function remember(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  { body, headers, result }: Forwarded,
): void {
  try {
    const entry = cachedTable(commit.table, body, result, headers.etag)
    parts.tables.set(commit.tenant, upstream.credential, commit.table, entry)
  } catch (err) {
    parts.log.warn({ err, commitId: commit.commitId }, 'the committed table could not be cached')
  }
}

async function forward(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  declared: DeclaredIntent,
): Promise<Forwarded> {
  try {
    // Not the client's signal: a commit under way is seen through even where the client has left.
    return await upstream.catalog.commitTable(commit.table, commit.body.bytes, {
      ...(commit.idempotencyKey === undefined ? {} : { idempotencyKey: commit.idempotencyKey }),
    })
  } catch (error) {
    if (surelyNotCommitted(error)) {
      await declared.withdraw()
      throw error
    }
    parts.passCrashPoint('answer-lost')
    const settled = await settleCommit(parts, upstream, commit.tenant, declared.intent)
    if (settled !== undefined) return await answerOf(settled)
    parts.log.error({ err: error, commitId: commit.commitId }, 'commit state unknown; its intent stays')
    throw error
  }
}

/** What the upstream would have answered, without the configuration that loads carry. */
async function answerOf({ now, committed }: SettledCommit): Promise<Forwarded> {
  const { etag, result } = now
  const { body } = await discloseAnswer(now.body, tableMembers, { vended: false, masked: true, whole: true })
  return {
    status: 200,
    headers: { 'content-type': 'application/json', ...(etag !== undefined && { etag }) },
    body,
    result,
    settled: committed,
  }
}
