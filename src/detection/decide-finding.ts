/**
 * Decides about the column and class of a finding. Only a steward may take its tag away, and must give a reason
 * (docs/reference/contracts.md 3.1).
 */

import { requireRole } from '../auth/verified-principal.ts'
import { Fault } from '../base/fault.ts'
import type { Actor } from '../core/administration.ts'
import type { DetectionDecision } from '../core/detection.ts'
import { overseesTables } from '../core/oversight.ts'
import type { TenantId } from '../core/tenant.ts'
import { changeSigned } from '../store/contract/change-signed.ts'
import type { Tx } from '../store/database/session.ts'
import { decideFinding, tablesOfFinding } from '../store/detection/findings.ts'
import type { Store } from '../store/store.ts'
import { seenFindings } from './finding-view.ts'

/**
 * @param actor the verified principal with its session
 * @throws Fault `forbidden` when the decision takes a tag away and `actor` is no steward, `bad_request` when it then has
 * no reason, `not_found`, also where the actor may not see the table, `conflict` where a contract with a life cycle
 * governs the table and nobody has signed
 */
export async function decideAboutFinding(
  store: Store,
  tenant: TenantId,
  actor: Actor,
  id: string,
  { decision, reason }: { readonly decision: DetectionDecision; readonly reason: string },
) {
  const declassifies = decision !== 'confirm'
  if (declassifies) requireRole(actor, 'steward')
  if (declassifies && reason.trim() === '')
    throw new Fault('bad_request', 'A decision that takes a tag away needs a reason.')
  const asked = { action: 'decide-finding', subject: { finding: id }, value: { decision, reason } }
  const concern = { tables: (tx: Tx) => tablesOfFinding(tx, tenant, id) }
  const finding = await changeSigned({ store, tenant, actor }, asked, concern, (tx) =>
    decideFinding(tx, tenant, id, { decision, reason, actor, readableOnly: !overseesTables(actor) }),
  )
  const [seen] = finding === undefined ? [] : await seenFindings(store, tenant, actor, [finding])
  if (seen === undefined) throw new Fault('not_found', 'There is no such finding.')
  return seen
}
