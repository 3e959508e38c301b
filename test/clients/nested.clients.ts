/**
 * Nested columns of tables that PyIceberg, Spark and Trino wrote, read through the compiler under masks and a filter, by
 * the embedded engine and by a real Trino. What is expected is computed from the rows and the definition of the masks.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { FieldType } from '../../demo/lake/table-fields.ts'
import type { GovernedTable } from '../../src/core/governed-table.ts'
import type { MaskAction } from '../../src/core/mask.ts'
import type { ComputeEngine } from '../../src/engine/engine.ts'
import { underPolicies } from '../query/support/lake-query.ts'
import { jsonText, shownOf, type Value } from '../query/support/nested-lake.ts'
import { startTestEngine, tenant } from '../support/engine.ts'
import { snapshotAt } from './engine-tables.ts'
import { packageFolder } from './packages.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import { runSession } from './sessions.ts'
import { runSpark } from './spark-session.ts'
import { icebergCatalog, startTrino, trinoSql } from './trino-server.ts'
import { governedReader, loadTable, trinoEngine } from './trino-tables.ts'

interface Row {
  readonly id: number
  readonly s: {
    readonly name: string | null
    readonly deep: { readonly code: string | null; readonly n: number | null } | null
  } | null
  readonly items: readonly ({ readonly sku: string | null; readonly price: string | null } | null)[] | null
  readonly m: Readonly<Record<string, number | null>> | null
  readonly tags: readonly (string | null)[] | null
}

const rows: readonly Row[] = [
  {
    id: 1,
    s: { name: 'Ann "A" O\'Hara', deep: { code: 'x-1', n: 7 } },
    items: [
      { sku: 'ü-9', price: '12345678.9000' },
      { sku: null, price: null },
    ],
    m: { a: 1, 'long key': null },
    tags: ['one', null],
  },
  { id: 2, s: { name: null, deep: null }, items: [], m: {}, tags: [] },
  { id: 3, s: null, items: null, m: null, tags: null },
  {
    id: 4,
    s: { name: '', deep: { code: null, n: null } },
    items: [null, { sku: '', price: '-0.0100' }],
    m: { '': -2147483648 },
    tags: [''],
  },
  {
    id: 5,
    s: { name: 'Bob', deep: { code: '日本', n: -1 } },
    items: [{ sku: 'b', price: '0.0000' }],
    m: { b: 2, a: 3 },
    tags: ['b', 'b'],
  },
]

/** PyIceberg writes a NULL list as an empty one, and reads it so. */
const rowsOf = (writer: Writer): readonly Row[] =>
  writer === 'pyiceberg' ? rows.map((row) => ({ ...row, items: row.items ?? [] })) : rows

const types = {
  s: {
    struct: [
      { id: 0, name: 'name', type: 'string' },
      {
        id: 0,
        name: 'deep',
        type: {
          struct: [
            { id: 0, name: 'code', type: 'string' },
            { id: 0, name: 'n', type: 'int' },
          ],
        },
      },
    ],
  },
  items: {
    elementId: 0,
    list: {
      struct: [
        { id: 0, name: 'sku', type: 'string' },
        { id: 0, name: 'price', type: 'decimal(12,4)' },
      ],
    },
  },
  m: { keyId: 0, valueId: 0, key: 'string', map: 'int' },
} as const satisfies Readonly<Record<string, FieldType>>

const masks = {
  's.name': 'mask-alphanum',
  's.deep.n': 'replace-with-null',
  'items.element.sku': 'sha-256-global',
  'm.value': 'mask-to-fixed-value',
} as const satisfies Readonly<Record<string, MaskAction>>

const sqlText = (text: string | null) =>
  text === null ? 'CAST(NULL AS {})' : `'${text.replaceAll("'", "''")}'`

/** The statements by which Spark writes the rows. */
function sparkStatements(): readonly string[] {
  // Spark reads a doubled quote as two texts.
  const text = (value: string | null) =>
    value === null ? 'CAST(NULL AS STRING)' : `'${value.replaceAll("'", "\\'")}'`
  const number = (value: number | null) => `CAST(${value ?? 'NULL'} AS INT)`
  const value = ({ id, s, items, m, tags }: Row) => {
    const deep = s?.deep && `named_struct('code', ${text(s.deep.code)}, 'n', ${number(s.deep.n)})`
    const person = s && `named_struct('name', ${text(s.name)}, 'deep', ${deep ?? 'NULL'})`
    const item = items?.map(
      (one) =>
        one &&
        `named_struct('sku', ${text(one.sku)}, 'price', CAST(${one.price ?? 'NULL'} AS DECIMAL(12,4)))`,
    )
    const pairs = m && Object.entries(m).map(([key, of]) => `${text(key)}, ${number(of)}`)
    return `(${id}, ${person ?? 'NULL'}, ${item ? `array(${item.map((one) => one ?? 'NULL').join(', ')})` : 'NULL'},
      ${pairs ? `map(${pairs.join(', ')})` : 'NULL'}, ${tags ? `array(${tags.map(text).join(', ')})` : 'NULL'})`
  }
  return [
    `CREATE TABLE lake.n.spark (id BIGINT, s STRUCT<name: STRING, deep: STRUCT<code: STRING, n: INT>>,
      items ARRAY<STRUCT<sku: STRING, price: DECIMAL(12,4)>>, m MAP<STRING, INT>, tags ARRAY<STRING>) USING iceberg`,
    ...rows.map((row) => `INSERT INTO lake.n.spark VALUES ${value(row)}`),
  ]
}

/** The statements by which Trino writes the rows. */
function trinoStatements(): readonly string[] {
  const row = 'ROW(name VARCHAR, deep ROW(code VARCHAR, n INTEGER))'
  const list = 'ARRAY(ROW(sku VARCHAR, price DECIMAL(12,4)))'
  const json = (value: unknown, type: string) =>
    value === null ? `CAST(NULL AS ${type})` : `CAST(JSON ${sqlText(JSON.stringify(value))} AS ${type})`
  return [
    `CREATE TABLE lake.n.trino (id BIGINT, s ${row}, items ${list}, m MAP(VARCHAR, INTEGER), tags ARRAY(VARCHAR))`,
    `INSERT INTO lake.n.trino VALUES ${rows
      .map(
        ({ id, s, items, m, tags }) =>
          `(${id}, ${json(s, row)}, ${json(items, list)}, ${json(m, 'MAP(VARCHAR, INTEGER)')}, ${json(tags, 'ARRAY(VARCHAR)')})`,
      )
      .join(', ')}`,
  ]
}

const writers = ['pyiceberg', 'spark', 'trino'] as const
type Writer = (typeof writers)[number]
const engines = ['the embedded engine', 'Trino'] as const

const stack = new AsyncDisposableStack()
let fixture: FixtureServer
const engineOf = new Map<(typeof engines)[number], ComputeEngine>()

beforeAll(async () => {
  fixture = stack.use(await startRestFixture())
  const { host, close } = await startTestEngine()
  stack.defer(close)
  const trino = stack.use(await startTrino({ catalogs: { lake: icebergCatalog(fixture.url) } }))
  engineOf.set(
    'the embedded engine',
    host.engine({ tenant, key: 'nested', access: { roots: [fixture.folder], s3: undefined } }),
  )
  engineOf.set('Trino', trinoEngine(trino.url, fixture.url))
  await trinoSql(trino.url, 'CREATE SCHEMA lake.n')
  for (const statement of trinoStatements()) await trinoSql(trino.url, statement)
  await runSession({
    python: join(packageFolder('python:pyiceberg'), 'bin/python'),
    script: 'pyiceberg_nested.py',
    log: 'nested',
    args: [fixture.url, JSON.stringify(rows)],
    env: {},
    seconds: 120,
  })
  const settings = {
    'spark.sql.extensions': 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
    'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.lake.type': 'rest',
    'spark.sql.catalog.lake.uri': fixture.url,
  }
  const steps = await runSpark(
    {
      settings: Object.entries(settings)
        .map(([key, value]) => `${key} ${value}\n`)
        .join(''),
      log: 'nested',
      seconds: 300,
    },
    sparkStatements(),
  )
  expect(steps.filter(({ message }) => message !== undefined)).toEqual([])
}, 500_000)
afterAll(() => stack.disposeAsync())

/** A reader of one table, under masks or without. */
async function readerOf(
  writer: Writer,
  engine: (typeof engines)[number],
  given: typeof masks | Record<string, never>,
  filters: readonly string[],
) {
  const ref = { namespace: ['n'], name: writer }
  const { metadataLocation } = await loadTable(fixture.url, { ref })
  const snapshot = await snapshotAt(fixture.folder, metadataLocation)
  const table: GovernedTable = {
    ...snapshot.table,
    ...{
      ref,
      schemaName: 'n',
      tableName: writer,
      relation: { duckdb: [writer], trino: ['lake', 'n', writer] },
    },
    contract: { id: 'c', version: 1 },
  }
  const reads = engineOf.get(engine)
  if (reads === undefined) throw new Error(`${engine} did not start`)
  return governedReader(reads, [{ ...snapshot, table: underPolicies(table, given, filters) }], ['n'])
}

/** A value of a row, as the reference of nested values has it. */
function treeOf(value: unknown): Value {
  if (value === null || typeof value !== 'object') return value as Value
  if (Array.isArray(value)) return value.map(treeOf)
  return new Map(Object.entries(value).map(([key, of]) => [key, treeOf(of)]))
}

const shown = (row: Row, name: keyof typeof types, given: Readonly<Record<string, MaskAction>>) =>
  shownOf(treeOf(row[name]), name, types[name], given)
const fieldIn = (value: Value, ...path: readonly string[]): Value =>
  path.reduce((from: Value, name) => (from instanceof Map ? (from.get(name) ?? null) : null), value)
const textOf = (value: Value) => (value === null ? null : String(value))
const jsonOf = (value: Value): unknown => (value === null ? null : JSON.parse(jsonText(value)))
/** An object without an order of its members, which Trino keeps otherwise than PostgreSQL. */
const membersOf = (value: unknown) =>
  value === null ? null : Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1))
const parsed = (text: string | null | undefined) => (text == null ? null : (JSON.parse(text) as unknown))

describe.each(writers)('a table that %s wrote', (writer) => {
  describe.each(engines)('read by %s', (engine) => {
    describe.each([
      ['without policies', {}, []],
      ['under masks of its fields and a filter on one', masks, [`(s).deep.n IS DISTINCT FROM -1`]],
    ] as const)('%s', (_, given, filters) => {
      const visible = rowsOf(writer).filter((row) => filters.length === 0 || row.s?.deep?.n !== -1)
      const run = async (sql: string) =>
        (await (await readerOf(writer, engine, given, filters)).run(sql.replace('{}', writer))).rows

      test('nested: whole columns hold what the rows and masks say', async () => {
        const found = await run(`SELECT id, s, m, items IS NULL, cardinality(items) FROM {} ORDER BY id`)
        const expected = visible.map((row) => [
          String(row.id),
          ...(['s', 'm'] as const).map((name) => jsonOf(shown(row, name, given))),
          row.items === null ? 't' : 'f',
          row.items === null ? null : String(row.items.length),
        ])
        const seen = found.map(([id, s, m, ...others]) => [id, parsed(s), parsed(m), ...others])
        expect(seen).toEqual(expected as never)
        const elements = await run(
          'SELECT t.id, e.o, e.v FROM {} AS t, unnest(t.items) WITH ORDINALITY AS e (v, o)',
        )
        const wanted = visible.flatMap((row) =>
          ((shown(row, 'items', given) as readonly Value[] | null) ?? []).map((one, at) => [
            String(row.id),
            String(at + 1),
            jsonOf(one),
          ]),
        )
        const order = (rows: readonly (readonly unknown[])[]) =>
          rows.map(([id, at, one]) => JSON.stringify([id, at, membersOf(one)])).sort()
        expect(order(elements.map(([id, at, one]) => [id, at, parsed(one)]))).toEqual(order(wanted))
      }, 120_000)

      test('nested: fields are columns, and elements are rows', async () => {
        const person = (row: Row) => shown(row, 's', given)
        expect(
          await run('SELECT id, (s).name, ((s).deep).code, ((s).deep).n, (items[1]).sku FROM {} ORDER BY id'),
        ).toEqual(
          visible.map((row) => {
            const items = shown(row, 'items', given) as readonly Value[] | null
            return [
              String(row.id),
              ...[
                fieldIn(person(row), 'name'),
                fieldIn(person(row), 'deep', 'code'),
                fieldIn(person(row), 'deep', 'n'),
              ].map(textOf),
              textOf(fieldIn(items?.[0] ?? null, 'sku')),
            ]
          }),
        )
        const elements = visible.flatMap((row) =>
          ((shown(row, 'items', given) as readonly Value[] | null) ?? []).map((one) => [
            String(row.id),
            textOf(fieldIn(one, 'sku')),
            textOf(fieldIn(one, 'price')),
          ]),
        )
        const unnested = await run('SELECT id, (e).sku, (e).price FROM {}, unnest(items) AS e')
        expect(unnested.map(String).sort()).toEqual(elements.map(String).sort())
      }, 120_000)

      test('nested: statements compare, group and filter by fields', async () => {
        const names = visible.map((row) => textOf(fieldIn(shown(row, 's', given), 'name')))
        expect(await run('SELECT count(*), count((s).name), count(DISTINCT (s).name) FROM {}')).toEqual([
          [
            visible.length,
            names.filter((one) => one !== null).length,
            new Set(names.filter((one) => one !== null)).size,
          ].map(String),
        ])
        const codes = visible.filter((row) => row.s?.deep?.code === 'x-1').map(({ id }) => [String(id)])
        expect(await run(`SELECT id FROM {} WHERE ((s).deep).code = 'x-1'`)).toEqual(codes)
        const keyed = visible
          .filter((row) => fieldIn(shown(row, 'm', given), 'a') !== null)
          .map((row) => [String(row.id), textOf(fieldIn(shown(row, 'm', given), 'a'))])
        expect(await run(`SELECT id, m ->> 'a' FROM {} WHERE (m ->> 'a') IS NOT NULL ORDER BY id`)).toEqual(
          keyed,
        )
      }, 120_000)
    })
  })
})
