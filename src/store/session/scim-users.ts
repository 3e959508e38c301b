/**
 * Stores the users that an identity provider provisions (docs/reference/identity.md 11). A user who is deactivated,
 * renamed or deleted loses access in the same transaction. The administration log names users by id alone.
 */

import type { Actor } from '../../core/administration.ts'
import { type PersonAttribute, type Provisioning, provisioningBounds } from '../../core/provisioning.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { ScimObject } from '../../wire/scim/match.ts'
import { scimFault } from '../../wire/scim/scim-fault.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { assertIndexable, storableJson } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { endAccessOf } from './person-access.ts'
import { endSessionsOf, isOneOf } from './person-sessions.ts'
import { beginChange, changeStored, folded, personDigestText, raiseVersion } from './provisioning.ts'

export interface ScimUser {
  readonly id: string
  /** The attributes, without `id`, `meta` and groups. */
  readonly resource: ScimObject
  readonly version: string
  readonly createdAt: Date
  readonly changedAt: Date
}

interface Row {
  readonly user_id: string
  readonly resource: ScimObject
  readonly version: string
  readonly created_at: Date
  readonly changed_at: Date
}

/** The columns from which `toUser` makes a user. */
export const userColumns = 'user_id, resource, version, created_at, changed_at'

/** The user of a row. */
export function toUser(row: Row): ScimUser {
  return {
    ...{ id: row.user_id, resource: row.resource, version: row.version },
    ...{ createdAt: row.created_at, changedAt: row.changed_at },
  }
}

/** What of a user is looked up. */
interface Keys {
  readonly userName: string
  readonly externalId: string | null
  readonly email: string | null
  readonly active: boolean
}

/** @throws Fault `bad_request` where one is too long */
function keysOf(resource: ScimObject): Keys {
  const { userName, externalId, emails, active } = resource
  const list = Array.isArray(emails) ? (emails as readonly ScimObject[]) : []
  const email = (list.find((one) => one.primary === true) ?? list[0])?.value
  const text = (value: unknown, fold: boolean) =>
    typeof value !== 'string' || value === '' ? null : fold ? folded(value) : value
  const keys = {
    userName: text(userName, true) ?? '',
    externalId: text(externalId, false),
    email: text(email, true),
    // Who is not said to be inactive is active (RFC 7643, 4.1.1 leaves it open; providers mean it so).
    active: active !== false,
  }
  for (const key of [keys.userName, keys.externalId, keys.email])
    assertIndexable(key ?? '', 'An attribute that is looked up')
  return keys
}

/** The user, with `active` as it counts: one without it is as active as before, and a new one is active. */
function whole(resource: ScimObject, before?: ScimObject): ScimObject {
  return { ...resource, active: (resource.active ?? before?.active) !== false }
}

/**
 * Creates a user.
 * @throws Fault `conflict` (uniqueness) where there is one of the name, `bad_request` where there are too many
 */
export async function createScimUser(
  store: Store,
  tenant: TenantId,
  resource: ScimObject,
  by: Actor,
): Promise<ScimUser> {
  const keys = keysOf(resource)
  const id = crypto.randomUUID()
  return await store.adminTransaction(async (tx) => {
    const settings = await beginChange(tx, tenant, by)
    await assertNameFree(tx, tenant, keys.userName, id)
    const [counted] = await tx.query<{ readonly count: number }>(
      'select count(*)::int as count from svc.scim_user where tenant_id = $1',
      [tenant],
    )
    if ((counted?.count ?? 0) >= provisioningBounds.usersMax)
      throw scimFault(400, `A tenant may have ${provisioningBounds.usersMax} users.`, 'tooMany')
    const [row] = await tx.query<Row>(
      `insert into svc.scim_user (tenant_id, user_id, user_name_key, external_id, email_key, person_key, active, resource)
       values ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb) returning ${userColumns}`,
      [tenant, id, ...keyParams(settings, keys), storableJson(whole(resource))],
    )
    await takeEffect(tx, tenant, settings, { before: undefined, after: keys }, by)
    await record(tx, tenant, by, 'put-scim-user', id, keys.active)
    return toUser(row as Row)
  })
}

/**
 * Changes a user.
 * @param change gets the stored attributes and gives those to store
 * @param isExpected whether the stored version is the one that the client expects
 * @returns undefined where there is none
 * @throws Fault `conflict` where the version is another (412), or the name is taken (uniqueness); as `change`
 */
export async function changeScimUser(
  store: Store,
  tenant: TenantId,
  id: string,
  change: (stored: ScimObject) => ScimObject,
  isExpected: (version: string) => boolean,
  by: Actor,
): Promise<ScimUser | undefined> {
  return await changeStored(store, tenant, id, findUser, isExpected, by, async (tx, settings, stored) => {
    const resource = whole(change(stored.resource), stored.resource)
    if (Bun.deepEquals(resource, stored.resource)) return stored
    const [before, after] = [keysOf(stored.resource), keysOf(resource)]
    await assertNameFree(tx, tenant, after.userName, id)
    const [row] = await tx.query<Row>(
      `update svc.scim_user set user_name_key = $3, external_id = $4, email_key = $5, person_key = $6, active = $7,
         resource = $8::text::jsonb, version = version + 1, changed_at = clock_timestamp()
       where tenant_id = $1 and user_id = $2 returning ${userColumns}`,
      [tenant, id, ...keyParams(settings, after), storableJson(resource)],
    )
    await takeEffect(tx, tenant, settings, { before, after }, by)
    await record(tx, tenant, by, 'put-scim-user', id, after.active)
    return toUser(row as Row)
  })
}

/** Deletes a user with all attributes. @returns whether there was one @throws Fault `conflict` as `changeScimUser` */
export async function deleteScimUser(
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
    findUser,
    isExpected,
    by,
    async (tx, settings, stored) => {
      await tx.query('delete from svc.scim_user where tenant_id = $1 and user_id = $2', [tenant, id])
      await takeEffect(tx, tenant, settings, { before: keysOf(stored.resource), after: undefined }, by)
      await record(tx, tenant, by, 'delete-scim-user', id)
      return true
    },
  )
  return isDeleted ?? false
}

async function findUser(tx: Tx, tenant: TenantId, id: string): Promise<ScimUser | undefined> {
  const [row] = await tx.query<Row>(
    `select ${userColumns} from svc.scim_user where tenant_id = $1 and user_id = $2`,
    [tenant, id],
  )
  return row && toUser(row)
}

/** @throws Fault `conflict` (uniqueness) */
async function assertNameFree(tx: Tx, tenant: TenantId, key: string, id: string): Promise<void> {
  const taken = await tx.query(
    'select 1 from svc.scim_user where tenant_id = $1 and user_name_key = $2 and user_id <> $3',
    [tenant, key, id],
  )
  if (taken.length > 0) throw scimFault(409, 'Another user has this `userName`.', 'uniqueness')
}

function keyParams({ attribute }: Provisioning, keys: Keys) {
  return [keys.userName, keys.externalId, keys.email, keys[attribute], keys.active]
}

const attributes: readonly PersonAttribute[] = ['userName', 'externalId', 'email']

/**
 * Ends what a person has no longer: sessions of names that are inactive or gone, and of each whose roles may be others
 * now; and remembers names that are gone, so that a token of theirs is refused. A name that an active user has is free
 * of that. Every replica looks again, also for a name that is new: it may be another user's already.
 */
async function takeEffect(
  tx: Tx,
  tenant: TenantId,
  settings: Provisioning,
  { before, after }: { readonly before: Keys | undefined; readonly after: Keys | undefined },
  by: Actor,
): Promise<void> {
  const gone = attributes.flatMap((attribute) => {
    const key = before?.[attribute]
    return key === undefined || key === null || key === after?.[attribute] ? [] : [{ attribute, key }]
  })
  for (const { attribute, key } of gone)
    await tx.query(
      `insert into svc.ended_person (tenant_id, person_sha256) values ($1::uuid, ${personDigestText('$2::text', '$3::text')})
       on conflict do nothing`,
      [tenant, attribute, key],
    )
  if (after?.active === true)
    for (const attribute of attributes)
      await tx.query(
        `delete from svc.ended_person where tenant_id = $1::uuid and person_sha256 = ${personDigestText('$2::text', '$3::text')}`,
        [tenant, attribute, after[attribute] ?? ''],
      )
  const wasLetIn = before?.active === true
  const isLetIn = after?.active === true
  const isSame = (attribute: PersonAttribute) =>
    (before?.[attribute] ?? null) === (after?.[attribute] ?? null)
  if (wasLetIn === isLetIn && attributes.every(isSame)) return
  await raiseVersion(tx, tenant)
  if (wasLetIn === isLetIn && isSame(settings.attribute)) return
  const had = before?.[settings.attribute] ?? null
  const has = after?.[settings.attribute] ?? null
  // Where tokens give the roles, one who is let in under a name loses nothing.
  const keepsAll = isLetIn && settings.rolesFrom === 'token'
  const names = [had, has].filter((key) => key !== null)
  const keys = new Set(names.filter((key) => !(keepsAll && key === has)))
  if (keys.size > 0) await endSessionsOf(tx, tenant, isOneOf(settings, keys), by)
  const left = new Set(names.filter((key) => !(isLetIn && key === has)))
  if (left.size > 0) await endAccessOf(tx, tenant, isOneOf(settings, left), by)
}

async function record(
  tx: Tx,
  tenant: TenantId,
  by: Actor,
  action: 'put-scim-user' | 'delete-scim-user',
  user: string,
  active?: boolean,
): Promise<void> {
  await recordAdministration(
    tx,
    by,
    { action, subject: { user }, ...(active !== undefined && { value: { active } }) },
    tenant,
  )
}
