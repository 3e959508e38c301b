/**
 * Every scalar function, operator and form as a key of GROUP BY, with HAVING, ORDER BY, windows and grouping sets that
 * mention it. Compares the read path on DuckDB with PostgreSQL on the same rows.
 */

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { classifyError } from '../../../../src/engine/duckdb/classify-error.ts'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { runError } from '../../../../src/query/run/attempt/run-error.ts'
import { isLongForm, someInShortForm } from '../../../support/long-form.ts'
import { normal } from '../../support/compare.ts'
import { type GroupExpression, groupExpressions } from '../../support/group-expressions.ts'
import { openPair } from '../../support/pair.ts'

setDefaultTimeout(300_000)

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

/** Statements that group by `e` in a table whose column `id` may be grouped by, too. */
const shapes: readonly ((e: string, t: string, id: string) => string)[] = [
  (e, t) => `SELECT ${e}, count(*) FROM ${t} GROUP BY ${e}`,
  (e, t) =>
    `SELECT ${e} AS g FROM ${t} GROUP BY ${e} HAVING ${e} IS NOT NULL AND count(*) > 0 ORDER BY ${e} DESC`,
  (e, t) => `SELECT ${e} AS g, count(*) FROM ${t} GROUP BY 1 HAVING count(${e}) > 0 ORDER BY 2, 1`,
  (e, t) => `SELECT count(*) FROM ${t} GROUP BY ${e} HAVING ${e} IS NOT NULL`,
  (e, t) => `SELECT count(*) FROM ${t} GROUP BY ${e} ORDER BY ${e}, 1`,
  (e, t) => `SELECT coalesce(${e}, ${e}), count(*) FROM ${t} GROUP BY ${e} HAVING ${e} = ${e}`,
  (e, t) => `SELECT CASE WHEN ${e} IS NULL THEN 0 ELSE count(*) END FROM ${t} GROUP BY ${e}`,
  (e, t) => `SELECT ${e} AS g, count(*) FROM ${t} GROUP BY ROLLUP (${e}) HAVING ${e} IS NOT NULL`,
  (e, t, id) =>
    `SELECT ${e}, ${id}, sum(${id}) FROM ${t} WHERE ${id} > 1 GROUP BY ${e}, ${id} HAVING ${e} IS NOT NULL ORDER BY ${id}`,
  (e, t) =>
    `SELECT ${e}, sum(count(*)) OVER (PARTITION BY ${e}) FROM ${t} GROUP BY ${e} HAVING ${e} IS NOT NULL`,
  (e, t) => `SELECT DISTINCT ${e} AS g FROM ${t} GROUP BY ${e} HAVING count(${e}) >= 0 ORDER BY g`,
  (e, t, id) =>
    `SELECT max(${id}) FROM ${t} GROUP BY ${e} HAVING count(*) > (SELECT count(*) FROM customers WHERE city = 'x')`,
]
/** Of each registered function; the turn moves on, so that all shapes are tried on some of every family. */
const shapesOfEach = isLongForm ? 4 : 1
/** Of each form. */
const shapesOfForm = isLongForm ? shapes.length : 3

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('a key of GROUP BY means what it means in PostgreSQL', () => {
  /** Rows of both, or a SQLSTATE. */
  async function both(sql: string) {
    let actual: string[] | string
    let types: Parameters<typeof normal>[1] = []
    try {
      const answer = await subject.run(sql)
      types = answer.columns.map(({ type }) => type)
      actual = normal(answer.rows, types, false)
    } catch (thrown) {
      actual = runError(thrown instanceof SqlError ? thrown : classifyError(thrown)).sqlState
    }
    const answer = await ask(sql)
    const expected = typeof answer === 'string' ? answer : normal(answer.rows, types, false)
    return { sql, actual, expected }
  }

  /** Whether both agree; PostgreSQL groups no json, and what the engine cannot do is refused as such. */
  const agree = ({ actual, expected }: Awaited<ReturnType<typeof both>>) =>
    Bun.deepEquals(actual, expected) ||
    actual === '0A000' ||
    (typeof expected === 'string' && actual !== 'XX000')

  /** Of an expression that is the same ungrouped: the statements in which it is another grouped. */
  async function differences({ table, sql }: GroupExpression, turn: number, count: number) {
    const id = table === 'orders' ? 'id' : 'order_id'
    const chosen = Array.from({ length: count }, (_, index) => shapes[(turn + index * 5) % shapes.length])
    const found = []
    for (const shape of chosen) {
      const outcome = await both(shape?.(sql, table, id) ?? '')
      if (!agree(outcome)) found.push(outcome)
    }
    return found
  }

  async function firstAlike(variants: readonly GroupExpression[]): Promise<GroupExpression | undefined> {
    for (const variant of variants) {
      const { actual, expected } = await both(`SELECT ${variant.sql} AS v FROM ${variant.table}`)
      if (typeof actual !== 'string' && Bun.deepEquals(actual, expected)) return variant
    }
    return undefined
  }

  const { forms, registered } = groupExpressions()

  test.each(forms.map((form, turn) => [form.sql, form, turn] as const))(
    'the form %s',
    async (_, form, turn) => {
      expect(await firstAlike([form])).toBe(form)
      expect(await differences(form, turn, shapesOfForm)).toEqual([])
    },
  )

  test.each([
    'SELECT status FROM orders GROUP BY status HAVING EXISTS (SELECT 1 FROM items WHERE order_id = id)',
    'SELECT (SELECT max(line) FROM items WHERE order_id = id), status FROM orders GROUP BY status',
    'SELECT count(*) FROM orders GROUP BY (SELECT max(line) FROM items WHERE order_id = id) HAVING EXISTS (SELECT 1 FROM items WHERE order_id = id)',
    'SELECT count(*) FROM orders GROUP BY (SELECT max(line) FROM items) HAVING (SELECT min(line) FROM items) > 0',
    'SELECT (SELECT max(line) FROM items WHERE order_id = id), (SELECT max(id) FROM customers c WHERE c.id = o.id) FROM orders o GROUP BY 1, id HAVING EXISTS (SELECT 1 FROM items WHERE order_id = o.id) ORDER BY 1, 2',
    'SELECT DISTINCT ON ((SELECT max(line) FROM items WHERE order_id = id)) count(*), (SELECT max(line) FROM items WHERE order_id = id) FROM orders GROUP BY 2 ORDER BY 2, 1',
    'SELECT (SELECT max(line) FROM items WHERE order_id = o.id), grouping((SELECT max(line) FROM items WHERE order_id = o.id)), sum(o.id + c.id) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.id < 4 GROUP BY ROLLUP (1)',
    'SELECT (SELECT count(*) FROM (SELECT (SELECT max(line) FROM items WHERE order_id = b.id) m FROM orders b WHERE b.customer_id = a.customer_id GROUP BY (SELECT max(line) FROM items WHERE order_id = b.id)) x), count(*) FROM orders a GROUP BY 1',
    'SELECT count(*) FROM (VALUES (1.1, 2.0), (1.21, 1.0), (2.0, 3.0), (8.0, 1.0)) v(a, b) GROUP BY power(a, b)',
    'SELECT count(*) FROM (VALUES (1.1, 2.0), (1.21, 1.0), (0.0, 3.0), (-2.0, 3.0)) v(a, b) GROUP BY a ^ b',
  ])('keys that DuckDB tells otherwise: %s', async (sql) => {
    const { actual, expected } = await both(sql)
    expect(actual).toEqual(expected)
  })

  test('every function and operator of the registry', async () => {
    const found = []
    let tried = 0
    for (const [turn, variants] of someInShortForm(registered, 2).entries()) {
      const alike = await firstAlike(variants)
      if (alike === undefined) continue
      tried++
      found.push(...(await differences(alike, turn, shapesOfEach)))
    }
    expect(found).toEqual([])
    expect(tried).toBeGreaterThan(isLongForm ? 300 : 150)
  })
})
