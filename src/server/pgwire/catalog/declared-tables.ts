/**
 * Adds to readable tables what their contracts declare: comments, primary and foreign keys. A foreign key to a
 * table that is not readable is left out.
 */

import { eachInTurns } from '../../../base/in-turns.ts'
import { foreignKeysOf, primaryKeyOf } from '../../../core/contract-schema.ts'
import { type TableRef, tableKey } from '../../../core/table-ref.ts'
import { boundColumn, type DeclaredSchema } from '../../../store/governance/declared-schema.ts'
import type { ReadableColumn, ReadableTable } from '../../../store/governance/readable-tables.ts'
import { type ShadowForeignKey, type ShadowTable, shadowTable } from './shadow-table.ts'

/** The tables that PostgreSQL can hold, in their order. */
export async function declaredTables(tables: readonly ReadableTable[]): Promise<readonly ShadowTable[]> {
  const readable = new Map<string, ReadableTable>()
  await eachInTurns(tables, undefined, (table) => readable.set(tableKey(table.ref), table))
  const declared: ShadowTable[] = []
  await eachInTurns(tables, undefined, (table) => {
    const shown = shadowTable(marked(described(table)))
    if (shown !== undefined) declared.push({ ...shown, ...keysOf(table, readable) })
  })
  return declared
}

/** Marks masked columns in their descriptions. The catalog is one for all readers, so it does not say for whom. */
function marked(table: ReadableTable): ReadableTable {
  const mark = 'Masked for some readers: EXPLAIN shows whether for you.'
  const columns = table.columns.map((column) =>
    column.masked
      ? { ...column, doc: [column.doc, mark].filter((text) => text !== undefined).join(' ') }
      : column,
  )
  return { ...table, columns }
}

/** Replaces the table's own descriptions by those of its contract. */
function described(table: ReadableTable): ReadableTable {
  const { declared, columns, ref } = table
  if (declared === undefined) return table
  const { description, properties = [] } = declared.schema
  const docs = new Map(
    properties.map((property) => [boundColumn(declared, ref, property.name, columns), property.description]),
  )
  return {
    ...table,
    ...(description !== undefined && { doc: description }),
    columns: columns.map((column) => {
      const doc = docs.get(column)
      return doc === undefined ? column : { ...column, doc }
    }),
  }
}

type Keys = Pick<ShadowTable, 'primaryKey' | 'foreignKeys'>

function keysOf(
  { declared, ref, columns }: ReadableTable,
  readable: ReadonlyMap<string, ReadableTable>,
): Keys {
  if (declared === undefined) return {}
  const primaryKey = keyColumns(declared, ref, primaryKeyOf(declared.schema), columns)
  const foreignKeys = foreignKeysOf(declared.schema, ref).flatMap((key): ShadowForeignKey[] => {
    const target = readable.get(tableKey(key.table))
    const own = keyColumns(declared, ref, key.columns, columns)
    const referenced = target && keyColumns(declared, key.table, key.referencedColumns, target.columns)
    if (own === undefined || referenced === undefined) return []
    const named = { schemaName: key.table.namespace.join('.'), tableName: key.table.name }
    return [{ columns: own, ...named, referencedColumns: referenced }]
  })
  return { ...(primaryKey && { primaryKey }), foreignKeys: distinct(foreignKeys) }
}

/** Removes duplicates, because a property and its table may declare the same key. */
function distinct(keys: readonly ShadowForeignKey[]): readonly ShadowForeignKey[] {
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()]
}

/**
 * The current names of a key's columns.
 * @returns undefined where a column is missing, or is masked for anyone, because masked values form no key
 */
function keyColumns(
  declared: DeclaredSchema,
  table: TableRef,
  names: readonly string[],
  columns: readonly ReadableColumn[],
): readonly string[] | undefined {
  const found = names.map((name) => boundColumn(declared, table, name, columns))
  if (found.length === 0 || !found.every((column) => column?.masked === false)) return undefined
  return found.flatMap((column) => (column ? [column.name] : []))
}
