/**
 * Decides about the column and class of a finding; taking its tag away is a steward's to attest
 * (docs/reference/contracts.md 3.1).
 */

import { requireRole } from '../auth/verified-principal.ts'
import { Fault } from '../base/fault.ts'
import type { DetectionDecision } from '../core/detection.ts'
import type { Principal } from '../core/principal.ts'
import type { TenantId } from '../core/tenant.ts'
import { decideFinding } from '../store/detection/findings.ts'
import type { Store } from '../store/store.ts'
import { findingView } from './finding-view.ts'

/**
 * @param by verified
 * @throws Fault `forbidden` where `by` is no steward and the decision takes a tag away, `bad_request` where it then has
 *   no reason, `not_found`
 */
export async function decideAboutFinding(
  store: Store,
  tenant: TenantId,
  by: Principal,
  id: string,
  { decision, reason }: { readonly decision: DetectionDecision; readonly reason: string },
) {
  const declassifies = decision !== 'confirm'
  if (declassifies) requireRole(by, 'steward')
  if (declassifies && reason.trim() === '') throw new Fault('bad_request', 'An attestation needs a reason.')
  const finding = await decideFinding(store, tenant, id, { decision, reason, decidedBy: by.sub })
  if (finding === undefined) throw new Fault('not_found', 'There is no such finding.')
  return findingView(finding)
}
