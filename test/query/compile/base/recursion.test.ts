/** Recursive queries end at their bounds: levels, rows and the size of values. The oracle compares what they hold. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { classifyError } from '../../../../src/engine/duckdb/classify-error.ts'
import { recursionBounds } from '../../../../src/query/compile/base/recursion-bounds.ts'
import { openSubject, type Subject } from '../../support/duckdb.ts'

setDefaultTimeout(120_000)

let subject: Subject
beforeAll(async () => {
  subject = await openSubject()
})
afterAll(() => subject.close())

/** SQLSTATE of what a statement fails with, as a client sees it. */
async function failureOf(sql: string): Promise<string | undefined> {
  return await subject.run(sql).then(
    () => undefined,
    (thrown) => classifyError(thrown).code,
  )
}

const levels = (count: number, columns: string) =>
  `WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < ${count}) SELECT ${columns} FROM t`

test.each([
  ['a recursion without an end, whatever is read of it', levels(2 ** 31 - 1, 'count(*)')],
  ['one level too many', levels(recursionBounds.levelsMax + 1, 'max(n)')],
  [
    'rows that double with each level',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t, generate_series(1, 2) WHERE n < 30) SELECT 1 FROM t',
  ],
  [
    'rows that double with each level, though no column of them is read',
    `WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT 2 * n + s - 1 FROM t, generate_series(1, 2) AS g(s) WHERE n < ${2 ** 25}) SELECT count(*) FROM t`,
  ],
  [
    'a text that doubles with each level',
    `WITH RECURSIVE t(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM t) SELECT length(x) FROM t`,
  ],
  [
    'an array that doubles with each level',
    'WITH RECURSIVE t(x) AS (SELECT ARRAY[1] UNION ALL SELECT x || x FROM t) SELECT 1 FROM t',
  ],
])('54001: %s', async (_, sql) => {
  expect(await failureOf(sql)).toBe('54001')
})

test('as many levels as are allowed are served', async () => {
  const { rows } = await subject.run(levels(recursionBounds.levelsMax, 'count(*), max(n)'))
  expect(rows).toEqual([[String(recursionBounds.levelsMax), String(recursionBounds.levelsMax)]])
})

test('UNION ends where rows repeat, however often', async () => {
  const { rows } = await subject.run(
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n % 7 + 1 FROM t) SELECT count(*) FROM t',
  )
  expect(rows).toEqual([['7']])
})
