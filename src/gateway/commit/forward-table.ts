/**
 * Forwards the commit of one table, writes its audit and ingests its snapshot (steps 11 to 13 of
 * docs/reference/gateway.md 2.1).
 */

import { inNextTurn } from '../../base/turn.ts'
import type { CommittedResponse } from '../../catalog/catalog.ts'
import type { CommittedTable } from '../../core/commit.ts'
import { committedTable } from '../../wire/iceberg/table-metadata.ts'
import { withRequirements } from '../../wire/iceberg/with-requirements.ts'
import { discloseReply, tableMembers } from '../base/disclosure.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { PendingIntent } from '../base/pending-intent.ts'
import type { Upstream } from '../base/upstream.ts'
import { showsCommit } from '../recovery/after-refusal.ts'
import { type ResolvedCommit, resolveLostCommit } from '../recovery/lost-commit.ts'
import { assertRefsAbsent } from '../stages/assert-refs-absent.ts'
import type { Judged } from '../stages/change.ts'
import { isEarlierMetadata, judgeRaced } from '../stages/judge-raced.ts'
import { cachedTable } from '../stages/load-current.ts'
import type { TableCommit } from '../stages/open-commit.ts'
import type { Pins } from '../stages/pins.ts'
import { assertAnswersCommit } from './answers-change.ts'
import { forwardDurable } from './outcomes.ts'
import { acceptedChange, noteAccepted, recordApproval } from './record.ts'

/** An accepted commit: the upstream's reply, or the current table if that reply was lost. */
export interface Forwarded extends CommittedResponse {
  /** Set if the reply was lost. `result` may then be a later state of the table. */
  readonly resolved?: Pick<ResolvedCommit, 'committed'>
}

/**
 * Forwards an allowed commit whose intent is durable, and audits it.
 * @param pins requirements besides the client's own, under which the verdict holds
 * @throws Fault `conflict` for a ref that must not exist yet; what the catalog throws, unless the table shows that the
 *   commit was made. Nothing is thrown once the upstream has accepted
 */
export async function forwardTable(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  intent: PendingIntent,
  judged: Judged,
  pins: Pins = [],
): Promise<Forwarded> {
  let body: Uint8Array
  try {
    body = withRequirements(commit.body.bytes, pins)
    await assertRefsAbsent(parts, upstream, commit)
    // Checking the refs may have taken so long that the lease has expired.
    await intent.durable()
  } catch (error) {
    await intent.withdraw()
    throw error
  }
  const { idempotencyKey } = commit
  const response = await forwardDurable<Forwarded>(parts, intent, {
    // Without the client's signal, because a commit is completed even if the client disconnects.
    send: async () => {
      const reply = await upstream.catalog.commitTable(commit.table, body, {
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      })
      assertAnswersCommit(commit.table, commit.request, judged.base?.metadata, reply.result.metadata)
      return reply
    },
    resolve: async () => {
      const resolved = await resolveLostCommit(parts, upstream, commit.tenant, intent.intent, judged.base)
      return resolved && (await replyOf(resolved))
    },
    wasMade: () =>
      showsCommit(parts, upstream, commit.tenant, [{ intent: intent.intent, base: judged.base }]),
  })
  await recordForwarded(parts, upstream, commit, intent, judged, response)
  return response
}

/** Steps 12 and 13 of an accepted commit, whose table is cached then. Never throws. */
export async function recordForwarded(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  intent: PendingIntent,
  judged: Judged,
  response: Forwarded,
): Promise<void> {
  await record(parts, upstream, commit, intent, judged, response)
  inNextTurn(() => remember(parts, upstream, commit, response))
}

async function record(
  parts: GatewayParts,
  upstream: Upstream,
  commit: TableCommit,
  intent: PendingIntent,
  judged: Judged,
  { result, resolved }: Forwarded,
): Promise<void> {
  const { base, verdict } = judged
  const mayRepeat =
    commit.idempotencyKey !== undefined && (base === undefined || isEarlierMetadata(base, result))
  const made = resolved ? resolved.committed : committedOf(parts, commit, result)
  const change = acceptedChange(intent, judged, made, mayRepeat)
  noteAccepted(parts, change)
  // After a lost reply, a table that has changed since no longer shows the state that the commit left.
  const isItsOwn = resolved === undefined || made?.metadataLocation === result.metadataLocation
  const raced = isItsOwn ? await judgeRaced(parts, upstream, commit, judged, result) : []
  const decided = { ...change, outcomes: [...verdict.outcomes, ...raced] }
  if (raced.length > 0) parts.unaudited.accepted(decided)
  await recordApproval(parts, intent, decided)
}

/** What the commit made, by the upstream's reply; undefined if the reply cannot be read. */
function committedOf(
  { log }: GatewayParts,
  { commitId }: TableCommit,
  result: Forwarded['result'],
): CommittedTable | undefined {
  try {
    return committedTable(result)
  } catch (err) {
    log.error({ err, commitId }, 'the reply to an accepted commit cannot be read')
    return undefined
  }
}

/** Caches the committed table for the next commit. A commit that comes earlier loads the full table. */
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
    parts.log.warn(
      { err, commitId: commit.commitId },
      'the committed table could not be cached; the next commit loads it',
    )
  }
}

/** Rebuilds a lost or missing reply from a load, without the configuration that loads carry. */
export async function replyOf({ now, committed }: ResolvedCommit): Promise<Forwarded> {
  const { etag, result } = now
  const { body } = await discloseReply(now.body, tableMembers, { vended: false, masked: true, whole: true })
  return {
    status: 200,
    headers: { 'content-type': 'application/json', ...(etag !== undefined && { etag }) },
    body,
    result,
    resolved: { committed },
  }
}
