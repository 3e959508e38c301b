/**
 * Reads provisioned users and groups: one, or those that a filter selects. A filter that demands a name, an id, an
 * `externalId` or a member of a group reads by an index; any other looks at all of them, some at a time.
 */

import { provisioningBounds } from '../../core/provisioning.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Filter } from '../../wire/scim/filter.ts'
import { memberDemanded } from '../../wire/scim/member-filter.ts'
import { scimFault } from '../../wire/scim/scim-fault.ts'
import { isUuid } from '../database/page.ts'
import type { Param } from '../database/session.ts'
import type { Store } from '../store.ts'
import { folded } from './provisioning.ts'
import { groupColumns, type ScimGroup, toGroup } from './scim-groups.ts'
import { type ScimUser, toUser, userColumns } from './scim-users.ts'

/** A member of a group. */
export interface Member {
  readonly id: string
  readonly display: string
}

/** The group of a user. */
interface GroupOfUser {
  readonly id: string
  readonly name: string
}

export interface Selected<T> {
  readonly total: number
  readonly items: readonly T[]
}

interface Wanted<T> {
  readonly filter: Filter | undefined
  /** Whether one fulfils the filter; several at once, because what it needs is read for all of them. */
  readonly select: (some: readonly T[]) => Promise<readonly T[]>
  /** How many to skip. */
  readonly offset: number
  readonly count: number
}

/** Rows that are looked at in one step. */
const step = 500

interface Kind {
  readonly table: 'scim_user' | 'scim_group'
  readonly id: 'user_id' | 'group_id'
  readonly columns: string
  readonly max: number
  /** Columns by the attribute that finds them; whether texts are folded. */
  readonly indexed: Readonly<Record<string, { readonly column: string; readonly folds: boolean }>>
}

const userKind: Kind = {
  ...{ table: 'scim_user', id: 'user_id', columns: userColumns, max: provisioningBounds.usersMax },
  indexed: {
    id: { column: 'user_id', folds: false },
    userName: { column: 'user_name_key', folds: true },
    externalId: { column: 'external_id', folds: false },
  },
}
const groupKind: Kind = {
  ...{ table: 'scim_group', id: 'group_id', columns: groupColumns, max: provisioningBounds.groupsMax },
  indexed: {
    id: { column: 'group_id', folds: false },
    displayName: { column: 'display_key', folds: true },
    externalId: { column: 'external_id', folds: false },
  },
}

type UserRow = Parameters<typeof toUser>[0]
type GroupRow = Parameters<typeof toGroup>[0]

/** The users that a filter selects, in the order of their ids. */
export function listScimUsers(
  store: Store,
  tenant: TenantId,
  wanted: Wanted<ScimUser>,
): Promise<Selected<ScimUser>> {
  return listed<UserRow, ScimUser>(store, tenant, userKind, toUser, wanted)
}

/** The groups that a filter selects, in the order of their ids. */
export function listScimGroups(
  store: Store,
  tenant: TenantId,
  wanted: Wanted<ScimGroup>,
): Promise<Selected<ScimGroup>> {
  return listed<GroupRow, ScimGroup>(store, tenant, groupKind, toGroup, wanted)
}

/** The user of an id. */
export async function findScimUser(
  store: Store,
  tenant: TenantId,
  id: string,
): Promise<ScimUser | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await store.tenantQuery<UserRow>(
    tenant,
    `select ${userColumns} from svc.scim_user where tenant_id = $1 and user_id = $2`,
    [tenant, id],
  )
  return row && toUser(row)
}

/** The group of an id. */
export async function findScimGroup(
  store: Store,
  tenant: TenantId,
  id: string,
): Promise<ScimGroup | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await store.tenantQuery<GroupRow>(
    tenant,
    `select ${groupColumns} from svc.scim_group where tenant_id = $1 and group_id = $2`,
    [tenant, id],
  )
  return row && toGroup(row)
}

async function listed<R extends object, T extends { readonly id: string }>(
  store: Store,
  tenant: TenantId,
  kind: Kind,
  to: (row: R) => T,
  { filter, select, offset, count }: Wanted<T>,
): Promise<Selected<T>> {
  const { table, id, columns } = kind
  const from = `from svc.${table} where tenant_id = $1`
  if (filter === undefined) {
    const [all] = await store.tenantQuery<{ readonly count: number }>(
      tenant,
      `select count(*)::int as count ${from}`,
      [tenant],
    )
    const rows = await store.tenantQuery<R>(
      tenant,
      `select ${columns} ${from} order by ${id} limit $2::int offset $3::int`,
      [tenant, count, offset],
    )
    return { total: all?.count ?? 0, items: rows.map(to) }
  }
  const narrowed = narrow(kind, filter) ?? narrowByMember(kind, filter)
  const found: T[] = []
  let total = 0
  let after = '00000000-0000-0000-0000-000000000000'
  for (let looked = 0; looked < kind.max + step; looked += step) {
    const params: Param[] = [tenant, after, step]
    const also = narrowed === undefined ? '' : ` and ${narrowed.condition(`$${params.push(narrowed.value)}`)}`
    const rows = await store.tenantQuery<R>(
      tenant,
      `select ${columns} ${from} and ${id} > $2::uuid${also} order by ${id} limit $3::int`,
      params,
    )
    const some = rows.map(to)
    for (const one of await select(some)) {
      if (total >= offset && found.length < count) found.push(one)
      total += 1
    }
    const last = some.at(-1)
    if (last === undefined || some.length < step) break
    after = last.id
  }
  return { total, items: found }
}

/** What holds for every item that fulfils a filter, and is found by an index. */
interface Narrowed {
  readonly condition: (param: string) => string
  readonly value: string
}

/** By an indexed column. */
function narrow(kind: Kind, filter: Filter): Narrowed | undefined {
  if (filter.op === 'and') return narrow(kind, filter.left) ?? narrow(kind, filter.right)
  if (filter.op !== 'eq' || typeof filter.value !== 'string') return undefined
  const { place, value } = filter
  const found =
    place.extension === undefined && place.sub === undefined ? kind.indexed[place.attribute.name] : undefined
  if (found === undefined) return undefined
  const { column, folds } = found
  const condition = (param: string) => `${column} = ${param}`
  if (column === kind.id) return { condition, value: idOf(value) }
  return { condition, value: folds ? folded(value) : value.replaceAll('\0', '\uFFFD') }
}

/** By a member whom each group has. */
function narrowByMember({ table }: Kind, filter: Filter): Narrowed | undefined {
  const member = table === 'scim_group' ? memberDemanded(filter) : undefined
  if (member === undefined) return undefined
  const condition = (param: string) =>
    `group_id in (select group_id from svc.scim_member where tenant_id = $1 and user_id = ${param}::uuid)`
  return { condition, value: idOf(member) }
}

/** An id that is none is had by nobody. */
function idOf(text: string): string {
  return isUuid(text) ? text : '00000000-0000-0000-0000-000000000000'
}

/** One more than the memberships that one answer holds. */
const rowsMax = provisioningBounds.membersMax + 1

/** @throws Fault `bad_request` (tooMany) */
function assertFew(rows: readonly object[]): void {
  if (rows.length < rowsMax) return
  throw scimFault(
    400,
    `An answer may hold, and a filter look at, ${provisioningBounds.membersMax} memberships of groups. Ask for fewer by \`count\`, or leave \`members\` or \`groups\` out by \`excludedAttributes\`.`,
    'tooMany',
  )
}

/** The groups of some users, by user. @throws Fault `bad_request` (tooMany) */
export async function groupsOfUsers(
  store: Store,
  tenant: TenantId,
  users: readonly string[],
): Promise<ReadonlyMap<string, readonly GroupOfUser[]>> {
  if (users.length === 0) return new Map()
  const rows = await store.tenantQuery<{ user_id: string; group_id: string; display_name: string }>(
    tenant,
    `select m.user_id, g.group_id, g.display_name from svc.scim_member m join svc.scim_group g using (tenant_id, group_id)
     where m.tenant_id = $1 and m.user_id in (select jsonb_array_elements_text($2::text::jsonb)::uuid)
     order by g.display_name limit ${rowsMax}`,
    [tenant, JSON.stringify(users)],
  )
  assertFew(rows)
  return grouped(
    rows,
    (row) => row.user_id,
    (row) => ({ id: row.group_id, name: row.display_name }),
  )
}

/**
 * The members of some groups, by group.
 * @param among the ids of the users who matter; undefined: all
 * @throws Fault `bad_request` (tooMany)
 */
export async function membersOfGroups(
  store: Store,
  tenant: TenantId,
  groups: readonly string[],
  among?: readonly string[],
): Promise<ReadonlyMap<string, readonly Member[]>> {
  if (groups.length === 0 || among?.length === 0) return new Map()
  const params: Param[] = [tenant, JSON.stringify(groups)]
  const ids = among && params.push(JSON.stringify(among.filter(isUuid)))
  const isMeant = ids ? `and m.user_id in (select jsonb_array_elements_text($${ids}::text::jsonb)::uuid)` : ''
  const rows = await store.tenantQuery<{ group_id: string; user_id: string; display: string }>(
    tenant,
    `select m.group_id, m.user_id, coalesce(u.resource ->> 'displayName', u.resource ->> 'userName') as display
     from svc.scim_member m join svc.scim_user u using (tenant_id, user_id)
     where m.tenant_id = $1 and m.group_id in (select jsonb_array_elements_text($2::text::jsonb)::uuid)
       ${isMeant}
     order by m.user_id limit ${rowsMax}`,
    params,
  )
  assertFew(rows)
  return grouped(
    rows,
    (row) => row.group_id,
    (row) => ({ id: row.user_id, display: row.display }),
  )
}

function grouped<R, T>(
  rows: readonly R[],
  keyOf: (row: R) => string,
  to: (row: R) => T,
): ReadonlyMap<string, readonly T[]> {
  const by = new Map<string, T[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const items = by.get(key)
    if (items === undefined) by.set(key, [to(row)])
    else items.push(to(row))
  }
  return by
}
