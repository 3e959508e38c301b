/**
 * Applies provisioning to principals (docs/reference/identity.md 11): who was deactivated or deleted is refused, and
 * where groups give the roles, a token's do not count. Services and the operator are no people.
 */

import { Fault } from '../base/fault.ts'
import { Lru } from '../base/lru.ts'
import { type IdentifiedPrincipal, isReservedSubject, type Principal } from '../core/principal.ts'
import type { Standing } from '../core/provisioning.ts'
import type { Session } from '../core/session.ts'
import { standingOf } from '../store/session/provisioning.ts'
import type { Store } from '../store/store.ts'
import type { IdentifyPrincipal } from './principal-chain.ts'

/**
 * A principal as provisioning has it.
 * @throws Fault `unauthenticated` for one who is refused
 */
export function admitPerson<P extends Principal>(person: P, standing: Standing): P {
  if (standing.kind === 'refused')
    throw new Fault(
      'unauthenticated',
      `The credential is refused: ${standing.why}. Ask who provisions people for your organization.`,
    )
  return standing.kind === 'by groups' ? { ...person, roles: standing.roles } : person
}

const cachedMax = 10_000

/**
 * The principal chain with provisioning applied to what it finds. A tenant's number comes with each session, so a
 * change holds from the next request on, on every replica.
 */
export function provisionedIdentity(store: Store, identify: IdentifyPrincipal): IdentifyPrincipal {
  const known = new Lru<string, Promise<Standing>>(cachedMax)
  const standing = async ({ tenant, issuersVersion = '0' }: Session, person: Principal) => {
    const key = JSON.stringify([tenant, issuersVersion, person.sub, person.email])
    const cached = known.get(key)
    if (cached !== undefined) return await cached
    const found = standingOf(store, tenant, person)
    known.set(key, found)
    found.catch(() => known.delete(key))
    return await found
  }
  return async (headers, peerAddress, session) => {
    const found = await identify(headers, peerAddress, session)
    if (!isJudged(found, session)) return found
    return admitFound(found, await standing(session, found.principal))
  }
}

/**
 * A principal that a session's ticket names, as provisioning has it now.
 * @param session as it is now
 * @throws Fault `unauthenticated` for one who is refused, and of the store
 */
export async function personNow(
  store: Store,
  session: Session,
  found: IdentifiedPrincipal,
): Promise<IdentifiedPrincipal> {
  if (!isJudged(found, session)) return found
  return admitFound(found, await standingOf(store, session.tenant, found.principal))
}

/** A tenant whose number is zero has never had provisioning. */
function isJudged(found: IdentifiedPrincipal, session: Session): boolean {
  return isPerson(found, session) && (session.issuersVersion ?? '0') !== '0'
}

function admitFound(found: IdentifiedPrincipal, now: Standing): IdentifiedPrincipal {
  // A certificate has no roles and names no e-mail address, so it is refused by its subject alone.
  if (found.source === 'mtls_san') {
    if (now.kind === 'refused' && !now.isUnnamed) admitPerson(found.principal, now)
    return found
  }
  return { ...found, principal: admitPerson(found.principal, now) }
}

/**
 * Whether a principal is a person. The session's own is none, also that of an access token for a session whose subject
 * was given when subjects of services were not yet reserved.
 */
export function isPerson({ source, principal }: IdentifiedPrincipal, session: Session): boolean {
  return source !== 'session' && principal !== session.principal && !isReservedSubject(principal.sub)
}
