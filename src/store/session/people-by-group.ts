/** Reads what provisioning says of many people at once: their standing by subject, and who is in the group of a role. */

import type { Standing } from '../../core/provisioning.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import type { Store } from '../store.ts'
import { folded, personDigestText, provisioningOf } from './provisioning.ts'

interface Row {
  readonly key: string
  readonly found: number
  readonly is_active: boolean | null
  readonly has_ended: boolean
  readonly roles: readonly string[] | null
}

/**
 * The standing of some subjects. A subject that is missing has what its token says: the tenant has no provisioning or
 * matches people by another claim, or does not have this person.
 */
export async function standingsOf(
  store: Store,
  tenant: TenantId,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, Standing>> {
  const { claim, attribute, rolesFrom, changedAt } = await provisioningOf(store, tenant)
  if (changedAt === undefined || claim !== 'sub' || subjects.length === 0) return new Map()
  const keyOf = attribute === 'externalId' ? storableText : folded
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select k.key, u.found, u.is_active, g.roles, exists (select 1 from svc.ended_person e
       where e.tenant_id = $1::uuid and e.person_sha256 = ${personDigestText('$3::text', 'k.key')}) as has_ended
     from jsonb_array_elements_text($2::text::jsonb) k(key)
     cross join lateral (select count(*)::int as found, bool_and(active) as is_active from svc.scim_user
       where tenant_id = $1::uuid and person_key = k.key) u
     cross join lateral (select jsonb_agg(r.display_name order by r.display_name) as roles
       from svc.scim_user s join svc.scim_member m using (tenant_id, user_id)
         join svc.scim_group r using (tenant_id, group_id)
       where s.tenant_id = $1::uuid and s.person_key = k.key) g`,
    [tenant, JSON.stringify([...new Set(subjects.map(keyOf))]), attribute],
  )
  const byKey = new Map(rows.map((row) => [row.key, row]))
  const standings = new Map<string, Standing>()
  for (const subject of subjects) {
    const row = byKey.get(keyOf(subject))
    if (row === undefined) continue
    const isGone = row.found === 0 ? row.has_ended : row.is_active !== true
    if (isGone) standings.set(subject, { kind: 'refused', isUnnamed: false, why: 'the person was removed' })
    else if (rolesFrom === 'groups')
      standings.set(subject, { kind: 'by groups', roles: row.found === 1 ? (row.roles ?? []) : [] })
  }
  return standings
}

/** Some people of a group, and how many there are. */
export interface GroupPeople {
  readonly names: readonly string[]
  readonly count: number
}

/**
 * The active people in the groups of some roles; nothing where groups do not give the roles.
 * @param namesMax how many of each are named
 */
export async function peopleInGroups(
  store: Store,
  tenant: TenantId,
  roles: readonly string[],
  namesMax: number,
): Promise<ReadonlyMap<string, GroupPeople>> {
  const { rolesFrom } = await provisioningOf(store, tenant)
  if (rolesFrom !== 'groups' || roles.length === 0) return new Map()
  const rows = await store.tenantQuery<{ role: string; names: readonly string[] | null; count: number }>(
    tenant,
    `select g.display_name as role, p.names, (select count(*)::int from svc.scim_member m
       join svc.scim_user u using (tenant_id, user_id)
       where m.tenant_id = g.tenant_id and m.group_id = g.group_id and u.active) as count
     from svc.scim_group g cross join lateral (select jsonb_agg(f.name) as names from (
       select u.resource ->> 'userName' as name from svc.scim_member m join svc.scim_user u using (tenant_id, user_id)
       where m.tenant_id = g.tenant_id and m.group_id = g.group_id and u.active
       order by u.user_name_key limit $3::int) f) p
     where g.tenant_id = $1 and g.display_name in (select jsonb_array_elements_text($2::text::jsonb))`,
    [tenant, JSON.stringify(roles.map(storableText)), namesMax],
  )
  return new Map(rows.map(({ role, names, count }) => [role, { names: names ?? [], count }]))
}
