/** Stores operations of GraphQL by the SHA-256 of their documents, and whether service sessions may send others. */

import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

interface StoredOperation {
  /** Hex, of the document. */
  readonly sha256: string
  readonly document: string
  readonly storedAt: Date
}

const columns = `encode(sha256, 'hex') as sha256, document, stored_at as "storedAt"`

/** Stores a document; one that is stored already stays. @returns its SHA-256 in hex */
export async function storeOperation(
  store: Store,
  tenant: TenantId,
  document: string,
  by: Actor,
): Promise<string> {
  const sha256 = new Bun.CryptoHasher('sha256').update(document).digest('hex')
  await store.tenantTransaction(tenant, async (tx) => {
    const added = await tx.query(
      `insert into svc.graphql_operation (tenant_id, sha256, document) values ($1, decode($2, 'hex'), $3)
       on conflict do nothing returning 1`,
      [tenant, sha256, storableText(document)],
    )
    if (added.length > 0)
      await recordAdministration(tx, by, { action: 'store-graphql-operation', subject: { sha256 } })
  })
  return sha256
}

/** The document of a hash; undefined where the tenant has stored none. */
export async function findOperation(
  store: Store,
  tenant: TenantId,
  sha256: string,
): Promise<string | undefined> {
  if (!/^[0-9a-f]{64}$/.test(sha256)) return undefined
  const [row] = await store.tenantQuery<{ document: string }>(
    tenant,
    `select document from svc.graphql_operation where tenant_id = $1 and sha256 = decode($2, 'hex')`,
    [tenant, sha256],
    { readOnly: true },
  )
  return row?.document
}

/** The stored operations, by hash. */
export async function listOperations(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<StoredOperation>> {
  const limit = pageLimit(page)
  const after = /^[0-9a-f]{64}$/.test(page.after ?? '') ? (page.after ?? '') : ''
  const rows = await store.tenantQuery<StoredOperation>(
    tenant,
    `select ${columns} from svc.graphql_operation where tenant_id = $1 and sha256 > decode($2, 'hex')
     order by svc.graphql_operation.sha256 limit $3::int`,
    [tenant, after, limit + 1],
  )
  return toPage(rows, limit, ({ sha256 }) => sha256)
}

/** Removes an operation. @returns whether there was one */
export async function deleteOperation(
  store: Store,
  tenant: TenantId,
  sha256: string,
  by: Actor,
): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(sha256)) return false
  return await store.tenantTransaction(tenant, async (tx) => {
    const removed = await tx.query(
      `delete from svc.graphql_operation where tenant_id = $1 and sha256 = decode($2, 'hex') returning 1`,
      [tenant, sha256],
    )
    if (removed.length === 0) return false
    await recordAdministration(tx, by, { action: 'delete-graphql-operation', subject: { sha256 } })
    return true
  })
}

/** Whether service sessions may send stored operations only. */
export async function takesStoredOnly(store: Store, tenant: TenantId): Promise<boolean> {
  const [row] = await store.tenantQuery<{ stored_only: boolean }>(
    tenant,
    'select stored_only from svc.graphql_setting where tenant_id = $1',
    [tenant],
    { readOnly: true },
  )
  return row?.stored_only === true
}

/** Saves whether service sessions may send stored operations only. */
export async function saveStoredOnly(
  store: Store,
  tenant: TenantId,
  storedOnly: boolean,
  by: Actor,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(
      `insert into svc.graphql_setting (tenant_id, stored_only) values ($1, $2::bool)
       on conflict (tenant_id) do update set stored_only = excluded.stored_only`,
      [tenant, storedOnly],
    )
    const value = { stored_operations_only: storedOnly }
    await recordAdministration(tx, by, { action: 'put-graphql-settings', subject: {}, value })
  })
}
