/** Shows who made a change, in the form of the API: the principal, and the session through which it acted. */

import { type Actor, actorSources } from '../core/administration.ts'
import { sessionKinds } from '../core/session.ts'
import { described, list, maybe, oneOf, text, uuid } from './schemas.ts'

const service = '`service`: a machine client decided, not a person'

/** Members of a decision, beside the subject of who made it. */
export const deciderMembers = {
  session_kind: maybe(described(oneOf(sessionKinds), service)),
  session_created_by: maybe(described(text, 'subject of who made that session')),
}

/** The members of an actor. */
export const actorMembers = {
  sub: text,
  email: maybe(text),
  roles: list(text),
  source: described(oneOf(actorSources), 'how the actor was identified'),
  session_id: maybe(uuid),
  ...deciderMembers,
}

/** The members of {@link deciderMembers}; empty where no session decided, or none was recorded. */
export function deciderView(session: Pick<NonNullable<Actor['session']>, 'kind' | 'createdBy'> | undefined) {
  return { session_kind: session?.kind, session_created_by: session?.createdBy }
}

/** An actor in the form of the API. */
export function actorView(actor: Actor) {
  const { sub, email, roles, source, session } = actor
  return { sub, email, roles, source, session_id: session?.id, ...deciderView(session) }
}
