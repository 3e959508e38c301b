/** What the API takes and shows of sessions, under /admin and for a tenant's own administrator. */

import { Type } from '@sinclair/typebox'
import { sessionScopes } from '../../core/session.ts'
import {
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  said,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { sessionKinds } from './sessions.ts'

export const scopes = list(oneOf(sessionScopes))
export const principal = object({ sub: text, email: maybe(text), roles: list(text) })

/** What a new session is made from. */
export const wantedSession = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  sub: maybe(said(text, 'the subject; the name where it is absent')),
  email: maybe(text),
  roles: maybe(list(text)),
  scopes: list(oneOf(sessionScopes), { minItems: 1 }),
  expires_at: maybe(said(time, 'in the future; never where it is absent')),
}
export const mintedSession = object({ id: uuid, secret: said(nonEmpty, 'shown this once') })

/** Which sessions are listed. */
export const sessionFilter = {
  kind: maybe(oneOf(sessionKinds, { default: 'service' })),
  ...pageInput,
}
export const sessionPage = pageOf(
  object({
    id: uuid,
    name: maybe(said(text, 'of a service session')),
    principal,
    scopes,
    created_at: time,
    seen_at: maybe(said(time, 'of a browser session')),
    expires_at: maybe(time),
    revoked_at: maybe(time),
  }),
)

/** An example of what a new session is made from. */
export const sessionExample = { name: 'spark-nightly', scopes: ['commit'], roles: ['etl'] }
