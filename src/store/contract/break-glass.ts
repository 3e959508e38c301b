/** Finds versions of contracts that break-glass approved, and that may come in force by it or are in force. */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson, storableText } from '../database/names.ts'
import type { Store } from '../store.ts'

/** A version of a contract that break-glass approved. */
export interface BrokenGlass {
  readonly contract: string
  readonly number: number
  readonly state: string
  /** Until when it may be deployed by it; what is in force stays. */
  readonly until: Date
  readonly by: string | undefined
  readonly at: Date | undefined
  readonly reason: string | undefined
}

/** Versions that one answer names. */
const versionsMax = 100

/** Those of the contracts that are about a table, newest first; at most 100. */
export async function brokenGlassOf(
  store: Store,
  tenant: TenantId,
  { namespace, name }: TableRef,
  { contract, nowMs }: { readonly contract: string | undefined; readonly nowMs: number },
): Promise<readonly BrokenGlass[]> {
  const rows = await store.tenantQuery<{
    readonly contract_id: string
    readonly number: number
    readonly state: string
    readonly break_glass_until: Date
    readonly actor_sub: string | null
    readonly at: Date | null
    readonly reason: string | null
  }>(
    tenant,
    `select v.contract_id, v.number, v.state, v.break_glass_until, m.actor_sub, m.at, m.reason
     from svc.contract_version v
     left join lateral (select actor_sub, at, reason from svc.contract_move
       where tenant_id = $1 and contract_id = v.contract_id and number = v.number and move = 'break_glass'
       order by move_seq desc limit 1) m on true
     where v.tenant_id = $1 and v.break_glass_until is not null
       and (v.state in ('active', 'deprecated')
         or (v.state in ('approved', 'deploying') and v.break_glass_until > $4::timestamptz))
       and (v.contract_id = $3
         or exists (select from jsonb_array_elements(v.model -> 'schemas') s where s -> 'table' = $2::text::jsonb))
     order by v.break_glass_until desc, v.contract_id, v.number limit $5::int`,
    [
      ...[tenant, storableJson({ namespace, name })],
      ...[contract === undefined ? null : storableText(contract), new Date(nowMs), versionsMax],
    ],
    { readOnly: true },
  )
  return rows.map((row) => ({
    ...{ contract: row.contract_id, number: row.number, state: row.state, until: row.break_glass_until },
    ...{ by: row.actor_sub ?? undefined, at: row.at ?? undefined, reason: row.reason ?? undefined },
  }))
}
