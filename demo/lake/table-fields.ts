/** The columns of a written table, and their form in metadata files. */

/** Types whose values can be given as rows. */
export type Written = 'string' | 'long' | 'int' | 'double' | 'float' | 'boolean' | 'date'
/** Only `Written` and nested types can be given as rows. Files with other types are given as bytes. */
export type FieldType =
  | Written
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'uuid'
  | 'binary'
  | `decimal(${number},${number})`
  | `fixed[${number}]`
  | NestedType
export type NestedType =
  | { readonly struct: readonly Field[] }
  | { readonly list: FieldType; readonly elementId: number }
  | { readonly map: FieldType; readonly key: FieldType; readonly keyId: number; readonly valueId: number }

export interface Field {
  readonly id: number
  readonly name: string
  readonly type: FieldType
  readonly required?: boolean
  /** In JSON single-value form (format version 3). */
  readonly initialDefault?: unknown
}

export type Row = Readonly<Record<string, unknown>>

/** A field in the form of a metadata file. */
export function schemaField({ id, name, type, required = false, initialDefault }: Field): object {
  return {
    id,
    name,
    required,
    type: schemaType(type),
    ...(initialDefault !== undefined && {
      'initial-default': initialDefault,
      'write-default': initialDefault,
    }),
  }
}

function schemaType(type: FieldType): unknown {
  if (typeof type === 'string') return type
  if ('struct' in type) return { type: 'struct', fields: type.struct.map(schemaField) }
  if ('map' in type)
    return {
      ...{ type: 'map', 'key-id': type.keyId, key: schemaType(type.key) },
      ...{ 'value-id': type.valueId, value: schemaType(type.map), 'value-required': false },
    }
  return {
    type: 'list',
    'element-id': type.elementId,
    element: schemaType(type.list),
    'element-required': false,
  }
}
