/**
 * Says the row filters and masks of a table as Iceberg's `read-restrictions`, for an engine that applies them to the
 * table's files itself. It hides at least what the read path hides; what cannot be said exactly is not said.
 */

import type { Governance } from '../../core/governance.ts'
import { type GovernedTable, isMasked } from '../../core/governed-table.ts'
import { chooseMask, maskFits } from '../../core/mask.ts'
import type { Principal } from '../../core/principal.ts'
import { seenTable } from '../../core/seen-table.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import type { Predicate } from '../../wire/iceberg/predicate.ts'
import { type ReadRestrictions, type ToldAction, unrestricted } from '../../wire/iceberg/read-restrictions.ts'
import type { TableState } from '../../wire/iceberg/table-state.ts'
import { resolveFilters } from '../compile/protect/protect.ts'
import { tellFilter } from './tell-filter.ts'

/** Why restrictions cannot be said, completing "it has …". Names no column and no value. */
interface Untold {
  readonly untold: string
}

/**
 * What is hidden of a table from one principal.
 * @param governance undefined for a table that is not in the graph
 * @param principal one whose roles were verified
 */
export function tellRestrictions(
  governance: Governance | undefined,
  state: TableState,
  principal: Principal,
): ReadRestrictions | Untold {
  if (governance === undefined) return unrestricted
  const fields = fieldsOf(state)
  const current = state.schemas.get(state.currentSchemaId) ?? []
  const table = seenTable(governance, current, principal)
  // A reader may go back to a snapshot whose columns are gone by now.
  const ever = seenTable(governance, [...fields.values()], principal)
  const isRestricted =
    table.rowFilters.length > 0 || fields.size !== ever.columns.length || ever.columns.some(isMasked)
  if (!isRestricted) return unrestricted
  if (governance.isClone && state.nameMapped)
    return { untold: 'files of another table whose columns are mapped by name' }
  const filter = filterOf(table, principal)
  if (filter !== undefined && 'untold' in filter) return filter
  const projections = projectionsOf(ever, fields)
  return 'untold' in projections
    ? projections
    : { filter: filter?.predicate, projections: projections.actions }
}

/** The top-level fields of all schemas by id, in their newest form. */
export function fieldsOf({ schemas, currentSchemaId }: TableState): ReadonlyMap<number, SchemaColumn> {
  const current = schemas.get(currentSchemaId) ?? []
  return new Map([...schemas.values(), current].flat().map((column) => [column.fieldId, column]))
}

function filterOf(
  table: GovernedTable,
  principal: Principal,
): { readonly predicate: Predicate } | Untold | undefined {
  const untold = { untold: 'a row filter that is no predicate of Iceberg' }
  let told: readonly (Predicate | undefined)[]
  try {
    told = resolveFilters(table, principal).map((filter) => tellFilter(table, filter))
  } catch {
    // The read path refuses such a table.
    return untold
  }
  const known = told.filter((predicate) => predicate !== undefined)
  if (known.length !== told.length) return untold
  const [first, ...rest] = known
  if (first === undefined) return undefined
  return { predicate: rest.reduce((left, right): Predicate => ({ kind: 'and', left, right }), first) }
}

function projectionsOf(
  { columns }: GovernedTable,
  fields: ReadonlyMap<number, SchemaColumn>,
): { readonly actions: ReadonlyMap<number, ToldAction> } | Untold {
  const actions = new Map<number, ToldAction>()
  const governed = new Map(columns.map((column) => [column.fieldId, column]))
  for (const [id, { type, required }] of fields) {
    const column = governed.get(id)
    if (column === undefined || column.nestedMasks !== undefined) {
      // The read path leaves the column out, or masks fields inside it, which cannot be said.
      if (!required) actions.set(id, 'replace-with-null')
      else if (maskFits('mask-to-fixed-value', type)) actions.set(id, 'mask-to-fixed-value')
      else return { untold: 'a required column that is hidden' }
      continue
    }
    const { mask, problem } = chooseMask(column.masks, type, required)
    if (problem !== undefined) return { untold: 'masks of which none can be chosen' }
    if (mask === undefined) continue
    if (mask.action === 'apply-expression') return { untold: 'a mask by an expression' }
    actions.set(id, mask.action as ToldAction)
  }
  return { actions }
}
