/** The columns of a written table, and how its metadata files name them. */

/** Types of which rows can be given. */
export type Written = 'string' | 'long' | 'int' | 'double' | 'float' | 'boolean' | 'date'
/** Of these only `Written` ones and nested ones can be given as rows; other files come as bytes. */
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

export interface Field {
  readonly id: number
  readonly name: string
  readonly type: FieldType
  readonly required?: boolean
  /** In JSON single-value form (format version 3). */
  readonly initialDefault?: unknown
}

export type Row = Readonly<Record<string, unknown>>

/** A field as a metadata file has it. */
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
  return {
    type: 'list',
    'element-id': type.elementId,
    element: schemaType(type.list),
    'element-required': false,
  }
}
