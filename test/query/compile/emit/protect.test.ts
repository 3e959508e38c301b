/**
 * The rules of a transform plan as SQL: DuckDB gives the outputs of the transform's vector file. Trino and Spark are held
 * to their grammars here, and to the vector file by the suites `transform-trino` and `transform-spark`.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from '../../../../src/base/sql-text.ts'
import { emitProtected, writerDialects } from '../../../../src/query/compile/emit/protect.ts'
import type { ColumnRule } from '../../../../src/transform/plan.ts'
import { TransformRefused } from '../../../../src/transform/refusal.ts'
import vectors from '../../../transform/transform-vectors.json'

type Json = boolean | number | string | null
interface Vector {
  readonly name: string
  readonly column: ColumnRule
  readonly input: readonly Json[]
  readonly output?: readonly Json[]
  readonly refused?: string
}
const all = vectors.columns as unknown as readonly Vector[]
const keyless = all.filter(({ column }) => ['keep', 'redact', 'mask'].includes(column.action))
const carriedOut = keyless.filter(
  ({ column, output }) => output !== undefined && !column.type.endsWith('_ns'),
)

let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
  // A writer's session may be in any time zone.
  await connection.run("SET TimeZone = 'America/Los_Angeles'")
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

const engineTypes: Readonly<Record<string, string>> = {
  int: 'INTEGER',
  long: 'BIGINT',
  string: 'VARCHAR',
  binary: 'BLOB',
  timestamptz: 'TIMESTAMPTZ',
}
const engineType = (type: string) =>
  type.startsWith('fixed[') ? 'BLOB' : (engineTypes[type] ?? type.toUpperCase())

/** A value of the vector file as SQL. */
function literalOf(type: string, value: Json): string {
  if (value === null) return 'NULL'
  if (type === 'binary' || type.startsWith('fixed[')) return `unhex('${value}')`
  if (type === 'string') return `decode(unhex('${Buffer.from(String(value)).toString('hex')}'))`
  if (type === 'date') return `DATE '1970-01-01' + (${value})`
  if (type === 'time') return `TIME '00:00:00' + INTERVAL '${value} microseconds'`
  if (type.startsWith('timestamp'))
    return `make_${type === 'timestamp' ? 'timestamp' : 'timestamptz'}(${value})`
  return `CAST(${quoteText(String(value))} AS ${engineType(type)})`
}

/** SQL that gives a value as the vector file writes it. */
function shown(type: string, sql: string): string {
  if (type === 'binary' || type.startsWith('fixed[')) return `lower(hex(${sql}))`
  if (type === 'date') return `CAST(datediff('day', DATE '1970-01-01', ${sql}) AS INTEGER)`
  if (type.startsWith('time')) return `CAST(epoch_us(${sql}) AS VARCHAR)`
  return ['boolean', 'int', 'float', 'double'].includes(type) ? sql : `CAST(${sql} AS VARCHAR)`
}

async function ask(sql: string): Promise<Json[]> {
  return (await connection.runAndReadAll(sql)).getRowsJson().map(([value]) => value as Json)
}

function one(dialect: 'duckdb' | 'trino' | 'spark', column: ColumnRule): string {
  return emitProtected(dialect, [column])[0]?.sql ?? ''
}

function refusalOf(run: () => unknown): TransformRefused {
  try {
    run()
  } catch (error) {
    if (error instanceof TransformRefused) return error
    throw error
  }
  throw new Error('nothing was refused')
}

test('DuckDB gives the outputs of the vector file, whatever the time zone of the session', async () => {
  expect(carriedOut.length).toBeGreaterThan(80)
  for (const { name, column, input, output } of carriedOut) {
    const { type } = column
    await connection.run(`CREATE OR REPLACE TABLE given (i INTEGER, c ${engineType(type)})`)
    for (const [index, value] of input.entries())
      await connection.run(`INSERT INTO given VALUES (${index}, ${literalOf(type, value)})`)
    const sql = one('duckdb', column)
    expect([name, await ask(`SELECT ${shown(type, sql)} FROM given ORDER BY i`)]).toEqual([
      name,
      [...(output ?? [])],
    ])
    expect([name, ...(await ask(`SELECT DISTINCT typeof(${sql}) FROM given`))]).toEqual([
      name,
      ...(await ask('SELECT DISTINCT typeof(c) FROM given')),
    ])
  }
})

test('NULL in a required column stays NULL, so that the table refuses the write', async () => {
  for (const { column } of carriedOut.filter(({ column }) => column.required)) {
    const sql = one('duckdb', column)
    expect(await ask(`SELECT ${sql} FROM (SELECT CAST(NULL AS ${engineType(column.type)}) AS c)`)).toEqual([
      null,
    ])
  }
})

test('what the vector file refuses is refused, for every dialect', () => {
  for (const dialect of writerDialects)
    for (const { column, refused } of keyless)
      if (refused === 'malformed_plan')
        expect(refusalOf(() => emitProtected(dialect, [column])).code).toBe('malformed_plan')
})

test('a rule with a key is refused with a library to use, and without part of the columns', () => {
  const keyed = all.filter(({ column, output }) => output && ['tokenize', 'encrypt'].includes(column.action))
  expect(keyed.length).toBeGreaterThan(3)
  const kept: ColumnRule = { field_id: 9, name: 'kept', type: 'int', required: false, action: 'keep' }
  for (const dialect of writerDialects)
    for (const { column } of keyed) {
      const refusal = refusalOf(() => emitProtected(dialect, [kept, column]))
      expect([refusal.code, refusal.column]).toEqual(['no_key', 'c'])
      expect(refusal.message).toContain('covenant-transform')
    }
})

test('nanoseconds, and times on Spark, are refused where they are not kept', () => {
  for (const { column, output } of keyless)
    for (const dialect of writerDialects) {
      const lacking = column.type.endsWith('_ns') || (dialect === 'spark' && column.type === 'time')
      if (!lacking || column.action === 'keep' || output === undefined) continue
      expect(refusalOf(() => emitProtected(dialect, [column])).code).toBe('wrong_type')
    }
})

test('Trino and Spark read each expression by their grammars', async () => {
  const { SparkSQL, TrinoSQL } = await import('dt-sql-parser')
  const [trino, spark] = [new TrinoSQL(), new SparkSQL()]
  for (const { name, column } of carriedOut) {
    expect([name, trino.validate(`SELECT ${one('trino', column)} FROM t`)]).toEqual([name, []])
    if (column.type === 'time') continue
    expect([name, spark.validate(`SELECT ${one('spark', column)} FROM t;`)]).toEqual([name, []])
  }
})

test('a name is quoted as the engine does it, so that it cannot end there', () => {
  const column = { ...carriedOut[0]?.column, name: 'a"b`c', action: 'keep' } as ColumnRule
  expect(one('duckdb', column)).toBe('"a""b`c"')
  expect(one('spark', column)).toBe('`a"b``c`')
})

test('Spark neither reads an escape nor the time zone of the session', () => {
  for (const { column } of carriedOut.filter(({ column }) => column.type !== 'time')) {
    const sql = one('spark', column)
    expect(sql).not.toContain('\\')
    expect(sql).not.toMatch(/date_trunc/)
  }
})
