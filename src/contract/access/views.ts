/** How requests for access and grants are shown: their schemas and views. */

import type { Grantee } from '../../core/access-grant.ts'
import type { SeenRowsCount } from '../../core/seen-rows.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import {
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import type { Grant, NewGrant } from '../../store/contract/access-grants.ts'
import { type AccessRequest, decisionLevels, requestStates } from '../../store/contract/access-requests.ts'
import type { liftsNow } from './decide-access.ts'
import type { MadeRequest } from './request-access.ts'

const by = object(actorMembers)

const grantee = {
  sub: maybe(described(text, 'the subject that has it')),
  role: maybe(described(text, 'those who have this role have it')),
}
const seeingRoles = described(list(text), 'those that see it without a grant')
export const askedParts = {
  columns: maybe(described(list(nonEmpty, { minItems: 1, maxItems: 100 }), 'names of masked columns')),
  filters: maybe(described(list(nonEmpty, { minItems: 1, maxItems: 100 }), 'ids of row filters')),
  policies: maybe(
    described(
      list(nonEmpty, { minItems: 1, maxItems: 100 }),
      'ids or names of policies that shall refuse no commit of the grantee’s to the table',
    ),
  ),
}

const levelWords =
  '`plan`: by the review plan of the contract, for who asked; `review`: of access that was taken by break-glass'
const waitsWords =
  '`first`: a steward or an owner of the contract; `second`: an administrator, or another one of those, as the contract asks; `review`: a steward, afterwards'

export const requestSchema = object({
  id: uuid,
  sha256: described(
    text,
    'of the table, who would have it, what is lifted, for how long and why: what is decided',
  ),
  state: oneOf(requestStates),
  requested_at: time,
  requested_by: by,
  table: tableIdentifier,
  contract: text,
  grantee: object(grantee),
  ...askedParts,
  purpose: text,
  ticket: maybe(text),
  seconds: described(ordinal, 'for how long, from the decision on'),
  decisions: list(
    object({
      approves: flag,
      level: described(oneOf(decisionLevels), levelWords),
      at: text,
      by,
      comment: maybe(text),
    }),
  ),
  break_glass: maybe(described(flag, 'whether access was taken at once, and is reviewed afterwards')),
  renews: maybe(described(uuid, 'the grant that it would renew')),
  ended_at: maybe(time),
})

export const shownRequestSchema = object({
  ...requestSchema.properties,
  waits_for: described(list(oneOf(['first', 'second', 'review'])), waitsWords),
  reveals: maybe(
    described(
      object({
        columns: list(object({ name: text, tags: list(text), masks: list(text), roles: seeingRoles })),
        filters: list(object({ id: text, expression: text, roles: seeingRoles })),
        policies: list(object({ id: text, name: text, expression: text })),
        rows: object({
          before: maybe(described(ordinal, 'that the reader sees now')),
          after: maybe(described(ordinal, 'that the reader would see')),
          problem: maybe(described(text, 'why they were not counted')),
        }),
        open_grants: described(
          list(object({ id: uuid, grantee: object(grantee), purpose: text, from: time, until: time })),
          'of the table, newest first, at most 50',
        ),
      }),
      'what would be lifted by now, and who has it already; for stewards, administrators and owners of the contract',
    ),
  ),
  problem: maybe(described(text, 'why it cannot be granted by now')),
})

export const grantSchema = object({
  id: uuid,
  request: uuid,
  table: tableIdentifier,
  contract: text,
  grantee: object(grantee),
  purpose: text,
  ticket: maybe(text),
  granted_at: time,
  granted_by: described(text, 'subject'),
  from: time,
  until: time,
  ended_at: maybe(time),
  ended_by: maybe(described(text, 'subject; absent where its time was over')),
  end_reason: maybe(text),
})

/** A request as operations show it. */
export function requestView(found: AccessRequest) {
  const { id, sha256, state, table, contract, wanted, purpose, ticket, seconds, decisions } = found
  return {
    ...{ id, sha256, state, requested_at: found.requestedAt, requested_by: actorView(found.requestedBy) },
    ...{ table, contract: contract.id, grantee: granteeView(found.grantee) },
    ...(wanted.columns && { columns: [...wanted.columns] }),
    ...(wanted.filters && { filters: [...wanted.filters] }),
    ...(wanted.policies && { policies: [...wanted.policies] }),
    ...{ purpose, ticket, seconds, ended_at: found.endedAt, renews: found.renews },
    ...(found.isBreakGlass && { break_glass: true }),
    decisions: decisions.map((one) => ({ ...one, by: actorView(one.by) })),
  }
}

/** A grant as operations show it. */
export function grantView(found: Omit<Grant, 'lifts'>) {
  const { id, request: of, table, contract, purpose, ticket, from, until } = found
  return {
    ...{ id, request: of, table, contract, grantee: granteeView(found.grantee), purpose, ticket },
    ...{ granted_at: found.grantedAt, granted_by: found.grantedBy.sub, from, until },
    ...{ ended_at: found.endedAt, ended_by: found.endedBy?.sub, end_reason: found.endReason },
  }
}

const granteeView = (of: Grantee) => ('sub' in of ? { sub: of.sub } : { role: of.role })

/** A request, with the grant that it made at once. */
export const madeRequestSchema = object({
  ...requestSchema.properties,
  grant: maybe(described(grantSchema, 'where nobody decides first')),
})

/** A request that was just made. */
export function madeRequestView({ request, grant }: MadeRequest) {
  return { ...requestView(request), ...(grant && { grant: newGrantView(grant) }) }
}

/** A grant that was just made. */
export function newGrantView(grant: NewGrant) {
  return grantView({ ...grant, endedAt: undefined, endedBy: undefined, endReason: undefined })
}

/** What a decision would reveal. */
export function revealsView(
  {
    columns,
    filters,
    policies,
  }: Extract<Awaited<ReturnType<typeof liftsNow>>, { lifts: object }>['revealed'],
  rows: SeenRowsCount,
  openGrants: readonly Omit<Grant, 'lifts'>[],
) {
  return {
    columns: columns.map(({ name, tags, masks, roles }) => ({
      ...{ name, tags: [...tags], masks: [...masks], roles: [...roles] },
    })),
    filters: filters.map(({ id, expression, roles }) => ({ id, expression, roles: [...roles] })),
    policies: [...policies],
    rows: { ...rows },
    open_grants: openGrants.map((one) => {
      const { id, purpose, from, until } = one
      return { id, grantee: granteeView(one.grantee), purpose, from, until }
    }),
  }
}
