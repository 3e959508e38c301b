/** Asks for access to a table for a time, takes it at once where the contract's plan allows that, and withdraws a request. */

import { createHash } from 'node:crypto'
import { cleanText } from '../../base/clean-text.ts'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Grantee, GrantLifts } from '../../core/access-grant.ts'
import type { Actor } from '../../core/administration.ts'
import type { Governance } from '../../core/governance.ts'
import { inEffect } from '../../core/policy.ts'
import type { PrivilegedRole } from '../../core/principal.ts'
import { isReadable } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { countOpenGrants, type NewGrant } from '../../store/contract/access-grants.ts'
import {
  type AccessRequest,
  countWaiting,
  findAccessRequest,
  insertAccessRequest,
  type NewAccessRequest,
  updateAccessRequest,
} from '../../store/contract/access-requests.ts'
import { lockContracts, recordChange } from '../../store/contract/changes.ts'
import { type RunQuery, versionInForce } from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import { appendEvent } from '../../store/event/events.ts'
import { readGovernance } from '../../store/governance/governance.ts'
import { governingPolicies } from '../../store/policy/derived-policies.ts'
import type { Store } from '../../store/store.ts'
import { unknownTable } from '../require-seen-table.ts'
import { decisionPath } from './decision-ticket.ts'
import { assertHasNotLeft, grantNamed, grantRequest } from './grant-request.ts'
import { overseesAccess } from './oversight.ts'
import { planOf, planProblem } from './plan.ts'
import { grantSecondsMax, grantSecondsMin, waitingDaysMax } from './review.ts'
import { type Governing, liftsOf, type Wanted } from './wanted-lifts.ts'

/** Who asks or decides, and where. */
export interface AccessContext {
  readonly store: Store
  readonly clock: Clock
  readonly tenant: TenantId
  readonly actor: Actor
  /** Whether an agent acts in the actor's name: then nothing is granted at once. */
  readonly isAgent?: boolean
}

interface AskedAccess extends Wanted {
  readonly table: TableRef
  /** For everybody with this role, which the asker has too; absent: for the asker. */
  readonly role?: string | undefined
  readonly purpose: string
  readonly seconds: number
  readonly ticket?: string | undefined
  /** Whether access is taken at once, and reviewed afterwards. */
  readonly isBreakGlass?: boolean | undefined
}

/** A request with the grant that it made at once, if it did. */
export interface MadeRequest {
  readonly request: AccessRequest
  readonly grant: NewGrant | undefined
}

/** Characters of a purpose, a ticket and a comment. */
const accessTextMax = 500
/** Requests of one subject that wait at a time. */
const waitingMax = 50
/** Grants of one subject for one table that are open at a time, where nobody decides about them first. */
const openMax = 20
const privileged: readonly string[] = [
  'steward',
  'administrator',
  'owner',
  'auditor',
] satisfies PrivilegedRole[]

/**
 * Saves a request, which waits for a decision, unless the contract's plan grants it at once.
 * @throws Fault `not_found` for a table that the asker may not know of, `bad_request`, `forbidden` for a role that the
 *   asker lacks or break-glass without a role of the plan, `unprocessable` where nothing is hidden or the plan does not
 *   allow what is asked for, `conflict` where too many requests wait or grants are open
 */
export async function requestAccess(on: AccessContext, asked: AskedAccess): Promise<MadeRequest> {
  const { store, tenant, actor } = on
  const { table, columns, filters, policies } = asked
  assertSeconds(asked.seconds)
  const grantee = granteeOf(actor, asked.role)
  const isBreakGlass = asked.isBreakGlass === true
  if (isBreakGlass && (asked.ticket === undefined || 'role' in grantee))
    throw new Fault('bad_request', 'Access by break-glass is for who takes it alone, and needs a `ticket`.')
  return await store.tenantTransaction(tenant, async (tx) => {
    // Access may be granted at once, so nothing that governs the table changes between the look and the grant.
    await lockContracts(tx)
    const wanted = { ...(columns && { columns }), ...(filters && { filters }), ...(policies && { policies }) }
    const now = await wantedNow(tx, on, table, { grantee, wanted })
    return await saveRequest(tx, on, {
      ...{ table, ...now, grantee, wanted, purpose: lineOf(asked.purpose, 'purpose') },
      ticket: asked.ticket === undefined ? undefined : lineOf(asked.ticket, 'ticket'),
      ...{ seconds: asked.seconds, isBreakGlass, renews: undefined },
    })
  })
}

/** @throws Fault `bad_request` */
export function assertSeconds(seconds: number): void {
  if (seconds < grantSecondsMin || seconds > grantSecondsMax)
    throw new Fault(
      'bad_request',
      `\`seconds\` must be from ${grantSecondsMin} to ${grantSecondsMax}: access is granted for a minute to 30 days.`,
    )
}

/** What a request would lift by now, and of which contract. @throws Fault `not_found`, `unprocessable` */
export async function wantedNow(
  tx: Tx,
  { clock, actor }: Pick<AccessContext, 'clock' | 'actor'>,
  table: TableRef,
  { grantee, wanted }: { readonly grantee: Grantee; readonly wanted: Wanted },
): Promise<Pick<NewAccessRequest, 'contract' | 'tableUuid' | 'lifts'>> {
  const run: RunQuery = (text, params) => tx.query(text, params)
  const { contract, tableUuid, governing } = await governingNow(run, table, clock.now())
  const { lifts } = liftsOf(governing, { grantee, roles: actor.roles }, wanted)
  return { contract, tableUuid, lifts }
}

/** What governs a table now, and by which contract. @throws Fault `not_found`, `unprocessable` */
export async function governingNow(
  run: RunQuery,
  table: TableRef,
  atMs: number,
): Promise<Pick<NewAccessRequest, 'contract' | 'tableUuid'> & { readonly governing: Governing }> {
  const read = await readGovernance(run, table)
  const contract = governedOf(read)
  const [policies = []] = await governingPolicies(run, [table])
  const governing = { read: read as Governance, policies: inEffect(policies, atMs) }
  return { contract, tableUuid: read?.tableUuid, governing }
}

type Unsaved = Omit<NewAccessRequest, 'id' | 'requestedAt' | 'requestedBy' | 'sha256' | 'state' | 'decisions'>

/** Saves a request, and grants it where the plan does so at once. @throws Fault as `requestAccess` */
export async function saveRequest(tx: Tx, on: AccessContext, asked: Unsaved): Promise<MadeRequest> {
  const { clock, tenant, actor } = on
  const at = new Date(clock.now())
  const decided = await decidedAtOnce(tx, on, asked, at)
  const request: NewAccessRequest = {
    ...asked,
    ...{ id: crypto.randomUUID(), requestedAt: at, requestedBy: actor, sha256: hashOf(asked), ...decided },
  }
  await assertNotTooMany(tx, on, request)
  await insertAccessRequest(tx, tenant, request)
  const isWaiting = request.state === 'waiting'
  if (!isWaiting) await assertHasNotLeft(tx, tenant, actor)
  const grant = isWaiting ? undefined : await grantRequest(tx, tenant, request, actor, at)
  await tellRequest(tx, on, request, grant)
  return { request: { ...request, endedAt: request.state === 'granted' ? at : undefined }, grant }
}

/** Whether nobody else decides first. @throws Fault `forbidden`, `unprocessable` */
async function decidedAtOnce(
  tx: Tx,
  { tenant, actor, isAgent }: AccessContext,
  asked: Unsaved,
  at: Date,
): Promise<Pick<NewAccessRequest, 'state' | 'decisions'>> {
  const { contract, grantee, isBreakGlass } = asked
  const version = await versionInForce((text, params) => tx.query(text, params), tenant, contract.id)
  const plan = planOf(version?.model.access)
  const has = (roles: readonly string[]) => roles.some((role) => actor.roles.includes(role))
  if (isBreakGlass && !has(plan.breakGlassRoles))
    throw new Fault('forbidden', 'The contract lets nobody with your roles take access by break-glass.')
  const problem = planProblem(plan, isBreakGlass ? plan.breakGlassSecondsMax : plan.secondsMax, asked)
  if (problem !== undefined) throw new Fault('unprocessable', problem)
  // Policies are not the contract's, so its plan opens none of them.
  const isOwn = asked.lifts.policies === undefined
  if (isBreakGlass && !isOwn)
    throw new Fault(
      'unprocessable',
      'Break-glass is for what hides the table, not for policies about commits.',
    )
  if (isBreakGlass) return { state: 'to_review', decisions: [] }
  if (isAgent || !isOwn || !('sub' in grantee) || !has(plan.selfServiceRoles))
    return { state: 'waiting', decisions: [] }
  const comment = `By the review plan of version ${version?.number} of the contract.`
  const made = { approves: true, level: 'plan', at: at.toISOString(), by: actor, comment } as const
  return { state: 'granted', decisions: [made] }
}

/** @throws Fault `conflict` */
async function assertNotTooMany(
  tx: Tx,
  { tenant, actor }: AccessContext,
  { state, table, requestedAt }: NewAccessRequest,
): Promise<void> {
  // Asked in any case: from here on the subject makes no other request beside this one.
  const waiting = await countWaiting(tx, tenant, actor.sub)
  if (state === 'waiting' && waiting >= waitingMax)
    throw new Fault('conflict', `${waitingMax} of your requests wait. Withdraw one, or wait for a decision.`)
  if (state !== 'waiting' && (await countOpenGrants(tx, tenant, table, actor.sub, requestedAt)) >= openMax)
    throw new Fault('conflict', `${openMax} of your grants for the table are open. Revoke one.`)
}

/** Records a request, and tells of it: an alarm for break-glass. */
async function tellRequest(
  tx: Tx,
  { store, tenant, actor }: AccessContext,
  request: NewAccessRequest,
  grant: NewGrant | undefined,
): Promise<void> {
  const { id, table, contract, grantee, wanted, seconds, purpose, ticket, isBreakGlass, renews } = request
  const value = { grantee, wanted, seconds, purpose, ...(ticket && { ticket }), ...(renews && { renews }) }
  const named = grant && grantNamed(grant)
  await recordChange(tx, actor, {
    action: isBreakGlass ? 'break-glass-access' : 'request-access',
    subject: { access: id, namespace: table.namespace, table: table.name },
    value: { ...value, ...named },
  })
  const subject = tableKey(table)
  const untilMs = request.requestedAt.getTime() + waitingDaysMax * 86_400_000
  const page = decisionPath(store, { tenant, request: id, sha256: request.sha256, untilMs })
  const data = {
    ...{ request: id, contract: contract.id, by: actor.sub, ...value },
    ...(request.state !== 'granted' && { decision_page: page }),
  }
  if (isBreakGlass)
    return await appendEvent(tx, { type: 'access.break_glass', subject, data: { ...data, ...named } })
  await appendEvent(tx, { type: 'access.requested', subject, data })
  if (named !== undefined)
    await appendEvent(tx, {
      type: 'access.granted',
      subject,
      data: { request: id, grantee, purpose, by: actor.sub, by_plan: true, ...named },
    })
}

/** @throws Fault `not_found` where nobody reads the table */
function governedOf(governance: Governance | undefined): {
  readonly id: string
  readonly version: number
} {
  if (governance === undefined || !isReadable(governance)) throw unknownTable()
  if (governance.contract === undefined)
    throw new Fault(
      'unprocessable',
      'The table has no active contract, so nobody decides about access to it.',
    )
  return governance.contract
}

/** @throws Fault `bad_request`, `forbidden` */
export function granteeOf({ sub, roles }: Actor, role: string | undefined): Grantee {
  if (role === undefined) return { sub }
  if (privileged.includes(role) || role === '')
    throw new Fault('bad_request', `Access is not granted to the role \`${role}\`.`)
  if (!roles.includes(role))
    throw new Fault('forbidden', 'Access for a role is asked for by somebody who has it.')
  return { role }
}

/** @throws Fault `bad_request` where it is empty or too long */
export function lineOf(value: string, name: string): string {
  const line = cleanText(value.replaceAll(/\s+/g, ' ').trim(), accessTextMax + 1)
  if (line === '' || line.length > accessTextMax)
    throw new Fault('bad_request', `\`${name}\` must be a text of 1 to ${accessTextMax} characters.`)
  return line
}

interface Hashed {
  readonly table: TableRef
  readonly grantee: Grantee
  readonly lifts: GrantLifts
  readonly seconds: number
  readonly purpose: string
  readonly renews: string | undefined
}

/**
 * The hash of what a decision decides, with a word that nobody learns: what is lifted is not guessed from it. It is made
 * once, and compared.
 */
function hashOf({ table, grantee, lifts, seconds, purpose, renews }: Hashed): string {
  const word = crypto.randomUUID()
  const decided = [word, [...table.namespace, table.name], grantee, lifts, seconds, purpose, renews ?? null]
  return createHash('sha256').update(JSON.stringify(decided)).digest('hex')
}

/** Withdraws a request that waits. @throws Fault `not_found`, `forbidden`, `conflict` */
export async function withdrawAccess(on: AccessContext, id: string): Promise<void> {
  const { store, clock, tenant, actor } = on
  await store.tenantTransaction(tenant, async (tx) => {
    const found = await findAccessRequest(tx, tenant, id, { locks: true })
    const isOwn = found?.requestedBy.sub === actor.sub
    if (found === undefined || !(isOwn || overseesAccess(actor))) throw noRequest()
    if (!isOwn) throw new Fault('forbidden', 'A request is withdrawn by who made it; deny it instead.')
    if (found.state !== 'waiting')
      throw new Fault('conflict', `A request that is ${found.state} is not withdrawn.`)
    await updateAccessRequest(tx, tenant, { ...found, state: 'withdrawn', endedAt: new Date(clock.now()) })
    const { namespace, name } = found.table
    await recordChange(tx, actor, {
      action: 'withdraw-access',
      subject: { access: id, namespace, table: name },
    })
    await appendEvent(tx, {
      type: 'access.withdrawn',
      subject: tableKey(found.table),
      data: { request: id, grantee: found.grantee, by: actor.sub },
    })
  })
}

/** The refusal of a request that is not there, or not for the caller to know. */
export function noRequest(): Fault {
  return new Fault('not_found', 'There is no such request.')
}
