/** Tells whether two sessions may be of one person. That nobody has two accounts is for the identity provider. */

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
