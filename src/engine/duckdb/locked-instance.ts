/** Starts DuckDB with resource limits, in UTC, and with access to one folder only. */

import { DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from '../../base/sql-text.ts'

export interface InstanceSettings {
  readonly threads: number
  /** Limits of all queries together. */
  readonly memoryBytesMax: number
  readonly spillBytesMax: number
}

/**
 * Starts DuckDB and locks its configuration. `lock_configuration` comes last, because it refuses further settings.
 * @param files the folder that statements may read; DuckDB lets them write there, too
 * @param spill the folder for data that does not fit in memory
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
