/** Schemas of sessions in requests and responses, under /admin and for a tenant's own administrator. */

import { Type } from '@sinclair/typebox'
import { sessionKinds, sessionScopes, sessionStates } from '../../core/session.ts'
import { actorMembers } from '../../http/actor-view.ts'
import {
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'

export const scopes = list(oneOf(sessionScopes))
export const principal = object({ sub: text, email: maybe(text), roles: list(text) })

/** The members of a request for a new session. */
export const wantedSession = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  sub: maybe(described(text, 'the subject, in which `service:` comes first; default: the name')),
  roles: maybe(described(list(text), 'an owner of the tenant may give any, others those that they hold')),
  scopes: list(oneOf(sessionScopes), { minItems: 1 }),
  expires_at: maybe(described(time, 'in the future; default: never')),
}
export const mintedSession = object({
  id: uuid,
  secret: described(nonEmpty, 'shown only in this response'),
  sub: described(text, 'the subject, `service:…`'),
})

/** Query members that select sessions. */
export const sessionFilter = {
  kind: maybe(oneOf(sessionKinds, { default: 'service' })),
  ...pageInput,
}
export const sessionPage = pageOf(
  object({
    id: uuid,
    kind: oneOf(sessionKinds),
    name: maybe(described(text, 'of a service session')),
    principal,
    scopes,
    created_at: time,
    created_by: maybe(
      described(object({ ...actorMembers, request_id: text }), 'absent for a session older than this record'),
    ),
    seen_at: maybe(described(time, 'of a browser session')),
    expires_at: maybe(time),
    revoked_at: maybe(time),
    trusted_engine: maybe(
      described(flag, 'of a service session: whether its engine is told read restrictions, to apply them'),
    ),
    exchanged: maybe(
      described(flag, 'true of a service session that a workload exchanged a token of its own for'),
    ),
    state: oneOf(sessionStates),
    quarantined_until: maybe(
      described(time, 'of a session that has ended: when the last storage credential that it holds expires'),
    ),
  }),
)

/** What is added to the summary of a revocation. */
export const sessionEnd =
  'Commits, loads and refreshes of credentials are refused at once. Storage credentials that it was issued are valid until they expire, or until they are denied.'

/** What a session that was revoked still holds. */
export const endedSession = object({
  state: oneOf(sessionStates),
  quarantined_until: maybe(described(time, 'when the last storage credential that it holds expires')),
  credentials_out: described(wholeNumber, 'see `/credentials/out`'),
})

/** An example request for a new session. */
export const sessionExample = { name: 'spark-nightly', scopes: ['commit'], roles: ['etl'] }
