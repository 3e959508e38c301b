/** Names that are qualified with the database, as PostgreSQL has them: the first of three parts, or of four. */

import { describe, expect, test } from 'bun:test'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { type CompileInput, compileQuery } from '../../../../src/query/compile/compile.ts'

const orders: GovernedTable = {
  ref: { namespace: ['sales'], name: 'orders' },
  schemaName: 'sales',
  tableName: 'orders',
  relation: {},
  columns: [{ name: 'id', fieldId: 1, type: 'long', required: false, masks: [] }],
  rowFilters: [],
  contract: { id: 'c', version: 1 },
}
const nested: GovernedTable = {
  ...orders,
  ref: { namespace: ['lake', 'sales'], name: 'orders' },
  schemaName: 'lake.sales',
}

function compiled(text: string, change: Partial<CompileInput> = {}) {
  const principal = { sub: 'ann', roles: [] }
  const input = { text, principal, tables: [orders, nested], searchPath: [], database: 'main' }
  return compileQuery({ ...input, ...change })
}

/** SQLSTATE, message and hint of a refusal. */
function refused(text: string, change: Partial<CompileInput> = {}) {
  try {
    compiled(text, change)
  } catch (thrown) {
    if (thrown instanceof SqlError)
      return { sqlState: thrown.sqlState, message: thrown.publicMessage, hint: thrown.hint }
    throw thrown
  }
  throw new Error(`not refused: ${text}`)
}

describe('a name in the database of the connection', () => {
  test.each([
    'select id from "main"."sales"."orders"',
    'select orders.id from main.sales.orders',
    'select sales.orders.id from main.sales.orders',
    'select main.sales.orders.id from main.sales.orders',
    'select main.sales.orders.id from sales.orders',
    'select main.sales.orders.* from main.sales.orders',
    'select o.id from main.sales.orders o',
    'select 1 from sales.orders where exists (select 1 from main.sales.orders) and main.sales.orders.id > 1',
  ])('means the same as without it: %s', (text) => {
    const reads = compiled(text).reads.map(({ table }) => table)
    expect(new Set(reads)).toEqual(new Set([orders]))
    expect(compiled(text).emit('duckdb')).toEqual(
      compiled(text.replaceAll(/"?\bmain"?\./g, '')).emit('duckdb'),
    )
  })

  test('is matched by its letters, as other quoted names are', () => {
    expect(refused('select id from "Main".sales.orders').sqlState).toBe('0A000')
    expect(compiled('select id from MAIN.sales.orders').reads).toHaveLength(1)
  })

  test('does not mean a WITH query of its last part', () => {
    const text = 'with orders as (select 1 as other) select id from main.sales.orders'
    expect(compiled(text).columns.map(({ name }) => name)).toEqual(['id'])
  })
})

describe('a name in another database', () => {
  test('is refused in PostgreSQL’s words, with how a namespace of several levels is quoted', () => {
    expect(refused('select id from lake.sales.orders')).toEqual({
      sqlState: '0A000',
      message: 'cross-database references are not implemented: "lake.sales.orders"',
      hint: 'Quote a namespace of several levels as one name: "lake.sales"."orders".',
    })
    expect(compiled('select id from "lake.sales"."orders"').reads[0]?.table).toBe(nested)
  })

  test.each([
    'select lake.sales.orders.id from sales.orders',
    'select lake.sales.orders.* from sales.orders',
  ])('is refused in a column too: %s', (text) => {
    expect(refused(text).sqlState).toBe('0A000')
  })

  test('says the same of tables that exist and of tables that do not', () => {
    const { message } = refused('select 1 from lake.sales.missing')
    expect(message).toBe('cross-database references are not implemented: "lake.sales.missing"')
  })

  test('is every name with a database where a statement is explained without one', () => {
    expect(refused('select id from main.sales.orders', { database: undefined }).sqlState).toBe('0A000')
  })
})

test.each(['select a.main.sales.orders.id from sales.orders', 'select 1 from a.main.sales.orders'])(
  'a name of more parts is a syntax error: %s',
  (text) => {
    expect(refused(text).sqlState).toBe('42601')
  },
)
