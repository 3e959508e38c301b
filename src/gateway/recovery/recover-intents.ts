/**
 * Runs the recovery job. It completes the audit of changes that the upstream accepted while the process died. It closes
 * the intents of changes that were never accepted. It runs on one replica at a time, and is safe at any moment.
 */

import { inParallel } from '../../base/in-parallel.ts'
import { startDeadline } from '../../catalog/deadline.ts'
import { type CatalogCredential, catalogOf } from '../../core/catalog.ts'
import { appliedPolicy, type IntentHead } from '../../core/commit.ts'
import { inEffect } from '../../core/policy.ts'
import { tableKey, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { findCatalogCredentialById } from '../../store/catalog-credential/catalog-credentials.ts'
import { transactionFate } from '../../store/commit/audit.ts'
import {
  type ClaimedIntent,
  claimStaleIntents,
  closeIntent,
  countIntents,
  loadIntentBody,
  releaseIntents,
} from '../../store/commit/commit-intents.ts'
import { noteProposal } from '../../store/commit/intent-settlements.ts'
import { policiesAtIntent } from '../../store/policy/policy-history.ts'
import type { GatewayParts } from '../base/parts.ts'
import { committedAt } from './committed-at.ts'
import type { IntentOutcome } from './decide.ts'
import type { StaleIntent } from './evidence.ts'
import { decideAt, lookAtTable, staleIntent, type TableNow } from './look.ts'
import { judgeRecovered, recordCovering } from './record-covering.ts'
import { recoverAction } from './recover-action.ts'
import { unlessOpen } from './unless-open.ts'

/** Upstreams that recovery handles concurrently. */
const recoveryUpstreamsMax = 8

interface RecoveryReport {
  readonly committed: number
  readonly notCommitted: number
  readonly undecidable: number
}

const intentsPerRun = 500
/** How long one table's intents wait for commits in flight on it. */
const othersWaitMs = 5_000

/**
 * Decides every intent whose lease and upstream timeout have expired.
 * Tables that cannot be loaded, or whose catalog is too slow, are left for the next run, so no other catalog waits.
 * @param signal ends the run; undecided intents are released
 */
export function recoverIntents(parts: GatewayParts, signal?: AbortSignal): Promise<RecoveryReport> {
  return recover(parts, signal, false)
}

/**
 * Decides what it can of all intents, whatever their leases: at the start of a process that has the store for itself.
 * Their processes are dead, but the upstream may still work on what they sent. So this decides only what was made, while
 * the table still shows it; the rest is left to later runs.
 */
export function recoverOrphans(parts: GatewayParts, signal: AbortSignal): Promise<RecoveryReport> {
  return recover(parts, signal, true)
}

async function recover(
  parts: GatewayParts,
  signal: AbortSignal | undefined,
  areOrphans: boolean,
): Promise<RecoveryReport> {
  const claimed = await claimStaleIntents(parts.store, {
    limit: intentsPerRun,
    leaseMs: Math.min(parts.intentTimes.leaseMs, limits.recoveryLeaseMs),
    areOrphans,
  })
  const run: Run = {
    counts: { committed: 0, notCommitted: 0 },
    undecided: new Set(),
    claimedIds: new Set(claimed.map(({ intent }) => intent.commitId)),
    stop: signal,
    areOrphans,
  }
  const ofCatalogs = Map.groupBy(
    claimed,
    ({ tenant, intent }) => `${tenant}/${intent.catalog ?? intent.credentialId}`,
  )
  await inParallel([...ofCatalogs.values()], recoveryUpstreamsMax, (own) => recoverCatalog(parts, run, own))
  await releaseIntents(parts.store, claimed)
  parts.metrics.commitIntents.set((await countIntents(parts.store)).stale)
  return { ...run.counts, undecidable: run.undecided.size }
}

interface Run {
  readonly counts: { committed: number; notCommitted: number }
  /** Commit ids. */
  readonly undecided: Set<string>
  /** The processes that opened these intents have died. They include tables of the same name in other catalogs. */
  readonly claimedIds: ReadonlySet<string>
  readonly stop: AbortSignal | undefined
  /** Whether this is the look at the start, which leaves much to later runs. */
  readonly areOrphans: boolean
}

/** Recovers the intents on one catalog, name by name. Never throws. */
async function recoverCatalog(
  parts: GatewayParts,
  run: Run,
  claimed: readonly ClaimedIntent[],
): Promise<void> {
  using deadline = startDeadline(limits.recoveryUpstreamMs, run.stop)
  const { signal } = deadline
  const groups = [...Map.groupBy(claimed, ({ intent }) => tableKey(intent.table)).values()]
  for (const group of groups) await tryGroup(parts, run, group, signal)
  // What was decided on one table decides the rest of its transaction.
  for (const group of groups) {
    const left = group.filter(({ intent }) => run.undecided.has(intent.commitId))
    if (left.some(({ intent }) => intent.transaction)) await tryGroup(parts, run, left, signal)
  }
}

async function tryGroup(
  parts: GatewayParts,
  run: Run,
  group: readonly ClaimedIntent[],
  signal: AbortSignal,
): Promise<void> {
  try {
    signal.throwIfAborted()
    await recoverGroup(parts, run, group, signal)
  } catch (err) {
    const intents = group.map((one) => one.intent.commitId)
    for (const commitId of intents) run.undecided.add(commitId)
    if (run.stop?.aborted) return
    parts.log.error({ err, intents }, 'intents could not be recovered; the next run retries')
  }
}

/** Recovers the intents on one name. Commits come last, because they are counted against what is audited. */
async function recoverGroup(
  parts: GatewayParts,
  run: Run,
  group: readonly ClaimedIntent[],
  signal: AbortSignal,
): Promise<void> {
  const credential = await credentialFor(parts, group)
  if (credential === undefined)
    throw new Error('no catalog credential leads to the catalog of the intents any more')
  const isCommit = ({ action = 'update-table' }: IntentHead) => action === 'update-table'
  // Nothing shows who made such a change, so one that may still come is not taken for another's that is there.
  for (const one of group.filter(({ intent }) => !isCommit(intent)))
    if (one.hasEnded || run.areOrphans)
      count(parts, one, run, await recoverAction(parts, credential, one, signal))
    else count(parts, one, run, { kind: 'undecidable', why: 'the upstream may still be working on it' })
  const commits = group.filter(({ intent }) => isCommit(intent))
  if (commits.length > 0) await recoverTable(parts, credential, run, commits, signal)
}

/** A credential of these intents that still leads to the same catalog as when they were opened. */
async function credentialFor(
  parts: GatewayParts,
  group: readonly ClaimedIntent[],
): Promise<CatalogCredential | undefined> {
  const byCredential = new Map(group.map((one) => [one.intent.credentialId, one]))
  for (const { tenant, intent } of byCredential.values()) {
    const credential = await findCatalogCredentialById(parts.store, tenant, intent.credentialId)
    if (credential === undefined) continue
    const leadsTo = catalogOf(credential)
    if ((intent.catalog ?? leadsTo) === leadsTo) return credential
  }
  return undefined
}

function count(
  parts: GatewayParts,
  { intent, hasEnded }: ClaimedIntent,
  { counts, undecided, areOrphans }: Run,
  outcome: IntentOutcome | undefined,
): void {
  const log = parts.log.child({
    commitId: intent.commitId,
    action: intent.action ?? 'update-table',
    table: tableName(intent.table),
  })
  undecided.delete(intent.commitId)
  if (outcome?.kind === 'committed') {
    counts.committed++
    log.warn('an accepted commit was not audited; its audit is now complete')
  } else if (outcome?.kind === 'not-committed') {
    counts.notCommitted++
    log.info('a commit never reached the table; its intent was closed')
  } else {
    undecided.add(intent.commitId)
    log[areOrphans || !hasEnded ? 'info' : 'error']({ why: outcome?.why }, 'commit state undecidable')
  }
}

async function recoverTable(
  parts: GatewayParts,
  credential: CatalogCredential,
  run: Run,
  group: readonly ClaimedIntent[],
  signal: AbortSignal,
): Promise<void> {
  const [first] = group
  if (first === undefined) return
  const { tenant } = first
  const { table } = first.intent
  const at = { tenant, table, credential, catalog: parts.catalogs.get(tenant, credential) }
  // Before the load: only then does it show each commit that was surely made.
  const made = await surelyMade(parts, tenant, group)
  const now = await lookAtTable(parts, at, run.claimedIds, { signal, othersWaitMs, reach: reachOf(group) })
  const stale: StaleIntent[] = []
  // Bodies are loaded one at a time, because each may have megabytes. Where there are snapshots, these are the evidence.
  for (const { intent } of group) {
    const body =
      intent.snapshotIds.length > 0 ? undefined : await loadIntentBody(parts.store, tenant, intent.commitId)
    stale.push({ ...staleIntent(intent, body), isSurelyMade: made.has(intent.commitId) })
  }
  const outcomes = await decideAt(parts, at, stale, now)
  for (const claimed of group) {
    const { intent } = claimed
    const decided = await unlessNotMade(parts, tenant, intent, outcomes.get(intent.commitId))
    const outcome = decided && (await unlessOpen(parts, claimed, decided))
    if (outcome?.kind === 'committed' && now !== undefined)
      await recordRecovered(parts, tenant, now, intent, outcome.metadataLocation)
    if (outcome?.kind === 'not-committed') await closeIntent(parts.store, tenant, intent.commitId)
    if (outcome?.kind === 'undecidable')
      await noteProposal(parts.store, tenant, intent.commitId, outcome.proposed)
    count(parts, claimed, run, outcome)
  }
}

/** Audits a commit that was made. The version of a contract that covers it is found by the table as it is now. */
async function recordRecovered(
  parts: GatewayParts,
  tenant: TenantId,
  { result }: TableNow,
  intent: IntentHead,
  metadataLocation: string,
): Promise<void> {
  const { store } = parts
  const all = inEffect(
    await policiesAtIntent(store, tenant, intent.table, intent.commitId),
    intent.receivedAtMs,
  )
  const { policies, covers } = await judgeRecovered(parts, tenant, all, intent, result.metadata)
  await recordCovering(parts, tenant, covers, {
    intent: { ...intent, body: await loadIntentBody(store, tenant, intent.commitId) },
    decision: 'APPROVED',
    reason: '',
    policies: policies.map(appliedPolicy),
    outcomes: [],
    committed: committedAt(result, intent, metadataLocation),
  })
}

/** How long before its intent a base may have been replaced: an intent may be opened on a cached base. */
const baseAgeMs = 10 * 60_000

/** What the table's history must reach back to. */
function reachOf(group: readonly ClaimedIntent[]) {
  const bases = group.map(({ intent }) => intent.baseMetadataLocation)
  const openedMs = Math.min(...group.map(({ openedAt }) => openedAt.getTime()))
  return { bases, since: new Date(openedMs - baseAgeMs) }
}

/** The ids of those that the upstream said it made, and of those whose transaction it made. */
async function surelyMade(
  parts: GatewayParts,
  tenant: TenantId,
  group: readonly ClaimedIntent[],
): Promise<ReadonlySet<string>> {
  const made = new Set<string>()
  for (const { intent } of group)
    if (intent.accepted ?? (await fateOf(parts, tenant, intent)) === 'made') made.add(intent.commitId)
  return made
}

async function fateOf({ store }: GatewayParts, tenant: TenantId, { transaction }: IntentHead) {
  return transaction && (await transactionFate(store, tenant, transaction))
}

/** The outcome, but `not-committed` for what the table leaves open in a transaction that was not made. */
async function unlessNotMade(
  parts: GatewayParts,
  tenant: TenantId,
  intent: IntentHead,
  outcome: IntentOutcome | undefined,
): Promise<IntentOutcome | undefined> {
  if (outcome?.kind !== 'undecidable' || intent.accepted) return outcome
  return (await fateOf(parts, tenant, intent)) === 'not-made' ? { kind: 'not-committed' } : outcome
}
