/** Writes a table with the columns and value ranges of TPC-H `lineitem`, by DuckDB or by Spark with Iceberg. */

import { join } from 'node:path'
import { Glob } from 'bun'
import { duckdbParquet } from '../demo/lake/duckdb-parquet.ts'
import { tableInFolder } from '../demo/lake/iceberg-writer.ts'
import type { Field } from '../demo/lake/table-fields.ts'
import type { GovernedTable } from '../src/core/governed-table.ts'
import type { TableSnapshot } from '../src/engine/engine.ts'
import { metadataIn, snapshotAt } from '../test/clients/engine-tables.ts'
import { fetchPackage } from '../test/clients/packages.ts'
import { runSpark } from '../test/clients/spark-session.ts'

/** Name, Iceberg's type, and the value of row `i`, as DuckDB and as Spark write it. */
type Column = readonly [name: string, type: Field['type'], duckdb: string, spark: string]

/** A number below a bound that looks random. */
const below = (bound: number, seed: number) => ({
  duckdb: `(hash(i + ${seed}) % ${bound})`,
  spark: `pmod(xxhash64(i, ${seed}), ${bound})`,
})
/** A column of such numbers. */
function drawn(
  name: string,
  type: Field['type'],
  { duckdb, spark }: ReturnType<typeof below>,
  write: (number: string, engine: 'duckdb' | 'spark') => string,
): Column {
  return [name, type, write(duckdb, 'duckdb'), write(spark, 'spark')]
}
/** One of some words. */
const oneOf =
  (...words: readonly string[]) =>
  (number: string, engine: 'duckdb' | 'spark') => {
    const list = words.map((word) => `'${word}'`).join(', ')
    return engine === 'duckdb'
      ? `[${list}][1 + ${number}::INTEGER]`
      : `element_at(array(${list}), CAST(${number} AS INT) + 1)`
  }
const cast = (type: string) => (number: string) => `CAST(${number} AS ${type})`

/** The columns. */
export const lineitemColumns: readonly Column[] = [
  ['l_orderkey', 'long', '(i // 4)::BIGINT', 'i div 4'],
  drawn('l_partkey', 'long', below(2_000_000, 0), cast('BIGINT')),
  drawn('l_suppkey', 'long', below(100_000, 1), cast('BIGINT')),
  ['l_linenumber', 'int', '(i % 7 + 1)::INTEGER', 'CAST(i % 7 + 1 AS INT)'],
  drawn('l_quantity', 'decimal(12,2)', below(50, 2), (n) => `CAST(${n} + 1 AS DECIMAL(12,2))`),
  drawn('l_extendedprice', 'decimal(12,2)', below(10_000_000, 3), (n) => {
    return `CAST(CAST(${n} AS BIGINT) / 100 AS DECIMAL(12,2))`
  }),
  drawn('l_returnflag', 'string', below(3, 4), oneOf('A', 'N', 'R')),
  drawn('l_linestatus', 'string', below(2, 5), oneOf('O', 'F')),
  drawn('l_shipdate', 'date', below(2526, 6), (n, engine) => {
    return engine === 'duckdb'
      ? `DATE '1992-01-02' + ${n}::INTEGER`
      : `date_add(DATE'1992-01-02', CAST(${n} AS INT))`
  }),
  drawn(
    ...(['l_shipmode', 'string', below(7, 7)] as const),
    oneOf('AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'),
  ),
  drawn('l_comment', 'string', below(1_000_000, 8), (n) => {
    return `CASE WHEN i % 100 = 0 THEN NULL ELSE 'carefully ' || ${n} || ' deposits' END`
  }),
]

export interface Lineitem {
  /** Paths of its Parquet files. */
  readonly files: readonly string[]
  readonly snapshot: TableSnapshot
}

/** Who writes it. */
export const lineitemWriters = ['duckdb', 'spark'] as const

/** Writes it with `fileCount` files of `rowsPerFile` rows each. */
export async function writeLineitem(
  writer: (typeof lineitemWriters)[number],
  folder: string,
  fileCount: number,
  rowsPerFile: number,
): Promise<Lineitem> {
  return await (writer === 'spark' ? bySpark : byDuckdb)(folder, fileCount, rowsPerFile)
}

const fields: readonly Field[] = lineitemColumns.map(([name, type], index) => ({ id: index + 1, name, type }))

function governedBy(columns: GovernedTable['columns']): GovernedTable {
  const ref = { namespace: ['tpch'], name: 'lineitem' }
  return {
    ...{ ref, schemaName: 'tpch', tableName: 'lineitem', relation: {} },
    ...{ columns, rowFilters: [], contract: { id: 'c', version: 1 } },
  }
}

async function byDuckdb(folder: string, fileCount: number, rowsPerFile: number): Promise<Lineitem> {
  const writer = tableInFolder(folder, 'lineitem', { fields })
  const list = lineitemColumns.map(([name, , sql]) => `${sql} AS ${name}`).join(', ')
  const ids = `{${fields.map(({ id, name }) => `${name}: ${id}`).join(', ')}}`
  const files = []
  for (let file = 0; file < fileCount; file++) {
    const bytes = await duckdbParquet(
      `SELECT ${list} FROM range(${file * rowsPerFile}, ${(file + 1) * rowsPerFile}) AS r(i)`,
      ids,
    )
    files.push({ rows: [], recordCount: rowsPerFile, bytes })
  }
  const { metadataLocation, snapshotId, files: written } = await writer.append(files)
  const table = governedBy(
    fields.map(({ id, name, type }) => {
      return { name, fieldId: id, type: String(type), required: false, masks: [] }
    }),
  )
  const paths = written.map((file) => new URL(file).pathname)
  return { files: paths, snapshot: { table, metadataLocation, snapshotId } }
}

/** Spark is fetched as for `npm run test:clients`. */
async function bySpark(folder: string, fileCount: number, rowsPerFile: number): Promise<Lineitem> {
  for (const name of ['python:spark', 'maven:iceberg-spark'] as const)
    await fetchPackage(name, AbortSignal.timeout(600_000))
  const list = lineitemColumns.map(([name, , , sql]) => `${sql} AS ${name}`).join(', ')
  const settings = [
    'spark.sql.catalog.lake org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.lake.type hadoop',
    `spark.sql.catalog.lake.warehouse ${folder}`,
  ].join('\n')
  const steps = await runSpark({ settings, log: 'bench-spark', seconds: 900, folder }, [
    `CREATE TABLE lake.tpch.lineitem USING iceberg AS
     SELECT ${list} FROM (SELECT id AS i FROM range(0, ${fileCount * rowsPerFile}, 1, ${fileCount}))`,
  ])
  const problem = steps.find(({ message }) => message !== undefined)?.message
  if (problem !== undefined) throw new Error(`Spark did not write the table: ${problem}`)
  const home = join(folder, 'tpch/lineitem')
  const found = await snapshotAt(folder, await metadataIn(join(home, 'metadata')))
  const files = [...new Glob('**/*.parquet').scanSync({ cwd: join(home, 'data'), absolute: true })].toSorted()
  return { files, snapshot: { ...found, table: governedBy(found.table.columns) } }
}
