/** No way of reading a nested column shows what a mask or filter hides inside it, nor tells of it by an error. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import { startTestEngine, type TestEngine } from '../../support/engine.ts'
import { ask, type Masks, seenBy } from '../support/lake-query.ts'

const number: Field = { id: 4, name: 'n', type: 'int' }
const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'int' },
  { id: 2, name: 'owner', type: 'string' },
  {
    ...{ id: 3, name: 's' },
    type: {
      struct: [
        number,
        { id: 5, name: 't', type: 'string' },
        { id: 6, name: 'moment', type: 'timestamp' },
        { id: 7, name: 'deep', type: { struct: [{ id: 8, name: 't', type: 'string' }] } },
      ],
    },
  },
  {
    ...{ id: 9, name: 'l' },
    type: {
      elementId: 10,
      list: {
        struct: [
          { id: 11, name: 'n', type: 'int' },
          { id: 12, name: 't', type: 'string' },
        ],
      },
    },
  },
  { id: 13, name: 'm', type: { key: 'string', keyId: 14, valueId: 15, map: 'string' } },
  { id: 16, name: 'tags', type: { elementId: 17, list: 'string' } },
]
const ids =
  '{id: 1, owner: 2, s: {__duckdb_field_id: 3, n: 4, t: 5, moment: 6, deep: {__duckdb_field_id: 7, t: 8}}, l: {__duckdb_field_id: 9, element: {__duckdb_field_id: 10, n: 11, t: 12}}, m: {__duckdb_field_id: 13, key: 14, value: 15}, tags: {__duckdb_field_id: 16, element: 17}}'

/** A row's nested values around one number, one text and one moment. */
const nested = (n: string, t: string, at: string) =>
  `{'n': ${n}, 't': ${t}, 'moment': ${at}, 'deep': {'t': ${t}}} AS s, [{'n': ${n}, 't': ${t}}, NULL] AS l, MAP {'k': ${t}} AS m, [${t}] AS tags`

let engine: TestEngine
beforeAll(async () => {
  engine = await startTestEngine()
})
afterAll(() => engine.close())

let tables = 0
async function tableOf(select: string): Promise<IcebergWriter> {
  const writer = engine.table(`t${++tables}`, { fields })
  await writer.append([{ bytes: await duckdbParquet(select, ids), rows: [], recordCount: 1 }])
  return writer
}

/** Every way to a text inside, as an expression over `t`, alone or beside the rows of its lists. */
const ways: readonly string[] = [
  ...['s', '(s).t', 's.t', '(t.s).deep', '(s).deep.t', `s -> 't'`, `s ->> 't'`, `s['t']`, `s['deep']['t']`],
  ...[`s #>> '{deep,t}'`, 's::text', 's::json', 'to_json(s)', 'to_jsonb(s)', 'row_to_json(t)', 'to_jsonb(t)'],
  ...[
    'l',
    'l[1]',
    '(l[1]).t',
    'l[1].t',
    `l[1] ->> 't'`,
    'to_jsonb(l)',
    'to_json(l)',
    'm',
    `m ->> 'k'`,
    `m['k']`,
  ],
  ...[
    'm::text',
    'tags',
    'tags[1]',
    `array_to_string(tags, ',')`,
    'coalesce(s, s)',
    'CASE WHEN true THEN s END',
  ],
  ...[
    `jsonb_build_object('a', s, 'b', l)`,
    'e',
    '(e).t',
    'e.t',
    `e ->> 't'`,
    'e::text',
    'unnest(l)',
    'unnest(tags)',
  ],
  ...['jsonb_array_elements(to_jsonb(l))', 'ARRAY[(s).t]', 'max((s).t)', `string_agg((s).t, ',')`],
  ...[
    'json_agg(s)',
    'jsonb_agg(t)',
    'array_agg(e)',
    'array_agg((e).t)',
    "max(m ->> 'k')",
    'first_value((s).t) OVER ()',
  ],
]
const from = 'FROM t LEFT JOIN LATERAL unnest(t.l) AS e ON true'
const statements: readonly string[] = [
  'SELECT * FROM t',
  'SELECT (s).* FROM t',
  'SELECT q.* FROM (SELECT * FROM t) q',
  'WITH w AS (SELECT s, l FROM t) SELECT (w.s).t, (w.l[1]).t, w.* FROM w',
  'SELECT (q.s).t FROM (SELECT s FROM t UNION ALL SELECT s FROM t) q',
  'SELECT DISTINCT s FROM t',
  'SELECT s, count(*) FROM t GROUP BY s',
  'SELECT (s).t, count(*) FROM t GROUP BY (s).t ORDER BY (s).t',
  'SELECT a.s FROM t a JOIN t b ON (a.s).t = (b.s).t',
  'SELECT x FROM t, jsonb_array_elements(to_jsonb(t.l)) AS x',
  'SELECT (SELECT max((e).t) FROM unnest(t.l) AS e) FROM t',
  ...ways.map((way) => `SELECT ${way} ${from}`),
]

describe('what is masked inside', () => {
  const canary = 'CANARY'
  const everything: Masks = {
    ...{ 's.t': 'replace-with-null', 's.deep.t': 'mask-alphanum', 'l.element.t': 'mask-to-fixed-value' },
    ...{ 'm.value': 'sha-256-global', 'tags.element': { expression: `'masked'` } },
  }
  const whole: Masks = {
    ...{ s: 'replace-with-null', 'l.element': 'replace-with-null', m: 'replace-with-null' },
    tags: 'replace-with-null',
  }
  const outer: Masks = {
    ...{ 's.t': 'mask-to-fixed-value', 's.deep': 'replace-with-null', l: 'replace-with-null' },
    ...{ 'm.value': 'replace-with-null', 'tags.element': 'replace-with-null' },
  }
  let writer: IcebergWriter
  beforeAll(async () => {
    const row = (id: number) =>
      `SELECT ${id}::INT AS id, 'me' AS owner, ${nested(String(id), `'${canary}${id}'`, `TIMESTAMP '2020-01-01'`)}`
    writer = await tableOf([1, 2, 3].map(row).join(' UNION ALL '))
  })

  test.each([
    ['fields', everything],
    ['wholes', whole],
    ['what they are in', outer],
  ] as const)('no way shows it where the masks are on %s', async (_, masks) => {
    const table = seenBy(writer, masks)
    for (const sql of statements) {
      const told = await ask(engine, writer, table, sql).then(
        ({ rows }) => JSON.stringify(rows, (_, each) => (typeof each === 'bigint' ? String(each) : each)),
        (thrown) => String(thrown),
      )
      expect([sql, told.includes(canary)]).toEqual([sql, false])
    }
  })

  test('the same statements show it without masks, so that the test can fail', async () => {
    const shown: string[] = []
    for (const sql of statements) {
      const { rows } = await ask(engine, writer, seenBy(writer), sql).catch(() => ({ rows: [] }))
      const told = JSON.stringify(rows, (_, each) => (typeof each === 'bigint' ? String(each) : each))
      if (told.includes(canary)) shown.push(sql)
    }
    expect(statements.length - shown.length).toBeLessThan(6)
  })

  test('no condition and no order finds it', async () => {
    const table = seenBy(writer, everything)
    const conditions = [
      `(s).t LIKE '%CANARY%'`,
      `s::text LIKE '%CANARY%'`,
      `m ->> 'k' = 'CANARY1'`,
      `tags[1] = 'CANARY1'`,
      `(l[1]).t >= 'CANARY'`,
      `(s).deep.t = 'CANARY1'`,
      `'CANARY1' = ANY (tags)`,
    ]
    for (const condition of conditions) {
      const { rows } = await ask(engine, writer, table, `SELECT count(*) FROM t WHERE ${condition}`)
      expect([condition, rows]).toEqual([condition, [[condition.startsWith('(l[1])') ? 3n : 0n]]])
    }
  })
})

describe('what is hidden tells nothing by an error', () => {
  const rows = 2_600
  // DuckDB's first vector is visible as a whole, the next is mixed.
  const isHidden = 'i >= 2100 AND i % 3 = 0'
  const pair = async () => {
    const of = (hidden: readonly [string, string, string]) => {
      const [n, t, at] = ['(i % 3 + 1)::INT', `(i % 3)::VARCHAR`, `TIMESTAMP '2020-01-01'`].map(
        (shown, index) => `CASE WHEN ${isHidden} THEN ${hidden[index]} ELSE ${shown} END`,
      ) as [string, string, string]
      const owner = `CASE WHEN ${isHidden} THEN 'bob' ELSE 'me' END`
      return tableOf(`SELECT i::INT AS id, ${owner} AS owner, ${nested(n, t, at)} FROM range(${rows}) r(i)`)
    }
    const harmless = await of(['1', `'1'`, `TIMESTAMP '2020-01-01'`])
    return [harmless, await of(['0', `'a\\'`, `TIMESTAMP 'infinity'`])] as const
  }
  const hidings: readonly (readonly [string, Masks, readonly string[]])[] = [
    ['a filter that the scan takes', {}, [`owner = 'me'`]],
    ['a filter that the scan does not take', {}, [`owner LIKE '%me'`]],
    [
      'masks that show values of some rows',
      Object.fromEntries(
        ['s.n', 's.t', 's.moment', 's.deep.t', 'l.element.n', 'l.element.t', 'm.value', 'tags.element'].map(
          (name) => [name, { expression: `CASE WHEN owner = 'me' THEN this_column END` }],
        ),
      ),
      [],
    ],
  ]
  const attacks: readonly string[] = [
    ...[
      '1 / (s).n',
      '(s).t::int',
      `'X' LIKE (s).t`,
      `'X' LIKE (s).deep.t`,
      `(s ->> 't')::int`,
      's::text',
      's',
    ],
    ...[
      `'X' LIKE (s ->> 't')`,
      `'X' LIKE s::text`,
      '(s).moment::text',
      `'X' LIKE (m ->> 'k')`,
      `(m ->> 'k')::int`,
    ],
    ...[
      `'X' LIKE (l[1]).t`,
      '1 / (l[1]).n',
      '(l[1]).t::int',
      `'X' LIKE tags[1]`,
      'tags[1]::int',
      'l',
      'm',
      'tags::int[]',
    ],
    ...[
      `(l[1] ->> 'n')::int % (l[1]).n`,
      `'X' LIKE array_to_string(tags, '')`,
      `'X' LIKE replace((s).t, 'b', 'c')`,
    ],
    ...['1 / (e).n', '(e).t::int', `'X' LIKE (e).t`, `'X' LIKE (e ->> 't')`, `e::text`],
  ]
  let files: readonly [harmless: IcebergWriter, hostile: IcebergWriter]
  beforeAll(async () => {
    files = await pair()
  })

  test.each(hidings)('of rows under %s', async (_, masks, filters) => {
    for (const attack of attacks) {
      const isElement = /\(e\b|^e::/.test(attack)
      const source = isElement ? 'FROM t, unnest(t.l) AS e' : 'FROM t'
      for (const sql of [
        `SELECT count(*), count(x) FROM (SELECT ${attack} AS x ${source}) q`,
        `SELECT count(*) ${source} WHERE (${attack}) IS NOT NULL`,
      ]) {
        const outcomes: string[] = []
        for (const writer of files)
          outcomes.push(
            await ask(engine, writer, seenBy(writer, masks, filters), sql).then(
              ({ rows: found }) => String(found),
              (thrown) => `refused ${(thrown as { readonly code?: string }).code ?? thrown}`,
            ),
          )
        expect([sql, outcomes[1]]).toEqual([sql, outcomes[0]])
      }
    }
  })

  test('and the values fail where nothing hides them, so that the test can fail', async () => {
    const failed: string[] = []
    for (const attack of attacks) {
      const source = /\(e\b|^e::/.test(attack) ? 'FROM t, unnest(t.l) AS e' : 'FROM t'
      const sql = `SELECT count(*), count(x) FROM (SELECT ${attack} AS x ${source}) q`
      const [harmless, hostile] = await Promise.all(
        files.map((writer) => ask(engine, writer, seenBy(writer), sql).then(String, () => 'failed')),
      )
      expect([attack, harmless]).not.toEqual([attack, 'failed'])
      if (hostile === 'failed') failed.push(attack)
    }
    expect(failed.length).toBeGreaterThan(8)
  })
})
