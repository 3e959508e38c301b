/**
 * Plants what happens to a table beside its rows: a commit whose end is unknown, a snapshot in quarantine, a conflict, and what an
 * ended session may have left. The writer put a value of a row into each.
 */

import type { TableRef } from '../../../src/core/table-ref.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { listCatalogCredentials } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import type { Store } from '../../../src/store/store.ts'
import { endManifestCheck } from '../../../src/store/territory/manifest-checks.ts'
import { intentOf } from '../../support/commits.ts'
import { noteConflict } from '../../support/territory.ts'
import { leaveVended } from '../../support/vended.ts'

const catalog = '["alpha","https://a.example","w",null]'

/** A commit that sets a property. */
export const setting = (note: string) => ({
  requirements: [],
  updates: [{ action: 'set-properties', updates: { note } }],
})

export interface Written {
  /** Of a row. */
  readonly value: string
  /** Of the snapshot in quarantine. */
  readonly snapshotId: bigint
  /** The session that has keys for the table. */
  readonly sessionId: string
}

export async function plantRecords(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  { value, snapshotId, sessionId }: Written,
): Promise<void> {
  const [credential] = (await listCatalogCredentials(store, tenant)).items
  const credentialId = credential?.id ?? ''
  const body = Bun.zstdCompressSync(JSON.stringify(setting(value)))
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
  const detail = `data file s3://lake/${table.name}/label=${value}/1.parquet`
  await endManifestCheck(store, check, [{ snapshotId, tableUuid: undefined, cause: 'outside', detail }])
  await noteConflict(store, tenant, {
    table,
    credentialId,
    prefix: `s3://lake/${table.name}/label=${value}/`,
  })
  await leaveVended(store, tenant, sessionId, { table, credentialId, access: 'write', prefixes: [] })
}
