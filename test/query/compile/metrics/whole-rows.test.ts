/**
 * The relation of a metric holds what its aggregates read, also unmasked. No statement gets at that: neither by a whole
 * row, nor by a star, a list of aliases, a natural join or a set operation.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { attested, openStaff, staffModel } from './staff.ts'

const people = 12
/** A value that is in no other column, and in no sum of them. */
const pay = (id: number) => 700_000 + id
let staff: Awaited<ReturnType<typeof openStaff>>
beforeAll(async () => {
  const of = (id: number) => ({ team: id % 2 === 0 ? 'a' : 'b', city: 'u', site: 1, kind: 'wage' })
  staff = await openStaff(
    Array.from({ length: people }, (_, index) => {
      const id = index + 1
      return { id, person: id, paid: '2026-01-05', pay: pay(id), ...of(id) }
    }),
  )
})
afterAll(() => staff.close())

/** The rows, or what the statement fails by. */
async function ask(text: string): Promise<string> {
  try {
    return JSON.stringify(await staff.sql(text, staffModel(attested())))
  } catch (thrown) {
    return String(thrown)
  }
}

/** What means the whole relation `m`, with its place `{}`. */
const wholes = [
  ...['json_agg({})', 'jsonb_agg({})', 'json_agg(row_to_json({}))', 'max(row_to_json({})::text)'],
  ...[
    "string_agg((SELECT row_to_json({})::text), ',')",
    'min(to_jsonb({})::text)',
    'max({}::text)',
    'array_agg({})',
  ],
  ...[
    'json_agg(json_build_array({}))',
    'max(concat({}))',
    "max(format('%s', {}))",
    'max(ROW({})::text)',
    'count(DISTINCT {})',
  ],
]
const places = ['m', 'm.*', 'staff__metrics', 'ROW(m.*)']
const shapes = [
  (value: string) => `SELECT team, MEASURE(pays), ${value} FROM staff__metrics m GROUP BY 1`,
  (value: string) => `SELECT MEASURE(pays) FROM staff__metrics m HAVING ${value}::text LIKE '%700003%'`,
  (value: string) => `SELECT team, MEASURE(pays) FROM staff__metrics m GROUP BY 1 ORDER BY ${value}`,
  (value: string) => `SELECT x.c FROM (SELECT ${value} AS c, MEASURE(pays) FROM staff__metrics m) x`,
]
const others = [
  'SELECT * FROM staff__metrics m',
  'SELECT m.*, MEASURE(pays) FROM staff__metrics m GROUP BY 1, 2',
  'SELECT m FROM staff__metrics m',
  'SELECT (m).* FROM staff__metrics m',
  ...[1, 4, 8, 12, 16, 20, 24].flatMap((count) => {
    const names = Array.from({ length: count }, (_, index) => `c${index}`)
    return [
      `SELECT MEASURE(pays), max(${names.at(-1)}::text), min(${names.at(-1)}::text) FROM staff__metrics AS m(${names})`,
      `SELECT max(x.${names.at(-1)}::text) FROM (SELECT * FROM staff__metrics m) AS x(${names})`,
      `SELECT max(${names.at(-1)}::text) FROM (staff__metrics m CROSS JOIN (SELECT 1 AS one) o) AS j(${names})`,
      `SELECT json_agg(j) FROM (staff__metrics m CROSS JOIN (SELECT 1 AS one) o) AS j(${names})`,
      `WITH x(${names}) AS (SELECT * FROM staff__metrics m) SELECT json_agg(x) FROM x`,
    ]
  }),
  'SELECT json_agg(x) FROM (SELECT * FROM staff__metrics) x',
  'SELECT json_agg(a) FROM staff__metrics a NATURAL JOIN staff__metrics b',
  "SELECT MEASURE(pays) FROM staff__metrics m WHERE row_to_json(m)::text LIKE '%700003%'",
  "SELECT MEASURE(pays) FILTER (WHERE m::text LIKE '%700003%') FROM staff__metrics m",
  "SELECT count(*) FILTER (WHERE to_jsonb(m)::text LIKE '%700003%'), MEASURE(pays) FROM staff__metrics m",
  "SELECT count(*), MEASURE(pays) FROM staff__metrics m WHERE to_jsonb(m)::text LIKE '%700003%'",
  'SELECT count(*), MEASURE(pays) FROM staff__metrics m WHERE m.* IS NOT NULL',
  'SELECT MEASURE(pays), (SELECT json_agg(m)) FROM staff__metrics m',
  'SELECT MEASURE(pays), l.v FROM staff__metrics m, LATERAL (SELECT row_to_json(m)::text AS v) l GROUP BY 2',
  'SELECT MEASURE(pays) FROM staff__metrics m GROUP BY m',
  'SELECT MEASURE(pays) FROM staff__metrics m GROUP BY row_to_json(m)::text',
]
const attempts = [
  ...shapes.flatMap((shape) =>
    wholes.flatMap((whole) => places.map((place) => shape(whole.replace('{}', place)))),
  ),
  ...others,
]

test(`${attempts.length} statements that name a whole relation show nobody's pay`, async () => {
  const shown: string[] = []
  for (const text of attempts) {
    const answer = await ask(text)
    if (answer.includes('\\u0001') || answer.includes('\u0001'))
      shown.push(`${text} names its own column: ${answer.slice(0, 100)}`)
    for (let id = 1; id <= people; id++)
      if (answer.includes(String(pay(id)))) shown.push(`${text} shows ${pay(id)}`)
  }
  expect(shown).toEqual([])
})

/** Statements that would tell by whether or how many rows they count. */
const oracles = attempts.filter((text) => text.includes('700003'))
test('a condition on a whole row does not depend on what is hidden', async () => {
  expect(oracles.length).toBeGreaterThan(4)
  const told: string[] = []
  for (const text of oracles)
    if ((await ask(text)) !== (await ask(text.replace('700003', '999999')))) told.push(text)
  expect(told).toEqual([])
})

test('the statement without it shows the groups', async () => {
  expect(await ask('SELECT MEASURE(pays) FROM staff__metrics m')).toBe('[["8400078"]]')
})
