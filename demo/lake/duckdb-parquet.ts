/** Writes Parquet files by DuckDB, with field ids. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

/**
 * Writes the result of a SELECT to a Parquet file by DuckDB.
 * @param fieldIds DuckDB's struct: `{id: 1, tags: {__duckdb_field_id: 2, element: 3}}`; no ids by default
 * @param setup statements to run before
 */
export async function duckdbParquet(
  select: string,
  fieldIds?: string,
  setup: readonly string[] = [],
): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'parquet-'))
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const path = join(folder, 'file.parquet')
    const ids = fieldIds === undefined ? '' : `, FIELD_IDS ${fieldIds}`
    await connection.run("SET TimeZone = 'UTC'")
    for (const statement of setup) await connection.run(statement)
    await connection.run(`COPY (${select}) TO '${path}' (FORMAT parquet${ids})`)
    return new Uint8Array(readFileSync(path))
  } finally {
    connection.closeSync()
    instance.closeSync()
    rmSync(folder, { recursive: true, force: true })
  }
}
