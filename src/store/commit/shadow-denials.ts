/** Counts accepted changes of a table that policies of mode `shadow` would have refused, from the audit log. */

import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId } from '../database/names.ts'
import type { Store } from '../store.ts'

/** The newest accepted changes that are looked at, so that a busy table costs no more than this. */
const changesMax = 1_000

export interface ShadowDenials {
  readonly count: number
  /** Accepted changes that were looked at. */
  readonly changes: number
  readonly last?: { readonly at: Date; readonly commitId: string; readonly committer: string }
}

/** Those among the newest accepted changes of a table. */
export async function shadowDenialsOf(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<ShadowDenials> {
  const [row] = await store.tenantQuery<{
    readonly changes: number
    readonly count: number
    readonly last: readonly [at: string, commitId: string, committer: string] | null
  }>(
    tenant,
    `with newest as (
       select audit_seq, created_at, commit_id, committer, outcomes @> '[{"mode": "shadow", "value": false}]' as denied
       from svc.audit_log where tenant_id = $1 and table_id = $2 and decision = 'APPROVED'
       order by audit_seq desc limit $3::int)
     select count(*)::int as changes, count(*) filter (where denied)::int as count,
       (select jsonb_build_array(n.created_at, n.commit_id, n.committer) from newest n where n.denied
        order by n.audit_seq desc limit 1) as last
     from newest`,
    [tenant, nodeId(tableKey(table)), changesMax],
  )
  const { changes = 0, count = 0, last = null } = row ?? {}
  if (last === null) return { changes, count }
  return { changes, count, last: { at: new Date(last[0]), commitId: last[1], committer: last[2] } }
}
