/** Random bytes, words and mutated statements are compiled or refused, and those that run show no canary. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SqlError } from '../../src/query/compile/base/sql-error.ts'
import { mutated, randomBytes, randomFrom, randomWords } from './fuzz.ts'
import { openSubject, type Subject } from './support/duckdb.ts'
import { canary } from './support/fixture.ts'

const seed = 20_260_601
let subject: Subject

beforeAll(async () => {
  subject = await openSubject()
})
afterAll(() => subject.close())

test.each([
  ['random bytes', randomBytes, 4_000],
  ['random words', randomWords, 3_000],
  ['mutated statements', mutated, 3_000],
] as const)(`%s compile or are refused with a SQLSTATE (seed ${seed})`, (_, make, count) => {
  const random = randomFrom(seed)
  for (let index = 0; index < count; index++) {
    const text = make(random)
    try {
      const compiled = subject.compile(text)
      for (const dialect of ['duckdb', 'trino'] as const)
        try {
          compiled.emit(dialect)
        } catch (error) {
          checkRefusal(error, text)
        }
    } catch (error) {
      checkRefusal(error, text)
    }
  }
})

test(`what a mutated statement shows holds no canary (seed ${seed})`, async () => {
  const random = randomFrom(seed + 1)
  let answered = 0
  for (let index = 0; index < 1_500; index++) {
    const text = mutated(random)
    // What the statement itself spells out may come back.
    if (text.includes(canary) || /\b(CROSS|generate_series|repeat)\b/i.test(text)) continue
    try {
      const { rows } = await subject.run(text)
      answered++
      if (JSON.stringify(rows).includes(canary)) throw new Error(`a canary from: ${text}`)
    } catch (error) {
      if (String(error).includes('a canary from')) throw error
    }
  }
  expect(answered).toBeGreaterThan(100)
}, 300_000)

const times = (count: number, text: string, joint = ',') => Array(count).fill(text).join(joint)
const nested = (count: number, first: string, wrap: (inner: string) => string) => {
  let text = first
  for (let level = 0; level < count; level++) text = wrap(text)
  return text
}
const rowBesides = (inner: string) => `((${inner}), true)`

test.each([
  [
    'columns of *',
    '54011',
    `SELECT count(*) FROM ${nested(12, 'orders', (from) => `(SELECT *, *, *, *, * FROM ${from} a)`)} b`,
  ],
  [
    'columns of FROM',
    '54001',
    `WITH w AS (SELECT ${times(1_600, '1')}) SELECT 1 FROM ${Array.from({ length: 2_000 }, (_, index) => `w a${index}`).join(',')}`,
  ],
  [
    'comparisons of rows',
    '54001',
    `SELECT ${nested(40, '(1, 1) < (2, 2)', (inner) => `${rowBesides(inner)} < (false, true)`)}`,
  ],
  [
    'rows in lists of rows',
    '54001',
    `SELECT ${nested(40, '(1, 1) IN ((1, 1), (2, 2))', (inner) => `${rowBesides(inner)} IN ((true, true), (false, true))`)}`,
  ],
  ['columns of a comparison of rows', '54001', `SELECT (${times(10_000, '1')}) < (${times(10_000, '1')})`],
  [
    'bounds of BETWEEN',
    '54001',
    `SELECT id FROM orders ORDER BY ${nested(40, 'id BETWEEN SYMMETRIC 1 AND 2', (inner) => `(${inner}) BETWEEN SYMMETRIC true AND false`)}`,
  ],
  [
    'uses of a window',
    '54001',
    `SELECT ${times(1_500, 'count(*) OVER w')} FROM orders WINDOW w AS (PARTITION BY ${times(5_000, 'id')})`,
  ],
  ['grouping sets', '54001', `SELECT 1 FROM orders GROUP BY ROLLUP (${times(25_000, 'id')})`],
  [
    'text in subqueries that double it',
    '54001',
    `SELECT max(length(t)) FROM ${nested(20, '(SELECT note AS t FROM orders) a', (from) => `(SELECT t || t AS t FROM ${from}) a`)}`,
  ],
  [
    'text in a CTE that doubles it',
    '54001',
    `WITH w AS (SELECT concat(${times(80, 'status')}) AS t FROM orders) SELECT 1 FROM w WHERE (SELECT concat(${times(80, 'w.t')}) LIKE '%a%')`,
  ],
  [
    'text that takes the place of text',
    '54001',
    `SELECT replace(status, 'a', '${times(20_000, 'b', '')}') FROM orders`,
  ],
  ['text that is repeated', '54001', `SELECT repeat(repeat('x', id), id) FROM orders`],
  [
    'text that takes the place of matches',
    '54001',
    `SELECT regexp_replace(status, '.', '${times(20_000, 'b', '')}', 'g') FROM orders`,
  ],
  [
    'elements of an array',
    '54001',
    `SELECT array_cat(t, t) FROM ${nested(20, '(SELECT tags AS t FROM orders) a', (from) => `(SELECT t || t AS t FROM ${from}) a`)}`,
  ],
] as const)('what a short statement makes many of is refused before it is made: %s', (_, sqlState, text) => {
  const refusal = () => {
    try {
      subject.compile(text).emit('duckdb')
    } catch (error) {
      return error instanceof SqlError ? error.sqlState : error
    }
  }
  expect(refusal()).toBe(sqlState)
})

describe('lists of constants and parameters are served up to 1 MiB', () => {
  const list = (count: number, item: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => item(index)).join(',')
  const emitted = (text: string) => subject.compile(text).emit('duckdb').length

  test.each([
    ['65,535 parameters', list(65_535, (index) => `$${index + 1}`)],
    ['35,000 numbers', list(35_000, (index) => `${1_000_000 + index}`)],
    ['25,000 texts', list(25_000, (index) => `'value''${index}'`)],
  ])('%s', (_, items) => {
    const isText = items.startsWith("'")
    expect(emitted(`SELECT id FROM orders WHERE ${isText ? 'status' : 'id'} IN (${items})`)).toBeGreaterThan(
      0,
    )
  })

  test.each([
    ['a list beyond it', `SELECT id FROM orders WHERE id IN (${list(160_000, () => '1000000')})`],
    ['columns', `SELECT id FROM orders WHERE id IN (${list(100_000, () => 'id')}, 1)`],
    [
      'columns whose names end like constants',
      `SELECT id FROM orders WHERE id IN (${list(100_000, () => 'a1')})`,
    ],
    [
      'what looks like a text',
      `SELECT E'\\'',', id FROM orders WHERE id IN (${list(100_000, () => 'id')}, 1)`,
    ],
    ['calls', `SELECT ${'abs('.repeat(80_000)}1${')'.repeat(80_000)} FROM orders`],
    ['numbers with operators between', `SELECT ${list(100_000, () => '1').replaceAll(',', '+')}`],
  ])('but not %s', (_, text) => {
    expect(() => emitted(text)).toThrow(SqlError)
  })
})

test('what texts of reports are made of is not too large', () => {
  const escaped = nested(5, 'status', (inner) => `replace(${inner}, '&', '&amp;')`)
  const text = `SELECT ${escaped}, string_agg(status, ', ') || string_agg(region, '; '), array_to_string(array_agg(note), ', '), repeat('█', 50), lpad(id::text, 12, '0') FROM orders GROUP BY status, id`
  expect(subject.compile(text).columns).toHaveLength(5)
})

test.each(['lpad', 'rpad'])('%s fills a text up to 10,000 characters and no further', async (name) => {
  const filled = (length: number) =>
    subject.run(`SELECT max(length(${name}(status, ${length} + id % 1))) FROM orders`)
  expect((await filled(10_000)).rows).toEqual([['10000']])
  const refused = await filled(10_001).then(
    () => false,
    () => true,
  )
  expect(refused).toBe(true)
})

test('many keys of ORDER BY are looked for among many columns within the time of a test', () => {
  const text = `SELECT ${times(1_600, 'id')} FROM orders o ORDER BY ${times(8_000, 'o.amount')}`
  expect(subject.compile(text).columns).toHaveLength(1_600)
})

/** An internal error is a hole in the compiler: it refuses, but should have known why. */
function checkRefusal(error: unknown, text: string): void {
  if (!(error instanceof SqlError) || error.sqlState === 'XX000')
    throw new Error(`not refused but failed: ${JSON.stringify(text)}`, { cause: error })
}
