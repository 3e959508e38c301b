/** Stores what tables can be grouped by. Every change adds a version, and the newest is in force. */

import type { TableModel } from '../../core/metric.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { tableId } from '../contract/targets.ts'
import { storableJson } from '../database/names.ts'
import type { Page, PageRequest } from '../database/page.ts'
import { isReadable } from '../graph/readable.ts'
import type { Store } from '../store.ts'
import { changeSemantics, recordSemantics, type SemanticChange } from './changes.ts'
import { findNewest, listNewest, type NewestRow } from './newest.ts'
import { requireTerms } from './term-rules.ts'

/**
 * Saves a table's model as its next version.
 * @returns with its number
 * @throws Fault `unprocessable` for an unknown term
 */
export function saveTableModel(on: SemanticChange, model: Omit<TableModel, 'number'>): Promise<TableModel> {
  return changeSemantics(on, async (tx) => {
    const terms = new Set(model.dimensions.flatMap(({ term }) => term ?? []))
    await requireTerms(tx, [...terms])
    const [row] = await tx.query<{ readonly number: number }>(
      `insert into svc.table_model (tenant_id, table_id, number, definition, actor)
       select svc.current_tenant(), $1, coalesce(max(m.number), 0) + 1, $2::text::jsonb, $3::text::jsonb
       from svc.table_model m where m.tenant_id = svc.current_tenant() and m.table_id = $1
       returning number`,
      [tableId(model.table), storableJson(model), storableJson(on.actor)],
    )
    await recordSemantics(tx, on, 'put-table-model', { table: model.table }, model)
    return { ...model, number: row?.number ?? 1 }
  })
}

type Definition = Omit<TableModel, 'number'>
const toModel = ({ definition, number }: NewestRow<Definition>): TableModel => ({ ...definition, number })

/** The model of a table that is in force. */
export async function findTableModel(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<TableModel | undefined> {
  const row = await findNewest<Definition>(store, tenant, 'table_model', tableId(table))
  return row && toModel(row)
}

/**
 * Every table with a model, by id.
 * @param readableOnly leaves out tables that may not be read. Default: false
 * @throws Fault `bad_request` for a bad page
 */
export async function listTableModels(
  store: Store,
  tenant: TenantId,
  { readableOnly = false, ...page }: PageRequest & { readonly readableOnly?: boolean },
): Promise<Page<TableModel>> {
  const { items, ...more } = await listNewest<Definition>(store, tenant, 'table_model', {
    ...page,
    ...(readableOnly && { condition: isReadable('table_id') }),
  })
  return { items: items.map(toModel), ...more }
}
