/** What the schema of a document declares is measured, and DuckDB counts the same by hand on the same file. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import { tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import { fieldIds } from '../../query/support/nested-lake.ts'
import { type Json, outcomes, type QualityWorld, startQualityWorld } from './world.ts'

setDefaultTimeout(180_000)

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'code', type: 'string' },
  { id: 3, name: 'uid', type: 'uuid' },
  { id: 4, name: 'n', type: 'int' },
  { id: 5, name: 'price', type: 'decimal(10,2)' },
  { id: 6, name: 'ratio', type: 'double' },
  { id: 7, name: 'flag', type: 'boolean' },
  { id: 8, name: 'day', type: 'date' },
  { id: 9, name: 'at', type: 'timestamptz' },
  { id: 10, name: 'local', type: 'timestamp' },
  { id: 11, name: 'tags', type: { elementId: 12, list: 'string' } },
  {
    ...{ id: 13, name: 'address' },
    type: {
      struct: [
        { id: 14, name: 'city', type: 'string' },
        { id: 15, name: 'geo', type: { struct: [{ id: 16, name: 'lat', type: 'double' }] } },
      ],
    },
  },
  { id: 17, name: 'bag', type: { keyId: 18, key: 'string', valueId: 19, map: 'string' } },
  { id: 20, name: 'raw', type: 'binary' },
]
const rowCount = 700
const nullAt = (every: number, value: string) => `CASE WHEN i % ${every} = 0 THEN NULL ELSE ${value} END`
const select = `SELECT
  CAST(${nullAt(100, 'i')} AS BIGINT) AS id,
  CAST(${nullAt(7, `CASE WHEN i % 3 = 0 THEN 'ä' || i ELSE 'code-' || (i % 50) END`)} AS VARCHAR) AS code,
  CAST(${nullAt(11, `lpad(CAST(i % 90 AS VARCHAR), 8, '0') || '-0000-0000-0000-000000000000'`)} AS UUID) AS uid,
  CAST(${nullAt(13, 'i % 40 - 20')} AS INTEGER) AS n,
  CAST(${nullAt(17, '(i % 450) * 0.05')} AS DECIMAL(10,2)) AS price,
  CAST(${nullAt(19, 'i / 8.0')} AS DOUBLE) AS ratio,
  CAST(${nullAt(23, 'i % 2 = 0')} AS BOOLEAN) AS flag,
  CAST(${nullAt(29, "date '2024-01-01' + CAST(i % 60 AS INTEGER)")} AS DATE) AS day,
  CAST(${nullAt(31, "timestamptz '2024-01-01 00:00:00+00' + i * interval '1 hour'")} AS TIMESTAMPTZ) AS at,
  CAST(${nullAt(37, "timestamp '2024-01-01 00:00:00' + i * interval '1 minute'")} AS TIMESTAMP) AS local,
  CAST(CASE WHEN i % 41 = 0 THEN NULL ELSE list_transform(range(i % 4), x -> 't' || x) END AS VARCHAR[]) AS tags,
  CAST(CASE WHEN i % 5 = 0 THEN NULL ELSE {city: ${nullAt(3, "'city ' || (i % 8)")},
    geo: CASE WHEN i % 4 = 0 THEN NULL ELSE {lat: ${nullAt(6, 'i / 4.0')}} END} END
    AS STRUCT(city VARCHAR, geo STRUCT(lat DOUBLE))) AS address,
  CAST(MAP {'k': CAST(i AS VARCHAR)} AS MAP(VARCHAR, VARCHAR)) AS bag,
  CAST('x' AS BLOB) AS raw
  FROM range(1, ${rowCount + 1}) AS t(i)`

let world: QualityWorld
let folder: string
let file: string
let instance: DuckDBInstance
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-declared-'))
  file = join(folder, 'facts.parquet')
  const bytes = await duckdbParquet(select, fieldIds(fields))
  await writeFile(file, bytes)
  instance = await DuckDBInstance.create(':memory:')
  world = await startQualityWorld({
    tables: [],
    written: [
      {
        ref: { namespace: ['facts'], name: 'facts' },
        write: async (at) => {
          const table = tableInFolder(at, 'facts', { fields, formatVersion: 2 })
          return (await table.append([{ rows: [], bytes, recordCount: rowCount }])).metadataLocation
        },
        masks: { code: { action: 'replace-with-null' } },
      },
    ],
  })
})
afterAll(async () => {
  instance.closeSync()
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const documentOf = (version: string, properties: string, apiVersion = 'v3.2.0', quality = '[]') =>
  `apiVersion: ${apiVersion}
kind: DataContract
id: facts
version: ${version}
status: active
schema:
- name: facts
  quality: ${quality}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [facts], name: facts}}}
  properties:
${properties}`

const versions = '/api/v1/contracts/documents/facts/versions'
async function must(method: string, path: string, secret: string, body?: unknown): Promise<Json> {
  const [status, answer] = await world.ask(method, path, secret, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
  return answer
}

let number = 1
/** Deploys a document with these properties. @returns the state of the version, and its run as a steward sees it */
async function deploy(properties: string, more: { apiVersion?: string; quality?: string } = {}) {
  number += 1
  const document = documentOf(`${number}.0.0`, properties, more.apiVersion, more.quality)
  const added = await must('POST', versions, world.stella, document)
  const at = `${versions}/${added.number}`
  const proposed = await must('POST', `${at}/moves`, world.stella, { move: 'propose' })
  if (proposed.state === 'proposed')
    await must('POST', `${at}/sign-offs`, world.sten, { sha256: added.sha256 })
  await must('POST', `${at}/moves`, world.stella, { move: 'deploy' })
  await world.lake.app.checks.runner.runDue()
  const { items } = await must('GET', '/api/v1/checks/runs?namespace=facts&table=facts&limit=1', world.stella)
  const [{ id } = { id: '' }] = items as unknown as readonly { id: string }[]
  const { state } = await must('GET', at, world.stella)
  return { state: String(state), run: await must('GET', `/api/v1/checks/runs/${id}`, world.stella) }
}

/** Counts the rows of the file by hand. */
async function byHand(condition: string): Promise<number> {
  const connection = await instance.connect()
  try {
    await connection.run("SET TimeZone = 'UTC'")
    const text = `SELECT count(*) FROM facts WHERE ${condition}`
    const found = await connection.runAndReadAll(text.replaceAll('facts', `'${file}'`))
    return Number(found.getRowsJS()[0]?.[0])
  } finally {
    connection.closeSync()
  }
}
/** Values that stand more than once. */
const twice = (columns: string, present: string) =>
  `false UNION ALL SELECT count(*) FROM (SELECT 1 FROM facts WHERE ${present} GROUP BY ${columns} HAVING count(*) > 1) ORDER BY 1 DESC`

interface Case {
  readonly column: string
  readonly type: string
  /** A member of the property. */
  readonly member?: string
  /** One of its `logicalTypeOptions`. */
  readonly option?: string
  /** Of the check: its column and this word. */
  readonly word: string
  /** Of the rows that break it, in DuckDB's SQL. */
  readonly condition: string
}

const member =
  (column: string, type: string) =>
  (text: string, condition: string): Case => ({
    ...{ column, type, member: text, condition },
    word: text.slice(0, text.indexOf(':')),
  })
const option =
  (column: string, type: string) =>
  (text: string, condition: string): Case => ({
    ...{ column, type, option: text, condition },
    word: text.slice(0, text.indexOf(':')),
  })

/** The four bounds of a column, as a document has the value, and as DuckDB does. */
function bounds(
  column: string,
  type: string,
  [low, lowSql]: readonly [string, string],
  [high, highSql]: readonly [string, string],
): readonly Case[] {
  const of = option(column, type)
  return [
    of(`minimum: ${low}`, `"${column}" < ${lowSql}`),
    of(`exclusiveMinimum: ${low}`, `"${column}" <= ${lowSql}`),
    of(`maximum: ${high}`, `"${column}" > ${highSql}`),
    of(`exclusiveMaximum: ${high}`, `"${column}" >= ${highSql}`),
  ]
}

const same = (value: string) => [value, value] as const
const cases: readonly Case[] = [
  member('code', 'string')('required: true', 'code IS NULL'),
  member('tags', 'array')('required: true', 'tags IS NULL'),
  member('code', 'string')('unique: true', twice('code', 'code IS NOT NULL')),
  member('uid', 'string')('unique: true', twice('uid', 'uid IS NOT NULL')),
  member('price', 'number')('unique: true', twice('price', 'price IS NOT NULL')),
  member('code', 'string')('enum: [{value: code-1}, {value: code-2}]', "code NOT IN ('code-1', 'code-2')"),
  member('n', 'integer')('enum: [{value: 1}, {value: -3}, {value: x}]', 'n NOT IN (1, -3)'),
  member('price', 'number')('enum: [{value: 0.1}, {value: 5}]', 'price NOT IN (0.10, 5)'),
  member('ratio', 'number')('enum: [{value: 0.125}, {value: 2}]', 'ratio NOT IN (0.125, 2)'),
  member('flag', 'boolean')('enum: [{value: true}]', 'NOT flag'),
  member('day', 'date')("enum: [{value: '2024-01-02'}]", "day <> '2024-01-02'"),
  option('code', 'string')('minLength: 6', 'length(code) < 6'),
  option('code', 'string')('maxLength: 4', 'length(code) > 4'),
  option('uid', 'string')('maxLength: 35', 'length(uid::varchar) > 35'),
  option('code', 'string')('pattern: "-4[0-9]*$"', "NOT regexp_matches(code, '-4[0-9]*$')"),
  option('uid', 'string')('pattern: "^0000008"', "NOT regexp_matches(uid::varchar, '^0000008')"),
  ...bounds('id', 'integer', same('20'), same('680')),
  ...bounds('n', 'integer', same('-5'), same('5')),
  ...bounds('price', 'number', same('1.25'), same('20')),
  ...bounds('ratio', 'number', same('1.125'), same('20.5')),
  ...bounds(
    ...(['day', 'date'] as const),
    ["'2024-01-10'", "date '2024-01-10'"],
    ["'2024-02-01'", "date '2024-02-01'"],
  ),
  ...bounds(
    ...(['at', 'timestamp'] as const),
    ["'2024-01-02T00:00:00Z'", "timestamptz '2024-01-02 00:00:00+00'"],
    ["'2024-01-20 12:00:00+02'", "timestamptz '2024-01-20 10:00:00+00'"],
  ),
  ...bounds(
    ...(['at', 'timestamp'] as const),
    ["'2024-01-03'", "timestamptz '2024-01-03 00:00:00+00'"],
    ["'2024-01-25 12:00:00'", "timestamptz '2024-01-25 12:00:00+00'"],
  ),
  ...bounds(
    ...(['local', 'timestamp'] as const),
    ["'2024-01-01T01:00:00'", "timestamp '2024-01-01 01:00:00'"],
    ["'2024-01-01T08:00:00Z'", "timestamp '2024-01-01 08:00:00'"],
  ),
  option('id', 'integer')('multipleOf: 7', 'id % 7 <> 0'),
  option('n', 'integer')('multipleOf: 2.5', 'CAST(n AS DECIMAL(10,1)) % 2.5 <> 0'),
  option('price', 'number')('multipleOf: 0.1', 'price % 0.1 <> 0'),
  option('tags', 'array')('minItems: 1', 'len(tags) < 1'),
  option('tags', 'array')('maxItems: 2', 'len(tags) > 2'),
]

/** Several declarations in few documents: one that has the option already goes to the next. */
const rounds: Case[][] = []
for (const one of cases) {
  const free = rounds.find((round) =>
    round.every((each) => each.column !== one.column || each.word !== one.word),
  )
  if (free === undefined) rounds.push([one])
  else free.push(one)
}
const textOf = (round: readonly Case[]) =>
  [...Map.groupBy(round, ({ column }) => column)]
    .map(([column, of]) => {
      const members = of.flatMap((one) => one.member ?? [])
      const options = of.flatMap((one) => one.option ?? [])
      const all = [`name: ${column}`, `logicalType: ${of[0]?.type}`, ...members]
      return `  - {${[...all, ...(options.length > 0 ? [`logicalTypeOptions: {${options.join(', ')}}`] : [])].join(', ')}}`
    })
    .join('\n')

describe.each(rounds.map((round, index) => [index, round] as const))(
  'each option of each type counts the rows that DuckDB counts by hand: document %i',
  (_, round) => {
    let found: Readonly<Record<string, string>>
    beforeAll(async () => {
      found = outcomes((await deploy(textOf(round))).run)
    })

    test.each(round.map((one) => [`${one.column}: ${one.member ?? one.option}`, one] as const))(
      '%s',
      async (_name, { column, word, condition }) => {
        const expected = await byHand(condition)
        expect(expected).toBeGreaterThan(0)
        expect(found[`${column}: ${word}`]).toBe(`failed ${expected}`)
      },
    )

    test('and nothing else is measured', () => {
      expect(new Set(Object.keys(found))).toEqual(
        new Set(['readable', ...round.map(({ column, word }) => `${column}: ${word}`)]),
      )
    })
  },
)

test('fields of structs are measured where the structs around them are there', async () => {
  const address = `  - name: address
    logicalType: object
    required: true
    properties:
    - name: town
      physicalName: city
      logicalType: string
      required: true
      unique: true
      enum: [{value: city 1}]
      logicalTypeOptions: {maxLength: 5}
    - name: geo
      logicalType: object
      required: true
      properties:
      - {name: lat, logicalType: number, required: true, logicalTypeOptions: {maximum: 100}}`
  const { run } = await deploy(address)
  const expected = {
    'address: required': 'address IS NULL',
    'address.city: required': 'address IS NOT NULL AND address.city IS NULL',
    'address.city: unique': twice('address.city', 'address.city IS NOT NULL'),
    'address.city: enum': "address.city <> 'city 1'",
    'address.city: maxLength': 'length(address.city) > 5',
    'address.geo: required': 'address IS NOT NULL AND address.geo IS NULL',
    'address.geo.lat: required': 'address.geo IS NOT NULL AND address.geo.lat IS NULL',
    'address.geo.lat: maximum': 'address.geo.lat > 100',
  }
  const counted = await Promise.all(
    Object.entries(expected).map(async ([key, condition]) => [key, `failed ${await byHand(condition)}`]),
  )
  expect(outcomes(run)).toEqual({ readable: `passed ${rowCount}`, ...Object.fromEntries(counted) })
})

describe('a primary key', () => {
  test('of one column is required and unique', async () => {
    const { run } = await deploy('  - {name: n, primaryKey: true}')
    expect(outcomes(run)).toEqual({
      readable: `passed ${rowCount}`,
      'n: required': `failed ${await byHand('n IS NULL')}`,
      'n: unique': `failed ${await byHand(twice('n', 'n IS NOT NULL'))}`,
    })
  })

  test('of several columns counts them together, in the order of their positions', async () => {
    const { run } = await deploy(
      '  - {name: n, primaryKey: true, primaryKeyPosition: 2, required: true}\n  - {name: code, primaryKey: true, primaryKeyPosition: 1}',
    )
    const both = 'code IS NOT NULL AND n IS NOT NULL'
    expect(outcomes(run)).toEqual({
      readable: `passed ${rowCount}`,
      'n: required': `failed ${await byHand('n IS NULL')}`,
      'code: required': `failed ${await byHand('code IS NULL')}`,
      'code, n: unique': `failed ${await byHand(twice('code, n', both))}`,
    })
  })
})

test('what holds passes, and the version comes in force', async () => {
  const { state, run } = await deploy(
    `  - {name: ratio, logicalType: number, logicalTypeOptions: {minimum: 0, maximum: 87.5}}
  - {name: bag, logicalType: object, required: true}`,
  )
  expect([state, run.state]).toEqual(['active', 'passed'] as never)
  expect(outcomes(run)).toMatchObject({
    'ratio: minimum': 'passed 0',
    'ratio: maximum': 'passed 0',
    'bag: required': 'passed 0',
  })
})

test('one row that breaks it stops a deployment, and nothing changes for readers and writers', async () => {
  const before = await must('GET', versions, world.stella)
  const { state, run } = await deploy('  - {name: code, required: true}')
  expect([state, run.state]).toEqual(['failed', 'failed'] as never)
  const active = (page: Json) =>
    (page.items as unknown as readonly Record<string, unknown>[]).filter((one) => one.state === 'active')
  expect(active(await must('GET', versions, world.stella))).toEqual(active(before))
})

test('bounds of documents of 3.0 are left out by a flag', async () => {
  const bound = (exclusive: string) =>
    `  - {name: n, logicalType: integer, logicalTypeOptions:
      {minimum: -5, exclusiveMinimum: ${exclusive}, maximum: 5, exclusiveMaximum: ${exclusive}}}`
  const flagged = await deploy(bound('true'), { apiVersion: 'v3.0.2' })
  expect(outcomes(flagged.run)).toEqual({
    readable: `passed ${rowCount}`,
    'n: exclusiveMinimum': `failed ${await byHand('n <= -5')}`,
    'n: exclusiveMaximum': `failed ${await byHand('n >= 5')}`,
  })
  const plain = await deploy(bound('false'), { apiVersion: 'v3.0.2' })
  expect(Object.keys(outcomes(plain.run))).toEqual(['readable', 'n: minimum', 'n: maximum'])
})

test('what cannot be measured is on record by name and reason, and stops nothing', async () => {
  const { state, run } = await deploy(
    [
      '  - {name: raw, logicalType: string, logicalTypeOptions: {maxLength: 3}}',
      '  - {name: ratio, logicalType: number, logicalTypeOptions: {multipleOf: 0.1}}',
      '  - {name: tags, logicalType: array, logicalTypeOptions: {uniqueItems: true}, items: {logicalType: string, logicalTypeOptions: {maxLength: 3}, enum: [{value: a}]}}',
      '  - {name: bag, logicalType: object, properties: [{name: k, logicalType: string, required: true}]}',
      "  - {name: day, logicalType: date, logicalTypeOptions: {maximum: '31.12.2024', format: dd.MM.yyyy}}",
      "  - {name: at, logicalType: timestamp, logicalTypeOptions: {maximum: '2099-01-01 00:00:00', defaultTimezone: Europe/Zurich}}",
      '  - {name: id, logicalType: integer, logicalTypeOptions: {maximum: 9223372036854775807}}',
      '  - {name: address, logicalType: object, unique: true, logicalTypeOptions: {minProperties: 1}}',
    ].join('\n'),
  )
  expect([state, run.state]).toEqual(['active', 'passed'] as never)
  expect(outcomes(run)).toEqual({
    readable: `passed ${rowCount}`,
    'raw: maxLength': 'not_run type',
    'ratio: multipleOf': 'not_run type',
    'tags: uniqueItems': 'not_run not measurable',
    'tags[]: enum': 'not_run nested',
    'tags[]: maxLength': 'not_run nested',
    'bag.k: required': 'not_run nested',
    'day: maximum': 'not_run format',
    'at: maximum': 'not_run timezone',
    'id: maximum': 'not_run not exact',
    'address: unique': 'not_run type',
    'address: minProperties': 'not_run not measurable',
  })
})

test('a rule without a name is called by its columns and what it measures, and never takes a name that is given', async () => {
  const quality = `[
    {metric: rowCount, mustBeGreaterThan: 0},
    {metric: duplicateValues, arguments: {properties: [n, code]}, mustBeGreaterThan: 0},
    {id: rowCount, metric: rowCount, mustBe: ${rowCount}},
    {type: sql, query: 'SELECT count(*) FROM {object}', mustBe: ${rowCount}}]`
  const ofCode = `[{metric: nullValues, mustBe: 100}, {metric: nullValues, unit: percent, mustBeLessThan: 20},
    {id: required, metric: nullValues, mustBe: 100}, {type: text, description: Codes are short}]`
  const { run } = await deploy(`  - {name: code, required: true, quality: ${ofCode.replaceAll('\n', ' ')}}`, {
    quality,
  })
  expect(outcomes(run)).toEqual({
    readable: `passed ${rowCount}`,
    'rowCount 2': `passed ${rowCount}`,
    'n, code: duplicateValues': `passed ${await byHand(twice('n, code', 'n IS NOT NULL AND code IS NOT NULL'))}`,
    rowCount: `passed ${rowCount}`,
    sql: `passed ${rowCount}`,
    'code: nullValues': 'passed 100',
    'code: nullValues 2': `passed ${(100 * 100) / rowCount}`,
    'code.required': 'passed 100',
    'code: text': 'not_run text',
    'code: required': 'failed 100',
  })
})

describe('a run on request', () => {
  const asked = { contract: 'facts', namespace: ['facts'], table: 'facts' }
  const measure = async (checks: readonly string[]) => {
    const { id } = await must('POST', '/api/v1/checks/runs', world.stella, { ...asked, checks })
    await world.lake.app.checks.runner.runDue()
    return await must('GET', `/api/v1/checks/runs/${id}`, world.stella)
  }
  const active =
    '  - {name: ratio, logicalType: number, required: false, quality: [{metric: nullValues, mustBeGreaterThan: 0}], logicalTypeOptions: {minimum: 0}}'

  test('measures what the schema declares by its key', async () => {
    expect((await deploy(active)).state).toBe('active')
    expect(outcomes(await measure(['ratio: minimum']))).toEqual({
      readable: `passed ${rowCount}`,
      'ratio: minimum': 'passed 0',
    })
  })

  test('finds a rule without a name by what it was called before', async () => {
    expect(outcomes(await measure(['ratio.library nullValues [null,null,null,null]']))).toEqual({
      readable: `passed ${rowCount}`,
      'ratio: nullValues': `passed ${await byHand('ratio IS NULL')}`,
    })
  })
})

test('who may not see the values of a column sees of it whether it passed, and no number', async () => {
  const { run } = await deploy('  - {name: code, required: true}\n  - {name: n, required: true}')
  const { store, tenant } = world.lake
  await store.ownerTransaction(tenant, async (tx) => {
    await tx.query(
      `update svc.check_run set requested_at = requested_at - interval '11 minutes' where run_id = $1`,
      [String(run.id)],
    )
  })
  const shown = await must('GET', `/api/v1/checks/runs/${run.id}`, world.bob)
  const results = shown.results as unknown as readonly { key: string; outcome: string; value?: string }[]
  const found = Object.fromEntries(results.map(({ key, outcome, value }) => [key, [outcome, value]]))
  expect(found['code: required']).toEqual(['failed', undefined])
  expect(found['n: required']).toEqual(['failed', String(await byHand('n IS NULL'))])
})
