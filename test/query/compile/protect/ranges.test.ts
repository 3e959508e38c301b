/** The most that a statement can use of a table, and what must be left out of it. */

import { describe, expect, test } from 'bun:test'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import type { IcebergType } from '../../../../src/core/iceberg-type.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'

const types: Readonly<Record<string, IcebergType>> = {
  id: 'long',
  small: 'int',
  name: 'string',
  born: 'date',
  at: 'timestamp',
  seen: 'timestamptz',
  fine: 'timestamp_ns',
  price: 'decimal(9,2)',
  rate: 'double',
}

function table(name: string, change: Partial<GovernedTable> = {}, masked?: string): GovernedTable {
  return {
    ref: { namespace: ['s'], name },
    schemaName: 's',
    tableName: name,
    relation: {},
    columns: Object.entries(types).map(([column, type], index) => ({
      name: column,
      fieldId: index + 1,
      type,
      required: false,
      masks:
        column === masked ? [{ policyId: 'm', origin: { kind: 'column' }, action: 'replace-with-null' }] : [],
    })),
    rowFilters: [],
    contract: { id: 'c', version: 1 },
    ...change,
  }
}

/** `column[lower, upper]` of each range of `t`. */
function ranges(text: string, t = table('t')): readonly string[] {
  const tables = [t, table('u')]
  const compiled = compileQuery({ text, principal: { sub: 'ann', roles: [] }, tables, searchPath: ['s'] })
  return (compiled.ranges.get(t) ?? []).map(
    ({ fieldId, lower, upper }) => `${Object.keys(types)[fieldId - 1]}[${lower ?? ''}, ${upper ?? ''}]`,
  )
}

describe('a condition that every row of use meets', () => {
  test.each([
    ['id = 5', 'id[5, 5]'],
    ['5 < id', 'id[5, ]'],
    ['id <= 9007199254740993', 'id[, 9007199254740993]'],
    ['small BETWEEN 2 AND 3', 'small[2, 3]'],
    ["name = 'x'", 'name[x, x]'],
    ["name IN ('x')", 'name[x, x]'],
    ["born >= '2026-02-03'", 'born[20487, ]'],
    ["born < DATE '1969-12-31'", 'born[, -1]'],
    ["at = '1970-01-01 00:00:01.5'", 'at[1500000, 1500000]'],
    ["seen > '1970-01-01 01:00:00+01'", 'seen[0, ]'],
  ])('bounds its column: %s', (where, expected) => {
    expect(ranges(`SELECT id FROM t WHERE ${where}`)).toEqual([expected])
  })

  test('may be one of several, and stand in a subquery, a CTE or a set operation', () => {
    expect(ranges('SELECT 1 FROM t WHERE id > 1 AND (small = 2 AND id < 9)')).toEqual([
      'id[1, ]',
      'small[2, 2]',
      'id[, 9]',
    ])
    expect(ranges('SELECT count(*) FROM (SELECT id FROM t WHERE id = 1) q WHERE q.id = 2')).toEqual([
      'id[1, 1]',
    ])
    expect(ranges('WITH q AS (SELECT id FROM t WHERE id = 1) SELECT * FROM q a, q b')).toEqual(['id[1, 1]'])
    expect(ranges('SELECT id FROM u UNION ALL SELECT id FROM t WHERE id = 1')).toEqual(['id[1, 1]'])
    expect(ranges('SELECT 1 FROM t JOIN u ON t.id = u.id WHERE t.id = 1 AND u.id = 2')).toEqual(['id[1, 1]'])
    expect(ranges('SELECT 1 FROM t LEFT JOIN u ON t.id = u.id WHERE t.id = 1')).toEqual(['id[1, 1]'])
  })
})

describe('nothing is said by', () => {
  test.each([
    'id = 1 OR id = 2',
    'NOT id = 1',
    'id <> 1',
    'id IN (1, 2)',
    'id = small',
    'id + 1 = 2',
    'id = 1.5',
    'id IS NULL',
    'id IS NOT DISTINCT FROM 1',
    'id = NULL',
    "name > 'x'",
    "name BETWEEN 'a' AND 'b'",
    "name LIKE 'x%'",
    "fine = '1970-01-01 00:00:01'",
    'price = 1',
    'rate = 1',
    'id = $1',
    'id = (SELECT 1)',
    'CASE WHEN id = 1 THEN true END',
  ])('%s', (where) => {
    expect(ranges(`SELECT id FROM t WHERE ${where}`)).toEqual([])
  })

  test.each([
    [
      'the side of an outer join that may be NULL',
      'SELECT 1 FROM u LEFT JOIN t ON t.id = u.id WHERE t.id = 1',
    ],
    ['either side of a full join', 'SELECT 1 FROM t FULL JOIN u ON t.id = u.id WHERE t.id = 1'],
    ['a table that appears twice', 'SELECT 1 FROM t a, t b WHERE a.id = 1 AND b.id = 2'],
    [
      'a table that a subquery in an expression reads too',
      'SELECT (SELECT max(id) FROM t) FROM t WHERE id = 1',
    ],
    ['HAVING', 'SELECT id FROM t GROUP BY id HAVING id = 1'],
    ['the condition of a query around it', 'SELECT * FROM (SELECT id FROM t LIMIT 5) q WHERE id = 1'],
    ['a correlated condition', 'SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t.id = 1)'],
    ['the condition of a join', 'SELECT 1 FROM t JOIN u ON t.id = 1'],
  ])('%s', (_, text) => {
    expect(ranges(text)).toEqual([])
  })
})

describe('policies', () => {
  const filtered = table('t', {
    rowFilters: [
      { policyId: 'f', origin: { kind: 'table' }, expression: "name = 'eu' AND id > 10" },
      { policyId: 'g', origin: { kind: 'table' }, expression: "current_principal() = 'ann'" },
    ],
  })

  test('a row filter bounds what is read, each time that the table appears', () => {
    expect(ranges('SELECT 1 FROM t a, t b', filtered)).toEqual(['name[eu, eu]', 'id[10, ]'])
  })

  test('under a row filter the statement’s own conditions do not: hidden rows must not show in what is read', () => {
    expect(ranges('SELECT id FROM t WHERE id = 12', filtered)).toEqual(['name[eu, eu]', 'id[10, ]'])
  })

  test('a masked column’s raw values are not compared with what the statement says of the masked ones', () => {
    expect(ranges('SELECT 1 FROM t WHERE id = 5 AND small = 1', table('t', {}, 'id'))).toEqual([
      'small[1, 1]',
    ])
  })
})
