/** Checks a statement of the system against the columns of one table, by the compiler of the read path. It runs nothing. */

import type { GovernedTable } from '../../core/governed-table.ts'
import type { Principal } from '../../core/principal.ts'
import type { CheckedStatement } from '../../core/system-read.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import { type CompiledQuery, compileQuery } from '../compile/compile.ts'

/** The session user of engines that have one. It has no role, so that nothing is decided by it. */
export const systemPrincipal: Principal = { sub: 'covenant', roles: [] }

/** The table with every column of a schema and nothing that protects it. */
export function openTableOf(ref: TableRef, schema: readonly SchemaColumn[]): GovernedTable {
  const relation = [...ref.namespace, ref.name]
  return {
    ref,
    schemaName: ref.namespace.join('.'),
    tableName: ref.name,
    relation: { duckdb: relation, trino: relation },
    columns: schema.map(({ name, fieldId, type, required }) => ({
      name,
      fieldId,
      type,
      required,
      masks: [],
    })),
    rowFilters: [],
    // A version that is being deployed governs the table only afterwards.
    readableWithoutContract: true,
  }
}

/** One SELECT over the table alone, or over it and those beside it. @throws SqlError */
export function compileSystem(
  table: GovernedTable,
  text: string,
  beside: readonly GovernedTable[] = [],
): CompiledQuery {
  return compileQuery({
    text,
    principal: systemPrincipal,
    tables: [table, ...beside],
    searchPath: [table.schemaName],
  })
}

/** What a compiled statement reads and gives. */
export function checkedOf(table: GovernedTable, { reads, columns }: CompiledQuery): CheckedStatement {
  const names = new Set(reads.flatMap((read) => read.columns))
  return {
    fieldIds: table.columns.flatMap(({ name, fieldId }) => (names.has(name) ? [fieldId] : [])),
    types: columns.map(({ type }) => type),
  }
}

/** Checks a statement over a table of which the columns are known and no snapshot is read. @throws SqlError */
export function checkStatement(
  ref: TableRef,
  columns: readonly SchemaColumn[],
  text: string,
): CheckedStatement {
  const table = openTableOf(ref, columns)
  const query = compileSystem(table, text)
  // Patterns and the like are refused where the engine's text is written.
  query.emit('duckdb')
  return checkedOf(table, query)
}
