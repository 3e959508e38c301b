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
import { isFatal, type LockedDatabase } from './locked-database.ts'

/** A failed statement is not worth more than this. */
const filesMax = 256
/** How many files are remembered. */
const rememberedMax = 10_000

/** SQLSTATEs behind which a damaged file may be: they say so, or no rule explains the error better. */
const suspect = /^(58000|58030|22000|XX000)$/
/** Ends of a read that say nothing about its file. */
const passing = /^(57014|53...)$/

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
    if (!suspect.test(error.code) || error.file !== undefined) return error
    await this.database.restartAfter(thrown)
    let left = filesMax
    for (const [location, path] of files) {
      if (signal.aborted || left-- === 0) break
      if (await this.#isDamaged(path)) return damaged(location, error)
    }
    return error
  }

  /** Read apart, because what ends DuckDB is to end it for nobody else. */
  async #isDamaged(path: string): Promise<boolean> {
    try {
      await this.database.apart((connection) => digest(connection, path))
      return false
    } catch (thrown) {
      if (isFatal(thrown)) this.#fatal.set(path, true)
      return !passing.test(classifyError(thrown).code)
    }
  }
}

async function digest(connection: DuckDBConnection, path: string): Promise<void> {
  await connection.run(`SELECT bit_xor(hash(f)) FROM read_parquet(${quoteText(path)}) AS f`)
}

function damaged(file: string, { code, message, cause }: EngineError): EngineError {
  const told = code === '58030' ? message : 'A data file cannot be read: it is corrupt or truncated.'
  return new EngineError('58030', told, { cause, file })
}
