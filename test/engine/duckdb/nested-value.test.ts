/** Nested columns of files of all ages are read by field id, or not at all. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { Field, FieldType } from '../../../demo/lake/table-fields.ts'
import { ask, seenBy } from '../../query/support/lake-query.ts'
import { startTestEngine, type TestEngine } from '../../support/engine.ts'

let engine: TestEngine
beforeAll(async () => {
  engine = await startTestEngine()
})
afterAll(() => engine.close())

const id: Field = { id: 1, name: 'id', type: 'int' }
const structOf = (...fields: readonly Field[]): Field => ({ id: 2, name: 's', type: { struct: fields } })
const city: Field = { id: 3, name: 'city', type: 'string' }
const zip: Field = { id: 4, name: 'zip', type: 'int' }

let tables = 0
const tableOf = (...fields: readonly Field[]) => engine.table(`t${++tables}`, { fields, formatVersion: 3 })

async function append(writer: IcebergWriter, select: string, ids?: string): Promise<void> {
  const bytes = await duckdbParquet(select, ids)
  await writer.append([{ bytes, rows: [], recordCount: 1 }])
}

const read = async (writer: IcebergWriter, sql: string) =>
  (await ask(engine, writer, seenBy(writer), sql)).rows

async function refused(writer: IcebergWriter, sql: string): Promise<string> {
  return await read(writer, sql).then(
    (rows) => `answered ${JSON.stringify(rows)}`,
    (thrown) => String((thrown as { readonly code?: string }).code ?? (thrown as Error).message),
  )
}

const first = `SELECT 1::INT AS id, {'city': 'Bern', 'zip': 3000} AS s`
const firstIds = '{id: 1, s: {__duckdb_field_id: 2, city: 3, zip: 4}}'
const both = 'SELECT (s).*, s FROM t ORDER BY id'

describe('fields over time', () => {
  test('a renamed field keeps its values, and another that takes its name does not get them', async () => {
    const writer = tableOf(id, structOf(city, zip))
    await append(writer, first, firstIds)
    const town: Field = { ...city, name: 'town' }
    await writer.evolve([id, structOf(town, { id: 5, name: 'city', type: 'string' }, zip)])
    await append(
      writer,
      `SELECT 2::INT AS id, {'town': 'Basel', 'city': 'new', 'zip': 4000} AS s`,
      '{id: 1, s: {__duckdb_field_id: 2, town: 3, city: 5, zip: 4}}',
    )
    expect(await read(writer, both)).toEqual([
      ['Bern', null, 3000, '{"zip": 3000, "city": null, "town": "Bern"}'],
      ['Basel', 'new', 4000, '{"zip": 4000, "city": "new", "town": "Basel"}'],
    ])
  })

  test('a promoted field, a dropped one and another order are read as the table has them', async () => {
    const writer = tableOf(id, structOf(city, zip))
    await append(writer, first, firstIds)
    await writer.evolve([id, structOf({ ...zip, type: 'long' })])
    expect(await read(writer, both)).toEqual([[3000n, '{"zip": 3000}']])
  })

  test('an added field is NULL in older files, in lists and maps as well', async () => {
    const item = (...fields: readonly Field[]): Field => ({
      id: 2,
      name: 'l',
      type: { elementId: 3, list: { struct: fields } },
    })
    const map = (...fields: readonly Field[]): Field => ({
      id: 6,
      name: 'm',
      type: { key: 'string', keyId: 7, valueId: 8, map: { struct: fields } },
    })
    const [a, b, c, d] = [4, 5, 9, 10].map(
      (number): Field => ({ id: number, name: `f${number}`, type: 'int' }),
    ) as [Field, Field, Field, Field]
    const writer = tableOf(id, item(a), map(c))
    await append(
      writer,
      `SELECT 1::INT AS id, [{'f4': 1}, NULL] AS l, MAP {'k': {'f9': 2}} AS m`,
      '{id: 1, l: {__duckdb_field_id: 2, element: {__duckdb_field_id: 3, f4: 4}}, m: {__duckdb_field_id: 6, key: 7, value: {__duckdb_field_id: 8, f9: 9}}}',
    )
    await writer.evolve([id, item(b, a), map(d, c)])
    expect(await read(writer, 'SELECT l, m FROM t')).toEqual([
      [['{"f4": 1, "f5": null}', null], '{"k": {"f9": 2, "f10": null}}'],
    ])
    expect(await read(writer, 'SELECT (i).f4, (i).f5 FROM t, unnest(l) AS i ORDER BY 1')).toEqual([
      [1, null],
      [null, null],
    ])
  })

  test('a column that a file lacks is NULL', async () => {
    const writer = tableOf(id)
    await append(writer, 'SELECT 1::INT AS id', '{id: 1}')
    await writer.evolve([id, structOf(city, zip)])
    expect(await read(writer, both)).toEqual([[null, null, null]])
  })
})

describe('rows', () => {
  test('a NULL struct, a struct of NULLs, empty lists and maps stay what they are', async () => {
    const writer = tableOf(id, structOf(city, zip), {
      id: 6,
      name: 'm',
      type: { key: 'int', keyId: 7, valueId: 8, map: 'string' },
    })
    await append(
      writer,
      `SELECT * FROM (VALUES (1, NULL, MAP {}), (2, {'city': NULL, 'zip': NULL}, NULL), (3, {'city': '', 'zip': 0}, MAP {10: 'x', 9: NULL})) v(id, s, m)`,
      '{id: 1, s: {__duckdb_field_id: 2, city: 3, zip: 4}, m: {__duckdb_field_id: 6, key: 7, value: 8}}',
    )
    expect(await read(writer, 'SELECT s, s IS NULL, (s).city IS NULL, m FROM t ORDER BY id')).toEqual([
      [null, true, true, '{}'],
      ['{"zip": null, "city": null}', false, true, null],
      ['{"zip": 0, "city": ""}', false, false, '{"9": null, "10": "x"}'],
    ])
  })

  test('deleted rows are gone, by position and by an equal value', async () => {
    const writer = tableOf(id, structOf(city, zip))
    const rows = [1, 2, 3, 4].map((number) => ({ id: number, s: { city: `c${number}`, zip: number } }))
    const { files } = await writer.append([{ rows }])
    await writer.delete({ kind: 'vector', dataFile: files[0] as string, positions: [1] })
    await writer.delete({ kind: 'equality', fields: [id], rows: [{ id: 4 }] })
    expect(await read(writer, 'SELECT (s).city, s FROM t ORDER BY id')).toEqual([
      ['c1', '{"zip": 1, "city": "c1"}'],
      ['c3', '{"zip": 3, "city": "c3"}'],
    ])
  })

  test('more rows than a vector holds are each of their own', async () => {
    const writer = tableOf(id, structOf(city, zip))
    await append(
      writer,
      `SELECT i::INT AS id, {'city': 'c' || i, 'zip': i::INT} AS s FROM range(5000) r(i)`,
      firstIds,
    )
    expect(await read(writer, `SELECT count(*), sum((s).zip), count(DISTINCT s ->> 'city') FROM t`)).toEqual([
      [5000n, 12_497_500n, 5000n],
    ])
  })
})

describe('a statement that reads a nested column is refused, and one that does not is answered', () => {
  const cases: readonly (readonly [
    what: string,
    field: FieldType,
    select: string,
    ids: string | undefined,
    code: string,
  ])[] = [
    [
      'another type inside',
      { struct: [{ ...zip, type: 'string' }] },
      `{'zip': 1}`,
      '{id: 1, s: {__duckdb_field_id: 2, zip: 4}}',
      '0A000',
    ],
    ['no ids inside', { struct: [zip] }, `{'zip': 1}`, '{id: 1, s: 2}', '0A000'],
    [
      'a list where the table has a struct',
      { struct: [zip] },
      '[1]',
      '{id: 1, s: {__duckdb_field_id: 2, element: 4}}',
      '0A000',
    ],
    [
      'no value of a required field',
      { struct: [{ ...zip, required: true }, city] },
      `{'city': 'x'}`,
      '{id: 1, s: {__duckdb_field_id: 2, city: 3}}',
      '58030',
    ],
    [
      'no value of a field with a default',
      { struct: [{ ...zip, initialDefault: 7 }, city] },
      `{'city': 'x'}`,
      '{id: 1, s: {__duckdb_field_id: 2, city: 3}}',
      '0A000',
    ],
  ]
  test.each(cases)('%s', async (_, type, select, ids, code) => {
    const writer = tableOf(id, { id: 2, name: 's', type })
    await append(writer, `SELECT 1::INT AS id, ${select} AS s`, ids)
    expect(await refused(writer, 'SELECT s FROM t')).toContain(code)
    expect(await read(writer, 'SELECT id FROM t')).toEqual([[1]])
  })
})
