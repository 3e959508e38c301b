/** Records a verdict's WriteEvent and an accepted snapshot (steps 12 and 13 of docs/reference/gateway.md 2.1). */

import { Fault } from '../../base/fault.ts'
import { appliedPolicy, type CommitIntent, type CommittedTable } from '../../core/commit.ts'
import type { PolicyOutcome, Verdict } from '../../core/decision.ts'
import type { Policy } from '../../core/policy.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { isAudited } from '../../store/commit/audit.ts'
import { closeIntent } from '../../store/commit/commit-intents.ts'
import { recordUnjudged } from '../../store/commit/refusals.ts'
import { recordVerdict } from '../../store/commit/verdicts.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { PendingIntent } from '../base/pending-intent.ts'

export interface Decided {
  readonly policies: readonly Policy[]
  /** For a rename of a table. */
  readonly renamedTo?: TableRef | undefined
  readonly verdict: { readonly outcomes: readonly PolicyOutcome[] }
}

/**
 * Records a denial and counts it.
 * @throws Fault `unavailable` if it could not be recorded, because a denial is not reported before it is audited
 */
export async function recordRejection(
  parts: GatewayParts,
  tenant: TenantId,
  intent: CommitIntent,
  decided: Decided,
  reason: string,
): Promise<void> {
  parts.metrics.commitRejected.inc({ reason: 'policy_denied' })
  parts.passCrashPoint('rejection-not-recorded')
  try {
    await recordVerdict(parts.store, tenant, {
      intent,
      decision: 'REJECTED',
      reason,
      policies: decided.policies.map(appliedPolicy),
      outcomes: decided.verdict.outcomes,
    })
  } catch (cause) {
    throw new Fault(
      'unavailable',
      'A policy denied the commit, but the denial could not be audited. Retry.',
      { cause },
    )
  }
  parts.passCrashPoint('rejection-recorded')
}

/**
 * Counts, logs and records a change that got no verdict. Never throws: the log has what the record lacks.
 * @param table the name whose policies gave none
 */
export async function noteUnjudged(
  parts: GatewayParts,
  table: TableRef,
  { tenant, withoutBase }: PendingIntent,
  { error, policyId, detail, outcomes }: Extract<Verdict, { kind: 'unavailable' }>,
): Promise<void> {
  parts.metrics.policyUnavailable.inc({ reason: error })
  const outcome = outcomes.find((one) => one.policyId === policyId)
  const { commitId, requestId, principal } = withoutBase
  const which = { commitId, requestId, tenant, table: tableName(table), principal: principal.sub }
  parts.log.error(
    { ...which, policyId, policy: outcome?.name, reason: error, why: detail },
    'no verdict: a policy could not be evaluated, so the change was refused',
  )
  try {
    await recordUnjudged(parts.store, tenant, {
      intent: { ...withoutBase, table },
      error,
      policy: outcome && { id: outcome.policyId, name: outcome.name },
      explanation: outcome?.explanation ?? detail,
    })
  } catch (err) {
    parts.log.warn({ ...which, err }, 'a missing verdict could not be recorded; the log has it')
  }
}

/**
 * Records an accepted change. Never throws: if it cannot be recorded, the intent stays for recovery.
 * @param committed reads the upstream's reply; undefined if the action writes no metadata
 * @param mayRepeat whether this may be the reply to an earlier request with the same Idempotency-Key. Then nothing was
 *   written, and a change that is already audited is not recorded again
 */
export async function recordApproval(
  parts: GatewayParts,
  pending: PendingIntent,
  decided: Decided,
  committed: (() => CommittedTable) | undefined,
  mayRepeat: boolean,
): Promise<void> {
  await pending.stages.time('record', () =>
    approve(parts, pending.tenant, pending.intent, decided, committed, mayRepeat),
  )
}

async function approve(
  parts: GatewayParts,
  tenant: TenantId,
  intent: CommitIntent,
  decided: Decided,
  committed: (() => CommittedTable) | undefined,
  mayRepeat: boolean,
): Promise<void> {
  const which = { commitId: intent.commitId, table: tableName(intent.table) }
  try {
    const made = committed?.()
    if (mayRepeat && made && (await isAudited(parts.store, tenant, intent, made.metadataLocation))) {
      await closeIntent(parts.store, tenant, intent.commitId)
      parts.log.info(which, 'the catalog repeated its reply to an earlier request, which is already audited')
      return
    }
    const recorded = await recordVerdict(parts.store, tenant, {
      intent,
      decision: 'APPROVED',
      reason: '',
      policies: decided.policies.map(appliedPolicy),
      outcomes: decided.verdict.outcomes,
      ...(made && { committed: made }),
      ...(decided.renamedTo && { renamedTo: decided.renamedTo }),
    })
    if (made !== undefined && !recorded.ingested) {
      parts.metrics.snapshotIngestFailures.inc()
      parts.log.warn({ ...which, err: recorded.ingestError }, 'the snapshot was not ingested into the graph')
    }
  } catch (err) {
    parts.metrics.auditFailures.inc()
    parts.log.error(
      { ...which, err },
      'an accepted commit could not be audited; its intent stays for recovery',
    )
    return
  }
  parts.passCrashPoint('approval-recorded')
}
