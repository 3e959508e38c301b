/** Where the compiler writes a barrier, and where it leaves a column bare so that the engine can prune by it. */

import { describe, expect, test } from 'bun:test'
import type { GovernedTable } from '../../../../../src/core/governed-table.ts'
import type { IcebergType } from '../../../../../src/core/iceberg-type.ts'
import { compileQuery } from '../../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../../src/query/compile/emit/render.ts'

interface Given {
  readonly filter?: string
  readonly mask?: readonly [column: string, action: string, expression?: string]
  readonly deletes?: boolean
}

function tableOf({ filter, mask }: Given): GovernedTable {
  const column = (name: string, fieldId: number, type: IcebergType) => ({
    name,
    fieldId,
    type,
    required: false,
    masks:
      mask?.[0] === name
        ? [
            {
              policyId: 'm',
              origin: { kind: 'column' as const },
              action: mask[1],
              ...(mask[2] !== undefined && { expression: mask[2] }),
            },
          ]
        : [],
  })
  return {
    ref: { namespace: ['s'], name: 't' },
    schemaName: 's',
    tableName: 't',
    relation: { duckdb: ['t'] },
    columns: [column('id', 1, 'int'), column('name', 2, 'string'), column('day', 3, 'date')],
    rowFilters:
      filter === undefined ? [] : [{ policyId: 'f', origin: { kind: 'table' }, expression: filter }],
    contract: { id: 'c', version: 1 },
  }
}

function sqlOf(text: string, given: Given): string {
  const table = tableOf(given)
  const principal = { sub: 'ann', roles: [] }
  const compiled = compileQuery({ text, principal, tables: [table], searchPath: ['s'] })
  const deletes = new Set(given.deletes ? [table] : [])
  return renderSql(compiled.emit('duckdb', deletes), 'duckdb', { salt: new Uint8Array(32) })
}

const filter = `name = 'a'`
const shown = (column: string) => `CASE WHEN (_b."name" = 'a') THEN _b."${column}" END`
const behind = (column: string, place: number) => `list_extract([${shown(column)}], 1) AS c${place}`

describe('a column that something fallible reads stands behind the barrier', () => {
  test.each([
    ['in the select list', 'SELECT 1 / id FROM t'],
    ['in WHERE', 'SELECT count(*) FROM t WHERE 1 / id > 0'],
    ['in FILTER', 'SELECT count(*) FILTER (WHERE 1 / id > 0) FROM t'],
    ['in an argument of an aggregate', 'SELECT sum(1 / id) FROM t'],
    ['in GROUP BY', 'SELECT count(*) FROM t GROUP BY 1 / id'],
    ['in HAVING', 'SELECT id FROM t GROUP BY id HAVING 1 / id > 0'],
    ['in ORDER BY', 'SELECT name FROM t ORDER BY 1 / id'],
    ['in DISTINCT ON', 'SELECT DISTINCT ON (1 / id) name FROM t'],
    ['in a window', 'SELECT sum(1 / id) OVER () FROM t'],
    ['in the order of a window', 'SELECT row_number() OVER (ORDER BY 1 / id) FROM t'],
    ['in a join', 'SELECT a.name FROM t a JOIN (VALUES (1)) v(x) ON 1 / a.id = v.x'],
    ['through a subquery', 'SELECT 1 / x FROM (SELECT id AS x FROM t) s'],
    ['through a CTE', 'WITH c AS (SELECT id AS x FROM t) SELECT 1 / x FROM c'],
    ['through a set operation', 'SELECT 1 / x FROM (SELECT id AS x FROM t UNION ALL SELECT 3) s'],
    ['through a scalar subquery', 'SELECT 1 / (SELECT id FROM t LIMIT 1)'],
    ['from a correlated subquery', 'SELECT name FROM t WHERE EXISTS (SELECT 1 WHERE 1 / t.id > 0)'],
    ['from a lateral item', 'SELECT x FROM t, LATERAL (VALUES (1 / t.id)) v(x)'],
    ['beside what decides whether it is reached', `SELECT CASE WHEN id = 3 THEN 1 / 0 END FROM t`],
  ])('%s', (_, text) => {
    expect(sqlOf(text, { filter })).toContain(behind('id', 1))
  })

  test('also where rows are deleted and nothing is filtered', () => {
    expect(sqlOf('SELECT 1 / id FROM t', { deletes: true })).toContain('list_extract([_b."id"], 1) AS c1')
  })

  test('also where a mask shows the value of some rows', () => {
    const mask = ['id', 'apply-expression', 'CASE WHEN name = $$a$$ THEN this_column END'] as const
    const given = { mask: [mask[0], mask[1], mask[2].replaceAll('$$', "'")] as const }
    expect(sqlOf('SELECT 1 / id FROM t', given)).toContain('list_extract([CASE WHEN')
  })
})

describe('a column stays bare', () => {
  test.each([
    ['that only infallible expressions read', `SELECT id FROM t WHERE day > '2020-01-01' ORDER BY name`],
    ['whose aggregate alone is read by what can fail', 'SELECT 1 / max(id) FROM t'],
  ])('%s', (_, text) => {
    expect(sqlOf(text, { filter })).not.toContain('list_extract')
  })

  test('in a condition that cannot fail, beside its barrier', () => {
    const sql = sqlOf(`SELECT date_trunc('month', day) FROM t WHERE day > '2020-01-01'`, { filter })
    expect(sql).toContain(`${behind('day', 3)}, _b."day" AS b3`)
    expect(sql).toContain(`WHERE (t1.b3 > CAST('2020-01-01' AS DATE))`)
  })

  test('where the condition of a join cannot fail', () => {
    const sql = sqlOf('SELECT 1 / a.id FROM t a JOIN t b ON a.id = b.id', { filter })
    expect(sql).toContain('ON (t1.b1 = t2.c1)')
  })

  test('in no condition of a subquery, which may stand where a group is read', () => {
    const text =
      'SELECT id, (SELECT count(*) FROM t b WHERE b.id = a.id) FROM t a GROUP BY id HAVING 1 / id > 0'
    expect(sqlOf(text, { filter })).not.toContain('t1.b1')
  })

  test('of a table that nothing is hidden of', () => {
    expect(sqlOf(`SELECT 1 / id FROM t WHERE name LIKE 'a%'`, {})).not.toContain('list_extract')
  })
})

describe('what fails by a conversion that DuckDB does not count is written so that it does', () => {
  test.each([
    ['a decimal to a narrower one', `SELECT id FROM t WHERE (id::numeric(9, 2))::numeric(3, 1) > 0`],
    ['a timestamp to text', `SELECT id FROM t WHERE (day::timestamp)::text > 'x'`],
  ])('%s', (_, text) => {
    expect(sqlOf(text, { filter })).toMatch(/CAST\(list_extract\(\[CAST\(/)
    expect(sqlOf(text, {})).not.toContain('list_extract')
  })

  test.each([
    ['a pattern that is no literal', 'SELECT id FROM t WHERE name LIKE name'],
    ['a difference of instants', 'SELECT day::timestamptz - day::timestamptz FROM t'],
    ['an instant and an interval', `SELECT day::timestamptz + interval '1 day' FROM t`],
    ['an age', 'SELECT age(day::timestamp, day::timestamp) FROM t'],
    ['an epoch', 'SELECT to_timestamp(id), extract(epoch FROM day) FROM t'],
  ])('%s, and only where something is hidden', (_, text) => {
    const marked = (sql: string) => sql.split('list_extract').length
    expect(marked(sqlOf(text, { filter }))).toBeGreaterThan(2)
    expect(marked(sqlOf(text, { deletes: true }))).toBeGreaterThan(2)
    expect(sqlOf(text, {})).not.toContain('list_extract')
  })

  test('a list, which is copied once more where something is hidden', () => {
    const text = 'SELECT (ARRAY[name])::int[] FROM t'
    const copies = (sql: string) => sql.split('list_extract').length - 1
    expect([{}, { filter }, { deletes: true }].map((governance) => copies(sqlOf(text, governance)))).toEqual([
      1, 3, 3,
    ])
  })
})

describe('a policy that can fail', () => {
  test('reads its columns behind the barrier in a filter', () => {
    expect(sqlOf('SELECT id FROM t', { filter: '1 / id > 0' })).toContain('list_extract([_b."id"], 1)')
  })

  test.each(['year', 'month'])(
    'reads its columns behind the barrier in a mask that truncates to the %s',
    (unit) => {
      const sql = sqlOf('SELECT day FROM t', { filter, mask: ['day', `truncate-to-${unit}`] })
      expect(sql).toContain(`date_trunc('${unit}', list_extract([${shown('day')}], 1))`)
    },
  )
})
