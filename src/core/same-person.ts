/** Tells whether two sessions may be of one person. That nobody has two accounts is for the identity provider. */

import { operator } from './administration.ts'
import { isReservedSubject } from './principal.ts'

/** Who acts by a session. */
export interface SessionPerson {
  readonly sub: string
  /** Subject of who made the session. */
  readonly createdBy?: string | undefined
}

/** Whether two sessions are of one person: of one subject, or one made the session of the other. */
export function isSamePerson(a: SessionPerson, b: SessionPerson): boolean {
  return a.sub === b.sub || a.sub === b.createdBy || b.sub === a.createdBy
}

/**
 * Who made the session of a service, and so may have its secret. Undefined for a person, who is known by name, and for a
 * session that the operator made, who has the store at hand: it is of whom it is for.
 */
export function makerOf({ sub, createdBy }: SessionPerson): string | undefined {
  return isReservedSubject(sub) && createdBy !== operator().sub ? createdBy : undefined
}

/** Who acts by a session, with what else may tell who it is. */
export interface NamedPerson extends SessionPerson {
  readonly email?: string | undefined
}

/**
 * Whether two sessions might be of one person: by {@link isSamePerson} without regard to case, or by one e-mail address,
 * as where two issuers name a person. Only for refusals: it gives nobody anything.
 */
export function mayBeSamePerson(a: NamedPerson, b: NamedPerson): boolean {
  const isOneAddress = a.email !== undefined && a.email.toLowerCase() === b.email?.toLowerCase()
  return isOneAddress || isSamePerson(foldedPerson(a), foldedPerson(b))
}

function foldedPerson({ sub, createdBy }: SessionPerson): SessionPerson {
  return { sub: sub.toLowerCase(), createdBy: createdBy?.toLowerCase() }
}
