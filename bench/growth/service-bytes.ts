/** What the service takes in its database. */

import type { TenantId } from '../../src/core/tenant.ts'
import type { Store } from '../../src/store/store.ts'

/** Bytes of all relations of the service and its tenants, indexes and long values included. */
export async function bytesOf(store: Store, tenant: TenantId): Promise<number> {
  const [row] = await store.tenantQuery<{ readonly bytes: string }>(
    tenant,
    `select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm') and (n.nspname = 'svc' or n.nspname ~ '^[tg]_')`,
  )
  return Number(row?.bytes)
}
