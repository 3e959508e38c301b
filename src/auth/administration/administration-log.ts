/** Shows the administration log (docs/reference/identity.md 5.6) in the form of the API. */

import { administrationActions } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { type PageInput, pageRequest, pageView } from '../../http/page-view.ts'
import {
  anyObject,
  described,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  text,
  time,
} from '../../http/schemas.ts'
import {
  type AdministrationEntry,
  type AdministrationFilter,
  listAdministration,
} from '../../store/administration/administration-log.ts'
import type { Store } from '../../store/store.ts'

/** Query members that select entries. */
export const administrationFilter = {
  action: maybe(oneOf(administrationActions)),
  actor: maybe(described(nonEmpty, 'subject of who made the change')),
  request_id: maybe(described(nonEmpty, '`X-Request-Id` of the response')),
  ...pageInput,
}

export const administrationPage = pageOf(
  object({
    at: time,
    action: oneOf(administrationActions),
    subject: described(anyObject, 'what was changed, by name or id'),
    value: maybe(described(anyObject, 'what was put there, without secrets')),
    actor: object(actorMembers),
    request_id: text,
  }),
)

interface Wanted extends PageInput, Pick<AdministrationFilter, 'action' | 'actor'> {
  readonly request_id?: string | undefined
}

/** One page of a tenant's log, newest first. Throws `bad_request` for a bad page token. */
export async function administrationOf(
  store: Store,
  tenant: TenantId,
  { request_id: requestId, action, actor, ...page }: Wanted,
) {
  const filter = { action, actor, requestId, ...pageRequest(page) }
  return pageView(await listAdministration(store, tenant, filter), entryView)
}

function entryView({ at, action, subject, value, actor }: AdministrationEntry) {
  return {
    at,
    action,
    subject,
    value: value as Readonly<Record<string, unknown>> | undefined,
    actor: actorView(actor),
    request_id: actor.requestId,
  }
}
