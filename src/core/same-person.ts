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
