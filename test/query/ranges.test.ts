/** Ranges of columns that a statement can use: what is left outside changes no answer. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { GovernedTable } from '../../src/core/governed-table.ts'
import type { ColumnRange } from '../../src/engine/engine.ts'
import { compileQuery } from '../../src/query/compile.ts'
import { renderSql } from '../../src/query/emit/render.ts'
import { corpus } from './corpus/all.ts'
import { openSubject, type Subject } from './support/duckdb.ts'
import { governedTables, principal } from './support/fixture.ts'

let subject: Subject
beforeAll(async () => {
  subject = await openSubject()
})
afterAll(() => subject.close())

const compile = (text: string) =>
  compileQuery({ text, principal, tables: governedTables, searchPath: ['sales', 'hr'] })

/** The ranges of `sales.orders` by column name. */
function ranges(text: string, parameters?: readonly string[]) {
  for (const [table, found] of compile(text).ranges(parameters))
    if (table.tableName === 'orders')
      return found.map(({ fieldId, lower, upper }) => [
        table.columns.find((column) => column.fieldId === fieldId)?.name,
        lower,
        upper,
      ])
  return undefined
}

describe('a range is', () => {
  type Range = (string | bigint | boolean | undefined)[]
  const cases: [where: string, ranges: Range[]][] = [
    ['quantity = 3', [['quantity', 3n, 3n]]],
    ['3 < quantity', [['quantity', 3n, undefined]]],
    [
      'quantity <= 3 AND big > 5',
      [
        ['quantity', undefined, 3n],
        ['big', 5n, undefined],
      ],
    ],
    ['quantity BETWEEN 2 AND 4', [['quantity', 2n, 4n]]],
    ['quantity BETWEEN 2 AND big', [['quantity', 2n, undefined]]],
    ['quantity IN (4, 2, 3)', [['quantity', 2n, 4n]]],
    ["status = 'paid'", [['status', 'paid', 'paid']]],
    ["ordered_on >= date '2024-03-01'", [['ordered_on', 19_783n, undefined]]],
    ["created_at < timestamp '1970-01-01 00:00:01.5'", [['created_at', undefined, 1_500_000n]]],
  ]
  test.each(cases)('%s', (where, expected) => {
    expect(ranges(`SELECT id FROM sales.orders WHERE ${where}`)).toEqual(expected)
  })

  test('a parameter’s value', () => {
    expect(ranges('SELECT id FROM sales.orders WHERE quantity = $1', ['7'])).toEqual([['quantity', 7n, 7n]])
    expect(ranges('SELECT id FROM sales.orders WHERE quantity = $1')).toEqual([])
  })
})

describe('no range is', () => {
  test.each([
    'quantity = 3 OR big = 5',
    'NOT quantity = 3',
    'quantity <> 3',
    'quantity NOT BETWEEN 2 AND 4',
    "status BETWEEN 'a' AND 'b'",
    'quantity NOT IN (1, 2)',
    'quantity IN (1, NULL)',
    'quantity = NULL',
    'quantity + 1 = 3',
    'quantity = 1.5',
    "status > 'm'",
    "lower(status) = 'paid'",
    'quantity = big',
    'quantity IS NULL',
    'coalesce(quantity, 0) = 3',
    'quantity IS NOT DISTINCT FROM 3',
    'CASE WHEN quantity = 3 THEN true ELSE true END',
    "note = 'x'",
  ])('%s', (where) => {
    expect(ranges(`SELECT id FROM sales.orders WHERE ${where}`)).toEqual([])
  })

  test('a condition of a join, of HAVING, of a FILTER or of another query', () => {
    for (const text of [
      'SELECT o.id FROM sales.orders o LEFT JOIN sales.items i ON o.quantity = 3',
      'SELECT quantity FROM sales.orders GROUP BY quantity HAVING quantity = 3',
      'SELECT count(*) FILTER (WHERE quantity = 3) FROM sales.orders',
      'SELECT id FROM sales.orders o WHERE EXISTS (SELECT 1 FROM sales.items i WHERE o.quantity = 3)',
      'SELECT s.id FROM (SELECT id, quantity FROM sales.orders) s WHERE s.quantity = 3',
    ])
      expect(ranges(text)).toEqual([])
  })

  test('of a table that appears twice', () => {
    expect(
      ranges('SELECT a.id FROM sales.orders a, sales.orders b WHERE a.quantity = 3 AND b.quantity = 3'),
    ).toBeUndefined()
  })
})

test('row filters give ranges of raw columns, masked ones too; a WHERE on a masked column gives none', () => {
  const table: GovernedTable = {
    ref: { namespace: ['s'], name: 't' },
    schemaName: 's',
    tableName: 't',
    relation: { duckdb: ['t'] },
    columns: [
      {
        name: 'n',
        fieldId: 4,
        type: 'long',
        required: false,
        masks: [{ policyId: 'm', origin: { kind: 'column' }, action: 'replace-with-null' }],
      },
    ],
    rowFilters: [{ policyId: 'f', origin: { kind: 'table' }, expression: 'n >= 5' }],
    contract: { id: 'c', version: 1 },
  }
  const compiled = compileQuery({
    text: 'SELECT n FROM s.t WHERE n = 7',
    principal,
    tables: [table],
    searchPath: ['s'],
  })
  expect(compiled.ranges().get(table)).toEqual([{ fieldId: 4, lower: 5n, upper: undefined }])
})

test('the corpus gives the same rows where what lies outside its ranges is taken away', async () => {
  let narrowed = 0
  for (const { sql: text, parameters } of corpus) {
    const compiled = compile(text)
    const found = compiled.ranges(parameters)
    if ([...found.values()].every((each) => each.length === 0)) continue
    narrowed++
    const options = { salt: new Uint8Array(16), ...(parameters && { parameters }) }
    const parts = compiled.emit('duckdb')
    const rows = async (relation: (table: GovernedTable) => string) =>
      (await subject.runSql(renderSql(parts, 'duckdb', { ...options, relation })))
        .map((row) => Bun.inspect(row))
        .sort()
    const name = ({ tableName }: GovernedTable) => `main."base_${tableName}"`
    const cut = (table: GovernedTable) =>
      `(SELECT * FROM ${name(table)} WHERE ${['true', ...(found.get(table) ?? []).map((range) => within(table, range))].join(' AND ')})`
    expect([text, await rows(cut)]).toEqual([text, await rows(name)])
  }
  expect(narrowed).toBeGreaterThan(20)
})

function within(table: GovernedTable, { fieldId, lower, upper }: ColumnRange): string {
  const column = table.columns.find((each) => each.fieldId === fieldId)
  const raw = `"${column?.name}"`
  const value =
    column?.type === 'date'
      ? `date_diff('day', DATE '1970-01-01', ${raw})`
      : String(column?.type).startsWith('timestamp')
        ? `epoch_us(${raw})`
        : raw
  const literal = (bound: unknown) =>
    typeof bound === 'string' ? `'${bound.replaceAll("'", "''")}'` : String(bound)
  return [
    ...(lower === undefined ? [] : [`${value} >= ${literal(lower)}`]),
    ...(upper === undefined ? [] : [`${value} <= ${literal(upper)}`]),
  ].join(' AND ')
}
