/**
 * Says where what protects the tables of a contract differs from its document in force, because somebody changed it
 * elsewhere: by the operations on tables instead of by the document.
 */

import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import { columnOf, type GoverningSchema, governing } from '../../store/contract/put-in-force.ts'
import type { Governance } from '../../store/governance/governance.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'

interface Protection {
  readonly id: string
  readonly action?: string
  readonly expression?: string | undefined
  readonly exemptRoles: readonly string[]
}

/**
 * One sentence without a full stop for each difference.
 * @param governances what governs the tables now, by tableKey
 */
export function changesOutside(
  model: ContractModel,
  governances: ReadonlyMap<string, Governance>,
): readonly string[] {
  return governing(model).flatMap((schema) => {
    const governance = governances.get(tableKey(schema.table))
    if (governance?.contract?.id !== model.id)
      return [`The table ${tableName(schema.table)} is not under the contract`]
    return [
      ...differences(tableName(schema.table), 'row filter', schema.rowFilters, tableFilters(governance)),
      ...schema.properties.flatMap((property) => columnChanges(schema.table, property, governance)),
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
  property: GoverningSchema['properties'][number],
  { columns, rowFilters }: Governance,
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
    ...differences(at, 'mask', property.masks, masks),
    ...differences(at, 'row filter', property.rowFilters, filters),
  ]
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
