/**
 * Numbers the fields inside the columns of a governed table, so that a statement and a policy can read one like a column:
 * its index lies beyond those of all columns and raw columns (ir.ts). Knows no policy and writes no SQL.
 */

import type { GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import { fieldsIn, type IcebergType, type NestedField } from '../../../core/iceberg-type.ts'
import { servedType } from './types.ts'

/** The way from a value to a field inside it. */
export type Step = { readonly to: 'field'; readonly field: NestedField } | { readonly to: 'element' }

export interface FieldPlace {
  readonly index: number
  /** Index of the column that it is in. */
  readonly column: number
  readonly steps: readonly Step[]
  readonly field: NestedField
  /** Field ids of what it is in, the column's first. */
  readonly within: readonly number[]
  /**
   * The field as a column. Inside a list it is the array of its values. Undefined inside a map, inside a list of lists,
   * and where its type is not served.
   */
  readonly shown: GovernedColumn | undefined
}

const placesOf = new WeakMap<GovernedTable, readonly FieldPlace[]>()

/** The fields inside all columns that are served. */
export function fieldPlaces(table: GovernedTable): readonly FieldPlace[] {
  const cached = placesOf.get(table)
  if (cached !== undefined) return cached
  const places: FieldPlace[] = []
  for (const [index, column] of table.columns.entries())
    if (typeof column.type !== 'string' && servedType(column.type) !== undefined)
      addInside(table, places, column, { column: index, steps: [], within: [column.fieldId], isOpen: true }, [
        column.name,
        column.type,
      ])
  placesOf.set(table, places)
  return places
}

interface Around {
  readonly column: number
  readonly steps: readonly Step[]
  readonly within: readonly number[]
  /** Whether fields here can be columns. */
  readonly isOpen: boolean
}

function addInside(
  table: GovernedTable,
  places: FieldPlace[],
  column: GovernedColumn,
  { column: at, steps, within, isOpen }: Around,
  [name, type]: readonly [string, IcebergType],
): void {
  if (typeof type === 'string') return
  for (const field of fieldsIn(type)) {
    const step: Step = type.type === 'struct' ? { to: 'field', field } : { to: 'element' }
    const path = [...steps, step]
    const own = `${name}.${field.name}`
    const lists = path.filter(({ to }) => to === 'element').length
    const open = isOpen && type.type !== 'map' && lists <= 1
    places.push({
      index: 2 * table.columns.length + places.length,
      ...{ column: at, steps: path, field, within },
      shown: open ? shownAs(column, own, field, lists > 0) : undefined,
    })
    const inside = { column: at, steps: path, within: [...within, field.fieldId], isOpen: open }
    addInside(table, places, column, inside, [own, field.type])
  }
}

function shownAs(
  { nestedMasks = [] }: GovernedColumn,
  name: string,
  { fieldId, type: own, required }: NestedField,
  isInList: boolean,
): GovernedColumn | undefined {
  const type: IcebergType = isInList ? { type: 'list', element: own, elementId: fieldId } : own
  if (servedType(type) === undefined) return undefined
  const inside = new Set(idsIn(type))
  const masks = isInList ? [] : (nestedMasks.find((each) => each.fieldId === fieldId)?.masks ?? [])
  const nested = nestedMasks.filter((each) => inside.has(each.fieldId))
  return { name, fieldId, type, required, masks, ...(nested.length > 0 && { nestedMasks: nested }) }
}

function idsIn(type: IcebergType): readonly number[] {
  return fieldsIn(type).flatMap((field) => [field.fieldId, ...idsIn(field.type)])
}

/** The place of an index; undefined for that of a column. */
export function placeAt(table: GovernedTable, index: number): FieldPlace | undefined {
  return index < 2 * table.columns.length ? undefined : fieldPlaces(table)[index - 2 * table.columns.length]
}

/** Whether a field lies in a list, so that it has many values. */
export function isInList({ steps }: FieldPlace): boolean {
  return steps.some(({ to }) => to === 'element')
}

/**
 * The place of a field directly inside a column or a place.
 * @param index of the column or place; inside a list of structs a field's place is that of its values
 */
export function placeInside(table: GovernedTable, index: number, name: string): FieldPlace | undefined {
  const outer = placeAt(table, index)
  const column = outer?.column ?? index
  const steps = outer?.steps ?? []
  const isList = (type: IcebergType | undefined) => typeof type === 'object' && type.type === 'list'
  const elements: readonly Step[] = isList(outer?.field.type ?? table.columns[index]?.type)
    ? [{ to: 'element' }]
    : []
  const depth = steps.length + elements.length
  return fieldPlaces(table).find(
    (place) =>
      place.column === column &&
      place.steps.length === depth + 1 &&
      place.steps.at(-1)?.to === 'field' &&
      place.field.name === name &&
      [...steps, ...elements].every((step, at) => isSameStep(step, place.steps[at])),
  )
}

function isSameStep(one: Step, other: Step | undefined): boolean {
  if (one.to === 'element' || other?.to !== 'field') return one.to === other?.to
  return one.field.fieldId === other.field.fieldId
}
