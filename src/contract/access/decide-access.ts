/** Decides about requests for access, which makes grants, and ends grants. What a grant lifts is applied elsewhere. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { mayBeSamePerson, type NamedPerson } from '../../core/same-person.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  endGrant,
  type Grant,
  lockGrant,
  lockGrantOf,
  type NewGrant,
  openRenewals,
} from '../../store/contract/access-grants.ts'
import {
  type AccessDecision,
  type AccessRequest,
  findAccessRequest,
  updateAccessRequest,
} from '../../store/contract/access-requests.ts'
import { lockContracts, recordChange } from '../../store/contract/changes.ts'
import { type ContractVersion, type RunQuery, versionInForce } from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import { appendEvent } from '../../store/event/events.ts'
import { mayHoldRole } from '../../store/session/role-holders.ts'
import { personOf } from '../lifecycle/step.ts'
import { assertHasNotLeft, grantNamed, grantRequest } from './grant-request.ts'
import { type DecidingActor, mayKnow, ownsContractOf, rightsOf } from './oversight.ts'
import { planOf, planProblem } from './plan.ts'
import { type AccessContext, governingNow, lineOf, noRequest } from './request-access.ts'
import { type Decision, missingOf, type RequestFacts, reviewRequest, waitingDaysMax } from './review.ts'
import { liftsOf } from './wanted-lifts.ts'

/** Who decides, and where. */
interface DecidingContext extends AccessContext {
  readonly decider: DecidingActor
}

/**
 * Approves or denies a request. The last approval that it needs grants the access, from now on. About access that was
 * taken by break-glass it is the review: a denial ends what is open of it.
 * @returns the grant; undefined where none was made
 * @throws Fault `not_found`, `forbidden` for who may not decide, `conflict` where the request does not wait, is another
 *   one than was read, or would lift something else by now
 */
export async function decideAccess(
  on: DecidingContext,
  id: string,
  decision: Decision & { readonly comment?: string | undefined },
): Promise<NewGrant | undefined> {
  const { store, clock, tenant, actor, decider } = on
  const { approves } = decision
  const comment = decision.comment === undefined ? undefined : lineOf(decision.comment, 'comment')
  return await store.tenantTransaction(tenant, async (tx) => {
    // Nothing that governs the table changes between the look and the grant.
    await lockContracts(tx)
    const found = await findAccessRequest(tx, tenant, id, { locks: true })
    if (found === undefined) throw noRequest()
    const run: RunQuery = (text, params) => tx.query(text, params)
    const version = await versionInForce(run, tenant, found.contract.id)
    if (!mayKnow(decider, found, version, clock.now())) throw noRequest()
    const all = rightsOf(decider, version, clock.now())
    // Policies are not the contract's, so its owners do not decide about them.
    const rights = found.lifts.policies === undefined ? all : { ...all, isOwner: false }
    const verdict = reviewRequest(factsOf(found, version, clock.now()), personOf(actor), rights, decision)
    if (verdict.kind === 'refused') throw new Fault(verdict.fault, `${verdict.why}.`)
    await assertIsAnother(tx, tenant, found, actor)
    const { level, isLast } = verdict
    const at = new Date(clock.now())
    const made: AccessDecision = {
      ...{ approves, level, at: at.toISOString(), by: actor },
      ...(comment !== undefined && { comment }),
    }
    if (level === 'review') {
      await saveReview(tx, on, found, made, at)
      return undefined
    }
    if (approves) await assertHasNotLeft(tx, tenant, found.requestedBy)
    const tableUuid = approves ? await assertGrantable(run, found, version, clock.now()) : undefined
    const state = isLast ? (approves ? 'granted' : 'denied') : 'waiting'
    const decisions = [...found.decisions, made]
    await updateAccessRequest(tx, tenant, { id, state, decisions, endedAt: isLast ? at : undefined })
    const grant =
      state === 'granted' ? await grantRequest(tx, tenant, { ...found, tableUuid }, actor, at) : undefined
    await recordChange(tx, actor, {
      action: 'decide-access',
      subject: subjectOf(found),
      value: { approves, level, ...(grant && grantNamed(grant)) },
    })
    if (isLast)
      await appendEvent(tx, {
        type: approves ? 'access.granted' : 'access.denied',
        subject: tableKey(found.table),
        data: {
          ...{ request: id, grantee: found.grantee, purpose: found.purpose, by: actor.sub },
          ...(grant && grantNamed(grant)),
        },
      })
    return grant
  })
}

const subjectOf = ({ id, table }: AccessRequest) => ({
  ...{ access: id, namespace: table.namespace, table: table.name },
})

/** Confirms or condemns access that was taken by break-glass; a condemned one ends, if it is open. */
async function saveReview(
  tx: Tx,
  { tenant, actor }: AccessContext,
  request: AccessRequest,
  made: AccessDecision,
  at: Date,
): Promise<void> {
  const { id, table, grantee, decisions } = request
  const { approves } = made
  const state = approves ? 'confirmed' : 'condemned'
  await updateAccessRequest(tx, tenant, { id, state, decisions: [...decisions, made], endedAt: at })
  const grant = await lockGrantOf(tx, tenant, id)
  const end = { at, by: actor, reason: 'its break-glass was condemned' }
  const isOpen = grant?.endedAt === undefined && grant !== undefined && grant.until > at
  if (!approves && isOpen) await endGrant(tx, tenant, grant, end)
  if (!approves && grant !== undefined) await endRenewals(tx, tenant, grant, end)
  await recordChange(tx, actor, {
    action: 'review-access',
    subject: subjectOf(request),
    value: { confirms: approves, ...(grant && { grant: grant.id }) },
  })
  await appendEvent(tx, {
    type: 'access.reviewed',
    subject: tableKey(table),
    data: {
      ...{ request: id, grantee, confirms: approves, by: actor.sub },
      ...(grant && { grant: grant.id }),
    },
  })
}

/**
 * Sees to it that who decides is none of those whom it is about, nor has decided before, under another name or by
 * another session: refused where it might be so.
 * @throws Fault `forbidden`
 */
async function assertIsAnother(tx: Tx, tenant: TenantId, request: AccessRequest, by: Actor): Promise<void> {
  const decider = namedOf(by)
  const { grantee, requestedBy, decisions } = request
  const isOneOfThem = [requestedBy, ...decisions.map((one) => one.by)].some((other) =>
    mayBeSamePerson(decider, namedOf(other)),
  )
  const isGrantee =
    'sub' in grantee
      ? mayBeSamePerson(decider, grantee)
      : await mayHoldRole(tx, tenant, decider, grantee.role)
  if (isOneOfThem || isGrantee)
    throw new Fault(
      'forbidden',
      'You may be who asked, decided before or would have the access, by another session or name of yours.',
    )
}

/** Who acts, with all that may tell who it is. */
export function namedOf({ sub, email, session }: Actor): NamedPerson {
  return { sub, email, createdBy: session?.createdBy }
}

/** What a decision about a request is judged by. */
export function factsOf(
  { state, sha256, grantee, requestedBy, requestedAt, decisions }: AccessRequest,
  version: ContractVersion | undefined,
  nowMs: number,
): RequestFacts {
  const { approvers } = planOf(version?.model.access)
  return {
    ...{ state, sha256, grantee, requester: personOf(requestedBy) },
    approvals: decisions.map(({ by, level }) => ({ by: personOf(by), level })),
    second: version?.model.secondApproval ? 'administrator' : approvers === 2 ? 'approver' : 'none',
    isOverdue: state === 'waiting' && nowMs >= requestedAt.getTime() + waitingDaysMax * 86_400_000,
  }
}

/** The decisions that a request waits for; none where it does not wait. */
export function waitsFor(facts: RequestFacts): ReturnType<typeof missingOf> {
  const waits = facts.state === 'to_review' || (facts.state === 'waiting' && !facts.isOverdue)
  return waits ? missingOf(facts) : []
}

/**
 * @returns the uuid of the table by now
 * @throws Fault `conflict` where the request would lift something else than when it was made, or is not in the plan
 */
async function assertGrantable(
  run: RunQuery,
  request: AccessRequest,
  version: ContractVersion | undefined,
  atMs: number,
): Promise<string | undefined> {
  const plan = planOf(version?.model.access)
  const problem = planProblem(plan, plan.secondsMax, request)
  if (problem !== undefined) throw new Fault('conflict', problem)
  const found = await liftsNow(run, request, atMs)
  if (!('lifts' in found) || !Bun.deepEquals(found.lifts, request.lifts))
    throw new Fault(
      'conflict',
      'What hides the table has changed since access was asked for, so the decision would be about something else. Deny the request, and ask again.',
    )
  return found.tableUuid
}

/** What a request would lift by now. */
export async function liftsNow(
  run: RunQuery,
  { table, tableUuid, contract, grantee, requestedBy, wanted }: AccessRequest,
  atMs: number,
): Promise<
  (ReturnType<typeof liftsOf> & { readonly tableUuid: string | undefined }) | { readonly problem: string }
> {
  try {
    const now = await governingNow(run, table, atMs)
    // The second approval is that of the contract in the request.
    if (now.contract.id !== contract.id) return { problem: 'Another contract governs the table by now.' }
    if (tableUuid !== undefined && now.tableUuid !== tableUuid)
      return { problem: 'Another table has the name by now.' }
    const found = liftsOf(now.governing, { grantee, roles: requestedBy.roles }, wanted)
    return { ...found, tableUuid: now.tableUuid }
  } catch (thrown) {
    if (thrown instanceof Fault && ['not_found', 'unprocessable'].includes(thrown.kind))
      return { problem: thrown.message }
    throw thrown
  }
}

/**
 * Ends a grant at once, with renewals of it that would begin later: by who has it, by stewards, and by owners.
 * @throws Fault `not_found`, `conflict` where it has ended
 */
export async function revokeAccess(on: DecidingContext, id: string, reason: string): Promise<void> {
  const { store, clock, tenant, actor, decider } = on
  const line = lineOf(reason, 'reason')
  await store.tenantTransaction(tenant, async (tx) => {
    const found = await lockGrant(tx, tenant, id)
    const isTheirs = found !== undefined && 'sub' in found.grantee && found.grantee.sub === actor.sub
    const run: RunQuery = (text, params) => tx.query(text, params)
    const mayRevoke =
      found !== undefined &&
      (isTheirs ||
        actor.roles.includes('steward') ||
        (await ownsContractOf(run, tenant, decider, found.contract, clock.now())))
    if (found === undefined || !mayRevoke) throw new Fault('not_found', 'There is no such grant.')
    const at = new Date(clock.now())
    if (found.endedAt !== undefined || found.until <= at)
      throw new Fault('conflict', 'The grant has ended already.')
    const end = { at, by: actor, reason: line }
    await endGrant(tx, tenant, found, end)
    await endRenewals(tx, tenant, found, end)
    const subject = { grant: id, namespace: found.table.namespace, table: found.table.name }
    await recordChange(tx, actor, { action: 'revoke-access', subject, value: { reason: line } })
  })
}

/** Ends the renewals of a grant, and theirs. */
async function endRenewals(
  tx: Tx,
  tenant: TenantId,
  grant: Grant,
  end: { readonly at: Date; readonly by: Actor; readonly reason: string },
): Promise<void> {
  for (const renewal of await openRenewals(tx, tenant, grant.id)) {
    await endGrant(tx, tenant, renewal, end)
    await endRenewals(tx, tenant, renewal, end)
  }
}
