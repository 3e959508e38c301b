/** The two sides of the matrix: PostgreSQL, and the read path on DuckDB with the texts that its wire would send. */

import { DuckDBInstance } from '@duckdb/node-api'
import pg from 'pg'
import { isNull } from '../../../src/core/result-batch.ts'
import { typeOid } from '../../../src/core/sql-type.ts'
import { classifyError } from '../../../src/engine/duckdb/classify-error.ts'
import { chunkDecoder } from '../../../src/engine/duckdb/column-decoder.ts'
import { EngineError } from '../../../src/engine/engine-error.ts'
import { SqlError } from '../../../src/query/compile/base/sql-error.ts'
import { compileQuery } from '../../../src/query/compile/compile.ts'
import { renderSql } from '../../../src/query/compile/emit/render.ts'
import { defaultTextOptions, textOf } from '../../../src/wire/postgres/text-values.ts'
import { freePort } from '../../support/free-port.ts'
import { principal } from '../support/fixture.ts'
import { startOracle } from '../support/postgres.ts'
import { duckdbEdges, edgeTable, postgresEdges } from './columns.ts'

/** The last column of a result, by its rows, or a SQLSTATE. */
export type SideAnswer =
  | { readonly oid: number; readonly typmod: number; readonly cells: readonly (string | null)[] }
  | { readonly error: string; readonly message?: string }

export interface Side {
  /** Whether a statement is one: its type without its rows. */
  readonly describe: (sql: string) => Promise<SideAnswer>
  readonly run: (sql: string) => Promise<SideAnswer>
}

export interface Sides extends AsyncDisposable {
  readonly postgres: Side
  readonly ours: Side
  /** The rows of a query of PostgreSQL's catalogs. */
  readonly catalog: (sql: string) => Promise<readonly (readonly (string | null)[])[]>
}

/** @returns undefined where the platform has no packaged PostgreSQL */
export async function openSides(): Promise<Sides | undefined> {
  await using stack = new AsyncDisposableStack()
  const port = freePort()
  const oracle = await startOracle({ port })
  if (oracle === undefined) return undefined
  stack.defer(() => oracle.stop())
  for (const statement of postgresEdges) await oracle.admin.unsafe(statement)
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    database: 'postgres',
    types: { getTypeParser: () => String },
  })
  await client.connect()
  stack.defer(() => client.end())
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  stack.defer(() => {
    connection.closeSync()
    instance.closeSync()
  })
  await connection.run("SET TimeZone = 'UTC'")
  await connection.run('SET threads = 1')
  for (const statement of duckdbEdges) await connection.run(statement)

  const ask = async (text: string): Promise<SideAnswer> => {
    try {
      const { rows, fields } = await client.query({ text, rowMode: 'array' })
      const last = fields.at(-1)
      return {
        oid: last?.dataTypeID ?? 0,
        typmod: last?.dataTypeModifier ?? -1,
        cells: rows.map((row) => row.at(-1) as string | null),
      }
    } catch (thrown) {
      if (!(thrown instanceof pg.DatabaseError)) throw thrown
      return { error: thrown.code ?? '', message: thrown.message }
    }
  }
  const compiled = (text: string) =>
    compileQuery({ text, principal, tables: [edgeTable], searchPath: ['edge'] })
  const failed = (thrown: unknown): SideAnswer => {
    if (thrown instanceof SqlError) return { error: thrown.sqlState, message: thrown.publicMessage }
    if (thrown instanceof EngineError) return { error: thrown.code, message: String(thrown.cause ?? thrown) }
    const { code, cause } = classifyError(thrown)
    return { error: code, message: String(cause) }
  }
  const typmodOf = (size: readonly [number, number] | undefined) =>
    size === undefined ? -1 : ((size[0] << 16) | size[1]) + 4
  const ours: Side = {
    async describe(text) {
      try {
        const query = compiled(text)
        query.emit('duckdb')
        const { type, size } = query.columns.at(-1) ?? { type: 'text' as const, size: undefined }
        return { oid: typeOid(type), typmod: typmodOf(size), cells: [] }
      } catch (thrown) {
        return failed(thrown)
      }
    },
    async run(text) {
      try {
        const query = compiled(text)
        const sql = renderSql(query.emit('duckdb'), 'duckdb', { salt: new Uint8Array(16) })
        const prepared = await connection.prepare(sql)
        const types = Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnType(index))
        const decode = chunkDecoder(
          query.columns.map((column, index) => ({ ...column, name: `c${index}` })),
          types,
        )
        const cells: (string | null)[] = []
        for (const chunk of await (await prepared.run()).fetchAllChunks()) {
          const { columns, rowCount } = decode(chunk)
          const column = columns.at(-1)
          for (let row = 0; column !== undefined && row < rowCount; row++)
            cells.push(isNull(column, row) ? null : textOf(column, row, defaultTextOptions))
        }
        const { type, size } = query.columns.at(-1) ?? { type: 'text' as const, size: undefined }
        return { oid: typeOid(type), typmod: typmodOf(size), cells }
      } catch (thrown) {
        return failed(thrown)
      }
    },
  }
  const held = stack.move()
  return {
    postgres: { describe: (sql) => ask(`${sql} LIMIT 0`), run: ask },
    ours,
    catalog: async (text) => (await client.query({ text, rowMode: 'array' })).rows as (string | null)[][],
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}
