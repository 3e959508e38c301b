/** Asks for access to a table for a time, and withdraws that. It gives none. */

import { createHash } from 'node:crypto'
import { cleanText } from '../../base/clean-text.ts'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Grantee, GrantLifts } from '../../core/access-grant.ts'
import type { Actor } from '../../core/administration.ts'
import type { Governance } from '../../core/governance.ts'
import type { PrivilegedRole } from '../../core/principal.ts'
import { isReadable } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  type AccessRequest,
  countWaiting,
  findAccessRequest,
  insertAccessRequest,
  type NewAccessRequest,
  updateAccessRequest,
} from '../../store/contract/access-requests.ts'
import { recordChange } from '../../store/contract/changes.ts'
import { appendEvent } from '../../store/event/events.ts'
import { readGovernance } from '../../store/governance/governance.ts'
import type { Store } from '../../store/store.ts'
import { unknownTable } from '../require-seen-table.ts'
import { grantSecondsMax, grantSecondsMin } from './review.ts'
import { liftsOf, type Wanted } from './wanted-lifts.ts'

/** Who asks or decides, and where. */
export interface AccessContext {
  readonly store: Store
  readonly clock: Clock
  readonly tenant: TenantId
  readonly actor: Actor
}

interface AskedAccess extends Wanted {
  readonly table: TableRef
  /** For everybody with this role, which the asker has too; absent: for the asker. */
  readonly role?: string | undefined
  readonly purpose: string
  readonly seconds: number
  readonly ticket?: string | undefined
}

/** Characters of a purpose, a ticket and a comment. */
const accessTextMax = 500
/** Requests of one subject that wait at a time. */
const waitingMax = 50
const privileged: readonly string[] = [
  'steward',
  'administrator',
  'owner',
  'auditor',
] satisfies PrivilegedRole[]

/**
 * Saves a request, which waits for a decision.
 * @returns its id
 * @throws Fault `not_found` for a table that the asker may not know of, `bad_request`, `forbidden` for a role that the
 *   asker lacks, `unprocessable` where nothing is hidden
 */
export async function requestAccess(on: AccessContext, asked: AskedAccess): Promise<AccessRequest> {
  const { store, clock, tenant, actor } = on
  const { table, seconds, ticket } = asked
  if (seconds < grantSecondsMin || seconds > grantSecondsMax)
    throw new Fault(
      'bad_request',
      `\`seconds\` must be from ${grantSecondsMin} to ${grantSecondsMax}: access is granted for a minute to 30 days.`,
    )
  const purpose = lineOf(asked.purpose, 'purpose')
  const grantee = granteeOf(actor, asked.role)
  return await store.tenantTransaction(tenant, async (tx) => {
    const governance = await readGovernance((text, params) => tx.query(text, params), table)
    const contract = governedOf(governance)
    const { columns, filters } = asked
    const wanted = { ...(columns && { columns }), ...(filters && { filters }) }
    const { lifts } = liftsOf(governance as Governance, { grantee, roles: actor.roles }, wanted)
    const request: NewAccessRequest = {
      ...{ id: crypto.randomUUID(), requestedAt: new Date(clock.now()) },
      ...{ table, contract, grantee, wanted, lifts, purpose, seconds, requestedBy: actor },
      tableUuid: (governance as Governance).tableUuid,
      ticket: ticket === undefined ? undefined : lineOf(ticket, 'ticket'),
      sha256: hashOf({ table, grantee, lifts, seconds, purpose }),
    }
    if ((await countWaiting(tx, tenant, actor.sub)) >= waitingMax)
      throw new Fault(
        'conflict',
        `${waitingMax} of your requests wait. Withdraw one, or wait for a decision.`,
      )
    await insertAccessRequest(tx, tenant, request)
    const value = { grantee, wanted, seconds, purpose }
    const subject = { access: request.id, namespace: table.namespace, table: table.name }
    await recordChange(tx, actor, { action: 'request-access', subject, value })
    await appendEvent(tx, {
      type: 'access.requested',
      subject: tableKey(table),
      data: { request: request.id, contract: contract.id, by: actor.sub, ...value },
    })
    return { ...request, state: 'waiting', decisions: [], endedAt: undefined }
  })
}

/** @throws Fault `not_found` where nobody reads the table */
export function governedOf(governance: Governance | undefined): {
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
function granteeOf({ sub, roles }: Actor, role: string | undefined): Grantee {
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
}

/**
 * The hash of what a decision decides, with a word that nobody learns: what is lifted is not guessed from it. It is made
 * once, and compared.
 */
function hashOf({ table, grantee, lifts, seconds, purpose }: Hashed): string {
  const word = crypto.randomUUID()
  const decided = [word, [...table.namespace, table.name], grantee, lifts, seconds, purpose]
  return createHash('sha256').update(JSON.stringify(decided)).digest('hex')
}

/** Withdraws a request that waits. @throws Fault `not_found`, `forbidden`, `conflict` */
export async function withdrawAccess(on: AccessContext, id: string): Promise<void> {
  const { store, clock, tenant, actor } = on
  await store.tenantTransaction(tenant, async (tx) => {
    const found = await findAccessRequest(tx, tenant, id, { locks: true })
    if (found === undefined || !mayKnow(actor, found)) throw noRequest()
    if (!isOwn(actor, found))
      throw new Fault('forbidden', 'A request is withdrawn by who made it; deny it instead.')
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

/** Whether somebody may know of a request: who made it, and who decides. */
export function mayKnow(actor: Pick<Actor, 'sub' | 'roles'>, request: AccessRequest): boolean {
  return isOwn(actor, request) || overseesAccess(actor)
}

/** Who sees the access of everybody. */
export const accessOverseers = ['steward', 'administrator', 'auditor'] as const

/** Whether a principal is one of them. */
export function overseesAccess({ roles }: Pick<Actor, 'roles'>): boolean {
  return accessOverseers.some((role) => roles.includes(role))
}

function isOwn({ sub }: Pick<Actor, 'sub'>, { requestedBy }: AccessRequest): boolean {
  return requestedBy.sub === sub
}

/** The refusal of a request that is not there, or not for the caller to know. */
export function noRequest(): Fault {
  return new Fault('not_found', 'There is no such request.')
}
