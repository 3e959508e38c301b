/**
 * Puts the types of nested columns together from the graph, which has each nested field as a column of its own: its full
 * name joined by dots, with the kind of its type. Where names leave it open what is inside, the type says nothing of it.
 */

import type { StoredColumn } from '../../core/governance.ts'
import type { IcebergType, NestedField } from '../../core/iceberg-type.ts'

type Named = Pick<StoredColumn, 'fieldId' | 'name' | 'type' | 'required' | 'place'>

/** The type that the graph tells, which holds only the kind of a nested one; see {@link withNestedFields}. */
export function kindOf(text: string): IcebergType {
  if (text === 'list') return { type: 'list', element: { type: 'struct' } }
  return text === 'struct' || text === 'map' ? { type: text } : text
}

/** The same columns, with whole types. */
export function withNestedFields<C extends Named>(columns: readonly C[]): readonly C[] {
  const nesting = columns.filter(({ type }) => typeof type !== 'string')
  if (nesting.length === 0) return columns
  const parents = new Set(nesting.map(({ name }) => name))
  const children = Map.groupBy(columns, ({ name }) => parentOf(name, parents))
  // Two columns of one name have the same full names inside.
  const isClear = parents.size === nesting.length
  const whole = (column: C): IcebergType =>
    typeof column.type === 'string' || !isClear
      ? column.type
      : typeOf(column, (children.get(column.name) ?? []).toSorted(byPlace), whole)
  return columns.map((column) =>
    typeof column.type === 'string' ? column : { ...column, type: whole(column) },
  )
}

/** The longest name of a nested column that a field's full name may go on from. */
function parentOf(name: string, parents: ReadonlySet<string>): string | undefined {
  const prefixes = [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index))
  return prefixes.findLast((prefix) => parents.has(prefix))
}

function byPlace(a: Named, b: Named): number {
  return (a.place ?? 0) - (b.place ?? 0) || a.fieldId - b.fieldId
}

function typeOf<C extends Named>(
  { name, type }: C,
  inside: readonly C[],
  whole: (column: C) => IcebergType,
): IcebergType {
  const fields = inside.map(
    (field): NestedField => ({
      ...{ fieldId: field.fieldId, name: field.name.slice(name.length + 1) },
      ...{ type: whole(field), required: field.required },
    }),
  )
  const kind = typeof type === 'string' ? type : type.type
  if (kind === 'struct') {
    const isClear = new Set(fields.map((field) => field.name)).size === fields.length && fields.length > 0
    return isClear ? { type: kind, fields } : { type: kind }
  }
  const part = (of: string) => fields.find((field) => field.name === of)
  const [element, key, value] = [part('element'), part('key'), part('value')]
  if (kind === 'list' && element !== undefined && fields.length === 1)
    return {
      ...{ type: kind, element: element.type, elementId: element.fieldId },
      ...(element.required && { elementRequired: true }),
    }
  if (kind === 'map' && key !== undefined && value !== undefined && fields.length === 2)
    return {
      ...{ type: kind, keyId: key.fieldId, key: key.type, valueId: value.fieldId, value: value.type },
      ...(value.required && { valueRequired: true }),
    }
  return type
}
