/**
 * Finds which file made a statement fail: reads each by itself, from its footer to its last page. DuckDB's texts do not
 * always name a file, and libraries below it throw what DuckDB has no class for. Nothing of a file's content is given.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteText } from '../../base/sql-text.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { EngineError, unreadable } from '../engine-error.ts'
import { classifyError } from './classify-error.ts'

/** A failed statement is not worth more than this. */
const filesMax = 256

/** SQLSTATEs behind which a damaged file may be: they say so, or no rule explains the error better. */
const suspect = /^(58030|22000|XX000)$/
/** Ends of a read that say nothing about its file. */
const passing = /^(57014|53...)$/

/**
 * The error of a statement over files, with the file that is damaged.
 * @param files the path on the local disk of each location that the statement may read
 * @param signal ends the search; what was thrown is then the error
 */
export async function withDamagedFile(
  thrown: unknown,
  connection: DuckDBConnection,
  files: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<EngineError> {
  const error = thrown instanceof ReadFailure ? unreadable(thrown) : classifyError(thrown)
  if (!suspect.test(error.code) || error.file !== undefined) return error
  let left = filesMax
  for (const [location, path] of files) {
    if (signal.aborted || left-- === 0) break
    if (await isDamaged(connection, path)) return damaged(location, error)
  }
  return error
}

async function isDamaged(connection: DuckDBConnection, path: string): Promise<boolean> {
  try {
    await connection.run(`SELECT bit_xor(hash(f)) FROM read_parquet(${quoteText(path)}) AS f`)
    return false
  } catch (thrown) {
    return !passing.test(classifyError(thrown).code)
  }
}

function damaged(file: string, { code, message, cause }: EngineError): EngineError {
  const told = code === '58030' ? message : 'A data file cannot be read: it is corrupt or truncated.'
  return new EngineError('58030', told, { cause, file })
}
