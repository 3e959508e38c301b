/** DuckDB as the service starts it: bounded, in UTC, and closed to everything but one folder. */

import { DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from '../../base/sql-text.ts'

export interface InstanceSettings {
  readonly threads: number
  /** Of all queries together. */
  readonly memoryBytesMax: number
  readonly spillBytesMax: number
}

/**
 * Starts DuckDB and locks it. The order matters: what is locked last cannot be undone by what came before.
 * @param files the folder that statements may read; DuckDB lets them write there, too
 * @param spill the folder for what does not fit memory
 */
export async function lockedInstance(
  { threads, memoryBytesMax, spillBytesMax }: InstanceSettings,
  files: string,
  spill: string,
): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_unsigned_extensions: 'false',
    threads: String(threads),
    memory_limit: `${memoryBytesMax}B`,
    temp_directory: spill,
    max_temp_directory_size: `${spillBytesMax}B`,
  })
  const connection = await instance.connect()
  try {
    for (const statement of [
      "SET GLOBAL TimeZone = 'UTC'",
      "SET GLOBAL Calendar = 'gregorian'",
      `SET GLOBAL allowed_directories = [${quoteText(files)}]`,
      'SET GLOBAL enable_external_access = false',
      'SET GLOBAL lock_configuration = true',
    ])
      await connection.run(statement)
  } finally {
    connection.closeSync()
  }
  return instance
}
