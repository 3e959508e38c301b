/** Iceberg's types, as far as the read path and the masks distinguish them. Walks no values. */

/**
 * An Iceberg type as in schema JSON: a primitive's name (`decimal(10,2)`, `fixed[16]`) or a nested type. What is nested
 * is absent where the graph alone told the type and its names leave it open.
 */
export type IcebergType = string | ListType | StructType | MapType

interface ListType {
  readonly type: 'list'
  readonly element: IcebergType
  readonly elementId?: number
  readonly elementRequired?: boolean
}

interface StructType {
  readonly type: 'struct'
  readonly fields?: readonly NestedField[]
}

interface MapType {
  readonly type: 'map'
  readonly keyId?: number
  readonly key?: IcebergType
  readonly valueId?: number
  readonly value?: IcebergType
  readonly valueRequired?: boolean
}

export interface NestedField {
  readonly fieldId: number
  readonly name: string
  readonly type: IcebergType
  readonly required: boolean
  /** Set where files that were written before it stand for a value, its `initial-default`, instead of NULL. */
  readonly defaults?: true
}

/** Fields directly inside a type: a struct's fields, a list's `element`, a map's `key` and `value`. */
export function fieldsIn(type: IcebergType): readonly NestedField[] {
  if (typeof type === 'string') return []
  if (type.type === 'struct') return type.fields ?? []
  const part = (name: string, fieldId?: number, inner?: IcebergType, required = false) =>
    fieldId === undefined || inner === undefined ? [] : [{ fieldId, name, type: inner, required }]
  if (type.type === 'list') return part('element', type.elementId, type.element, type.elementRequired)
  return [
    ...part('key', type.keyId, type.key, true),
    ...part('value', type.valueId, type.value, type.valueRequired),
  ]
}
