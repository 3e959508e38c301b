/** Records a verdict's WriteEvent and an accepted snapshot (steps 12 and 13 of docs/reference/gateway.md 2.1). */

import { Fault } from '../../base/fault.ts'
import {
  type AcceptedChange,
  appliedPolicy,
  type CommitIntent,
  type CommittedTable,
} from '../../core/commit.ts'
import { type PolicyOutcome, shadowDenials, type Verdict } from '../../core/decision.ts'
import type { Policy, VersionNumber } from '../../core/policy.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordUnjudged } from '../../store/commit/refusals.ts'
import { recordVerdict } from '../../store/commit/verdicts.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { PendingIntent } from '../base/pending-intent.ts'
import { auditAccepted, isUnplaced } from '../recovery/audit-accepted.ts'

export interface Decided {
  readonly policies: readonly Policy[]
  /** The approved version of a contract that the change puts in force. */
  readonly covers?: VersionNumber | undefined
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

/** An accepted change, as the journal and the audit take it. */
export function acceptedChange(
  { tenant, intent }: PendingIntent,
  { policies, verdict, renamedTo, covers }: Decided,
  committed: CommittedTable | undefined,
  mayRepeat: boolean,
): AcceptedChange {
  const { body: _, ...head } = intent
  const { outcomes } = verdict
  const applied = policies.map(appliedPolicy)
  return { tenant, intent: head, policies: applied, outcomes, committed, renamedTo, covers, mayRepeat }
}

/** Writes an accepted change to the journal: the first thing that happens after the upstream's reply. Never throws. */
export function noteAccepted(parts: GatewayParts, change: AcceptedChange): void {
  parts.unaudited.accepted(change)
  parts.passCrashPoint('commit-journaled')
}

/** Records an accepted change. Never throws: an audit that fails is repeated. */
export async function recordApproval(
  parts: GatewayParts,
  pending: PendingIntent,
  change: AcceptedChange,
): Promise<void> {
  const denials = shadowDenials(change.outcomes)
  if (denials.length > 0) {
    const isLater = denials.some(({ enforceFromMs }) => enforceFromMs !== undefined)
    parts.metrics.shadowDenials.inc({ enforced: isLater ? 'later' : 'never' })
  }
  await pending.stages.time('record', () => approve(parts, change, pending.intent.body))
}

async function approve(parts: GatewayParts, change: AcceptedChange, body: Uint8Array): Promise<void> {
  const { commitId, table } = change.intent
  try {
    if (isUnplaced(change)) throw new Error('it is not known which metadata file the change wrote')
    await auditAccepted(parts, change, body)
  } catch (err) {
    parts.metrics.auditFailures.inc()
    parts.log.error(
      { commitId, table: tableName(table), err },
      'an accepted commit could not be audited; the audit is repeated',
    )
    await parts.unaudited.repeat(change)
    return
  }
  parts.unaudited.audited(commitId)
  parts.passCrashPoint('approval-recorded')
}
