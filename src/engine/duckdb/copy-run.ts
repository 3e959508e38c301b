/**
 * Runs a failed statement again, over temporary copies of the rows that its reader may see, so that hidden data cannot
 * make it fail. It uses a free place and gives it up as soon as another statement waits.
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
import { type DuckdbShared, localTables, newConnection, viewsOf } from './open-session.ts'
import type { LocalTable } from './open-table.ts'
import { duckdbHandle, openTables } from './session.ts'

/** Ends the run without a comparison. */
class Skipped extends Error {
  constructor(readonly outcome: 'too_large' | 'busy') {
    super(outcome)
  }
}

/** @throws EngineError where files or the engine fail; the signal's reason where it fires */
export async function runOnCopies(
  shared: DuckdbShared,
  scope: ReadScope,
  asked: CopiedStatement,
): Promise<CopiedRun> {
  const wanted = new AbortController()
  const leave = shared.gate.borrow(() => wanted.abort(new Skipped('busy')))
  if (leave === undefined) return { outcome: 'busy' }
  const signal = AbortSignal.any([asked.run.signal, wanted.signal])
  const storage = openStorage(scope.access, shared.budget)
  const planned = shared.budget?.reserve({})
  const files = new LocalFiles(shared.database, shared.damaged, shared.cache, shared.shapes, scope)
  try {
    const hold = (bytes: number) => planned?.add({ parse: bytes })
    const tables = await localTables(shared, scope, asked.tables, { storage, files, signal, hold })
    const opened = openTables(tables)
    if (!asked.hides && !asked.tables.some(({ table }) => opened.hasDeletes(table)))
      return { outcome: 'nothing_hidden' }
    return await compared({ shared, tables, opened, signal }, asked)
  } catch (thrown) {
    const reason: unknown = signal.aborted ? signal.reason : thrown
    if (reason instanceof Skipped) return { outcome: reason.outcome }
    throw reason
  } finally {
    await files.release()
    await storage.close()
    planned?.release()
    leave()
  }
}

interface Copying {
  readonly shared: DuckdbShared
  readonly tables: ReadonlyMap<GovernedTable, LocalTable>
  readonly opened: OpenTables
  readonly signal: AbortSignal
}

async function compared(copying: Copying, asked: CopiedStatement): Promise<CopiedRun> {
  const copied = await onConnection(copying, (connection) => copiedEnding(copying, connection, asked))
  if (copied === asked.failed) return { outcome: 'same' }
  // An unsteady statement reveals nothing about hidden data.
  const again = await onConnection(copying, (connection) => {
    const sql = asked.write(copying.opened)
    return ending(copying, connection, viewsOf(copying.tables), { sql, columns: asked.columns })
  })
  return again === asked.failed ? { outcome: 'different', copied } : { outcome: 'unsteady' }
}

async function onConnection<T>(
  { shared, tables, signal }: Copying,
  use: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  // Never a cached connection, because no other statement may find a copy on it.
  const connection = await newConnection(shared.database, [...tables.values()], signal)
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
  const { shared, tables, opened, signal } = copying
  const { copies, sql } = asked.writeCopied(opened, (id) => `temp.main.${copyName(id)}`)
  let { rowsMax, bytesMax } = asked
  for (const [id, select] of copies) {
    await shared.proofs.assertOwnRelations(connection, select, viewsOf(tables))
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

/** Measures a copy before it is made. The length of a row's text, names included, approximates its memory. */
async function sizeOf(
  connection: DuckDBConnection,
  select: string,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const reader = await connection.runAndReadAll(
    `SELECT count(*)::DOUBLE, coalesce(sum(strlen(TRY_CAST(r AS VARCHAR))), 0)::DOUBLE FROM (${select}) AS r`,
  )
  const [rows, bytes] = reader.getRows()[0] ?? []
  if (typeof rows !== 'number' || typeof bytes !== 'number')
    throw new EngineError('XX000', 'The size of a copy could not be measured.')
  return { rows, bytes }
}

/** SQLSTATEs that data and expressions can cause. */
const dataErrors = /^(21|22|XX)/

/** How a statement ends; its rows are discarded. @throws every error that data cannot cause */
async function ending(
  { shared, tables, signal }: Copying,
  connection: DuckDBConnection,
  readable: ReadonlySet<string>,
  statement: EngineStatement,
): Promise<Ending> {
  // Asserted out here, because the refusal's XX000 would look like an error of the data.
  await shared.proofs.assertOwnRelations(connection, statement.sql, readable)
  const handle = duckdbHandle({
    held: { connection },
    tables,
    // A damaged file is no ending that data causes, so it needs no name.
    files: new Map(),
    damaged: shared.damaged,
    readable,
    signal,
    garbage: shared.garbage,
    proofs: shared.proofs,
    queueMs: 0,
    startedMs: performance.now(),
    close: async () => {},
  })
  try {
    for await (const _ of handle.run(statement));
    return 'whole'
  } catch (thrown) {
    const { code } = classifyError(thrown)
    if (signal.aborted || !dataErrors.test(code)) throw thrown
    return code
  } finally {
    await handle.close()
  }
}
