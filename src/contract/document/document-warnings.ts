/** Warns the author of a contract document of row filters and masks in it that are hardly meant, as single ones are. */

import type { GovernedTable } from '../../core/governed-table.ts'
import { currentSchema, seenTable } from '../../core/seen-table.ts'
import { tableKey } from '../../core/table-ref.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import type { ContractModel, ModelMask, ModelRowFilter } from '../../wire/odcs/model.ts'
import type { ChangeContext } from '../change.ts'

/** Each with the id of the filter or mask. Expressions are read over the columns that the tables have now. */
export async function documentWarnings(
  { store, tenant, warnPolicy }: Pick<ChangeContext, 'store' | 'tenant' | 'warnPolicy'>,
  model: ContractModel,
): Promise<readonly string[]> {
  const schemas = governing(model)
  const holdsAny = schemas.some(
    ({ rowFilters, properties }) =>
      rowFilters.length > 0 || properties.some((one) => one.rowFilters.length + one.masks.length > 0),
  )
  if (warnPolicy === undefined || !holdsAny) return []
  const governances = await loadGovernances(
    store,
    tenant,
    schemas.map(({ table }) => table),
  )
  const found = schemas.flatMap(({ table, rowFilters, properties }) => {
    const governance = governances.get(tableKey(table))
    const seen = governance && seenTable(governance, currentSchema(governance), 'anyone')
    const filtersOf = (filters: readonly ModelRowFilter[], column?: string) =>
      filters.flatMap(({ id, expression }) => {
        const warnings = warnPolicy(
          { use: 'row filter', id, expression },
          seen ? [withFilter(seen, id, expression, column)] : [],
        )
        return warnings.map((text) => `\`${id}\`: ${text}`)
      })
    const masksOf = (masks: readonly ModelMask[], column: string) =>
      masks.flatMap(({ id, action, expression }) => {
        if (expression === undefined) return []
        const warnings = warnPolicy(
          { use: 'mask', id, expression },
          seen ? [withMask(seen, { id, action, expression }, column)] : [],
        )
        return warnings.map((text) => `\`${id}\`: ${text}`)
      })
    return [
      ...filtersOf(rowFilters),
      ...properties.flatMap(({ name, ...own }) => [
        ...filtersOf(own.rowFilters, name),
        ...masksOf(own.masks, name),
      ]),
    ]
  })
  return [...new Set(found)]
}

function withFilter(table: GovernedTable, id: string, expression: string, column?: string): GovernedTable {
  const fieldId = table.columns.find(({ name }) => name === column)?.fieldId
  const origin = { kind: 'table' } as const
  const filter = { policyId: id, origin, expression, ...(fieldId !== undefined && { fieldId }) }
  return { ...table, rowFilters: [filter] }
}

function withMask(
  table: GovernedTable,
  { id, action, expression }: Required<Pick<ModelMask, 'id' | 'action' | 'expression'>>,
  column: string,
): GovernedTable {
  const mask = { policyId: id, origin: { kind: 'column' }, action, expression } as const
  const columns = table.columns.map((one) => (one.name === column ? { ...one, masks: [mask] } : one))
  return { ...table, columns }
}
