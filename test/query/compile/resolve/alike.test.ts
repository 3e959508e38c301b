/** Compares equal quotients of operands of other declared sizes with a real PostgreSQL: they are equal there, and here. */

import { afterAll, describe, expect, test } from 'bun:test'
import { openPair } from '../../support/pair.ts'

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

const rows = [1, 2, 7, -4, 1000]
const t = `(SELECT id, id::numeric(10,2) AS d, id::numeric(20,4) AS e, id::int8 AS l FROM (VALUES ${rows
  .map((n) => `(${n})`)
  .join(', ')}) v(id)) t`
const big = '(SELECT n::numeric(30,0) AS big FROM (VALUES (900000000000000000000000000000), (5)) v(n)) t'

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('as in PostgreSQL', () => {
  test.each([
    ['=', `SELECT count(*) FROM ${t} WHERE d / 3 = e / 3`],
    ['<>', `SELECT count(*) FROM ${t} WHERE d / 7 <> e / 7`],
    ['>=', `SELECT count(*) FROM ${t} WHERE d / 7 >= e / 7 AND d / 7 <= e / 7`],
    ['a literal', `SELECT count(*) FROM ${t} WHERE l / 3.0 = 1.0 / 3`],
    ['digits', `SELECT count(*) FROM ${t} WHERE l / 3.0 = 0.33333333333333333333`],
    ['round', `SELECT count(*) FROM ${t} WHERE round(l / 3.0, 2) = 0.33`],
    ['a decimal', `SELECT count(*) FROM ${t} WHERE d / 4 = 1.75`],
    ['IN', `SELECT count(*) FROM ${t} WHERE d / 3 IN (1.0 / 3, 7.0 / 3)`],
    ['IN of a subquery', `SELECT count(*) FROM ${t} WHERE d / 3 IN (SELECT e / 3 FROM ${t})`],
    ['ALL of a subquery', `SELECT count(*) FROM ${t} WHERE d / 3 >= ALL (SELECT e / 3 FROM ${t})`],
    ['a scalar subquery', `SELECT count(*) FROM ${t} WHERE d / 3 = (SELECT max(e) / 3 FROM ${t})`],
    ['a join', `SELECT count(*) FROM ${t} JOIN (SELECT e / 3 AS q FROM ${t}) s ON d / 3 = s.q`],
    [
      'USING',
      `SELECT count(*) FROM (SELECT d / 3 AS q FROM ${t}) r JOIN (SELECT e / 3 AS q FROM ${t}) s USING (q)`,
    ],
    ['UNION', `SELECT count(*) FROM (SELECT d / 3 FROM ${t} UNION SELECT e / 3 FROM ${t}) u`],
    ['INTERSECT', `SELECT count(*) FROM (SELECT d / 3 FROM ${t} INTERSECT SELECT e / 3 FROM ${t}) u`],
    ['EXCEPT', `SELECT count(*) FROM (SELECT d / 3 FROM ${t} EXCEPT SELECT e / 3 FROM ${t}) u`],
    [
      'GROUP BY',
      `SELECT count(*) FROM (SELECT q FROM (SELECT d / 3 AS q FROM ${t} UNION ALL SELECT e / 3 FROM ${t}) u GROUP BY q) g`,
    ],
    [
      'count(DISTINCT)',
      `SELECT count(DISTINCT q) FROM (SELECT d / 3 AS q FROM ${t} UNION ALL SELECT e / 3 FROM ${t}) u`,
    ],
    ['IS DISTINCT FROM', `SELECT count(*) FROM ${t} WHERE d / 3 IS DISTINCT FROM e / 3`],
    ['BETWEEN', `SELECT count(*) FROM ${t} WHERE d / 3 BETWEEN e / 3 AND e / 3`],
    ['NULLIF', `SELECT count(nullif(d / 3, e / 3)) FROM ${t}`],
    ['NULLIF that is shown', `SELECT nullif(d / 3, 1) FROM ${t} WHERE id = 1`],
    ['CASE', `SELECT sum(CASE d / 3 WHEN e / 3 THEN 1 ELSE 0 END) FROM ${t}`],
    ['averages', `SELECT avg(d) = avg(e), avg(d) = sum(e) / count(*) FROM ${t}`],
    ['a large one', `SELECT count(*) FROM ${big} WHERE big / 10 > 5`],
    ['a large average', `SELECT avg(big / 10) > 5, avg(big) > 5 FROM ${big}`],
    ['a large one of a subquery', `SELECT count(*) FROM (SELECT big / 10 AS q FROM ${big}) s WHERE q > 1`],
  ])('%s', async (_, sql) => {
    const expected = await ask(sql)
    const ours = await subject.run(sql)
    expect(typeof expected === 'string' ? expected : expected.rows).toEqual(
      ours.rows.map((row) => row.map((cell) => (cell === null ? null : `${cell}`))),
    )
  })
})
