/**
 * Runs a statement that failed once more, over temporary copies of what its reader sees: there nothing hidden can
 * make it fail. It takes a place that nobody wants and leaves it as soon as somebody does.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import type { GovernedTable } from '../../core/governed-table.ts'
import { openStorage } from '../../storage/storage.ts'
import type { CopiedRun, CopiedStatement, Ending, EngineStatement, OpenTables } from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import { classifyError } from './classify-error.ts'
import type { ReadScope } from './file-cache.ts'
import { interruptible } from './interruptible.ts'
import { LocalFiles } from './local-files.ts'
import { newConnection, type SessionHost, tablesAtHand, viewsOf } from './open-session.ts'
import type { TableAtHand } from './open-table.ts'
import { duckdbSession, openTables } from './session.ts'

/** Ends a run without an outcome. */
class Skipped extends Error {
  constructor(readonly outcome: 'too_large' | 'busy') {
    super(outcome)
  }
}

/** @throws EngineError where files or the engine fail, or the signal's reason */
export async function runOnCopies(
  host: SessionHost,
  scope: ReadScope,
  asked: CopiedStatement,
): Promise<CopiedRun> {
  const wanted = new AbortController()
  const leave = host.gate.borrow(() => wanted.abort(new Skipped('busy')))
  if (leave === undefined) return { outcome: 'busy' }
  const signal = AbortSignal.any([asked.run.signal, wanted.signal])
  const storage = openStorage(scope.access)
  const files = new LocalFiles(host.instance, host.cache, host.shapes, scope)
  try {
    const tables = await tablesAtHand(host, scope, asked.tables, { storage, files, signal })
    const opened = openTables(tables)
    if (!asked.hides && !asked.tables.some(({ table }) => opened.hasDeletes(table)))
      return { outcome: 'nothing_hidden' }
    return await compared({ host, tables, opened, signal }, asked)
  } catch (thrown) {
    const reason: unknown = signal.aborted ? signal.reason : thrown
    if (reason instanceof Skipped) return { outcome: reason.outcome }
    throw reason
  } finally {
    files.release()
    await storage.close()
    leave()
  }
}

interface Copying {
  readonly host: SessionHost
  readonly tables: ReadonlyMap<GovernedTable, TableAtHand>
  readonly opened: OpenTables
  readonly signal: AbortSignal
}

async function compared(copying: Copying, asked: CopiedStatement): Promise<CopiedRun> {
  const copied = await onConnection(copying, (connection) => copiedEnding(copying, connection, asked))
  if (copied === asked.failed) return { outcome: 'same' }
  // A statement that ends now so, now otherwise, tells nothing of what is hidden.
  const again = await onConnection(copying, (connection) => {
    const sql = asked.write(copying.opened)
    return ending(copying, connection, viewsOf(copying.tables), { sql, columns: asked.columns })
  })
  return again === asked.failed ? { outcome: 'different', copied } : { outcome: 'unsteady' }
}

async function onConnection<T>(
  { host, tables, signal }: Copying,
  use: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  // Never one that waits for another statement: nobody may find a copy on it.
  const connection = await newConnection(host.instance, [...tables.values()], signal)
  try {
    return await use(connection)
  } finally {
    connection.closeSync()
  }
}

const copyName = (id: string) => `c_${id}`

async function copiedEnding(
  copying: Copying,
  connection: DuckDBConnection,
  asked: CopiedStatement,
): Promise<Ending> {
  const { host, tables, opened, signal } = copying
  const { copies, sql } = asked.writeCopied(opened, (id) => `temp.main.${copyName(id)}`)
  let { rowsMax, bytesMax } = asked
  for (const [id, select] of copies) {
    await host.proofs.assertOwnRelations(connection, select, viewsOf(tables))
    const size = await interruptible(connection, signal, () => sizeOf(connection, select))
    rowsMax -= size.rows
    bytesMax -= size.bytes
    if (rowsMax < 0 || bytesMax < 0) throw new Skipped('too_large')
    await interruptible(connection, signal, () =>
      connection.run(`CREATE TEMP TABLE ${copyName(id)} AS ${select}`),
    )
  }
  const readable = new Set([...copies.keys()].map(copyName))
  return await ending(copying, connection, readable, { sql, columns: asked.columns })
}

/** Counted before anything is kept. The text of a row, names included, is about what the row takes. */
async function sizeOf(
  connection: DuckDBConnection,
  select: string,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const reader = await connection.runAndReadAll(
    `SELECT count(*)::DOUBLE, coalesce(sum(strlen(TRY_CAST(r AS VARCHAR))), 0)::DOUBLE FROM (${select}) AS r`,
  )
  const [rows, bytes] = reader.getRows()[0] ?? []
  if (typeof rows !== 'number' || typeof bytes !== 'number')
    throw new EngineError('XX000', 'A copy could not be measured.')
  return { rows, bytes }
}

/** What data and expressions can end a statement by; anything else says nothing of them. */
const telling = /^(21|22|XX)/

/** How a statement ends, its rows unseen. @throws what is no outcome of the data */
async function ending(
  { host, tables, signal }: Copying,
  connection: DuckDBConnection,
  readable: ReadonlySet<string>,
  statement: EngineStatement,
): Promise<Ending> {
  // That it was refused would pass for an error of the data.
  await host.proofs.assertOwnRelations(connection, statement.sql, readable)
  const session = duckdbSession({
    held: { connection },
    tables,
    readable,
    signal,
    garbage: host.garbage,
    proofs: host.proofs,
    queueMs: 0,
    startedMs: performance.now(),
    close: async () => {},
  })
  try {
    for await (const _ of session.run(statement));
    return 'whole'
  } catch (thrown) {
    const { code } = classifyError(thrown)
    if (signal.aborted || !telling.test(code)) throw thrown
    return code
  } finally {
    await session.close()
  }
}
