/** Shows a request for access: to who may decide about it, also what it would reveal and who has that already. */

import type { Clock } from '../../base/clock.ts'
import { mayBeSamePerson } from '../../core/same-person.ts'
import type { SeenRows } from '../../core/seen-rows.ts'
import type { TenantId } from '../../core/tenant.ts'
import { listGrants } from '../../store/contract/access-grants.ts'
import { type AccessRequest, findAccessRequest } from '../../store/contract/access-requests.ts'
import { type RunQuery, versionInForce } from '../../store/contract/versions.ts'
import type { Store } from '../../store/store.ts'
import { factsOf, liftsNow, namedOf, waitsFor } from './decide-access.ts'
import { type DecidingActor, mayKnow, rightsOf } from './oversight.ts'
import { planOf, planProblem } from './plan.ts'
import { noRequest } from './request-access.ts'
import { requestView, revealsView } from './views.ts'

export interface AccessParts {
  readonly store: Store
  readonly clock: Clock
  readonly seenRows: SeenRows
}

/** Open grants of the table that an answer names. */
const grantsShown = 50

/** A request, for who may know of it. @throws Fault `not_found` */
export async function showRequest(
  parts: AccessParts,
  tenant: TenantId,
  decider: DecidingActor,
  id: string,
  signal: AbortSignal,
) {
  const { found, waits, now } = await readRequest(parts, tenant, decider, id)
  const view = { ...requestView(found), waits_for: [...waits] }
  if (now === undefined) return view
  if ('problem' in now) return { ...view, problem: now.problem }
  const open = new Date(parts.clock.now())
  const { table } = found
  const { items } = await listGrants(parts.store, tenant, { table }, open, { limit: grantsShown })
  const principal = granteeOf(found)
  const rows = await parts.seenRows.count({ tenant, table, principal, lifts: now.lifts }, signal)
  return { ...view, reveals: revealsView(now.revealed, rows, items) }
}

async function readRequest(
  { store, clock }: AccessParts,
  tenant: TenantId,
  decider: DecidingActor,
  id: string,
) {
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const found = await findAccessRequest(tx, tenant, id)
      if (found === undefined) throw noRequest()
      const run: RunQuery = (sql, params) => tx.query(sql, params)
      const version = await versionInForce(run, tenant, found.contract.id)
      if (!mayKnow(decider, found, version, clock.now())) throw noRequest()
      const { isOwner } = rightsOf(decider, version, clock.now())
      const oversees = decider.roles.some((role) => ['steward', 'administrator'].includes(role))
      // What a filter hides is not shown to an owner who asks for it.
      const decides = oversees || (isOwner && !isTheirs(decider, found))
      const waits = waitsFor(factsOf(found, version, clock.now()))
      const plan = planOf(version?.model.access)
      const problem = planProblem(plan, plan.secondsMax, found)
      const seen = () => (problem === undefined ? liftsNow(run, found, clock.now()) : { problem })
      const now = decides && found.state === 'waiting' ? await seen() : undefined
      return { found, waits, now }
    },
    { readOnly: true },
  )
}

/** Whether a request might be of who looks at it, or for them. */
function isTheirs({ sub, names, roles }: DecidingActor, { grantee, requestedBy }: AccessRequest): boolean {
  const asked = namedOf(requestedBy)
  if ([sub, ...names].some((name) => mayBeSamePerson({ sub: name, email: name }, asked))) return true
  return 'sub' in grantee ? mayBeSamePerson({ sub }, grantee) : roles.includes(grantee.role)
}

/** The reader, as far as it is known: with the roles of who asked, or somebody with the role for which it is asked. */
function granteeOf({ grantee, requestedBy }: AccessRequest) {
  if ('role' in grantee) return { sub: 'anyone', roles: [grantee.role] }
  const { email, roles } = requestedBy
  return { sub: grantee.sub, roles, ...(email !== undefined && { email }) }
}
