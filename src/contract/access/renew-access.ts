/** Asks for the renewal of a grant: the same table, reader and sight for another time, with no gap. It gives none itself. */

import { Fault } from '../../base/fault.ts'
import { isRenewed, lockGrant } from '../../store/contract/access-grants.ts'
import { findAccessRequest } from '../../store/contract/access-requests.ts'
import {
  type AccessContext,
  assertSeconds,
  granteeOf,
  lineOf,
  type MadeRequest,
  saveRequest,
  wantedNow,
} from './request-access.ts'

interface AskedRenewal {
  /** The grant. */
  readonly renews: string
  readonly seconds: number
  /** Absent: that of the grant. */
  readonly purpose?: string | undefined
  readonly ticket?: string | undefined
}

/**
 * Saves a request that names an open grant of the caller's.
 * @throws Fault `not_found` for a grant that is not the caller's, `conflict` where it is not open or is renewed already, or
 *   would lift something else by now, and as `requestAccess`
 */
export async function renewAccess(on: AccessContext, asked: AskedRenewal): Promise<MadeRequest> {
  const { store, clock, tenant, actor } = on
  assertSeconds(asked.seconds)
  return await store.tenantTransaction(tenant, async (tx) => {
    const grant = await lockGrant(tx, tenant, asked.renews)
    if (
      grant === undefined ||
      !('sub' in grant.grantee ? grant.grantee.sub === actor.sub : actor.roles.includes(grant.grantee.role))
    )
      throw new Fault('not_found', 'There is no such grant.')
    const at = new Date(clock.now())
    if (grant.endedAt !== undefined || grant.from > at || grant.until <= at)
      throw new Fault('conflict', 'Only a grant that is open is renewed. Ask for access instead.')
    if (await isRenewed(tx, tenant, grant.id))
      throw new Fault('conflict', 'The grant is renewed already, or a request for that waits.')
    const first = await findAccessRequest(tx, tenant, grant.request)
    const grantee = granteeOf(actor, 'role' in grant.grantee ? grant.grantee.role : undefined)
    const wanted = first?.wanted ?? {}
    const now = await wantedNow(tx, on, grant.table, { grantee, wanted })
    if (!Bun.deepEquals(now.lifts, grant.lifts))
      throw new Fault('conflict', 'What hides the table has changed since the grant. Ask for access instead.')
    const ticket = asked.ticket === undefined ? grant.ticket : lineOf(asked.ticket, 'ticket')
    return await saveRequest(tx, on, {
      ...{ table: grant.table, ...now, grantee, wanted, ticket, seconds: asked.seconds },
      purpose: asked.purpose === undefined ? grant.purpose : lineOf(asked.purpose, 'purpose'),
      ...{ isBreakGlass: false, renews: grant.id },
    })
  })
}
