/** Stores what is done to columns and tags before writing. Columns are named by field id, so that a rename keeps them. */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { TransformRule, TransformTarget } from '../../core/transform-rule.ts'
import { columnsNamed, ensureColumn, ensureTag, tableId, taggedTables } from '../contract/targets.ts'
import { storableJson } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { RunQuery } from '../governance/governance.ts'
import type { Store } from '../store.ts'

/** A stored rule with its target. */
export interface StoredRule {
  readonly rule: TransformRule
  readonly tag: string | undefined
  /** Undefined for a rule of a tag. */
  readonly fieldId: number | undefined
}

interface Row {
  readonly tag: string | null
  readonly table_id: string | null
  readonly field_id: string | null
  readonly definition: TransformRule
}

type PlacedRow = Row & { readonly table_ref: TableRef | null; readonly place: string }

/**
 * Saves a rule in place of the target's present one.
 *
 * @returns the tables that it concerns
 * @throws Fault `not_found` for an unknown column
 */
export async function saveRule(
  tx: Tx,
  tenant: TenantId,
  target: TransformTarget,
  rule: TransformRule,
): Promise<readonly TableRef[]> {
  const [key, tables] = await placeOf(tx, tenant, target)
  await tx.query(
    `insert into svc.transform_rule (tenant_id, tag, table_id, field_id, definition, table_ref)
     values ($1, $2, $3, $4::int8, $5::text::jsonb, $6::text::jsonb)
     on conflict (tenant_id, tag, table_id, field_id)
       do update set definition = excluded.definition, table_ref = excluded.table_ref, at = clock_timestamp()`,
    [tenant, ...key, storableJson(rule), 'tag' in target ? null : storableJson(target.table)],
  )
  return tables
}

async function placeOf(
  tx: Tx,
  tenant: TenantId,
  target: TransformTarget,
): Promise<readonly [key: readonly (string | null)[], tables: readonly TableRef[]]> {
  if ('tag' in target) {
    await ensureTag(tx, tenant, target.tag)
    return [[target.tag, null, null], await taggedTables(tx, target.tag)]
  }
  const { fieldId } = await ensureColumn(tx, tenant, target)
  return [[null, tableId(target.table), String(fieldId)], [target.table]]
}

/** The rule of a tag or of a current column; undefined where there is none. */
export async function presentRule(
  tx: Tx,
  tenant: TenantId,
  target: TransformTarget,
): Promise<TransformRule | undefined> {
  const [key] = await placeOf(tx, tenant, target)
  const [row] = await tx.query<Pick<Row, 'definition'>>(
    `select definition from svc.transform_rule
     where tenant_id = $1 and tag is not distinct from $2 and table_id is not distinct from $3
       and field_id is not distinct from $4::int8`,
    [tenant, ...key],
  )
  return row?.definition
}

/** Removes a rule, also of a dropped column. @returns whether there was one */
export async function removeRule(tx: Tx, tenant: TenantId, target: TransformTarget): Promise<boolean> {
  const removed =
    'tag' in target
      ? await tx.query('delete from svc.transform_rule where tenant_id = $1 and tag = $2 returning 1', [
          tenant,
          target.tag,
        ])
      : await tx.query(
          `delete from svc.transform_rule where tenant_id = $1 and table_id = $2
             and field_id = any(string_to_array($3, ',')::int8[]) returning 1`,
          [
            tenant,
            tableId(target.table),
            (await columnsNamed(tx, target)).map(({ fieldId }) => fieldId).join(','),
          ],
        )
  return removed.length > 0
}

/** Every rule that may concern a table: those of its columns, by any spelling of its name, and those of these tags. */
export async function rulesOfTable(
  run: RunQuery,
  tenant: TenantId,
  table: TableRef,
  tags: readonly string[],
): Promise<readonly StoredRule[]> {
  const rows = await run<Row>(
    `select tag, table_id, field_id, definition from svc.transform_rule
     where tenant_id = $1 and (table_id = $2 or tag in (select jsonb_array_elements_text($3::text::jsonb))
       or table_id in (select s ->> 'spelling' from jsonb_array_elements(svc.spellings(array[$2])) s))`,
    [tenant, tableId(table), JSON.stringify(tags)],
  )
  return rows.map(({ tag, field_id: fieldId, definition }) => ({
    rule: definition,
    tag: tag ?? undefined,
    fieldId: fieldId === null ? undefined : Number(fieldId),
  }))
}

/** A rule as it is listed. */
interface ListedRule {
  readonly tag?: string
  /** Of a rule of a column. */
  readonly table?: TableRef
  readonly fieldId?: number
  readonly rule: TransformRule
}

/** A tenant's rules, a page of them. */
export async function listRules(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<ListedRule>> {
  const limit = pageLimit(page)
  const from = Number(afterCount(page) ?? 0)
  const rows = await store.tenantQuery<PlacedRow>(
    tenant,
    `select * from (
       select tag, table_id, table_ref, field_id, definition,
         row_number() over (order by tag collate "C", table_id collate "C", field_id) as place
       from svc.transform_rule where tenant_id = $1) r
     where place > $2::int8 order by place limit $3::int`,
    [tenant, from, limit + 1],
  )
  const found = toPage(rows, limit, ({ place }) => String(place))
  return {
    ...found,
    items: found.items.map(({ tag, table_ref: table, field_id: fieldId, definition }) => ({
      ...(tag !== null && { tag }),
      ...(table !== null && { table }),
      ...(fieldId !== null && { fieldId: Number(fieldId) }),
      rule: definition,
    })),
  }
}
