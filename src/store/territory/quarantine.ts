/** Lists quarantined snapshots, and releases one by a steward's decision, which the administration log keeps. */

import type { Actor } from '../../core/administration.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { given } from '../database/conditions.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterUuid, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'
import type { QuarantineCause } from './manifest-checks.ts'
import { territoryTableId } from './territory-rows.ts'

export interface ListedQuarantine {
  readonly id: string
  readonly table: TableRef
  /** Nickname; undefined where the credential was removed. */
  readonly catalog: string | undefined
  readonly snapshotId: bigint
  readonly commitId: string
  readonly cause: QuarantineCause
  readonly detail: string
  readonly foundAt: Date
  readonly release: { readonly at: Date; readonly by: Actor; readonly reason: string } | undefined
}

interface Row {
  readonly quarantine_id: string
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly nickname: string | null
  readonly snapshot_id: string
  readonly commit_id: string
  readonly cause: QuarantineCause
  readonly detail: string
  readonly found_at: Date
  readonly released_at: Date | null
  readonly released_by: Actor | null
  readonly release_reason: string | null
}

const listText = `
  select q.quarantine_id, q.namespace, q.table_name, c.nickname, q.snapshot_id::text, q.commit_id, q.cause, q.detail,
    q.found_at, q.released_at, q.released_by, q.release_reason
  from svc.snapshot_quarantine q left join svc.catalog_credential c using (tenant_id, credential_id)
  where q.tenant_id = $1`

function toListed(row: Row): ListedQuarantine {
  const { released_at: at, released_by: by, release_reason: reason } = row
  return {
    id: row.quarantine_id,
    table: { namespace: row.namespace, name: row.table_name },
    catalog: row.nickname ?? undefined,
    snapshotId: BigInt(row.snapshot_id),
    commitId: row.commit_id,
    cause: row.cause,
    detail: row.detail,
    foundAt: row.found_at,
    release: at === null || by === null ? undefined : { at, by, reason: reason ?? '' },
  }
}

/** The tenant's quarantined snapshots, also those released, by id. @throws Fault `bad_request` for a bad page token */
export async function listQuarantine(
  store: Store,
  tenant: TenantId,
  filter: PageRequest & { readonly table?: TableRef | undefined } = {},
): Promise<Page<ListedQuarantine>> {
  const limit = pageLimit(filter)
  const { text, params } = given(
    [tenant, afterUuid(filter), limit + 1],
    ['q.table_id = ?::text', filter.table && territoryTableId(filter.table)],
  )
  const rows = await store.tenantQuery<Row>(
    tenant,
    `${listText} and q.quarantine_id > $2${text} order by q.quarantine_id limit $3::int`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.quarantine_id)
  return { ...page, items: page.items.map(toListed) }
}

/** One quarantined snapshot, also a released one. */
export async function findQuarantine(
  store: Store,
  tenant: TenantId,
  id: string,
): Promise<ListedQuarantine | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await store.tenantQuery<Row>(tenant, `${listText} and q.quarantine_id = $2`, [tenant, id])
  return row && toListed(row)
}

/**
 * Releases a snapshot: it may be read again, as far as its table's territory admits its files.
 * @returns the released one; undefined where the tenant has no such snapshot in quarantine
 */
export async function releaseSnapshot(
  store: Store,
  tenant: TenantId,
  id: string,
  reason: string,
  by: Actor,
): Promise<ListedQuarantine | undefined> {
  if (!isUuid(id)) return undefined
  return await store.tenantTransaction(tenant, async (tx) => {
    const released = await tx.query(
      `update svc.snapshot_quarantine set released_at = clock_timestamp(), released_by = $3::text::jsonb, release_reason = $4
       where tenant_id = $1 and quarantine_id = $2 and released_at is null returning 1`,
      [tenant, id, storableJson(by), storableText(reason)],
    )
    if (released.length === 0) return undefined
    const [row] = await tx.query<Row>(`${listText} and q.quarantine_id = $2`, [tenant, id])
    if (row === undefined) return undefined
    const listed = toListed(row)
    await recordAdministration(tx, by, {
      action: 'release-snapshot',
      subject: { table: listed.table },
      value: { quarantine: id, snapshot_id: String(listed.snapshotId), reason },
    })
    return listed
  })
}
