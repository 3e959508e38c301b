/** A catalog of very many tables of ten columns each. */

import type { ShadowTable } from '../../../../src/server/pgwire/catalog/shadow-table.ts'

const types = ['int8', 'text', 'date', 'timestamptz', 'bool'] as const

export function manyTables(schemaCount: number, tablesOfSchema: number): readonly ShadowTable[] {
  return Array.from({ length: schemaCount * tablesOfSchema }, (_, at) => ({
    schemaName: `schema_${Math.floor(at / tablesOfSchema)}`,
    tableName: `table_${at}`,
    comment: `Table ${at}`,
    columns: Array.from({ length: 10 }, (_, column) => ({
      name: `column_${column}`,
      type: types[column % types.length] ?? 'text',
      notNull: column === 0,
    })),
  }))
}
