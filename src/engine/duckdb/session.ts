/** A statement's open hold on DuckDB: a connection with the views of its tables, and its single run. */

import { type DuckDBConnection, type DuckDBPreparedStatement, StatementType } from '@duckdb/node-api'
import type { GovernedTable } from '../../core/governed-table.ts'
import type { ResultBatch } from '../../core/result-batch.ts'
import type { EngineHandle, EngineResult, EngineStatement, OpenTables } from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import { classifyError } from './classify-error.ts'
import { type ChunkDecoder, chunkDecoder } from './column-decoder.ts'
import type { HeldConnection, PreparedText } from './connection-cache.ts'
import type { DamagedFiles } from './damaged-files.ts'
import { type Interruptible, interruptedUntil, interruptibleWorks } from './interruptible.ts'
import type { NativeGarbage } from './native-garbage.ts'
import type { LocalTable } from './open-table.ts'
import type { Proofs } from './own-relations.ts'

interface HandleParts {
  readonly held: HeldConnection
  readonly tables: ReadonlyMap<GovernedTable, LocalTable>
  /** The path on the local disk of each location that the statement may read. */
  readonly files: ReadonlyMap<string, string>
  readonly damaged: DamagedFiles
  /** Names of the temporary relations that the statement may read. */
  readonly readable: ReadonlySet<string>
  /** Fires when the run is cancelled or times out; its reason is an EngineError. */
  readonly signal: AbortSignal
  readonly garbage: NativeGarbage
  readonly proofs: Proofs
  readonly queueMs: number
  /** `performance.now()` when the statement got its place. */
  readonly startedMs: number
  /**
   * Frees everything; called once.
   * @param reusable the connection, where another statement may use it
   */
  readonly close: (reusable: HeldConnection | undefined) => Promise<void>
}

/** The state of the run on its connection. */
interface Native extends HandleParts {
  readonly connection: DuckDBConnection
  readonly works: Interruptible
  /** Is fulfilled once the current work has ended; before that the connection must not be freed. */
  busy: Promise<unknown>
  /** Whether there is a result that may hold unfetched rows. */
  hasOpenResult: boolean
  /** The run's statement, once every row was fetched. */
  whole: PreparedText | undefined
  isClosed: boolean
}

/** The handle over tables that were opened. */
export function duckdbHandle(given: HandleParts): EngineHandle {
  let used = false
  let closing: Promise<void> | undefined
  const parts: Native = {
    ...given,
    connection: given.held.connection,
    works: interruptibleWorks(given.held.connection, given.signal),
    busy: Promise.resolve(),
    hasOpenResult: false,
    whole: undefined,
    isClosed: false,
  }
  return {
    ...openTables(parts.tables),
    run(statement) {
      // A second run on the connection would cut the first one short.
      if (used) throw new EngineError('XX000', 'An engine handle runs only one statement.')
      used = true
      return runResult(parts, statement)
    },
    close() {
      closing ??= closeOnce(parts)
      return closing
    },
  }
}

/** Tables whose views are on the connection, as the emitter uses them. */
export function openTables(tables: ReadonlyMap<GovernedTable, LocalTable>): OpenTables {
  return {
    relation(table) {
      const open = tables.get(table)
      if (open === undefined)
        throw new EngineError('XX000', 'The statement reads a table that was not opened for it.')
      return `temp.main.${open.view}`
    },
    hasDeletes: (table) => typeof tables.get(table)?.relation === 'function',
  }
}

async function closeOnce(parts: Native): Promise<void> {
  parts.isClosed = true
  parts.works.release()
  // A complete run is not interrupted, because the interrupt could hit the next statement on the connection.
  const last = parts.signal.aborted ? undefined : parts.whole
  if (last === undefined) await stopped(parts)
  await parts.close(last && { connection: parts.connection, last })
}

/** Runs work on the connection, unless the handle is closed. @throws as `interruptible` */
async function work<T>(parts: Native, native: () => Promise<T>): Promise<T> {
  if (parts.isClosed) throw new EngineError('57014', 'The query was cancelled.')
  const working = parts.works.run(native)
  parts.busy = working.catch(() => {})
  return await working
}

/** Stops the current work, and makes DuckDB free an abandoned result. */
async function stopped(parts: Native): Promise<void> {
  const { connection, busy, hasOpenResult } = parts
  await interruptedUntil(connection, busy)
  if (!hasOpenResult) return
  parts.hasOpenResult = false
  // Another statement on the connection frees the result's buffer. Otherwise the buffer would count as used memory
  // until its handle is collected, and later queries would fail for lack of memory.
  await connection.run('SELECT 1').catch(() => {})
  parts.garbage.leftResult()
}

function runResult(parts: Native, statement: EngineStatement): EngineResult {
  let endedMs: number | undefined
  const bytesScanned = [...parts.tables.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    async *[Symbol.asyncIterator]() {
      try {
        yield* batches(parts, statement)
      } catch (thrown) {
        throw await parts.damaged.explain(thrown, parts.files, parts.signal)
      } finally {
        endedMs = performance.now()
      }
    },
    stats: () => ({
      queueMs: parts.queueMs,
      runMs: (endedMs ?? performance.now()) - parts.startedMs,
      bytesScanned,
    }),
  }
}

async function* batches(parts: Native, statement: EngineStatement): AsyncGenerator<ResultBatch> {
  const { connection } = parts
  const { prepared, decode } = await work(parts, () => prepare(parts, statement))
  parts.hasOpenResult = true
  const result = await work(parts, () => prepared.stream())
  const fetch = () => {
    const chunk = work(parts, () => result.fetchChunk())
    // If the consumer leaves, the rejection must not be unhandled.
    chunk.catch(() => {})
    return chunk
  }
  let isOver = false
  try {
    let next = fetch()
    while (!isOver) {
      const chunk = await next
      isOver = chunk === null || chunk.rowCount === 0
      if (chunk === null || isOver) break
      parts.garbage.chunk(chunk.columnCount)
      const batch = decode(chunk)
      // Fetches one chunk ahead, so that DuckDB works while this one is sent.
      next = fetch()
      yield batch
    }
    parts.hasOpenResult = false
  } finally {
    // The consumer left or the run failed; without an interrupt DuckDB would go on filling its buffer.
    if (!isOver && !parts.isClosed) connection.interrupt()
  }
  // A truncated run ends like any other; only its result's type, now invalid, reveals it.
  if (result.statementType !== StatementType.SELECT)
    throw await work(parts, () => failureOf(connection, statement))
  parts.whole = { sql: statement.sql, prepared }
}

async function prepare(
  parts: Native,
  { sql, columns }: EngineStatement,
): Promise<{ readonly prepared: DuckDBPreparedStatement; readonly decode: ChunkDecoder }> {
  const prepared = await preparedText(parts, sql)
  if (prepared.statementType !== StatementType.SELECT || prepared.parameterCount !== 0)
    throw new EngineError('XX000', 'The engine could not run the statement.')
  const types = Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnType(index))
  return { prepared, decode: chunkDecoder(columns, types) }
}

/** Prepares a statement. The text that ran last on the connection is already proven and prepared. */
async function preparedText(
  { held, readable, proofs }: Native,
  sql: string,
): Promise<DuckDBPreparedStatement> {
  const { connection, last } = held
  if (last?.sql === sql) return last.prepared
  // Not left to the garbage collector, because the plan holds a file open.
  last?.prepared.destroySync()
  await proofs.assertOwnRelations(connection, sql, readable)
  return await connection.prepare(sql)
}

/**
 * The error of a truncated run. DuckDB does not report errors in mid-stream, but it does before the first row. So the
 * statement runs again for one digest of all its values, which reveals none of them.
 */
async function failureOf(connection: DuckDBConnection, { sql }: EngineStatement): Promise<EngineError> {
  try {
    await connection.run(`SELECT bit_xor(hash(r)) FROM (${sql}) AS r`)
  } catch (thrown) {
    return classifyError(thrown)
  }
  return new EngineError('XX000', 'The engine could not run the statement to its end.')
}
