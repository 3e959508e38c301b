/** Sets, releases and lists legal holds. While one stands, nothing of its table or tenant is removed. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import { afterUuid, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

export interface LegalHold {
  readonly id: string
  /** Undefined: of the whole tenant. */
  readonly table: TableRef | undefined
  readonly reason: string
  readonly setAt: Date
  readonly setBy: Actor
  readonly release: { readonly at: Date; readonly by: Actor; readonly reason: string } | undefined
}

interface Row {
  readonly hold_id: string
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
  readonly reason: string
  readonly set_at: Date
  readonly set_by: Actor
  readonly released_at: Date | null
  readonly released_by: Actor | null
  readonly release_reason: string | null
}

const columns = `hold_id, namespace, table_name, reason, set_at, set_by, released_at, released_by, release_reason`

function toHold(row: Row): LegalHold {
  const { namespace, table_name: name, released_at: at, released_by: by, release_reason: reason } = row
  return {
    id: row.hold_id,
    table: namespace === null || name === null ? undefined : { namespace, name },
    reason: row.reason,
    setAt: row.set_at,
    setBy: row.set_by,
    release: at === null || by === null ? undefined : { at, by, reason: reason ?? '' },
  }
}

/** The tenant's holds, also those released, by id. @throws Fault `bad_request` for a bad page token */
export async function listHolds(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<LegalHold>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.legal_hold where tenant_id = $1 and hold_id > $2 order by hold_id limit $3::int`,
    [tenant, afterUuid(page), limit + 1],
  )
  const listed = toPage(rows, limit, (row) => row.hold_id)
  return { ...listed, items: listed.items.map(toHold) }
}

/**
 * Sets a hold, once no removal of the tenant is in progress: what was there then stays.
 * @param table undefined: the whole tenant
 * @throws Fault `conflict` where the removal of the tenant has begun
 */
export async function setHold(
  store: Store,
  tenant: TenantId,
  { table, reason }: { readonly table: TableRef | undefined; readonly reason: string },
  by: Actor,
): Promise<LegalHold> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('holds ' || $1::text, 0))`, [tenant])
    const [removal] = await tx.query<{ readonly begun: boolean }>('select svc.removes_tenant() as begun')
    if (removal?.begun)
      throw new Fault('conflict', 'The removal of this tenant has begun: nothing of it can be held.')
    const [row] = await tx.query<Row>(
      `insert into svc.legal_hold (tenant_id, table_id, namespace, table_name, reason, set_by)
       values ($1, $2, $3::text::jsonb, $4, $5, $6::text::jsonb) returning ${columns}`,
      [
        tenant,
        table === undefined ? null : nodeId(tableKey(table)),
        table === undefined ? null : storableJson(table.namespace),
        table?.name ?? null,
        storableText(reason),
        storableJson(by),
      ],
    )
    if (row === undefined) throw new Error('an insert gave no row')
    const subject = { hold: row.hold_id, ...(table && { table }) }
    await recordAdministration(tx, by, { action: 'set-hold', subject, value: { reason } })
    return toHold(row)
  })
}

/** @returns the released one; undefined where no such hold of the tenant stands */
export async function releaseHold(
  store: Store,
  tenant: TenantId,
  id: string,
  reason: string,
  by: Actor,
): Promise<LegalHold | undefined> {
  if (!isUuid(id)) return undefined
  return await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query<Row>(
      `update svc.legal_hold set released_at = clock_timestamp(), released_by = $3::text::jsonb, release_reason = $4
       where tenant_id = $1 and hold_id = $2 and released_at is null returning ${columns}`,
      [tenant, id, storableJson(by), storableText(reason)],
    )
    if (row === undefined) return undefined
    const hold = toHold(row)
    const subject = { hold: id, ...(hold.table && { table: hold.table }) }
    await recordAdministration(tx, by, { action: 'release-hold', subject, value: { reason } })
    return hold
  })
}
