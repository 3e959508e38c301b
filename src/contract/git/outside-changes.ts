/**
 * Says where what protects the tables of a contract differs from its document in force, because somebody changed it
 * elsewhere: by the operations on tables instead of by the document.
 */

import type { Governance } from '../../core/governance.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import { columnOf, type GoverningSchema, governing } from '../../store/contract/put-in-force.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'

type Property = GoverningSchema['properties'][number]

interface Protection {
  readonly id: string
  readonly action?: string
  readonly expression?: string | undefined
  readonly exemptRoles: readonly string[]
}

/**
 * One sentence without a full stop for each difference. A protection that an earlier version named and the one in force
 * does not is none: it stays where a version loses its column (docs/odcs.md).
 * @param governances what governs the tables now, by tableKey
 * @param earlier what was in force before
 */
export function changesOutside(
  model: ContractModel,
  governances: ReadonlyMap<string, Governance>,
  earlier: readonly ContractModel[] = [],
): readonly string[] {
  return governing(model).flatMap((schema) => {
    const governance = governances.get(tableKey(schema.table))
    if (governance?.contract?.id !== model.id)
      return [`The table ${tableName(schema.table)} is not under the contract`]
    return [
      ...differences(tableName(schema.table), 'row filter', schema.rowFilters, tableFilters(governance)),
      ...schema.properties.flatMap((property) => {
        const named = earlier.flatMap((one) => propertyNamed(one, schema.table, columnOf(property)))
        return columnChanges(schema.table, property, governance, named)
      }),
      ...pinChanges(schema, governance),
    ]
  })
}

function tableFilters({ rowFilters }: Governance): readonly Protection[] {
  return rowFilters
    .filter(({ origin }) => origin.kind === 'table')
    .map(({ policyId, expression, exemptRoles }) => ({ id: policyId, expression, exemptRoles }))
}

function columnChanges(
  table: TableRef,
  property: Property,
  { columns, rowFilters }: Governance,
  earlier: readonly Property[],
): readonly string[] {
  const column = columns.find(({ current, name }) => current && name === columnOf(property))
  if (column === undefined) return []
  const at = `${tableName(table)}.${column.name}`
  // What came by a tag is not the document's to say.
  const masks = column.masks
    .filter(({ origin }) => origin.kind === 'column')
    .map(({ policyId, action, expression, exemptRoles }) => {
      return { id: policyId, action, expression, exemptRoles }
    })
  const filters = rowFilters
    .filter(({ origin, fieldId }) => origin.kind === 'column' && fieldId === column.fieldId)
    .map(({ policyId, expression, exemptRoles }) => ({ id: policyId, expression, exemptRoles }))
  return [
    ...differences(
      at,
      'mask',
      property.masks,
      masks.filter(
        ({ id }) =>
          !leftOver(
            id,
            property.masks,
            earlier.flatMap((one) => one.masks),
          ),
      ),
    ),
    ...differences(
      at,
      'row filter',
      property.rowFilters,
      filters.filter(
        ({ id }) =>
          !leftOver(
            id,
            property.rowFilters,
            earlier.flatMap((one) => one.rowFilters),
          ),
      ),
    ),
  ]
}

function propertyNamed(model: ContractModel, table: TableRef, column: string): readonly Property[] {
  const schema = governing(model).find((one) => tableKey(one.table) === tableKey(table))
  return (schema?.properties ?? []).filter((one) => columnOf(one) === column)
}

function leftOver(id: string, said: readonly Protection[], earlier: readonly Protection[]): boolean {
  const names = (all: readonly Protection[]) => all.some((one) => one.id === id)
  return !names(said) && names(earlier)
}

function differences(
  at: string,
  kind: string,
  said: readonly Protection[],
  there: readonly Protection[],
): readonly string[] {
  const found = (all: readonly Protection[], id: string) => all.find((one) => one.id === id)
  return [
    ...said.flatMap((one) => {
      const now = found(there, one.id)
      if (now === undefined) return [`The ${kind} ${one.id} on ${at} is not in force`]
      if (plain(now) === plain(one)) return []
      return [`The ${kind} ${one.id} on ${at} is not as the document says`]
    }),
    ...there
      .filter(({ id }) => found(said, id) === undefined)
      .map(({ id }) => `The ${kind} ${id} on ${at} is in force, and the document does not say so`),
  ]
}

function plain({ action, expression, exemptRoles }: Protection): string {
  return JSON.stringify([action, expression, exemptRoles.toSorted()])
}

/** A pin that the document does not name is none of its business. */
function pinChanges({ table, pin }: GoverningSchema, { pin: now }: Governance): readonly string[] {
  if (pin === undefined || now?.snapshotId === BigInt(pin.snapshotId)) return []
  return [`The table ${tableName(table)} is not pinned as the document says`]
}
