/**
 * Who knows of requests and grants of others, and what they may decide: stewards, administrators and auditors by their
 * roles, and the owners whom the document of a contract names. It reads, and changes nothing.
 */

import type { Actor } from '../../core/administration.ts'
import type { Caller } from '../../core/operation.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { AccessRequest } from '../../store/contract/access-requests.ts'
import { contactsInForce } from '../../store/contract/contacts.ts'
import type { ContractVersion, RunQuery } from '../../store/contract/versions.ts'
import { readGovernance } from '../../store/governance/governance.ts'
import { provisioningOf } from '../../store/session/provisioning.ts'
import type { Store } from '../../store/store.ts'
import { isOwner, namesOf } from './owners.ts'
import type { DecidingRights } from './review.ts'

/** Who looks or decides. */
export interface DecidingActor {
  readonly sub: string
  readonly roles: readonly string[]
  /** The names by which a document may mean them, by `namesOf` of `owners.ts`. */
  readonly names: readonly string[]
  /** Whether the session has the scope `admin`, without which a role decides nothing. */
  readonly mayAdminister: boolean
}

/** A caller as somebody who may decide. */
export async function deciderOf(
  store: Store,
  { principal, session, tenant }: Pick<Caller, 'principal' | 'session' | 'tenant'>,
): Promise<DecidingActor> {
  const provisioning = principal.email === undefined ? undefined : await provisioningOf(store, tenant)
  return {
    ...{ sub: principal.sub, roles: principal.roles, mayAdminister: session.scopes.includes('admin') },
    names: namesOf(principal, { matchesByEmail: provisioning?.claim === 'email' }),
  }
}

/** Who sees the access of everybody. */
export const accessOverseers = ['steward', 'administrator', 'auditor'] as const

/** Whether a principal is one of them. */
export function overseesAccess({ roles }: Pick<Actor, 'roles'>): boolean {
  return accessOverseers.some((role) => roles.includes(role))
}

/** What somebody may decide about requests under a contract. @param version the one in force; undefined without a document */
export function rightsOf(
  { roles, names, mayAdminister }: DecidingActor,
  version: Pick<ContractVersion, 'model'> | undefined,
  nowMs: number,
): DecidingRights {
  return {
    isSteward: mayAdminister && roles.includes('steward'),
    isAdministrator: mayAdminister && roles.includes('administrator'),
    isOwner: isOwner(version?.model.contacts, names, nowMs),
  }
}

/** Whether somebody may know of a request: who made it, who oversees access, and the owners of its contract. */
export function mayKnow(
  actor: DecidingActor,
  request: AccessRequest,
  version: Pick<ContractVersion, 'model'> | undefined,
  nowMs: number,
): boolean {
  if (request.requestedBy.sub === actor.sub || overseesAccess(actor)) return true
  return isOwner(version?.model.contacts, actor.names, nowMs)
}

/** Whether the document of a contract names somebody as an owner. */
export async function ownsContractOf(
  run: RunQuery,
  tenant: TenantId,
  { names }: Pick<DecidingActor, 'names'>,
  contract: string,
  nowMs: number,
): Promise<boolean> {
  if (names.length === 0) return false
  return isOwner((await contactsInForce(run, tenant, [contract])).get(contract), names, nowMs)
}

/** The id of the contract that governs a table, where somebody is an owner of it; else undefined. */
export async function ownedContractOf(
  run: RunQuery,
  tenant: TenantId,
  actor: Pick<DecidingActor, 'names'>,
  table: TableRef,
  nowMs: number,
): Promise<string | undefined> {
  const contract = (await readGovernance(run, table))?.contract?.id
  if (contract === undefined) return undefined
  return (await ownsContractOf(run, tenant, actor, contract, nowMs)) ? contract : undefined
}
