/** Makes the grant of a request that was decided. Who decides it, and what it lifts, is said elsewhere. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { insertGrant, lockGrant, type NewGrant } from '../../store/contract/access-grants.ts'
import { findAccessRequest, type NewAccessRequest } from '../../store/contract/access-requests.ts'
import type { Tx } from '../../store/database/session.ts'
import { standingIn } from '../../store/session/provisioning.ts'

/**
 * Grants what a request asks for. A renewal begins where the grant that it renews ends, so that each grant has the time
 * that was decided about it, with no gap between them; where that one is over, at once.
 * @param at when it is decided
 * @throws Fault `conflict` where the grant that it renews was ended before its time
 */
export async function grantRequest(
  tx: Tx,
  tenant: TenantId,
  request: NewAccessRequest,
  by: Actor,
  at: Date,
): Promise<NewGrant> {
  const { id, table, tableUuid, contract, grantee, lifts, purpose, ticket, seconds, renews } = request
  const old = renews === undefined ? undefined : await lockGrant(tx, tenant, renews)
  if (renews !== undefined && (old === undefined || (old.endedAt !== undefined && old.endedAt < old.until)))
    throw new Fault(
      'conflict',
      'The grant that it would renew was ended before its time, so it is not renewed.',
    )
  // What was taken by break-glass and condemned is not gone on with.
  const first = old && (await findAccessRequest(tx, tenant, old.request))
  if (first?.state === 'condemned')
    throw new Fault('conflict', 'The grant that it would renew was condemned, so it is not renewed.')
  const from = old !== undefined && old.until > at ? old.until : at
  const grant = {
    ...{ id: crypto.randomUUID(), request: id, table, tableUuid, contract: contract.id },
    ...{ grantee, lifts, purpose, ticket, grantedAt: at, grantedBy: by, from },
    until: new Date(from.getTime() + seconds * 1_000),
  }
  await insertGrant(tx, tenant, grant)
  return grant
}

/** @throws Fault `conflict` where provisioning refuses the person: the request came in while they left */
export async function assertHasNotLeft(tx: Tx, tenant: TenantId, person: Actor): Promise<void> {
  const standing = await standingIn(tx, tenant, person)
  if (standing.kind === 'refused' && !standing.isUnnamed)
    throw new Fault('conflict', 'Who asked for access has left, so nothing is granted.')
}

/** A grant as records and events of its decision name it. */
export function grantNamed(grant: NewGrant): {
  readonly grant: string
  readonly from: string
  readonly until: string
} {
  return { grant: grant.id, from: grant.from.toISOString(), until: grant.until.toISOString() }
}
