/**
 * Compares the text of quotients with a real PostgreSQL: the digits after the point are the same, wherever the operands
 * are not among those of which docs/sql.md says that the value does not tell them.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { openPair } from '../../support/pair.ts'

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

/** Digits before and after the point of dividend and divisor. */
const operandTypes = [
  ...[[4, 0, 4, 0] as const, [8, 0, 6, 0] as const, [15, 0, 3, 0] as const],
  ...[[5, 2, 5, 2] as const, [10, 2, 1, 6] as const, [2, 9, 8, 3] as const, [1, 14, 14, 0] as const],
]
const rowsEach = 400

/** Numbers that are the same in each run. */
let state = 43
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

/** A decimal of a random length, so that small and large ones are equally frequent. */
function decimal(whole: number, scale: number): string {
  const length = Math.floor(random() * (whole + scale)) + 1
  const digits = Array.from({ length }, () => Math.floor(random() * 10))
    .join('')
    .padStart(scale + 1, '0')
  const sign = random() < 0.2 ? '-' : ''
  return `${sign}${digits.slice(0, digits.length - scale)}${scale > 0 ? `.${digits.slice(-scale)}` : ''}`
}

/** The first group of four digits, counted from the point, and its place. */
function firstGroup(text: string): readonly [group: number, weight: number] {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const groups = [
    ...(whole.padStart(Math.ceil(whole.length / 4) * 4, '0').match(/.{4}/g) ?? []),
    ...(fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0').match(/.{4}/g) ?? []),
  ].map(Number)
  const first = groups.findIndex((group) => group > 0)
  return [groups[first] ?? 0, Math.ceil(whole.length / 4) - 1 - first]
}

/** What docs/sql.md names: operands that begin alike, and zeros by a divisor below 1 or above 9,999. */
function isUntold(dividend: string, divisor: string): boolean {
  const [group] = firstGroup(dividend)
  const [divisorGroup, weight] = firstGroup(divisor)
  return group === 0 ? weight !== 0 : group === divisorGroup
}

const digitsAfterPoint = (text: string) => text.split('.')[1]?.length ?? 0

/** The texts of a statement's last column here and in PostgreSQL, by the first column. */
async function both(sql: string): Promise<ReadonlyMap<string, readonly [ours: string, theirs: string]>> {
  const expected = await ask(sql)
  if (typeof expected === 'string') throw new Error(`PostgreSQL itself refuses: ${expected}`)
  const { rows } = await subject.run(sql)
  const theirs = new Map(expected.rows.map((row) => [row[0], row.at(-1) ?? 'NULL']))
  return new Map(
    rows.map((row) => {
      const cell = row.at(-1) ?? 'NULL'
      return [`${row[0]}`, [cell, theirs.get(row[0]) ?? 'none']]
    }),
  )
}

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('the digits of a quotient after the point are those of PostgreSQL', () => {
  for (const [whole, scale, divisorWhole, divisorScale] of operandTypes)
    for (const clause of ['', ' GROUP BY 1, 2']) {
      const type = `numeric(${whole + scale},${scale})`
      const divisorType = `numeric(${divisorWhole + divisorScale},${divisorScale})`
      test(`of ${type} by ${divisorType}${clause}`, async () => {
        const pairs = Array.from(
          { length: rowsEach },
          () => [decimal(whole, scale), decimal(divisorWhole, divisorScale)] as const,
        ).filter(([, divisor]) => Number(divisor) !== 0)
        const values = pairs.map(([a, b], row) => `(${row}, ${a}::${type}, ${b}::${divisorType})`).join(', ')
        const texts = await both(
          `SELECT id, a::${type} / b::${divisorType} FROM (VALUES ${values}) v(id, a, b)${clause}`,
        )
        expect(texts.size).toBe(pairs.length)
        const others = pairs.flatMap((pair, row) => {
          const [ours = '', theirs = ''] = texts.get(`${row}`) ?? []
          expect(Math.abs(Number(ours) - Number(theirs))).toBeLessThanOrEqual(
            Math.max(Math.abs(Number(theirs)) * 1e-15, 1e-20),
          )
          return digitsAfterPoint(ours) === digitsAfterPoint(theirs) ? [] : [{ pair, ours, theirs }]
        })
        expect(others.filter(({ pair: [a, b] }) => !isUntold(a, b))).toEqual([])
      })
    }

  test.each([
    ['a subquery', 'SELECT 1, q FROM (SELECT 5 / 0.5 AS q) s'],
    ['a CTE', 'WITH s AS (SELECT 5 / 0.5 AS q) SELECT 1, q FROM s'],
    ['a scalar subquery', 'SELECT 1, (SELECT 5 / 0.5)'],
    ['DISTINCT', 'SELECT DISTINCT 1, 5 / 0.5'],
    ['UNION', 'SELECT 1, 5 / 0.5 UNION SELECT 2, 1 / 4.0 UNION ALL SELECT 3, NULL'],
    ['VALUES', 'SELECT * FROM (VALUES (1, 5 / 0.5), (2, 7 / 2.0)) v'],
    ['CASE', 'SELECT 1, CASE WHEN 1 < 2 THEN 5 / 0.5 ELSE NULL END'],
    ['round', 'SELECT 1, round(5 / 0.5, 2)'],
    ['round of no digits', 'SELECT 1, round(5 / 2.0)'],
    ['trunc', 'SELECT 1, trunc(5 / 0.3, 3)'],
    ['a cast', 'SELECT 1, (5 / 0.5)::numeric(10,4)'],
    ['a cast without digits', 'SELECT 1, (5 / 0.5)::numeric'],
    ['a minus', 'SELECT 1, -(5 / 0.5)'],
    ['a plus', 'SELECT 1, +(-5 / 0.3)'],
    ['a place beside other numerics', 'SELECT 1, coalesce(5 / 0.5, 0)'],
    ['other arithmetic', 'SELECT 1, 5 / 0.5 * 2'],
    ['max', 'SELECT 1, max(5 / 0.5)'],
    ['an average of whole numbers', 'SELECT 1, avg(n) FROM (VALUES (1), (2), (6)) v(n)'],
    ['an average of one number', 'SELECT 1, avg(n) FROM (VALUES (7)) v(n)'],
    ['an average of numerics', 'SELECT 1, avg(n::numeric(10,3)) FROM (VALUES (1.5), (2.25)) v(n)'],
    ['an average over a window', 'SELECT n, avg(n) OVER (ORDER BY n) FROM (VALUES (1), (2)) v(n)'],
    [
      'a sum with digits after the point that is large',
      'SELECT 1, sum(n::numeric(20,3)) / 0.5 FROM (VALUES (60000000000000000)) v(n)',
    ],
    ['long operands', 'SELECT 1, 3.00000000000000000000000000 / 2'],
  ])('out of %s', async (_, sql) => {
    const texts = await both(sql)
    for (const [ours, theirs] of texts.values()) expect(ours).toBe(theirs)
    expect(texts.size).toBeGreaterThan(0)
  })

  test.each([
    ['beside other numerics in a subquery', 'SELECT 1, q FROM (SELECT coalesce(5 / 0.5, 0) AS q) s', '10'],
    ['in other arithmetic of a subquery', 'SELECT 1, q FROM (SELECT 5 / 0.5 * 2 AS q) s', '20'],
    [
      'in recursion',
      'WITH RECURSIVE r(id, q) AS (SELECT 1, round(5 / 0.3, 1) UNION ALL SELECT id + 1, q / 4 FROM r WHERE id < 3) SELECT id, q FROM r WHERE id = 3',
      '1.04375',
    ],
  ])('but %s as many as the value needs', async (_, sql, text) => {
    expect([...(await both(sql)).values()].map(([ours]) => ours)).toEqual([text])
  })
})
