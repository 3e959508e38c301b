/** Stores who reads the values of protected columns. The read path loads them with what governs a table. */

import type { RevealRule } from '../../core/reveal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { columnsNamed, tableId } from '../contract/targets.ts'
import { storableJson } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

export interface ColumnPlace {
  readonly table: TableRef
  readonly column: string
}

/** Saves the reveal rule of a column in place of its present one. */
export async function saveReveal(
  tx: Tx,
  tenant: TenantId,
  { table, fieldId }: { readonly table: TableRef; readonly fieldId: number },
  rule: RevealRule,
): Promise<void> {
  await tx.query(
    `insert into svc.transform_reveal (tenant_id, table_id, field_id, table_ref, definition)
     values ($1, $2, $3::int8, $4::text::jsonb, $5::text::jsonb)
     on conflict (tenant_id, table_id, field_id)
       do update set definition = excluded.definition, table_ref = excluded.table_ref, at = clock_timestamp()`,
    [tenant, tableId(table), String(fieldId), storableJson(table), storableJson(rule)],
  )
}

/** Removes the reveal rule of a column, also of a dropped one. @returns whether there was one */
export async function removeReveal(tx: Tx, tenant: TenantId, place: ColumnPlace): Promise<boolean> {
  const fieldIds = (await columnsNamed(tx, place)).map(({ fieldId }) => fieldId).join(',')
  const removed = await tx.query(
    `delete from svc.transform_reveal where tenant_id = $1 and table_id = $2
       and field_id = any(string_to_array($3, ',')::int8[]) returning 1`,
    [tenant, tableId(place.table), fieldIds],
  )
  return removed.length > 0
}

interface ListedReveal {
  readonly table: TableRef
  readonly fieldId: number
  readonly rule: RevealRule
}

interface Row {
  readonly table_ref: TableRef
  readonly field_id: string
  readonly definition: RevealRule
  readonly place: string
}

/** A tenant's reveal rules, a page of them. */
export async function listReveals(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<ListedReveal>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select * from (
       select table_ref, field_id, definition,
         row_number() over (order by table_id collate "C", field_id) as place
       from svc.transform_reveal where tenant_id = $1) r
     where place > $2::int8 order by place limit $3::int`,
    [tenant, Number(afterCount(page) ?? 0), limit + 1],
  )
  const found = toPage(rows, limit, ({ place }) => String(place))
  return {
    ...found,
    items: found.items.map(({ table_ref: table, field_id: fieldId, definition }) => ({
      table,
      fieldId: Number(fieldId),
      rule: definition,
    })),
  }
}
