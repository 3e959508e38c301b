/**
 * Stores how provisioned people are matched with principals, and says what provisioning means for a principal
 * (docs/reference/identity.md 11). A change that takes access away raises the tenant's number, by which each replica
 * notices it with the next request, and ends browser sessions in its own transaction.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { Principal } from '../../core/principal.ts'
import {
  type PersonAttribute,
  type PersonClaim,
  type Provisioning,
  provisioningDefault,
  type RoleSource,
  type Standing,
} from '../../core/provisioning.ts'
import type { TenantId } from '../../core/tenant.ts'
import { scimFault } from '../../wire/scim/scim-fault.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson, storableText } from '../database/names.ts'
import { isUuid } from '../database/page.ts'
import type { Param, Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { endSessionsOf } from './person-sessions.ts'

interface Row {
  readonly claim: PersonClaim
  readonly attribute: PersonAttribute
  readonly roles_from: RoleSource
}

/** A tenant's settings, and when they were set; the default where it has none. */
export async function provisioningOf(
  store: Store,
  tenant: TenantId,
): Promise<Provisioning & { readonly changedAt?: Date; readonly changedBy?: Actor }> {
  const [row] = await store.tenantQuery<Row & { readonly changed_at: Date; readonly changed_by: Actor }>(
    tenant,
    'select claim, attribute, roles_from, changed_at, changed_by from svc.provisioning where tenant_id = $1',
    [tenant],
  )
  if (row === undefined) return provisioningDefault
  return { ...toProvisioning(row), changedAt: row.changed_at, changedBy: row.changed_by }
}

function toProvisioning({ claim, attribute, roles_from: rolesFrom }: Row): Provisioning {
  return { claim, attribute, rolesFrom }
}

/**
 * Begins a change of a tenant's people: no other change, and no login, runs beside it. Rows that refer to the tenant can
 * be written meanwhile.
 * @returns the settings, which are made where there are none
 */
export async function beginChange(tx: Tx, tenant: TenantId, by: Actor): Promise<Provisioning> {
  await tx.query('select 1 from svc.tenant where tenant_id = $1 for no key update', [tenant])
  const find = () =>
    tx.query<Row>('select claim, attribute, roles_from from svc.provisioning where tenant_id = $1', [tenant])
  const [row] = await find()
  if (row !== undefined) return toProvisioning(row)
  await tx.query('insert into svc.provisioning (tenant_id, changed_by) values ($1, $2::text::jsonb)', [
    tenant,
    storableJson(by),
  ])
  await raiseVersion(tx, tenant)
  return provisioningDefault
}

/**
 * Changes a user or a group that is there, in the version that the client expects.
 * @param find reads it
 * @param isExpected whether the stored version is that one
 * @returns what `work` gives; undefined where there is none
 * @throws Fault `conflict` where the version is another (412); what `work` throws
 */
export async function changeStored<T extends { readonly version: string }, R>(
  store: Store,
  tenant: TenantId,
  id: string,
  find: (tx: Tx, tenant: TenantId, id: string) => Promise<T | undefined>,
  isExpected: (version: string) => boolean,
  by: Actor,
  work: (tx: Tx, settings: Provisioning, stored: T) => Promise<R>,
): Promise<R | undefined> {
  if (!isUuid(id)) return undefined
  return await store.adminTransaction(async (tx) => {
    const settings = await beginChange(tx, tenant, by)
    const stored = await find(tx, tenant, id)
    if (stored === undefined) return undefined
    if (!isExpected(stored.version))
      throw scimFault(412, 'The resource has changed. Read it again, and send its new version in If-Match.')
    return await work(tx, settings, stored)
  })
}

/** Makes every replica look at the tenant's people again from its next request on. */
export async function raiseVersion(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query('update svc.tenant set issuers_version = issuers_version + 1 where tenant_id = $1', [tenant])
}

/** Puts the settings in place. All browser sessions of the tenant end, because their roles may be others now. */
export async function putProvisioning(
  store: Store,
  tenant: TenantId,
  { claim, attribute, rolesFrom }: Provisioning,
  by: Actor,
): Promise<void> {
  await store.adminTransaction(async (tx) => {
    await beginChange(tx, tenant, by)
    await tx.query(
      `update svc.provisioning set claim = $2, attribute = $3, roles_from = $4, changed_at = clock_timestamp(),
         changed_by = $5::text::jsonb where tenant_id = $1`,
      [tenant, claim, attribute, rolesFrom, storableJson(by)],
    )
    await tx.query(
      `update svc.scim_user set person_key = case $2 when 'userName' then user_name_key when 'email' then email_key
         else external_id end where tenant_id = $1`,
      [tenant, attribute],
    )
    await raiseVersion(tx, tenant)
    await endSessionsOf(tx, tenant, () => true, by)
    const value = { claim, attribute, roles_from: rolesFrom }
    await recordAdministration(tx, by, { action: 'put-provisioning', subject: { tenant }, value }, tenant)
  })
}

/** The one form of a text that is compared without case. */
export function folded(text: string): string {
  return storableText(text).toLowerCase()
}

/** In SQL, the digest under which the name of a person who has left is stored. */
export const personDigestText = (attribute: string, key: string) =>
  `sha256(convert_to($1::text || ' ' || ${attribute} || ' ' || ${key}, 'UTF8'))`

const standingText = `
  select p.claim, p.roles_from, k.key is not null as is_named, u.found, u.is_active, g.roles,
    exists (select 1 from svc.ended_person e where e.tenant_id = p.tenant_id
      and e.person_sha256 = ${personDigestText('p.attribute', 'k.key')}) as has_ended
  from svc.tenant t
  left join svc.provisioning p using (tenant_id)
  cross join lateral (select case
    when p.claim = 'sub' and p.attribute = 'externalId' then $2::text
    when p.claim = 'sub' then $3::text
    when p.attribute = 'externalId' then $4::text
    else $5::text end as key) k
  cross join lateral (select count(*)::int as found, bool_and(s.active) as is_active
    from svc.scim_user s where s.tenant_id = p.tenant_id and s.person_key = k.key) u
  left join lateral (select jsonb_agg(r.display_name order by r.display_name) as roles
    from svc.scim_user s join svc.scim_member m using (tenant_id, user_id) join svc.scim_group r using (tenant_id, group_id)
    where s.tenant_id = p.tenant_id and s.person_key = k.key) g on p.roles_from = 'groups'
  where t.tenant_id = $1::uuid`

interface StandingRow {
  /** Null where the tenant has no provisioning. */
  readonly claim: PersonClaim | null
  readonly roles_from: RoleSource | null
  readonly is_named: boolean
  readonly found: number
  readonly is_active: boolean | null
  readonly roles: readonly string[] | null
  readonly has_ended: boolean
}

/** What provisioning says of a person's token or login. @throws Fault `unavailable` where the tenant is not found */
export async function standingOf(store: Store, tenant: TenantId, person: Person): Promise<Standing> {
  return toStanding((await store.tenantQuery<StandingRow>(tenant, ...standingQuery(tenant, person)))[0])
}

/** As `standingOf`, in the transaction that makes a session: no change of the tenant's people runs beside it. */
export async function standingAtLogin(tx: Tx, tenant: TenantId, person: Person): Promise<Standing> {
  await tx.query('select 1 from svc.tenant where tenant_id = $1 for share', [tenant])
  return toStanding((await tx.query<StandingRow>(...standingQuery(tenant, person)))[0])
}

/** As `standingOf`, in a transaction of the tenant. */
export async function standingIn(tx: Tx, tenant: TenantId, person: Person): Promise<Standing> {
  return toStanding((await tx.query<StandingRow>(...standingQuery(tenant, person)))[0])
}

type Person = Pick<Principal, 'sub' | 'email'>

function standingQuery(tenant: TenantId, { sub, email }: Person): [string, readonly Param[]] {
  const emails = email === undefined ? [null, null] : [storableText(email), folded(email)]
  return [standingText, [tenant, storableText(sub), folded(sub), ...emails]]
}

function toStanding(row: StandingRow | undefined): Standing {
  // A look-up that does not see the tenant sees no person either, so it lets nobody in.
  if (row === undefined)
    throw new Fault('unavailable', 'The standing of the person could not be looked up. Retry.')
  if (row.claim === null) return { kind: 'as token says' }
  if (!row.is_named)
    return {
      kind: 'refused',
      isUnnamed: true,
      why: `it has no claim \`${row.claim}\`${row.claim === 'email' ? ' that is verified' : ''}, by which people are matched`,
    }
  // A name that a user has now is that user's, whatever other user had it before.
  if (row.found > 0 && row.is_active !== true)
    return { kind: 'refused', isUnnamed: false, why: 'the person is not active' }
  if (row.found === 0 && row.has_ended)
    return { kind: 'refused', isUnnamed: false, why: 'the person was removed' }
  if (row.roles_from === 'token') return { kind: 'as token says' }
  // Two people of one name get the roles of neither.
  return { kind: 'by groups', roles: row.found === 1 ? (row.roles ?? []) : [] }
}
