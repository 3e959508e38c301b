/**
 * Finds which nested columns a statement reads, and which fields of them alone, with those that its filters and masks
 * read. An engine need not read the others.
 */

import type { GovernedTable } from '../../../core/governed-table.ts'
import { childrenOf, type Expr } from '../base/ir.ts'
import { isInList, placeAt } from '../base/nested-fields.ts'
import { isNested } from '../base/types.ts'
import type { TableAppearance } from '../resolve/context.ts'
import { rawAlias } from './policy-expression.ts'
import type { Protection } from './protect.ts'

/** Field ids by table; a table of which nothing nested is read has none. */
export function nestedReads(
  appearances: readonly TableAppearance[],
  protections: ReadonlyMap<string, Protection>,
): ReadonlyMap<GovernedTable, ReadonlySet<number>> {
  const reads = new Map<GovernedTable, Set<number>>()
  for (const { id, table, used } of appearances) {
    if (!table.columns.some(({ type }) => isNested(type))) continue
    const ids = reads.get(table) ?? new Set()
    reads.set(table, ids)
    const add = (index: number) => {
      const found = readAt(table, index)
      if (found !== undefined) ids.add(found)
    }
    const { filters = [], columns = [] } = protections.get(id) ?? {}
    for (const index of used) add(index)
    const expressions = columns.flatMap(({ expression, nested }) => [
      expression,
      ...[...(nested?.values() ?? [])].map((one) => one.expression),
    ])
    for (const expr of [...filters, ...expressions]) if (expr !== undefined) addRaw(expr, add)
  }
  return reads
}

function readAt(table: GovernedTable, index: number): number | undefined {
  const place = placeAt(table, index)
  const { columns } = table
  const top = columns[place?.column ?? (index < columns.length ? index : index - columns.length)]
  if (top === undefined || !isNested(top.type)) return undefined
  // A field in a list or map is read with the whole column.
  return place === undefined || place.shown === undefined || isInList(place)
    ? top.fieldId
    : place.field.fieldId
}

function addRaw(expr: Expr, add: (index: number) => void): void {
  if (expr.kind === 'column' && expr.relation === rawAlias) add(expr.index)
  for (const child of childrenOf(expr)) addRaw(child, add)
}
