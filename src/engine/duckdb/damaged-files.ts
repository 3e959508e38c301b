/**
 * Finds which file made a statement fail: reads each by itself, from its footer to its last page. DuckDB's texts do not
 * always name a file, and libraries below it throw what DuckDB has no class for. Nothing of a file's content is given.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import { Lru } from '../../base/lru.ts'
import { quoteText } from '../../base/sql-text.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { EngineError, unreadable } from '../engine-error.ts'
import { classifyError } from './classify-error.ts'
import { interruptible } from './interruptible.ts'
import { isFatal, type LockedDatabase } from './locked-database.ts'

/** A failed statement is not worth more than this. */
const filesMax = 64
const searchMs = 5_000
/** How many files are remembered. */
const rememberedMax = 10_000

/** DuckDB's errors that a value or an expression may cause as well as a file, and what only a file does. */
const ofFiles = /parquet|thrift|snappy|zstd|gzip|brotli|lz4|stats size|page|footer|row group/i

/** Whether a damaged file may be behind an error: it says so, or DuckDB gave up. */
function isSuspect(error: EngineError, thrown: unknown): boolean {
  if (error.code === '58030' || isFatal(thrown)) return true
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return error.code === '22000' && ofFiles.test(cause)
}

/** Ends of a read that say nothing about its file. */
const passing = /^(57014|53...|0A000)$/

const reason = 'a data file is corrupt or truncated'

export class DamagedFiles {
  /** Paths of files that end DuckDB: such a file is read once. */
  readonly #fatal = new Lru<string, true>(rememberedMax)

  constructor(private readonly database: LockedDatabase) {}

  /** @throws ReadFailure for a file that ended DuckDB before */
  assertReadable(path: string): void {
    if (this.#fatal.get(path)) throw new ReadFailure(reason)
  }

  /**
   * The error of a statement over files, with the file that is damaged. DuckDB is restarted where the error has
   * ended it.
   * @param files the path on the local disk of each location that the statement may read
   * @param signal ends the search; what was thrown is then the error
   */
  async explain(
    thrown: unknown,
    files: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<EngineError> {
    const error = thrown instanceof ReadFailure ? unreadable(thrown) : classifyError(thrown)
    if (!isSuspect(error, thrown) || error.file !== undefined) return error
    try {
      await this.database.restartAfter(thrown)
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(searchMs)])
      const found = await this.#search([...files].slice(0, filesMax), bounded)
      return found === undefined ? error : damaged(found, error)
    } catch {
      // Nothing was found out. A DuckDB that could not be restarted is tried again by the next statement.
      return error
    }
  }

  /**
   * Reads each file in a DuckDB of its own, because what ends that is to end it for nobody else.
   * @returns the location of the first that is damaged
   */
  async #search(
    files: readonly (readonly [location: string, path: string])[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    return await this.database.apart(async (connection) => {
      for (const [location, path] of files) {
        try {
          await interruptible(connection, signal, () => digest(connection, path))
        } catch (thrown) {
          if (signal.aborted) return undefined
          if (isFatal(thrown)) this.#fatal.set(path, true)
          if (!passing.test(classifyError(thrown).code)) return location
        }
      }
      return undefined
    })
  }
}

async function digest(connection: DuckDBConnection, path: string): Promise<void> {
  await connection.run(`SELECT bit_xor(hash(f)) FROM read_parquet(${quoteText(path)}) AS f`)
}

function damaged(file: string, { code, message, cause }: EngineError): EngineError {
  const told = code === '58030' ? message : 'A data file cannot be read: it is corrupt or truncated.'
  return new EngineError('58030', told, { cause, file })
}
