/**
 * Decides about the column and class of a finding. Only a steward may take its tag away, and must give a reason
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
 * @param by the verified principal
 * @throws Fault `forbidden` when the decision takes a tag away and `by` is no steward, `bad_request` when it then has
 * no reason, `not_found`
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
  if (declassifies && reason.trim() === '')
    throw new Fault('bad_request', 'A decision that takes a tag away needs a reason.')
  const finding = await decideFinding(store, tenant, id, { decision, reason, decidedBy: by.sub })
  if (finding === undefined) throw new Fault('not_found', 'There is no such finding.')
  return findingView(finding)
}
