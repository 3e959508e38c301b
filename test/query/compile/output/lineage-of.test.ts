/** Which columns flow into which column of a result, and which only decide what rows there are. */

import { expect, test } from 'bun:test'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import { readLineageBounds } from '../../../../src/core/read-lineage.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'

const table = (name: string, columns: readonly string[]): GovernedTable => ({
  ref: { namespace: ['s'], name },
  schemaName: 's',
  tableName: name,
  relation: {},
  columns: columns.map((column, index) => ({
    name: column,
    fieldId: index + 1,
    type: 'long',
    required: false,
    masks: [],
  })),
  rowFilters: [],
  contract: { id: 'c', version: 1 },
})
const tables = [table('t', ['a', 'b', 'c']), table('u', ['a', 'd'])]

function lineage(text: string, over = tables) {
  const compiled = compileQuery({
    text,
    principal: { sub: 'ann', roles: [] },
    tables: over,
    searchPath: ['s'],
  })
  return compiled.lineage()
}

/** `t.a t.b; u.d | conditions`: the sources of each output, then what decides. */
function shown(text: string): string {
  const { columns, outputs, conditions } = lineage(text)
  const named = (places: readonly number[]) =>
    places
      .map((place) => `${columns[place]?.name}.${columns[place]?.column}`)
      .toSorted()
      .join(' ')
  return `${outputs.map(named).join('; ')} | ${named(conditions)}`
}

test.each([
  ['SELECT a, b + c FROM t', 't.a; t.b t.c | '],
  ['SELECT 1 FROM t', ' | '],
  ['SELECT unnest(ARRAY[a, b]), c FROM t', 't.a t.b; t.c | t.a t.b'],
  ['SELECT row_to_json(x), count(x) FROM (SELECT a, b FROM t) x GROUP BY x.a, x.b', 't.a t.b;  | t.a t.b'],
  [
    'WITH RECURSIVE r(x, y, z) AS (SELECT a, b, 1 FROM t UNION ALL SELECT y, u.d, z + 1 FROM r JOIN u ON u.a = r.x) SELECT x, y, z FROM r',
    't.a t.b u.d; t.b u.d;  | t.a t.b u.a u.d',
  ],
  ['SELECT a FROM t WHERE b > 1', 't.a | t.b'],
  ['SELECT sum(a) FROM t GROUP BY b HAVING max(c) > 1', 't.a | t.b t.c'],
  ['SELECT sum(a) FILTER (WHERE b > 1) FROM t', 't.a | t.b'],
  ['SELECT CASE WHEN a > 1 THEN b ELSE c END FROM t', 't.b t.c | t.a'],
  ['SELECT rank() OVER (PARTITION BY a ORDER BY b) FROM t', ' | t.a t.b'],
  ['SELECT t.a, u.d FROM t JOIN u ON t.b = u.a', 't.a; u.d | t.b u.a'],
  ['SELECT x.q FROM (SELECT a + b AS q FROM t WHERE c = 1) x', 't.a t.b | t.c'],
  ['WITH w AS (SELECT a, b FROM t WHERE c = 1) SELECT b FROM w', 't.b | t.c'],
  ['SELECT a FROM t UNION ALL SELECT d FROM u', 't.a u.d | '],
  ['SELECT a FROM t EXCEPT SELECT d FROM u', 't.a u.d | t.a u.d'],
  ['SELECT DISTINCT a FROM t', 't.a | t.a'],
  ['SELECT a FROM t ORDER BY b', 't.a | t.b'],
  ['SELECT a FROM t UNION ALL SELECT d FROM u ORDER BY 1', 't.a u.d | t.a u.d'],
  ['SELECT (SELECT max(d) FROM u WHERE u.a = t.a) FROM t', 'u.d | t.a u.a'],
  ['SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.b)', 't.a | t.b u.a'],
  ['SELECT a FROM t WHERE b IN (SELECT d FROM u)', 't.a | t.b u.d'],
  ['SELECT count(*) FROM t', ' | '],
])('%s', (text, expected) => {
  expect(shown(text)).toBe(expected)
})

test('holds neither text nor literals nor names of the statement', () => {
  const text = `SELECT a AS "CANARY-1", 'CANARY-2' FROM t AS canary_3 WHERE b = 424242`
  expect(JSON.stringify(lineage(text))).not.toMatch(/canary|424242/i)
})

test('is bounded, and says so', () => {
  const wide = table(
    'wide',
    Array.from({ length: 600 }, (_, index) => `c${index}`),
  )
  const whole = lineage('SELECT * FROM wide', [wide])
  expect([whole.outputs.length, whole.truncated]).toEqual([readLineageBounds.outputsMax, true])
  const sum = lineage(`SELECT 1 FROM wide WHERE 1 IN (${wide.columns.map(({ name }) => name).join(', ')})`, [
    wide,
  ])
  expect([sum.columns.length, sum.truncated]).toEqual([readLineageBounds.columnsMax, true])
})
