/** DuckDB as the engine under test, its values in PostgreSQL's text form. */

import { DuckDBInstance, DuckDBListValue } from '@duckdb/node-api'
import { computeExact, parseExact } from '../../../src/core/exact-numeric.ts'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import { shownDigits, type TextScale } from '../../../src/core/quotient-scale.ts'
import { elementOf, isArray, type SqlType } from '../../../src/core/sql-type.ts'
import { shortest } from '../../../src/engine/duckdb/decode-numeric.ts'
import {
  type CompiledQuery,
  type CompileInput,
  compileQuery,
  type ResultColumn,
} from '../../../src/query/compile/compile.ts'
import { renderSql } from '../../../src/query/compile/emit/render.ts'
import { scaledText } from '../../../src/wire/postgres/decimal-text.ts'
import { duckdbSetup, governedTables, principal } from './fixture.ts'

export interface Answer {
  readonly columns: readonly ResultColumn[]
  readonly rows: readonly (readonly (string | null)[])[]
}

export type Subject = Awaited<ReturnType<typeof openSubject>>

/** Tables that statements can name, and what makes them in DuckDB. */
export interface SubjectTables {
  readonly tables: readonly GovernedTable[]
  readonly searchPath: readonly string[]
  readonly setup: readonly string[]
}

/** What a statement is compiled with, instead of the fixture's. */
type Instead = Partial<
  Pick<CompileInput, 'principal' | 'tables' | 'expansion' | 'parameterTypes' | 'parameterValues' | 'timeZone'>
>

/** Opens a database with tables, the fixture's by default, and a function that runs statements through the compiler. */
export async function openSubject(
  { tables, searchPath, setup }: SubjectTables = {
    tables: governedTables,
    searchPath: ['sales', 'hr'],
    setup: duckdbSetup(),
  },
) {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  for (const statement of setup) await connection.run(statement)
  const compile = (text: string, instead: Instead = {}): CompiledQuery =>
    compileQuery({ text, principal, tables, searchPath, ...instead })
  const runSql = async (sql: string) => (await connection.runAndReadAll(sql)).getRows()
  return {
    compile,
    runSql,
    run: async (
      text: string,
      parameters?: readonly (string | null)[],
      instead?: Instead,
    ): Promise<Answer> => {
      // A statement is prepared before its parameters have values.
      const compiled = parameters ? withValues(compile, text, parameters, instead) : compile(text, instead)
      const sql = renderSql(compiled.emit('duckdb'), 'duckdb', {
        salt: new Uint8Array(16),
        ...(parameters && { parameters }),
      })
      const rows = await runSql(sql)
      return {
        columns: compiled.columns,
        rows: rows.map((row) =>
          row.map((value, index) =>
            toText(value, compiled.columns[index]?.type ?? 'text', compiled.columns[index]?.textScale),
          ),
        ),
      }
    },
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** Compiles as a prepared statement and again as its run, which may not differ in columns or parameters. */
function withValues(
  compile: (text: string, instead?: Instead) => CompiledQuery,
  text: string,
  parameters: readonly (string | null)[],
  instead: Instead = {},
): CompiledQuery {
  const prepared = compile(text, instead)
  const compiled = compile(text, {
    ...instead,
    parameterTypes: prepared.parameters,
    parameterValues: parameters.map((value, index) => [index + 1, value] as const),
  })
  const described = ({ columns, parameters: types }: CompiledQuery) =>
    JSON.stringify([columns.map(({ name, type }) => [name, type]), types])
  if (described(compiled) !== described(prepared)) throw new Error('the run differs from what was prepared')
  return compiled
}

function toText(value: unknown, type: SqlType, textScale?: TextScale): string | null {
  if (value === null || value === undefined) return null
  if (isArray(type)) {
    if (!(value instanceof DuckDBListValue)) throw new Error(`a list was expected, not ${value}`)
    const items = value.items.map((item) => arrayItem(toText(item, elementOf(type))))
    return `{${items.join(',')}}`
  }
  const text = Object.is(value, -0) ? '-0' : String(value)
  switch (type) {
    case 'bool':
      return value === true ? 't' : 'f'
    case 'timestamptz':
      return text.endsWith('+00') ? text : `${text}+00`
    case 'numeric':
      return numericText(value, textScale)
    case 'bytea':
      return `\\x${Buffer.from((value as { bytes: Uint8Array }).bytes).toString('hex')}`
    default:
      return text
  }
}

/** As the engine's decoder shows it: what is a text here is computed by it. */
function numericText(value: unknown, textScale: TextScale | undefined): string | null {
  if (typeof value === 'string') {
    const computed = computeExact(value)
    return computed === undefined ? null : scaledText(computed.digits, computed.scale)
  }
  const text = String(value)
  if (textScale === undefined || !Number.isFinite(Number(text))) return text
  const own = typeof value === 'number' ? shortest(value) : parseExact(text)
  const { digits, scale } = shownDigits(Number(text), own, textScale)
  return scaledText(digits, scale)
}

function arrayItem(text: string | null): string {
  if (text === null) return 'NULL'
  return text === '' || /[{},"\\\s]|^null$/i.test(text) ? `"${text.replace(/(["\\])/g, '\\$1')}"` : text
}
