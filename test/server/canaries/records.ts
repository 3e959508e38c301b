/**
 * Plants what happens to a table beside its rows: a commit whose end is unknown, and a snapshot in quarantine. What
 * commits set is a record that overseers read, so it holds no value of a row.
 */

import type { TableRef } from '../../../src/core/table-ref.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { listCatalogCredentials } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import type { Store } from '../../../src/store/store.ts'
import { endManifestCheck } from '../../../src/store/territory/manifest-checks.ts'
import { intentOf } from '../../support/commits.ts'

const catalog = '["alpha","https://a.example","w",null]'

/** A commit that sets a property. */
export const setting = { requirements: [], updates: [{ action: 'set-properties', updates: { note: 'set' } }] }

/** @param snapshotId of the snapshot in quarantine */
export async function plantRecords(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  snapshotId: bigint,
): Promise<void> {
  const [credential] = (await listCatalogCredentials(store, tenant)).items
  const credentialId = credential?.id ?? ''
  const body = Bun.zstdCompressSync(JSON.stringify(setting))
  const forAnHour = { leaseMs: 3_600_000, upstreamMs: 3_600_000 }
  await openIntent(
    store,
    tenant,
    intentOf({ table, credentialId, body, receivedAtMs: Date.now() }),
    forAnHour,
  )
  const commitId = crypto.randomUUID()
  await store.tenantQuery(
    tenant,
    `insert into svc.manifest_check (tenant_id, commit_id, credential_id, catalog, table_id, namespace, table_name, due_at)
     values ($1, $2, $3, $4, $5, $6::text::jsonb, $7, 'infinity')`,
    [tenant, commitId, credentialId, catalog, tableKey(table), JSON.stringify(table.namespace), table.name],
  )
  const check = { tenant, commitId, credentialId, catalog, table, snapshotIds: undefined, tries: 0 }
  const detail = `data file s3://lake/${table.name}/1.parquet`
  await endManifestCheck(store, check, [{ snapshotId, tableUuid: undefined, cause: 'outside', detail }])
}
