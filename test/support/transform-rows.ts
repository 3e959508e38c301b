/** Transform rules for tests of the store. */

import type { TenantId } from '../../src/core/tenant.ts'
import type { Store } from '../../src/store/store.ts'

/** Leaves a row in each table of transform rules. */
export async function seedTransform(store: Store, tenant: TenantId): Promise<void> {
  const inserts = [
    `svc.transform_rule (tenant_id, tag, definition) values ($1, 'seed', '{}')`,
    `svc.transform_tenant_key (tenant_id, provider, wrapped) values ($1, 'seed', 'ab')`,
    `svc.transform_scope_version (tenant_id, scope, version) values ($1, 'seed', 1)`,
    `svc.transform_reveal (tenant_id, table_id, field_id, table_ref, definition) values ($1, 'seed', 1, '{}', '{}')`,
    `svc.transform_subject_key (tenant_id, kind, ref, sid, wrapped) values ($1, 'seed', '${'A'.repeat(22)}', '${'A'.repeat(22)}', 'ab')`,
  ]
  await store.tenantTransaction(tenant, async (tx) => {
    for (const insert of inserts) await tx.query(`insert into ${insert}`, [tenant])
  })
}
