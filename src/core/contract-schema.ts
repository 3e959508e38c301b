/**
 * The schema that a contract declares for its table, as in the Open Data Contract Standard 3.1. It is a schema object
 * with properties (columns), keys and relationships (foreign keys).
 */

import type { TableRef } from './table-ref.ts'

/** A foreign key of several columns, or of one; references are `table.column` or `namespace.table.column`. */
export interface SchemaRelationship {
  readonly type: 'foreignKey'
  /** Columns of the table itself. */
  readonly from: readonly string[]
  /** As many columns of one table of the same catalog, in the order of `from`. */
  readonly to: readonly string[]
}

export interface SchemaProperty {
  /** A column's name. */
  readonly name: string
  readonly description?: string
  readonly primaryKey?: true
  /** From 1; absent where the key has the order of the properties. */
  readonly primaryKeyPosition?: number
  /** Whether no two rows have the same value. */
  readonly unique?: true
  /** Foreign keys of this column alone. */
  readonly relationships?: readonly { readonly type: 'foreignKey'; readonly to: string }[]
}

export interface ContractSchema {
  readonly description?: string
  readonly properties?: readonly SchemaProperty[]
  readonly relationships?: readonly SchemaRelationship[]
}

interface ColumnReference {
  readonly table: TableRef
  readonly column: string
}

interface ForeignKey {
  readonly columns: readonly string[]
  readonly table: TableRef
  /** Of `table`, one for each of `columns`. */
  readonly referencedColumns: readonly string[]
}

/**
 * Reads a reference: the last part is a column, the one before it a table, any before that the table's namespace, else
 * that of `home`. A column whose name holds a dot cannot be referred to.
 * @returns undefined for text of fewer than two parts, or with an empty one
 */
function columnReference(text: string, home: TableRef): ColumnReference | undefined {
  const parts = text.split('.')
  const [column = '', name = ''] = parts.toReversed()
  if (parts.length < 2 || parts.includes('')) return undefined
  const namespace = parts.slice(0, -2)
  return { table: { namespace: namespace.length > 0 ? namespace : home.namespace, name }, column }
}

/** Names of the primary key's columns, in key order; empty where none is declared. */
export function primaryKeyOf({ properties = [] }: ContractSchema): readonly string[] {
  return properties
    .filter(({ primaryKey }) => primaryKey)
    .sort((a, b) => (a.primaryKeyPosition ?? 0) - (b.primaryKeyPosition ?? 0))
    .map(({ name }) => name)
}

/**
 * The foreign keys that a schema declares, those of single properties first.
 * @throws RangeError for a reference that cannot be read, `from` of another table, or `to` of several
 */
export function foreignKeysOf(schema: ContractSchema, home: TableRef): readonly ForeignKey[] {
  const single = (schema.properties ?? []).flatMap(({ name, relationships = [] }) =>
    relationships.map(({ to }) => ({ columns: [name], ...targetOf([to], home) })),
  )
  const several = (schema.relationships ?? []).map(({ from, to }) => {
    const own = targetOf(from, home)
    if (!Bun.deepEquals(own.table, home)) throw new RangeError('`from` must name columns of the table itself')
    if (from.length !== to.length) throw new RangeError('`from` and `to` must name as many columns')
    return { columns: own.referencedColumns, ...targetOf(to, home) }
  })
  return [...single, ...several]
}

function targetOf(texts: readonly string[], home: TableRef): Omit<ForeignKey, 'columns'> {
  const references = texts.map((text) => columnReference(text, home))
  const [first] = references
  if (first === undefined) throw new RangeError('a reference is `table.column` or `namespace.table.column`')
  return {
    table: first.table,
    referencedColumns: references.map((reference) => {
      if (reference === undefined || !Bun.deepEquals(reference.table, first.table))
        throw new RangeError('the columns of a key must be of one table')
      return reference.column
    }),
  }
}
