/**
 * Ends the access for a time of people who have left, in the transaction of that change: their requests that wait and
 * their open grants. Who comes back under the same name asks again. Grants for a role end with the role.
 */

import type { Actor } from '../../core/administration.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import type { Holder } from './person-sessions.ts'

interface Row extends Holder {
  readonly id: string
  readonly table_ref: TableRef
}

const reason = 'the person has left'

/**
 * Ends them, tells so, and records each. Requests come first: who decides about one holds its row until the grant is
 * there.
 * @param tx of the administration; it names the tenant afterwards
 */
export async function endAccessOf(
  tx: Tx,
  tenant: TenantId,
  isMeant: (holder: Holder) => boolean,
  by: Actor,
): Promise<void> {
  await tx.query(`select set_config('role', 'svc_tenant', true), set_config('app.tenant_id', $1, true)`, [
    tenant,
  ])
  const requests = await tx.query<Row>(
    `select request_id as id, table_ref, requested_by_sub as principal_sub, requested_by ->> 'email' as principal_email
     from svc.access_request where tenant_id = $1 and state = 'waiting'`,
    [tenant],
  )
  await end(tx, by, 'withdraw-access', requests.filter(isMeant))
  const grants = await tx.query<Row>(
    `select g.grant_id as id, g.table_ref, g.grantee ->> 'sub' as principal_sub,
       case when q.requested_by_sub = g.grantee ->> 'sub' then q.requested_by ->> 'email' end as principal_email
     from svc.access_grant g left join svc.access_request q using (tenant_id, request_id)
     where g.tenant_id = $1 and g.ended_at is null and g.grantee ? 'sub'`,
    [tenant],
  )
  await end(tx, by, 'revoke-access', grants.filter(isMeant))
  // The tenant stays: the trigger that raises the governance version runs at the commit, as who made the change.
  await tx.query(`select set_config('role', 'svc_admin', true)`)
}

const functions = { 'withdraw-access': 'expire_requests', 'revoke-access': 'end_grants' } as const

/** Ends the rows, and records each. That of contracts stands above this part, so the row of the log is written here. */
async function end(tx: Tx, by: Actor, action: keyof typeof functions, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(
    `select svc.${functions[action]}(array(select jsonb_array_elements_text($1::text::jsonb)::uuid), $2)::text`,
    [JSON.stringify(rows.map(({ id }) => id)), reason],
  )
  for (const { id, table_ref: table } of rows) {
    const of = action === 'revoke-access' ? { grant: id } : { access: id }
    const subject = { ...of, namespace: table.namespace, table: table.name }
    const change = { action, subject, value: { reason } }
    await tx.query(
      `insert into svc.contract_change (tenant_id, actor_sub, action, subject, value, actor)
       values (svc.current_tenant(), $1, $2, $3::text::jsonb, $4::text::jsonb, $5::text::jsonb)`,
      [by.sub, action, storableJson(subject), storableJson(change.value), storableJson(by)],
    )
    await recordAdministration(tx, by, change)
  }
}
