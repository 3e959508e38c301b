/**
 * Finds out whether a change was made that the upstream seems to have refused: a proxy that lost the first answer sends
 * a request again, and the repeat is refused because the first was made. One look, and no wait. What is found is then
 * resolved like a lost reply.
 */

import { Fault, type FaultKind } from '../../base/fault.ts'
import type { JsonObject } from '../../base/json.ts'
import { CatalogError, type CatalogErrorCode } from '../../catalog/catalog.ts'
import type { CommitIntent } from '../../core/commit.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { auditedChanges } from '../../store/commit/audit.ts'
import { intentsOnTable } from '../../store/commit/commit-intents.ts'
import { renameDestination } from '../../wire/iceberg/commit-request.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { decideAction, type Found, versionTimesAdded } from './decide-action.ts'
import type { StaleIntent } from './evidence.ts'
import { decideAt, lookAtTable, staleIntent } from './look.ts'
import type { KnownState } from './lost-commit.ts'
import { lookAtName } from './recover-action.ts'
import { effectsHold, snapshotsIn } from './shows-change.ts'

/** Refusals that the state of the table can cause, which the first of two requests may have made. */
const sentinels: ReadonlySet<CatalogErrorCode> = new Set(['ErrTableNotFound', 'ErrCommitConflict'])
const kinds: ReadonlySet<FaultKind> = new Set(['bad_request', 'not_found', 'conflict', 'unprocessable'])
/** Statuses with which a repeat and its first request are refused alike: they depend on the request only. */
const alike: ReadonlySet<number> = new Set([401, 403, 405, 406, 411, 413, 414, 415, 416, 431, 501])

/** Whether the upstream may have refused a repeat of a request that it had accepted. */
export function mayBeRepeat(refusal: unknown): boolean {
  if (refusal instanceof CatalogError) return refusal.upstream !== undefined && sentinels.has(refusal.code)
  if (!(refusal instanceof Fault)) return false
  return refusal.refusal === undefined ? kinds.has(refusal.kind) : !alike.has(refusal.refusal.status)
}

/** A refused commit of one table, with the state that it was judged on. */
interface RefusedCommit {
  readonly intent: CommitIntent
  readonly base: KnownState | undefined
}

/** Whether the tables show one of these commits, which were all made or none. Never rejects: undefined where nobody could look. */
export async function showsCommit(
  parts: GatewayParts,
  { catalog, credential }: Upstream,
  tenant: TenantId,
  refused: readonly RefusedCommit[],
): Promise<boolean | undefined> {
  const mine = new Set(refused.map(({ intent }) => intent.commitId))
  const signal = AbortSignal.timeout(limits.lostAnswerWithinMs)
  try {
    for (const { intent, base } of refused) {
      const at = { tenant, table: intent.table, catalog, credential }
      const now = await lookAtTable(parts, at, mine, { signal })
      const stale = staleIntent(intent, intent.body)
      // Where the table already looked so before, nothing shows who made it look so.
      if (now === undefined || !isIn(now.result.metadata, stale) || (base && isIn(base.metadata, stale)))
        continue
      const outcomes = await decideAt(parts, at, [stale], now)
      if (outcomes.get(intent.commitId)?.kind !== 'not-committed') return true
    }
  } catch (err) {
    noteUnseen(parts, refused[0]?.intent, err)
    return undefined
  }
  return false
}

/** Whether a state of the table has all that a commit would make. */
function isIn(metadata: JsonObject, { intent, updates }: StaleIntent): boolean {
  if (intent.snapshotIds.length > 0) return snapshotsIn(metadata, intent) !== 'none'
  return updates !== undefined && effectsHold(updates, metadata, intent.receivedAtMs)
}

/**
 * Whether the catalog shows a change that is not a commit, and nobody else's change explains that. Never rejects:
 * undefined where nobody could look.
 * @param update the one update of the request
 */
export async function showsAction(
  parts: GatewayParts,
  { catalog }: Upstream,
  tenant: TenantId,
  intent: CommitIntent,
  update: JsonObject,
): Promise<boolean | undefined> {
  const signal = AbortSignal.timeout(limits.lostAnswerWithinMs)
  try {
    const found = await lookAtName(parts, catalog, tenant, intent, intent.table, signal)
    if (!isOwnTrace(intent, update, found)) return false
    const destination = renameDestination(update)
    const moved = destination && (await lookAtName(parts, catalog, tenant, intent, destination, signal))
    const others = await intentsOnTable(parts.store, tenant, intent.table)
    if (others.some((commitId) => commitId !== intent.commitId)) return false
    const since = await auditedChanges(parts.store, tenant, intent, new Date(intent.receivedAtMs))
    return decideAction(intent, update, found, moved, since).kind === 'committed'
  } catch (err) {
    noteUnseen(parts, intent, err)
    return undefined
  }
}

/**
 * Whether what is there can be this change's doing and not an older one's. Nobody looked at a table or view before its
 * creation, so it must be newer than the request, or hold the version that the request names. What is dropped was there,
 * and a namespace that is created was not.
 */
function isOwnTrace(intent: CommitIntent, update: JsonObject, found: Found | undefined): boolean {
  switch (intent.action) {
    case 'drop-table':
    case 'unregister-table':
    case 'rename-table':
    case 'create-namespace':
    case 'drop-namespace':
    case 'drop-view':
    case 'update-properties':
      return true
    case 'register-table':
      return intent.baseMetadataLocation === ''
    case 'create-table': {
      const first = found?.table && historyOf(found.table)[0]
      return first !== undefined && Number(first.timestampMs) >= intent.receivedAtMs
    }
    case 'create-view':
    case 'replace-view': {
      const added = versionTimesAdded(update)
      return added.length > 0 && added.every((time) => found?.versionTimes?.includes(time) === true)
    }
    default:
      return false
  }
}

function noteUnseen({ log }: GatewayParts, intent: CommitIntent | undefined, err: unknown): void {
  log.warn({ err, commitId: intent?.commitId }, 'could not look whether a refused change was made after all')
}
