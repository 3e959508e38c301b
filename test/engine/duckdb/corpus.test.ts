/** The corpus of BI queries, compiled and protected, gives the same over Iceberg tables as over DuckDB's own. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import type { IcebergType } from '../../../src/core/iceberg-type.ts'
import { chunkDecoder } from '../../../src/engine/duckdb/column-decoder.ts'
import type { TableSnapshot } from '../../../src/engine/engine.ts'
import { compileQuery } from '../../../src/query/compile/compile.ts'
import { renderSql } from '../../../src/query/compile/emit/render.ts'
import { corpus } from '../../query/corpus/all.ts'
import { parameterValues } from '../../query/corpus/query.ts'
import { duckdbSetup, governedTables, principal } from '../../query/support/fixture.ts'
import { rowsIn, runBy, startTestEngine, type TestEngine } from '../../support/engine.ts'
import { someInShortForm } from '../../support/long-form.ts'

let engine: TestEngine
let instance: DuckDBInstance
let plain: DuckDBConnection
const snapshots = new Map<GovernedTable, TableSnapshot>()

beforeAll(async () => {
  engine = await startTestEngine({ threads: 1 })
  instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  plain = await instance.connect()
  await plain.run("SET TimeZone = 'UTC'")
  for (const statement of duckdbSetup()) await plain.run(statement)
  for (const table of governedTables) snapshots.set(table, await icebergTable(table))
})
afterAll(async () => {
  plain.closeSync()
  instance.closeSync()
  await engine.close()
})

const elementId = (column: number) => 1_000 + column

function fieldType(type: IcebergType, column: number): Field['type'] {
  if (typeof type === 'string') return type as Field['type']
  if (type.type !== 'list') throw new Error('the fixture has lists only')
  return { list: fieldType(type.element, column), elementId: elementId(column) }
}

/** The fixture's rows as an Iceberg table. */
async function icebergTable(table: GovernedTable): Promise<TableSnapshot> {
  const fields = table.columns.map(({ name, fieldId, type, required }) => ({
    id: fieldId,
    name,
    type: fieldType(type, fieldId),
    required,
  }))
  const ids = fields.map(({ id, name, type }) =>
    typeof type === 'string'
      ? `"${name}": ${id}`
      : `"${name}": {__duckdb_field_id: ${id}, element: ${elementId(id)}}`,
  )
  const source = `base_${table.tableName}`
  const statements = duckdbSetup().filter((statement) => statement.includes(`${source} `))
  const bytes = await duckdbParquet(`SELECT * FROM ${source}`, `{${ids.join(', ')}}`, statements)
  const writer = engine.table(table.tableName, { fields })
  const { metadataLocation, snapshotId } = await writer.append([{ rows: [], recordCount: 1, bytes }])
  return { table, metadataLocation, snapshotId }
}

test.each(someInShortForm(corpus, 3).map(({ sql, parameters }) => [sql, parameters] as const))(
  '%s',
  async (text, parameters) => {
    const compiled = compileQuery({
      text,
      principal,
      tables: governedTables,
      searchPath: ['sales', 'hr'],
      parameterValues: parameterValues(parameters),
    })
    const salt = new Uint8Array(16)
    const options = { salt, ...(parameters && { parameters }) }
    const expected = await plainRows(renderSql(compiled.emit('duckdb'), 'duckdb', options), compiled.columns)

    const read = compiled.reads.map(({ table }) => table)
    const { ranges } = compiled
    const tables = [...snapshots.values()].filter(({ table }) => read.includes(table))
    const narrowed = tables.map((each) => ({ ...each, ranges: ranges.get(each.table) }))
    const session = await engine.engine.open(narrowed, runBy())
    const rows: unknown[][] = []
    const sql = renderSql(compiled.emit('duckdb'), 'duckdb', { ...options, relation: session.relation })
    for await (const batch of session.run({ sql, columns: compiled.columns })) rows.push(...rowsIn(batch))
    await session.close()
    expect(sorted(rows)).toEqual(sorted(expected))
  },
)

async function plainRows(sql: string, columns: Parameters<typeof chunkDecoder>[0]): Promise<unknown[][]> {
  const prepared = await plain.prepare(sql)
  const types = Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnType(index))
  const decode = chunkDecoder(columns, types)
  const rows: unknown[][] = []
  for (const chunk of await (await prepared.run()).fetchAllChunks()) rows.push(...rowsIn(decode(chunk)))
  return rows
}

/** Not every query orders its rows, and sums of doubles depend on the order of what they add. */
function sorted(rows: readonly unknown[][]): string[] {
  const rounded = (value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(12)) : value)
  return rows.map((row) => Bun.inspect(row.map(rounded))).sort()
}
