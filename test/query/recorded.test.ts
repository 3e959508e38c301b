/**
 * Statements that programs sent, as test/support/wire-recorder.ts recorded them, compile for both engines. That the
 * programs get from them what they get of PostgreSQL is shown by the suites that were recorded.
 */

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GovernedTable } from '../../src/core/governed-table.ts'
import { typeOfOid } from '../../src/core/sql-type.ts'
import { SqlError } from '../../src/query/compile/base/sql-error.ts'
import { compileQuery } from '../../src/query/compile/compile.ts'
import { governed } from '../support/engine.ts'
import { ordersTable, regionsTable } from '../support/lake-tables.ts'

interface Recorded {
  readonly text: string
  readonly oids?: readonly number[]
  readonly values?: readonly (string | null)[]
}

const types: Readonly<Record<string, string>> = {
  bigint: 'long',
  text: 'string',
  'numeric(10,2)': 'decimal(10,2)',
  integer: 'int',
  'double precision': 'double',
  bytea: 'binary',
}
const tables = [ordersTable, regionsTable].map(({ name, columns }): GovernedTable => {
  const fields = columns.map(([column, type], index) => ({
    id: index + 1,
    name: column,
    type: types[type] ?? type,
  }))
  const table = governed(fields as Parameters<typeof governed>[0], name)
  const ref = { namespace: ['sales'], name }
  return {
    ...table,
    ref,
    schemaName: 'sales',
    relation: { duckdb: [name], trino: ['c', 's', name] },
    contract: { id: 'c', version: 1 },
  }
})

const folder = join(import.meta.dir, 'corpus/recorded')
const recorded = readdirSync(folder).map((file) => {
  const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n')
  return [file.replace('.jsonl', ''), lines.map((line) => JSON.parse(line) as Recorded)] as const
})

/** Forms that Trino lacks; the statement is refused there with a sentence. */
const refusedByTrino = 'refused'

function outcome({ text, oids = [], values = [] }: Recorded, dialect: 'duckdb' | 'trino'): string {
  const given = {
    ...{ text, principal: { sub: 'ann', roles: [] }, tables, searchPath: ['sales', 'public'] },
    ...{ database: 'lake', parameterTypes: oids.map((oid) => typeOfOid(oid)) },
  }
  try {
    const { parameters } = compileQuery(given)
    const parameterValues = values.map((value, index) => [index + 1, value] as const)
    compileQuery({ ...given, parameterTypes: parameters, parameterValues }).emit(dialect)
    return 'compiled'
  } catch (thrown) {
    if (!(thrown instanceof SqlError)) throw thrown
    if (dialect === 'trino' && thrown.sqlState === '0A000') return refusedByTrino
    return `${thrown.sqlState} ${thrown.message}`
  }
}

describe.each(recorded)('%s', (_, statements) => {
  test('sends nothing that does not compile for DuckDB', () => {
    const refused = statements.filter((each) => outcome(each, 'duckdb') !== 'compiled')
    expect(refused.map((each) => [each.text, outcome(each, 'duckdb')])).toEqual([])
  })

  test('sends nothing that Trino refuses with another SQLSTATE than 0A000', () => {
    const outcomes = new Set(statements.map((each) => outcome(each, 'trino')))
    expect([...outcomes].filter((each) => each !== 'compiled' && each !== refusedByTrino)).toEqual([])
  })
})
