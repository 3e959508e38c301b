/** One open session: a connection with the views of one statement's tables, and its single run. */

import { type DuckDBConnection, type DuckDBPreparedStatement, StatementType } from '@duckdb/node-api'
import type { GovernedTable } from '../../core/governed-table.ts'
import type { ResultBatch } from '../../core/result-batch.ts'
import type { EngineResult, EngineSession, EngineStatement, OpenTables } from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import { classifyError } from './classify-error.ts'
import { type ChunkDecoder, chunkDecoder } from './column-decoder.ts'
import { type Interruptible, interruptedUntil, interruptibleWorks } from './interruptible.ts'
import type { HeldConnection, PreparedText } from './kept-connections.ts'
import type { NativeGarbage } from './native-garbage.ts'
import type { TableAtHand } from './open-table.ts'
import type { Proofs } from './own-relations.ts'

export interface SessionParts {
  readonly held: HeldConnection
  readonly tables: ReadonlyMap<GovernedTable, TableAtHand>
  /** Names of the temporary relations that the statement may read. */
  readonly readable: ReadonlySet<string>
  /** Fires when the run is cancelled or over its time; its reason is an EngineError. */
  readonly signal: AbortSignal
  readonly garbage: NativeGarbage
  readonly proofs: Proofs
  readonly queueMs: number
  /** `performance.now()` when the session got its place. */
  readonly startedMs: number
  /**
   * Frees everything, once.
   * @param asNew the connection, where it can serve another session as this one
   */
  readonly close: (asNew: HeldConnection | undefined) => Promise<void>
}

/** What the session's run has asked of DuckDB. */
interface Native extends SessionParts {
  readonly connection: DuckDBConnection
  readonly works: Interruptible
  /** Settles with the work under way; nothing of the connection may be freed before. */
  busy: Promise<unknown>
  /** A result that may hold rows nobody has fetched. */
  hasOpenResult: boolean
  /** The run's statement, once it ended whole: every row was fetched, and nothing of it is left. */
  whole: PreparedText | undefined
  isClosed: boolean
}

/** The session over what was opened. */
export function duckdbSession(given: SessionParts): EngineSession {
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
      if (used) throw new EngineError('XX000', 'A session runs one statement.')
      used = true
      return runResult(parts, statement)
    },
    close() {
      closing ??= closeOnce(parts)
      return closing
    },
  }
}

/** What the emitted SQL needs to know of tables that are at hand on its connection. */
export function openTables(tables: ReadonlyMap<GovernedTable, TableAtHand>): OpenTables {
  return {
    relation(table) {
      const open = tables.get(table)
      if (open === undefined)
        throw new EngineError('XX000', 'The statement reads what was not opened for it.')
      return `temp.main.${open.view}`
    },
    hasDeletes: (table) => typeof tables.get(table)?.relation === 'function',
  }
}

async function closeOnce(parts: Native): Promise<void> {
  parts.isClosed = true
  parts.works.release()
  // After a whole run nothing is to be stopped, and an interrupt could hit whoever gets the connection next.
  const last = parts.signal.aborted ? undefined : parts.whole
  if (last === undefined) await stopped(parts)
  await parts.close(last && { connection: parts.connection, last })
}

/** Work on the connection, unless the session is closed. @throws as interruptible does */
async function work<T>(parts: Native, native: () => Promise<T>): Promise<T> {
  if (parts.isClosed) throw new EngineError('57014', 'The query was cancelled.')
  const working = parts.works.run(native)
  parts.busy = working.catch(() => {})
  return await working
}

/** Ends what is under way, and has DuckDB free a result that was left. */
async function stopped(parts: Native): Promise<void> {
  const { connection, busy, hasOpenResult } = parts
  await interruptedUntil(connection, busy)
  if (!hasOpenResult) return
  parts.hasOpenResult = false
  // Another statement on the connection ends the result, whose buffer would count as taken until its handle is
  // collected: queries after it would be refused for want of memory.
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
        throw classifyError(thrown)
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
    // Where the consumer leaves, nobody hears of it.
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
      // One chunk ahead: DuckDB works while this one is sent.
      next = fetch()
      yield batch
    }
    parts.hasOpenResult = false
  } finally {
    // The consumer left, or nothing is to be had any more: DuckDB would go on filling its buffer.
    if (!isOver && !parts.isClosed) connection.interrupt()
  }
  // A run that was cut short ends like any other; that its result has turned invalid alone tells it.
  if (result.statementType !== StatementType.SELECT)
    throw await work(parts, () => whyItEnded(connection, statement))
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

/** The very text that ran last on the connection was proven, and is prepared, over the same relations. */
async function preparedText(
  { held, readable, proofs }: Native,
  sql: string,
): Promise<DuckDBPreparedStatement> {
  const { connection, last } = held
  if (last?.sql === sql) return last.prepared
  // Here, and not whenever it is collected: its plan holds a file open.
  last?.prepared.destroySync()
  await proofs.assertOwnRelations(connection, sql, readable)
  return await connection.prepare(sql)
}

/**
 * DuckDB does not tell what went wrong in mid-stream. It does when it has delivered nothing yet: so the
 * statement runs again, for a digest of all its values, which holds none of them.
 */
async function whyItEnded(connection: DuckDBConnection, { sql }: EngineStatement): Promise<EngineError> {
  try {
    await connection.run(`SELECT bit_xor(hash(r)) FROM (${sql}) AS r`)
  } catch (thrown) {
    return classifyError(thrown)
  }
  return new EngineError('XX000', 'The engine could not run the statement to its end.')
}
