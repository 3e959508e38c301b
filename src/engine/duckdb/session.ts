/** One open session: a connection with the views of one statement's tables, and its single run. */

import { type DuckDBConnection, type DuckDBPreparedStatement, StatementType } from '@duckdb/node-api'
import type { GovernedTable } from '../../core/governed-table.ts'
import type { ResultBatch } from '../../core/result-batch.ts'
import type { EngineResult, EngineSession, EngineStatement } from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import { classifyError } from './classify-error.ts'
import { type ChunkDecoder, chunkDecoder } from './column-decoder.ts'
import { interruptible } from './interruptible.ts'
import type { OpenTable } from './open-table.ts'
import { assertOwnRelations } from './own-relations.ts'

export interface SessionParts {
  readonly connection: DuckDBConnection
  readonly tables: ReadonlyMap<GovernedTable, OpenTable>
  /** Fires when the run is cancelled or over its time; its reason is an EngineError. */
  readonly signal: AbortSignal
  readonly queueMs: number
  /** `performance.now()` when the session got its place. */
  readonly startedMs: number
  /** Frees everything, once. */
  readonly close: () => Promise<void>
}

/** The session over what was opened. */
export function duckdbSession(parts: SessionParts): EngineSession {
  let used = false
  return {
    relation(table) {
      const open = parts.tables.get(table)
      if (open === undefined)
        throw new EngineError('XX000', 'The statement reads what was not opened for it.')
      return `temp.main.${open.view}`
    },
    run(statement) {
      // A second run on the connection would cut the first one short.
      if (used) throw new EngineError('XX000', 'A session runs one statement.')
      used = true
      return runResult(parts, statement)
    },
    close: parts.close,
  }
}

function runResult(parts: SessionParts, statement: EngineStatement): EngineResult {
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

async function* batches(parts: SessionParts, statement: EngineStatement): AsyncGenerator<ResultBatch> {
  const { connection, signal } = parts
  const { prepared, decode } = await interruptible(connection, signal, () => prepare(parts, statement))
  const result = await interruptible(connection, signal, () => prepared.stream())
  let isOver = false
  try {
    while (!isOver) {
      const chunk = await interruptible(connection, signal, () => result.fetchChunk())
      isOver = chunk === null || chunk.rowCount === 0
      if (chunk !== null && !isOver) yield decode(chunk)
    }
  } finally {
    // The consumer left, or nothing is to be had any more: DuckDB would go on filling its buffer.
    if (!isOver) connection.interrupt()
  }
  // A run that was cut short ends like any other; that its result has turned invalid alone tells it.
  if (result.statementType !== StatementType.SELECT)
    throw await interruptible(connection, signal, () => whyItEnded(connection, statement))
}

async function prepare(
  { connection, tables }: SessionParts,
  { sql, columns }: EngineStatement,
): Promise<{ readonly prepared: DuckDBPreparedStatement; readonly decode: ChunkDecoder }> {
  await assertOwnRelations(connection, sql, new Set([...tables.values()].map(({ view }) => view)))
  const prepared = await connection.prepare(sql)
  if (prepared.statementType !== StatementType.SELECT || prepared.parameterCount !== 0)
    throw new EngineError('XX000', 'The engine could not run the statement.')
  const types = Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnType(index))
  return { prepared, decode: chunkDecoder(columns, types) }
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
