/** Reads what a principal's agents have scanned. */

import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import type { Store } from '../store.ts'

/**
 * Bytes that a principal's queries over MCP have scanned since an instant. Where the engine reported none, the bytes of
 * the rows count.
 */
export async function scannedSince(
  store: Store,
  tenant: TenantId,
  principal: string,
  since: Date,
): Promise<number> {
  const [row] = await store.tenantQuery<{ readonly bytes: string }>(
    tenant,
    `select coalesce(sum(coalesce(u.bytes_scanned, u.bytes_out)), 0) as bytes from svc.query_usage u
     where u.tenant_id = $1 and md5(u.principal_sub) = md5($2) and u.principal_sub = $2 and u.surface = 'mcp' and u.started_at >= $3::timestamptz`,
    [tenant, storableText(principal), since],
  )
  return Number(row?.bytes)
}
