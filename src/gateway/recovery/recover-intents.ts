/**
 * The recovery job: completes the audit of commits that the upstream took while nobody was left to write it
 * down, and closes the intents of those it never took. One replica at a time; safe to run at any moment.
 */

import { inParallel } from '../../base/in-parallel.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import { appliedPolicy, type IntentHead } from '../../core/commit.ts'
import { tableKey, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { findCatalogCredentialById } from '../../store/catalog-credentials.ts'
import {
  type ClaimedIntent,
  claimStaleIntents,
  closeIntent,
  countIntents,
  loadIntentBody,
} from '../../store/commit-intents.ts'
import { policiesAtIntent } from '../../store/policies.ts'
import { recordVerdict } from '../../store/verdicts.ts'
import type { GatewayParts } from '../parts.ts'
import { committedAt } from './committed-at.ts'
import { decideIntents, type IntentOutcome, type StaleIntent } from './decide.ts'
import { lookAtTable, staleIntent } from './look.ts'
import { recoverAction } from './recover-action.ts'
import { unlessDropped } from './unless-dropped.ts'

export interface RecoveryReport {
  readonly committed: number
  readonly notCommitted: number
  readonly undecidable: number
}

const intentsPerRun = 500
/** How long one table's intents wait for commits in flight on it. */
const othersWaitMs = 5_000

/**
 * Settles every intent whose lease and upstream time-out have passed.
 * A table that cannot be looked at now is left for the next run, and so is what a slow upstream leaves no time for:
 * other upstreams, and the next run, do not wait for it.
 * @param signal ends the run early; what was not looked into is left
 */
export async function recoverIntents(parts: GatewayParts, signal?: AbortSignal): Promise<RecoveryReport> {
  const claimed = await claimStaleIntents(parts.store, {
    limit: intentsPerRun,
    leaseMs: parts.intentTimes.leaseMs,
  })
  const counts = { committed: 0, notCommitted: 0, undecidable: 0 }
  const deadlineMs = performance.now() + limits.recoveryMs
  const recover = async (group: readonly ClaimedIntent[]): Promise<void> => {
    try {
      const settled = await recoverGroup(parts, group, signal)
      counts.committed += settled.committed
      counts.notCommitted += settled.notCommitted
      counts.undecidable += settled.undecidable
    } catch (err) {
      counts.undecidable += group.length
      const intents = group.map((one) => one.intent.commitId)
      if (!signal?.aborted) parts.log.error({ err, intents }, 'intents could not be looked into')
    }
  }
  await inParallel(byUpstream(claimed), limits.recoveryUpstreamsMax, async (ofUpstream) => {
    for (const group of byTable(ofUpstream))
      if (signal?.aborted || performance.now() > deadlineMs) counts.undecidable += group.length
      else await recover(group)
  })
  // A claim renews the lease, so what stays undecidable no longer counts as stale.
  parts.metrics.commitIntents.set((await countIntents(parts.store)).stale + counts.undecidable)
  return counts
}

type Groups = readonly (readonly ClaimedIntent[])[]

function byUpstream(claimed: readonly ClaimedIntent[]): Groups {
  return [...Map.groupBy(claimed, ({ tenant, intent }) => `${tenant}/${intent.credentialId}`).values()]
}

function byTable(ofUpstream: readonly ClaimedIntent[]): Groups {
  return [...Map.groupBy(ofUpstream, ({ intent }) => tableKey(intent.table)).values()]
}

/** Intents on one name. Those that are no commits come first: commits are counted against what is audited. */
async function recoverGroup(
  parts: GatewayParts,
  group: readonly ClaimedIntent[],
  signal: AbortSignal | undefined,
): Promise<RecoveryReport> {
  const counts = { committed: 0, notCommitted: 0, undecidable: 0 }
  const [first] = group
  if (first === undefined) return counts
  const { tenant, intent } = first
  const credential = await findCatalogCredentialById(parts.store, tenant, intent.credentialId)
  if (credential === undefined) throw new Error('the catalog credential of the intents is gone')

  const isCommit = ({ action = 'update-table' }: IntentHead) => action === 'update-table'
  for (const one of group.filter(({ intent }) => !isCommit(intent)))
    count(parts, one.intent, counts, await recoverAction(parts, credential, one, signal))
  const commits = group.filter(({ intent }) => isCommit(intent))
  if (commits.length > 0) await recoverTable(parts, credential, tenant, commits, counts, signal)
  return counts
}

type Counts = { -readonly [key in keyof RecoveryReport]: number }

function count(
  parts: GatewayParts,
  intent: IntentHead,
  counts: Counts,
  outcome: IntentOutcome | undefined,
): void {
  const log = parts.log.child({
    commitId: intent.commitId,
    action: intent.action ?? 'update-table',
    table: tableName(intent.table),
  })
  if (outcome?.kind === 'committed') {
    counts.committed++
    log.warn('an accepted commit was found unaudited; its audit is now complete')
  } else if (outcome?.kind === 'not-committed') {
    counts.notCommitted++
    log.info('a commit never reached the table; its intent is closed')
  } else {
    counts.undecidable++
    log.error({ why: outcome?.why }, 'commit state undecidable')
  }
}

async function recoverTable(
  parts: GatewayParts,
  credential: CatalogCredential,
  tenant: TenantId,
  group: readonly ClaimedIntent[],
  counts: Counts,
  signal: AbortSignal | undefined,
): Promise<void> {
  const table = group[0]?.intent.table
  if (table === undefined) return
  const now = await lookAtTable(
    parts,
    parts.catalogs.get(tenant, credential),
    tenant,
    table,
    new Set(group.map((one) => one.intent.commitId)),
    { signal, othersWaitMs },
  )
  const stale: StaleIntent[] = []
  // One body after the other: each may have megabytes.
  for (const { intent } of group) {
    const bodyOf = () => loadIntentBody(parts.store, tenant, intent.commitId)
    stale.push(await staleIntent(intent, now?.result.metadata, bodyOf))
  }
  const outcomes = decideIntents(stale, now?.evidence)
  for (const claimed of group) {
    const { intent } = claimed
    const decided = outcomes.get(intent.commitId)
    const outcome = decided && (await unlessDropped(parts, claimed, decided))
    if (outcome?.kind === 'committed' && now !== undefined)
      await recordVerdict(parts.store, tenant, {
        intent: { ...intent, body: await loadIntentBody(parts.store, tenant, intent.commitId) },
        decision: 'APPROVED',
        reason: '',
        policies: (await policiesAtIntent(parts.store, tenant, table, intent.commitId)).map(appliedPolicy),
        outcomes: [],
        committed: committedAt(now.result, intent, outcome.metadataLocation),
      })
    if (outcome?.kind === 'not-committed') await closeIntent(parts.store, tenant, intent.commitId)
    count(parts, intent, counts, outcome)
  }
}
