/**
 * Audits changes that the upstream accepted: at once after its reply, and again where that failed. The reply says which
 * file a change wrote, so this depends on no metadata log. Where the reply did not say so, the table is loaded.
 */

import { catalogOf } from '../../core/catalog.ts'
import { type AcceptedChange, writesMetadata } from '../../core/commit.ts'
import { tableName } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import { findCatalogCredentialById } from '../../store/catalog-credential/catalog-credentials.ts'
import { findAudit, isAudited } from '../../store/commit/audit.ts'
import {
  closeIntent,
  findIntentBody,
  findSettledBody,
  markAccepted,
} from '../../store/commit/commit-intents.ts'
import type { GatewayParts } from '../base/parts.ts'
import { committedAt } from './committed-at.ts'
import { decideAt, lookAtTable, staleIntent } from './look.ts'
import { recordCovering } from './record-covering.ts'

/** Milliseconds after its request for which a change is looked for whose reply did not say what it wrote. */
const acceptedLookMs = 30_000

type AuditParts = Pick<
  GatewayParts,
  'store' | 'catalogs' | 'tableAccess' | 'budget' | 'metrics' | 'log' | 'clock' | 'contracts'
>

/** Whether the change wrote a metadata file, and it is not known which. */
export function isUnplaced({ intent, committed }: AcceptedChange): boolean {
  return committed === undefined && writesMetadata(intent.action ?? 'update-table')
}

/**
 * Audits a change that is not unplaced, and ingests its snapshot. Doing it again changes nothing.
 * @param body the intent's
 * @throws Fault `conflict` where the change has another verdict; what the store throws
 */
export async function auditAccepted(
  parts: AuditParts,
  { tenant, intent, policies, outcomes, committed, renamedTo, covers, mayRepeat }: AcceptedChange,
  body: Uint8Array,
): Promise<void> {
  const { store, metrics, log } = parts
  const which = { commitId: intent.commitId, table: tableName(intent.table) }
  if (mayRepeat && committed && (await isAudited(store, tenant, intent, committed.metadataLocation))) {
    await closeIntent(store, tenant, intent.commitId)
    log.info(which, 'the catalog repeated its reply to an earlier request, which is already audited')
    return
  }
  const recorded = await recordCovering(parts, tenant, covers, {
    intent: { ...intent, body },
    decision: 'APPROVED',
    reason: '',
    policies,
    outcomes,
    ...(committed && { committed }),
    ...(renamedTo && { renamedTo }),
  })
  if (committed !== undefined && !recorded.ingested) {
    metrics.snapshotIngestFailures.inc()
    log.warn({ ...which, err: recorded.ingestError }, 'the snapshot was not ingested into the graph')
  }
}

/**
 * Repeats the audit of a change, in this process or in one after it. Resolves once it is audited, or its open intent
 * says that it was accepted, so that recovery goes on with it.
 * @throws Fault `conflict` where the change has another verdict; what the store or the upstream throws; Error where it
 *   must be tried again
 */
export async function auditAgain(parts: AuditParts, change: AcceptedChange): Promise<void> {
  const { store, log, clock } = parts
  const { tenant, intent } = change
  const { commitId } = intent
  const metadataLocation = change.committed?.metadataLocation
  const which = { commitId, table: tableName(intent.table), metadataLocation }
  const body =
    (await findIntentBody(store, tenant, commitId)) ?? (await bodyOfClosed(store, tenant, commitId))
  if (body === undefined) return
  const placed = isUnplaced(change) ? await place(parts, change, body) : change
  if (placed !== undefined) {
    await auditAccepted(parts, placed, body)
    log.warn(which, 'an accepted change was audited late')
    return
  }
  // A clock that was set back must not prolong this.
  if (Math.abs(clock.now() - intent.receivedAtMs) < acceptedLookMs)
    throw new Error('the table does not show yet what the change wrote')
  if (!(await markAccepted(store, tenant, commitId)))
    throw new Error('the table does not show what an accepted change wrote, and its intent is closed')
  log.error(which, 'the table does not show what an accepted change wrote; recovery looks again')
}

/**
 * The request of an accepted change whose intent is not open any more, as the settlement by a person holds it.
 * @returns undefined where it is audited
 * @throws Error where nothing holds it: the journal keeps the change, for a person to look at
 */
async function bodyOfClosed(
  store: AuditParts['store'],
  tenant: AcceptedChange['tenant'],
  commitId: string,
): Promise<Uint8Array | undefined> {
  if ((await findAudit(store, tenant, commitId)) !== undefined) return undefined
  const settled = await findSettledBody(store, tenant, commitId)
  if (settled === undefined) throw new Error('the intent of an accepted change was closed without an audit')
  return settled
}

/** The change with the file that it wrote, if the table shows it. */
async function place(
  parts: AuditParts,
  change: AcceptedChange,
  body: Uint8Array,
): Promise<AcceptedChange | undefined> {
  const { tenant, intent } = change
  const credential = await findCatalogCredentialById(parts.store, tenant, intent.credentialId)
  if (credential === undefined || (intent.catalog ?? catalogOf(credential)) !== catalogOf(credential))
    return undefined
  const { table, commitId } = intent
  const at = { tenant, table, credential, catalog: parts.catalogs.get(tenant, credential) }
  const signal = AbortSignal.timeout(limits.lostAnswerWithinMs)
  const now = await lookAtTable(parts, at, new Set([commitId]), { signal, reach: reachOf(intent) })
  const stale = { ...staleIntent(intent, body), isSurelyMade: true }
  const outcome = (await decideAt(parts, at, [stale], now)).get(commitId)
  if (now === undefined || outcome?.kind !== 'committed') return undefined
  return { ...change, committed: committedAt(now.result, intent, outcome.metadataLocation) }
}

/** How long before its receipt a base may have been replaced, and by how much the database's clock may differ. */
const reachMs = 20 * 60_000

function reachOf({ baseMetadataLocation, receivedAtMs }: AcceptedChange['intent']) {
  return { bases: [baseMetadataLocation], since: new Date(receivedAtMs - reachMs) }
}
