/** Lists the tables that the audit knows, each with the file that its last accepted change wrote. */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

export interface LastAudited {
  readonly table: TableRef
  readonly credentialId: string
  readonly metadataLocation: string
  readonly at: Date
}

interface Row {
  readonly table_id: string
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly credential_id: string
  readonly metadata_location: string | null
  readonly created_at: Date
}

/** A page may hold fewer tables than it was asked for: one whose last change wrote no file was dropped or renamed. */
export async function listLastAudited(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<LastAudited>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select distinct on (table_id) table_id, namespace, table_name, credential_id, metadata_location, created_at
     from svc.audit_log where tenant_id = $1 and decision = 'APPROVED' and table_id > $2
     order by table_id, audit_seq desc limit $3::int`,
    [tenant, page.after ?? '', limit + 1],
  )
  const { items, next } = toPage(rows, limit, ({ table_id }) => table_id)
  const tables = items.flatMap(({ metadata_location: metadataLocation, ...row }) =>
    metadataLocation === null
      ? []
      : [
          {
            table: { namespace: row.namespace, name: row.table_name },
            credentialId: row.credential_id,
            metadataLocation,
            at: row.created_at,
          },
        ],
  )
  return { items: tables, ...(next !== undefined && { next }) }
}
