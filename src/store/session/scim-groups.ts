/**
 * Stores the groups that an identity provider provisions, and who is in them (docs/reference/identity.md 11). Members
 * are rows, so that one who comes or goes does not rewrite the group. Where groups give the roles, a change of them
 * ends the browser sessions of those whom it concerns.
 */

import type { Actor } from '../../core/administration.ts'
import { type Provisioning, provisioningBounds } from '../../core/provisioning.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { MemberChange } from '../../wire/scim/group-patch.ts'
import { badScim, scimFault } from '../../wire/scim/scim-fault.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { assertIndexable } from '../database/names.ts'
import { isUuid } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { endSessionsOf, isOneOf } from './person-sessions.ts'
import { beginChange, changeStored, folded, raiseVersion } from './provisioning.ts'

/** What a client says of a group, besides its members. */
export interface GroupAttributes {
  readonly displayName: string
  readonly externalId: string | undefined
}

export interface ScimGroup extends GroupAttributes {
  readonly id: string
  readonly version: string
  readonly createdAt: Date
  readonly changedAt: Date
}

interface Row {
  readonly group_id: string
  readonly display_name: string
  readonly external_id: string | null
  readonly version: string
  readonly created_at: Date
  readonly changed_at: Date
}

/** The columns from which `toGroup` makes a group. */
export const groupColumns = 'group_id, display_name, external_id, version, created_at, changed_at'

/** The group of a row. */
export function toGroup(row: Row): ScimGroup {
  return {
    ...{ id: row.group_id, displayName: row.display_name, externalId: row.external_id ?? undefined },
    ...{ version: row.version, createdAt: row.created_at, changedAt: row.changed_at },
  }
}

/** @throws Fault `conflict` (uniqueness), `bad_request` for a member that is no user, or too much */
export async function createScimGroup(
  store: Store,
  tenant: TenantId,
  { displayName, externalId }: GroupAttributes,
  members: readonly string[],
  by: Actor,
): Promise<ScimGroup> {
  assertShort(displayName, externalId)
  const id = crypto.randomUUID()
  return await store.adminTransaction(async (tx) => {
    const settings = await beginChange(tx, tenant, by)
    await assertNameFree(tx, tenant, displayName, id)
    const [counted] = await tx.query<{ readonly count: number }>(
      'select count(*)::int as count from svc.scim_group where tenant_id = $1',
      [tenant],
    )
    if ((counted?.count ?? 0) >= provisioningBounds.groupsMax)
      throw scimFault(400, `A tenant may have ${provisioningBounds.groupsMax} groups.`, 'tooMany')
    const [row] = await tx.query<Row>(
      `insert into svc.scim_group (tenant_id, group_id, display_name, display_key, external_id)
       values ($1, $2, $3, $4, $5) returning ${groupColumns}`,
      [tenant, id, displayName, folded(displayName), externalId ?? null],
    )
    const changed = await changeMembers(tx, tenant, id, { kind: 'add', users: members })
    await takeEffect(tx, tenant, settings, changed, by)
    await record(tx, tenant, by, 'put-scim-group', id, displayName)
    return toGroup(row as Row)
  })
}

interface GroupChange {
  /** Gets the stored attributes and gives those to store. */
  readonly attributes: (stored: GroupAttributes) => GroupAttributes
  readonly members: readonly MemberChange[]
}

/**
 * Changes a group.
 * @returns undefined where there is none
 * @throws Fault as `createScimGroup`, and `conflict` where the version is another (412); as `change.attributes`
 */
export async function changeScimGroup(
  store: Store,
  tenant: TenantId,
  id: string,
  change: GroupChange,
  isExpected: (version: string) => boolean,
  by: Actor,
): Promise<ScimGroup | undefined> {
  return await changeStored(store, tenant, id, findGroup, isExpected, by, async (tx, settings, stored) => {
    const { displayName, externalId } = change.attributes(stored)
    assertShort(displayName, externalId)
    const changed = new Set<string>()
    for (const one of change.members)
      for (const user of await changeMembers(tx, tenant, id, one)) changed.add(user)
    const isRenamed = displayName !== stored.displayName
    if (!isRenamed && externalId === stored.externalId && changed.size === 0) return stored
    if (isRenamed) {
      await assertNameFree(tx, tenant, displayName, id)
      for (const user of await membersOf(tx, tenant, id)) changed.add(user)
    }
    const [row] = await tx.query<Row>(
      `update svc.scim_group set display_name = $3, display_key = $4, external_id = $5, version = version + 1,
         changed_at = clock_timestamp() where tenant_id = $1 and group_id = $2 returning ${groupColumns}`,
      [tenant, id, displayName, folded(displayName), externalId ?? null],
    )
    await takeEffect(tx, tenant, settings, changed, by)
    await record(tx, tenant, by, 'put-scim-group', id, displayName)
    return toGroup(row as Row)
  })
}

/** Deletes a group. @returns whether there was one @throws Fault `conflict` where the version is another (412) */
export async function deleteScimGroup(
  store: Store,
  tenant: TenantId,
  id: string,
  isExpected: (version: string) => boolean,
  by: Actor,
): Promise<boolean> {
  const isDeleted = await changeStored(
    store,
    tenant,
    id,
    findGroup,
    isExpected,
    by,
    async (tx, settings, stored) => {
      const members = await membersOf(tx, tenant, id)
      await tx.query('delete from svc.scim_group where tenant_id = $1 and group_id = $2', [tenant, id])
      await takeEffect(tx, tenant, settings, members, by)
      await record(tx, tenant, by, 'delete-scim-group', id, stored.displayName)
      return true
    },
  )
  return isDeleted ?? false
}

async function findGroup(tx: Tx, tenant: TenantId, id: string): Promise<ScimGroup | undefined> {
  const [row] = await tx.query<Row>(
    `select ${groupColumns} from svc.scim_group where tenant_id = $1 and group_id = $2`,
    [tenant, id],
  )
  return row && toGroup(row)
}

function assertShort(displayName: string, externalId: string | undefined): void {
  assertIndexable(displayName, 'The name of a group')
  assertIndexable(externalId ?? '', 'An `externalId`')
}

/** Names of roles are told apart without case, so that no two groups look the same. @throws Fault `conflict` */
async function assertNameFree(tx: Tx, tenant: TenantId, name: string, id: string): Promise<void> {
  const taken = await tx.query(
    'select 1 from svc.scim_group where tenant_id = $1 and display_key = $2 and group_id <> $3',
    [tenant, folded(name), id],
  )
  if (taken.length > 0) throw scimFault(409, 'Another group has this `displayName`.', 'uniqueness')
}

interface MemberRow {
  readonly user_id: string
}

async function membersOf(tx: Tx, tenant: TenantId, id: string): Promise<readonly string[]> {
  const rows = await tx.query<MemberRow>(
    'select user_id from svc.scim_member where tenant_id = $1 and group_id = $2',
    [tenant, id],
  )
  return rows.map(({ user_id: user }) => user)
}

const named = '(select jsonb_array_elements_text($3::text::jsonb)::uuid)'

/** @returns the users who are in now and were not, or the other way round @throws Fault `bad_request` */
async function changeMembers(
  tx: Tx,
  tenant: TenantId,
  group: string,
  { kind, users }: MemberChange,
): Promise<readonly string[]> {
  const ids = [...new Set(users.map((user) => user.toLowerCase()))].filter(isUuid)
  const list = JSON.stringify(ids)
  const removed =
    kind === 'add'
      ? []
      : await tx.query<MemberRow>(
          `delete from svc.scim_member where tenant_id = $1 and group_id = $2
             and user_id ${kind === 'replace' ? 'not in' : 'in'} ${named} returning user_id`,
          [tenant, group, list],
        )
  if (kind === 'remove') return removed.map(({ user_id: user }) => user)
  const there = await tx.query<{ readonly count: number }>(
    `select count(*)::int as count from svc.scim_user where tenant_id = $1 and user_id in
       (select jsonb_array_elements_text($2::text::jsonb)::uuid)`,
    [tenant, list],
  )
  if (there[0]?.count !== new Set(users).size)
    throw badScim('invalidValue', 'A member is no user here. Provision the user first, and send its `id`.')
  const added = await tx.query<MemberRow>(
    `insert into svc.scim_member (tenant_id, group_id, user_id)
     select $1, $2, jsonb_array_elements_text($3::text::jsonb)::uuid on conflict do nothing returning user_id`,
    [tenant, group, list],
  )
  const [counted] = await tx.query<{ readonly count: number }>(
    'select count(*)::int as count from svc.scim_member where tenant_id = $1 and group_id = $2',
    [tenant, group],
  )
  if ((counted?.count ?? 0) > provisioningBounds.membersMax)
    throw scimFault(400, `A group may have ${provisioningBounds.membersMax} members.`, 'tooMany')
  return [...removed, ...added].map(({ user_id: user }) => user)
}

/** Where groups give the roles, those whom a change concerns log in again. */
async function takeEffect(
  tx: Tx,
  tenant: TenantId,
  settings: Provisioning,
  users: Iterable<string>,
  by: Actor,
): Promise<void> {
  const ids = [...users]
  if (settings.rolesFrom !== 'groups' || ids.length === 0) return
  await raiseVersion(tx, tenant)
  const rows = await tx.query<{ readonly person_key: string }>(
    `select person_key from svc.scim_user where tenant_id = $1 and person_key is not null and user_id in
       (select jsonb_array_elements_text($2::text::jsonb)::uuid)`,
    [tenant, JSON.stringify(ids)],
  )
  const keys = new Set(rows.map(({ person_key: key }) => key))
  if (keys.size > 0) await endSessionsOf(tx, tenant, isOneOf(settings, keys), by)
}

async function record(
  tx: Tx,
  tenant: TenantId,
  by: Actor,
  action: 'put-scim-group' | 'delete-scim-group',
  group: string,
  name: string,
): Promise<void> {
  await recordAdministration(tx, by, { action, subject: { group, name } }, tenant)
}
