/**
 * Tells whether a person has a role by some other session, or by a group, than the one that they act by. What a token of
 * an issuer will say when it comes is not known here.
 */

import { makerOf, type NamedPerson } from '../../core/same-person.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import type { Tx } from '../database/session.ts'

/**
 * Whether a live session with this role is of the person, by subject or e-mail address without regard to case, or was
 * made by the person, or is of a service and was made by who made the person's own, that of a service too; or an active
 * provisioned user of that name is in the group of the role.
 */
export async function mayHoldRole(
  tx: Pick<Tx, 'query'>,
  tenant: TenantId,
  { sub, email, createdBy }: NamedPerson,
  role: string,
): Promise<boolean> {
  const names = [sub, createdBy, email].flatMap((name) => (name === undefined ? [] : [folded(name)]))
  // Who made two sessions of services may have both secrets.
  const maker = makerOf({ sub, createdBy })
  const isTheirs = `lower(s.principal_sub) in (select * from who) or lower(s.principal_email) in (select * from who)
    or lower(s.created_by ->> 'sub') = $4
    or (s.principal_sub ~* '^service:' and lower(s.created_by ->> 'sub') = $5)`
  const [row] = await tx.query<{ holds: boolean }>(
    `with who as (select jsonb_array_elements_text($2::text::jsonb))
     select exists (select from svc.service_session s where s.tenant_id = $1 and s.revoked_at is null
         and (s.expires_at is null or s.expires_at > clock_timestamp()) and s.principal_roles ? $3 and (${isTheirs}))
       or exists (select from svc.browser_session s where s.tenant_id = $1 and s.revoked_at is null
         and s.expires_at > clock_timestamp() and s.principal_roles ? $3 and (${isTheirs}))
       or exists (select from svc.scim_group g join svc.scim_member m using (tenant_id, group_id)
         join svc.scim_user u using (tenant_id, user_id)
         where g.tenant_id = $1 and g.display_name = $3 and u.active and (lower(u.external_id) in (select * from who)
           or u.user_name_key in (select * from who) or u.email_key in (select * from who))) as holds`,
    [
      tenant,
      JSON.stringify(names),
      storableText(role),
      folded(sub),
      maker === undefined ? null : folded(maker),
    ],
  )
  return row?.holds !== false
}

function folded(name: string): string {
  return storableText(name).toLowerCase()
}
