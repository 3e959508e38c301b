/** Decides about requests for access, which makes grants, and ends grants. What a grant lifts is applied elsewhere. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { Governance } from '../../core/governance.ts'
import { mayBeSamePerson, type NamedPerson } from '../../core/same-person.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  endGrant,
  type Grant,
  insertGrant,
  lockGrant,
  type NewGrant,
} from '../../store/contract/access-grants.ts'
import {
  type AccessDecision,
  type AccessRequest,
  findAccessRequest,
  updateAccessRequest,
} from '../../store/contract/access-requests.ts'
import { lockContracts, recordChange } from '../../store/contract/changes.ts'
import { type RunQuery, versionInForce } from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import { appendEvent } from '../../store/event/events.ts'
import { readGovernance } from '../../store/governance/governance.ts'
import { standingIn } from '../../store/session/provisioning.ts'
import { mayHoldRole } from '../../store/session/role-holders.ts'
import { personOf } from '../lifecycle/step.ts'
import { type AccessContext, governedOf, lineOf, mayKnow, noRequest } from './request-access.ts'
import { type Decision, missingOf, type RequestFacts, reviewRequest, waitingDaysMax } from './review.ts'
import { liftsOf } from './wanted-lifts.ts'

/**
 * Approves or denies a request. The last approval that it needs grants the access, from now on.
 * @returns the grant; undefined where none was made
 * @throws Fault `not_found`, `forbidden` for who may not decide, `conflict` where the request does not wait, is another
 *   one than was read, or would lift something else by now
 */
export async function decideAccess(
  on: AccessContext,
  id: string,
  decision: Decision & { readonly comment?: string | undefined },
): Promise<NewGrant | undefined> {
  const { store, clock, tenant, actor } = on
  const { approves } = decision
  const comment = decision.comment === undefined ? undefined : lineOf(decision.comment, 'comment')
  return await store.tenantTransaction(tenant, async (tx) => {
    // Nothing that governs the table changes between the look and the grant.
    await lockContracts(tx)
    const found = await findAccessRequest(tx, tenant, id, { locks: true })
    if (found === undefined || !mayKnow(actor, found)) throw noRequest()
    const run: RunQuery = (text, params) => tx.query(text, params)
    const facts = await factsOf(run, tenant, found, clock.now())
    const verdict = reviewRequest(facts, personOf(actor), decision)
    if (verdict.kind === 'refused') throw new Fault(verdict.fault, `${verdict.why}.`)
    await assertIsAnother(tx, tenant, found, actor)
    if (approves) await assertHasNotLeft(tx, tenant, found)
    if (approves) await assertLifts(run, found)
    const { level, isLast } = verdict
    const at = new Date(clock.now())
    const made: AccessDecision = {
      ...{ approves, level, at: at.toISOString(), by: actor },
      ...(comment !== undefined && { comment }),
    }
    const state = isLast ? (approves ? 'granted' : 'denied') : 'waiting'
    const decisions = [...found.decisions, made]
    await updateAccessRequest(tx, tenant, { id, state, decisions, endedAt: isLast ? at : undefined })
    const grant = state === 'granted' ? grantOf(found, actor, at) : undefined
    if (grant !== undefined) await insertGrant(tx, tenant, grant)
    const subject = { access: id, namespace: found.table.namespace, table: found.table.name }
    await recordChange(tx, actor, {
      action: 'decide-access',
      subject,
      value: { approves, level, ...(grant && { grant: grant.id, until: grant.until.toISOString() }) },
    })
    if (isLast)
      await appendEvent(tx, {
        type: approves ? 'access.granted' : 'access.denied',
        subject: tableKey(found.table),
        data: {
          ...{ request: id, grantee: found.grantee, purpose: found.purpose, by: actor.sub },
          ...(grant && { grant: grant.id, until: grant.until.toISOString() }),
        },
      })
    return grant
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

/** @throws Fault `conflict` where provisioning refuses who asked: the request came in while the person left */
async function assertHasNotLeft(tx: Tx, tenant: TenantId, { requestedBy }: AccessRequest): Promise<void> {
  const standing = await standingIn(tx, tenant, requestedBy)
  if (standing.kind === 'refused' && !standing.isUnnamed)
    throw new Fault('conflict', 'Who asked for access has left. Deny the request.')
}

function namedOf({ sub, email, session }: Actor): NamedPerson {
  return { sub, email, createdBy: session?.createdBy }
}

function grantOf(request: AccessRequest, by: NewGrant['grantedBy'], at: Date): NewGrant {
  const { table, tableUuid, contract, grantee, lifts, purpose, ticket, seconds } = request
  return {
    ...{ id: crypto.randomUUID(), request: request.id, table, tableUuid, contract: contract.id },
    ...{ grantee, lifts, purpose, ticket, grantedAt: at, grantedBy: by, from: at },
    until: new Date(at.getTime() + seconds * 1_000),
  }
}

/** What a decision about a request is judged by. */
export async function factsOf(
  run: RunQuery,
  tenant: TenantId,
  request: AccessRequest,
  nowMs: number,
): Promise<RequestFacts> {
  const { state, sha256, grantee, requestedBy, requestedAt, decisions, contract } = request
  const version = await versionInForce(run, tenant, contract.id)
  return {
    ...{ state, sha256, grantee, requester: personOf(requestedBy) },
    approvals: decisions.map(({ by, level }) => ({ by: personOf(by), level })),
    needsSecond: version?.model.secondApproval === true,
    isOverdue: nowMs >= requestedAt.getTime() + waitingDaysMax * 86_400_000,
  }
}

/** The approvals that a request waits for; none where it does not wait. */
export function waitsFor(facts: RequestFacts): readonly ('first' | 'second')[] {
  return facts.state === 'waiting' && !facts.isOverdue ? missingOf(facts) : []
}

/** @throws Fault `conflict` where the request would lift something else than when it was made */
async function assertLifts(run: RunQuery, request: AccessRequest): Promise<void> {
  const found = await liftsNow(run, request)
  if (!('lifts' in found) || !Bun.deepEquals(found.lifts, request.lifts))
    throw new Fault(
      'conflict',
      'What hides the table has changed since access was asked for, so the decision would be about something else. Deny the request, and ask again.',
    )
}

/** What a request would lift by now. */
export async function liftsNow(
  run: RunQuery,
  { table, tableUuid, contract, grantee, requestedBy, wanted }: AccessRequest,
): Promise<ReturnType<typeof liftsOf> | { readonly problem: string }> {
  try {
    const governance = await readGovernance(run, table)
    // The second approval is that of the contract in the request.
    if (governedOf(governance).id !== contract.id)
      return { problem: 'Another contract governs the table by now.' }
    if (tableUuid !== undefined && governance?.tableUuid !== tableUuid)
      return { problem: 'Another table has the name by now.' }
    return liftsOf(governance as Governance, { grantee, roles: requestedBy.roles }, wanted)
  } catch (thrown) {
    if (thrown instanceof Fault && ['not_found', 'unprocessable'].includes(thrown.kind))
      return { problem: thrown.message }
    throw thrown
  }
}

/**
 * Ends a grant at once: by who has it, and by stewards.
 * @throws Fault `not_found`, `conflict` where it has ended
 */
export async function revokeAccess(on: AccessContext, id: string, reason: string): Promise<void> {
  const { store, clock, tenant, actor } = on
  const line = lineOf(reason, 'reason')
  await store.tenantTransaction(tenant, async (tx) => {
    const found = await lockGrant(tx, tenant, id)
    if (found === undefined || !mayRevoke(actor, found))
      throw new Fault('not_found', 'There is no such grant.')
    const at = new Date(clock.now())
    if (found.endedAt !== undefined || found.until <= at)
      throw new Fault('conflict', 'The grant has ended already.')
    await endGrant(tx, tenant, found, { at, by: actor, reason: line })
    const subject = { grant: id, namespace: found.table.namespace, table: found.table.name }
    await recordChange(tx, actor, { action: 'revoke-access', subject, value: { reason: line } })
  })
}

function mayRevoke({ sub, roles }: AccessContext['actor'], { grantee }: Grant): boolean {
  return roles.includes('steward') || ('sub' in grantee && grantee.sub === sub)
}
