/**
 * Runs statements on Trino through its client protocol. Trino's session user is the principal, so that its access
 * control and audit name the principal. Everything is in UTC.
 */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { ResultBatch } from '../../core/result-batch.ts'
import { tableKey } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import type {
  ComputeEngine,
  EngineColumn,
  EngineHandle,
  EngineResult,
  EngineRun,
  EngineStatement,
  TableSnapshot,
} from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import type { TrinoColumn, TrinoData } from './answer.ts'
import { cancelled, protocolError } from './failure.ts'
import { TrinoHttp, type TrinoHttpOptions } from './http.ts'
import { assertSameColumns, trinoRelationSql } from './relation.ts'
import { encodings, readSegment } from './segments.ts'
import type { TrinoSettings } from './settings.ts'
import { type StatementOptions, TrinoStatement } from './statement.ts'
import { type BuildVector, vectorBuilder } from './vectors.ts'

export interface TrinoEngineOptions extends TrinoHttpOptions, Pick<StatementOptions, 'emptyRepliesMax'> {
  /** Loads the table metadata that has the snapshot's schema. @throws EngineError where that fails */
  readonly loadMetadata: (snapshot: TableSnapshot, signal: AbortSignal) => Promise<JsonObject>
  /** Checks that a snapshot names only files that the table may have. @throws EngineError where it does not */
  readonly checkFiles: (snapshot: TableSnapshot, metadata: JsonObject, signal: AbortSignal) => Promise<void>
}

/** The engine of one catalog credential. */
export function openTrino(settings: TrinoSettings, options: TrinoEngineOptions): ComputeEngine {
  const http = new TrinoHttp(settings, options)
  return {
    dialect: 'trino',
    async open(tables, run) {
      const headers = requestHeaders(run)
      const relations = new Map<string, string>()
      for (const each of tables)
        relations.set(tableKey(each.table.ref), trinoRelationSql(settings.catalog, each))
      const load = async (each: TableSnapshot) => {
        const metadata = await options.loadMetadata(each, run.signal)
        assertSameColumns(each, metadata)
        // Trino opens the files by itself, so they are judged before the statement is sent.
        await options.checkFiles(each, metadata, run.signal)
      }
      await Promise.all(tables.map(load))
      if (run.signal.aborted) throw cancelled(run.signal)
      return openHandle(http, relations, run, headers, options)
    },
    async close() {},
  }
}

/** Names that a header can carry unchanged: visible ASCII, with spaces inside. */
const userPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,998}[\x21-\x7e])?$/

function requestHeaders({ principal, queryId }: EngineRun): Readonly<Record<string, string>> {
  if (!userPattern.test(principal))
    throw new EngineError(
      '0A000',
      'this engine accepts only principals with names of visible ASCII characters',
    )
  return {
    'x-trino-user': principal,
    'x-trino-source': 'covenant',
    'x-trino-client-tags': queryId,
    'x-trino-trace-token': queryId,
    'x-trino-time-zone': 'UTC',
    'x-trino-language': 'en',
    // Without it Trino cuts times to milliseconds, and their types do not show it.
    'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
    'x-trino-query-data-encoding': encodings,
    'content-type': 'text/plain; charset=utf-8',
  }
}

function openHandle(
  http: TrinoHttp,
  relations: ReadonlyMap<string, string>,
  { signal }: EngineRun,
  headers: Readonly<Record<string, string>>,
  { emptyRepliesMax }: TrinoEngineOptions,
): EngineHandle {
  const statements: TrinoStatement[] = []
  return {
    hasDeletes: () => false,
    relation({ ref }) {
      const sql = relations.get(tableKey(ref))
      if (sql === undefined) throw new EngineError('XX000', 'a table of the statement was not opened')
      return sql
    },
    run({ sql, columns }: EngineStatement) {
      const statement = new TrinoStatement(http, {
        sql,
        headers,
        signal,
        ...(emptyRepliesMax !== undefined && { emptyRepliesMax }),
      })
      statements.push(statement)
      return resultOf(statement, columns)
    },
    async close() {
      await Promise.all(statements.map((each) => each.stop()))
    },
  }
}

function resultOf(statement: TrinoStatement, columns: readonly EngineColumn[]): EngineResult {
  const startedAt = performance.now()
  let endedAt: number | undefined
  return {
    async *[Symbol.asyncIterator]() {
      try {
        yield* readBatches(statement, columns)
      } finally {
        endedAt = performance.now()
        void statement.stop()
      }
    },
    stats() {
      const { queuedMs, physicalInputBytes } = statement
      const runMs = Math.max(0, (endedAt ?? performance.now()) - startedAt - queuedMs)
      return { queueMs: queuedMs, runMs, bytesScanned: physicalInputBytes }
    },
  }
}

async function* readBatches(
  statement: TrinoStatement,
  columns: readonly EngineColumn[],
): AsyncGenerator<ResultBatch, void, undefined> {
  let builders: readonly BuildVector[] | undefined
  for await (const { columns: reported, data } of statement.replies()) {
    if (reported !== undefined) builders ??= buildersOf(columns, reported)
    if (data === undefined) continue
    if (builders === undefined) throw protocolError('rows came before their columns')
    for await (const rows of rowsOf(statement, data))
      for (let start = 0; start < rows.length; start += limits.resultBatchRows)
        yield toBatch(rows.slice(start, start + limits.resultBatchRows), builders)
  }
  if (builders === undefined) throw protocolError('the columns are missing')
}

function buildersOf(
  expected: readonly EngineColumn[],
  reported: readonly TrinoColumn[],
): readonly BuildVector[] {
  if (reported.length !== expected.length) throw protocolError('the number of columns is wrong')
  return expected.map((column, index) => {
    // By position, because compiled statements name their columns differently.
    const { type = '' } = reported[index] ?? {}
    const build = vectorBuilder(column, type)
    if (build === undefined) throw protocolError(`column ${index + 1} is ${type}, not ${column.type}`)
    return build
  })
}

async function* rowsOf(
  { http, options }: TrinoStatement,
  data: TrinoData,
): AsyncGenerator<readonly JsonValue[], void, undefined> {
  if (data.kind === 'rows') yield data.rows
  else
    for (const segment of data.segments)
      yield await readSegment(http, segment, data.encoding, options.headers, options.signal)
}

function toBatch(rows: readonly JsonValue[], builders: readonly BuildVector[]): ResultBatch {
  const cells: JsonValue[][] = builders.map(() => [])
  for (const row of rows) {
    if (!Array.isArray(row) || row.length !== builders.length)
      throw protocolError('a row has the wrong number of columns')
    for (let index = 0; index < row.length; index++) cells[index]?.push(row[index] as JsonValue)
  }
  return { rowCount: rows.length, columns: builders.map((build, index) => build(cells[index] ?? [])) }
}
