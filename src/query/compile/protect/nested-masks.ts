/**
 * Chooses the masks of fields inside columns. A mask of what a field is in hides the field; a field in a list is masked
 * element by element.
 */

import type { AttachedMask, GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import { fieldsIn, type IcebergType } from '../../../core/iceberg-type.ts'
import { chooseMask } from '../../../core/mask.ts'
import type { Principal } from '../../../core/principal.ts'
import type { Expr } from '../base/ir.ts'
import { type FieldPlace, fieldPlaces } from '../base/nested-fields.ts'
import { SqlError } from '../base/sql-error.ts'
import { isNested } from '../base/types.ts'
import { expressionCanFail } from './fallible.ts'
import { resolveMask } from './policy-expression.ts'

/** The mask of a field inside a column. */
export interface NestedMask {
  readonly mask: AttachedMask
  /** As of a {@link ProtectedColumn}. */
  readonly expression?: Expr | undefined
  /** The index by which the expression reads the field itself. */
  readonly index: number
}

/** The mask of what a field is in, which hides the field as well: of a column or field outside of any list. */
export function maskAround(
  table: GovernedTable,
  { column: at, steps, within }: FieldPlace,
): AttachedMask | undefined {
  const column = table.columns[at]
  if (column === undefined) throw new SqlError('42703', 'there is no such column')
  const list = steps.findIndex(({ to }) => to === 'element')
  const outside = list < 0 ? within : within.slice(0, list + 1)
  for (const id of outside) {
    const { masks, type, required } =
      id === column.fieldId ? column : { ...fieldOf(table, id), masks: nestedMasksOf(column, id) }
    const { mask, problem } = chooseMask(masks, type, required)
    if (problem !== undefined || mask?.expression !== undefined)
      throw new SqlError('42501', problem ?? 'an expression cannot mask a nested column')
    if (mask !== undefined) return mask
  }
  return undefined
}

function nestedMasksOf({ nestedMasks = [] }: GovernedColumn, id: number): readonly AttachedMask[] {
  return nestedMasks.find(({ fieldId }) => fieldId === id)?.masks ?? []
}

/** A field by its id. @throws SqlError 42703 where there is none */
export function fieldOf(table: GovernedTable, id: number): FieldPlace['field'] {
  const found = fieldPlaces(table).find(({ field }) => field.fieldId === id)
  if (found === undefined) throw new SqlError('42703', 'there is no such field')
  return found.field
}

/**
 * The masks of fields inside a column or place, and of a list's elements.
 * @returns undefined where there is nothing to mask and nothing that can fail
 * @throws SqlError where one cannot be applied
 */
export function masksInside(
  table: GovernedTable,
  column: GovernedColumn,
  place: FieldPlace | undefined,
  principal: Principal,
): { readonly nested?: ReadonlyMap<number, NestedMask>; readonly fallible: boolean } | undefined {
  const { nestedMasks = [] } = column
  const nested = new Map<number, NestedMask>()
  let fallible = isNested(column.type) && holdsMoments(column.type)
  const add = (fieldId: number, masks: readonly AttachedMask[]) => {
    const field = fieldOf(table, fieldId)
    const { mask, problem } = chooseMask(masks, field.type, field.required)
    if (problem !== undefined) throw new SqlError('42501', problem)
    if (mask === undefined) return
    const index = fieldPlaces(table).find((one) => one.field.fieldId === fieldId)?.index ?? 0
    if (mask.expression === undefined) {
      nested.set(fieldId, { mask, index })
      fallible ||= isTruncation(mask)
      return
    }
    const expression = resolveMask(table, field, mask, principal)
    nested.set(fieldId, { mask, expression, index })
    fallible ||= expressionCanFail(expression)
  }
  for (const { fieldId, masks } of nestedMasks) add(fieldId, masks)
  // In a list, what holds the field may be hidden element by element.
  const list = place?.steps.findIndex(({ to }) => to === 'element') ?? -1
  const top = place && table.columns[place.column]
  if (place !== undefined && top !== undefined && list >= 0)
    for (const id of place.within.slice(list + 1)) {
      add(id, nestedMasksOf(top, id))
      const hidden = nested.get(id)
      if (hidden !== undefined) nested.set(place.field.fieldId, { ...hidden, index: place.index })
    }
  if (nested.size === 0 && !fallible) return undefined
  return { fallible, ...(nested.size > 0 && { nested }) }
}

/** Whether values inside may have no text: moments in years that do not print. */
function holdsMoments(type: IcebergType): boolean {
  return typeof type === 'string'
    ? type.startsWith('timestamp')
    : fieldsIn(type).some((field) => holdsMoments(field.type))
}

/** Truncation fails at the start of an engine's range, where a year may begin before the first moment. */
export function isTruncation(mask: AttachedMask | undefined): boolean {
  return mask?.action.startsWith('truncate-to-') === true
}
