/** The rows of a snapshot: schemas over time, deletes of every kind, older snapshots. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import {
  columns,
  failure,
  governed,
  rowsIn,
  rowsOf,
  runBy,
  snapshotOf,
  startTestEngine,
  type TestEngine,
} from '../../support/engine.ts'

let engine: TestEngine
beforeAll(async () => {
  engine = await startTestEngine()
})
afterAll(() => engine.close())

const id = { id: 1, name: 'id', type: 'long' } as const
const name = { id: 2, name: 'name', type: 'string' } as const
const idAndName: readonly Field[] = [id, name]
const people = [
  { id: 1, name: 'ann' },
  { id: 2, name: 'bob' },
  { id: 3, name: null },
  { id: 4, name: 'dan' },
]

let tables = 0
const table = (fields: readonly Field[], more: { formatVersion?: 1 | 2 | 3; partitionBy?: string } = {}) =>
  engine.table(`t${++tables}`, { fields, ...more })

const read = (writer: IcebergWriter, sql: string, types: string, at = {}) =>
  rowsOf(engine.engine, snapshotOf(writer, at), sql, columns(types))
const ids = async (writer: IcebergWriter, at = {}) =>
  (await read(writer, 'SELECT id FROM {} AS b ORDER BY 1', 'id int8', at)).map(([value]) => Number(value))

describe('schemas over time', () => {
  test('a renamed column keeps its values', async () => {
    const writer = table(idAndName)
    await writer.append([{ rows: people }])
    await writer.evolve([id, { ...name, name: 'full name' }])
    await writer.append([{ rows: [{ id: 5, 'full name': 'eve' }] }])
    expect(await read(writer, 'SELECT "full name" FROM {} AS b ORDER BY id', 'n text')).toEqual([
      ['ann'],
      ['bob'],
      [null],
      ['dan'],
      ['eve'],
    ])
  })

  test('an added column is NULL in older files, or its initial default', async () => {
    const writer = table(idAndName, { formatVersion: 3 })
    await writer.append([{ rows: people.slice(0, 1) }])
    const land = { id: 3, name: 'land', type: 'string', initialDefault: "it's" } as const
    const age = { id: 4, name: 'age', type: 'int' } as const
    await writer.evolve([id, name, land, age])
    await writer.append([{ rows: [{ id: 2, name: 'bob', land: null, age: 7 }] }])
    expect(await read(writer, 'SELECT land, age FROM {} AS b ORDER BY id', 'l text, a int4')).toEqual([
      ["it's", null],
      [null, 7],
    ])
  })

  const defaults: [type: Field['type'], value: unknown, sqlType: string, read: unknown][] = [
    ['boolean', true, 'bool', true],
    ['int', -7, 'int4', -7],
    ['long', 7_000_000_000, 'int8', 7_000_000_000n],
    ['double', 1.5, 'float8', 1.5],
    ['decimal(9,2)', '14.20', 'numeric', '1420e-2'],
    ['date', '2020-01-02', 'date', 18_263],
    ['time', '10:11:12.5', 'time', 36_672_500_000n],
    ['timestamp', '2020-01-02T00:00:00.000001', 'timestamp', 1_577_923_200_000_001n],
    ['timestamptz', '2020-01-02T00:00:00+00:00', 'timestamptz', 1_577_923_200_000_000n],
    ['uuid', 'F79C3E09-677C-4BBD-A479-3F349CB785E7', 'uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7'],
    ['binary', '00ff41', 'bytea', new Uint8Array([0, 255, 65])],
    ['fixed[2]', '0a0b', 'bytea', new Uint8Array([10, 11])],
  ]
  test.each(defaults)('an initial default of %s', async (type, value, sqlType, expected) => {
    const writer = table([id], { formatVersion: 3 })
    await writer.append([{ rows: [{ id: 1 }] }])
    await writer.evolve([id, { id: 9, name: 'added', type, initialDefault: value }])
    expect(await read(writer, 'SELECT added FROM {} AS b', `a ${sqlType}`)).toEqual([[expected]])
  })

  test('a column that was dropped and added again under its name is another one', async () => {
    const writer = table(idAndName)
    await writer.append([{ rows: people.slice(0, 1) }])
    await writer.evolve([id])
    await writer.evolve([id, { id: 7, name: 'name', type: 'string' }])
    await writer.append([{ rows: [{ id: 2, name: 'new' }] }])
    expect(await read(writer, 'SELECT name FROM {} AS b ORDER BY id', 'n text')).toEqual([[null], ['new']])
  })

  test('int widens to long, float to double, decimals to more digits', async () => {
    const narrow: Field[] = [
      { id: 1, name: 'i', type: 'int' },
      { id: 2, name: 'f', type: 'float' },
      { id: 3, name: 'd', type: 'decimal(4,2)' },
    ]
    const writer = table(narrow)
    const bytes = await duckdbParquet(
      'SELECT 2147483647::INT i, 1.5::FLOAT f, 12.34::DECIMAL(4,2) d',
      '{i: 1, f: 2, d: 3}',
    )
    await writer.append([{ rows: [], recordCount: 1, bytes }])
    await writer.evolve([
      { id: 1, name: 'i', type: 'long' },
      { id: 2, name: 'f', type: 'double' },
      { id: 3, name: 'd', type: 'decimal(20,2)' },
    ])
    const wide = await duckdbParquet(
      'SELECT 2147483648::BIGINT i, 2.5::DOUBLE f, 123456789.01::DECIMAL(20,2) d',
      '{i: 1, f: 2, d: 3}',
    )
    await writer.append([{ rows: [], recordCount: 1, bytes: wide }])
    expect(
      await read(writer, 'SELECT i, f, d FROM {} AS b ORDER BY 1', 'i int8, f float8, d numeric'),
    ).toEqual([
      [2_147_483_647n, 1.5, '1234e-2'],
      [2_147_483_648n, 2.5, '12345678901e-2'],
    ])
  })

  test('an older snapshot is read under its own schema', async () => {
    const writer = table(idAndName)
    const first = await writer.append([{ rows: people.slice(0, 2) }])
    await writer.evolve([
      { ...id, type: 'long' },
      { ...name, name: 'label' },
    ])
    await writer.append([{ rows: [{ id: 9, label: 'new' }] }])
    const then = { snapshotId: first.snapshotId, table: governed(idAndName) }
    expect(await read(writer, 'SELECT name FROM {} AS b ORDER BY id', 'n text', then)).toEqual([
      ['ann'],
      ['bob'],
    ])
  })

  test('lists keep their NULLs, empty lists and elements, and follow their column’s name', async () => {
    const tags = { id: 3, name: 'tags', type: { list: 'long', elementId: 4 } } as const
    const writer = table([id, tags])
    const bytes = await duckdbParquet(
      'SELECT * FROM (VALUES (1::BIGINT, [1, NULL, 3]::BIGINT[]), (2, NULL), (3, []), (4, [5])) AS v(id, tags)',
      '{id: 1, tags: {__duckdb_field_id: 3, element: 4}}',
    )
    await writer.append([{ rows: [], recordCount: 4, bytes }])
    await writer.evolve([id, { ...tags, name: 'marks' }])
    expect(await read(writer, 'SELECT marks FROM {} AS b ORDER BY id', 'm int8[]')).toEqual([
      [[1n, null, 3n]],
      [null],
      [[]],
      [[5n]],
    ])
  })

  test('files without field ids are read by the name mapping', async () => {
    const writer = table(idAndName)
    await writer.append([{ rows: people.slice(0, 2), withoutFieldIds: true }])
    await writer.evolve([id, { ...name, name: 'label' }])
    await writer.append([{ rows: [{ id: 5, label: 'eve' }] }])
    const mapping = [
      { 'field-id': 1, names: ['id'] },
      { 'field-id': 2, names: ['name', 'label'] },
    ]
    const metadataLocation = await writer.setProperties({
      'schema.name-mapping.default': JSON.stringify(mapping),
    })
    expect(
      await read(writer, 'SELECT id, label FROM {} AS b ORDER BY 1', 'i int8, l text', { metadataLocation }),
    ).toEqual([
      [1n, 'ann'],
      [2n, 'bob'],
      [5n, 'eve'],
    ])
  })

  test('files that are all alike are read by name: in the table’s order, and without what it dropped', async () => {
    const writer = table([name, { id: 3, name: 'secret', type: 'string' }, id])
    for (const row of people) await writer.append([{ rows: [{ ...row, secret: 'canary' }] }])
    await writer.evolve(idAndName)
    expect(await read(writer, 'SELECT * FROM {} AS b ORDER BY 1', 'i int8, n text')).toEqual(
      people.map((row) => [BigInt(row.id), row.name]),
    )
    const { code } = await failure(read(writer, 'SELECT secret FROM {} AS b', 's text'))
    expect(code).toBe('XX000')
    // Two columns that changed their names are told by their ids.
    await writer.evolve([
      { ...id, name: 'secret' },
      { ...name, name: 'id' },
    ])
    expect(await read(writer, 'SELECT secret, id FROM {} AS b ORDER BY 1', 'i int8, n text')).toEqual(
      people.map((row) => [BigInt(row.id), row.name]),
    )
  })

  test('columns with the names of DuckDB’s own read as what the files hold', async () => {
    const place = { id: 1, name: 'file_row_number', type: 'long' } as const
    const writer = table([place, { id: 2, name: 'filename', type: 'string' }])
    const { files } = await writer.append([
      { rows: [7, 8, 9].map((at) => ({ file_row_number: at, filename: 'f' })) },
    ])
    const sql = 'SELECT file_row_number, filename FROM {} AS b ORDER BY 1'
    const rows = [7n, 8n, 9n].map((at) => [at, 'f'])
    expect(await read(writer, sql, 'i int8, n text')).toEqual(rows)
    await writer.deletePositions(files[0] ?? '', [1])
    expect(await read(writer, sql, 'i int8, n text')).toEqual(rows.toSpliced(1, 1))
  })
})

describe('deletes', () => {
  test('position deletes take their rows, in files with several row groups too', async () => {
    const writer = table(idAndName)
    const rows = Array.from({ length: 1_000 }, (_, index) => ({ id: index, name: `n${index}` }))
    const { files } = await writer.append([{ rows, rowGroupSize: 100 }, { rows: [{ id: 5_000, name: 'x' }] }])
    const gone = [0, 99, 100, 555, 999]
    await writer.deletePositions(files[0] ?? '', gone)
    const left = await ids(writer)
    expect(left).toEqual([...rows.map((row) => row.id).filter((each) => !gone.includes(each)), 5_000])
    // Row numbers stay right where row groups are skipped.
    expect(await read(writer, 'SELECT count(*) FROM {} AS b WHERE id BETWEEN 550 AND 559', 'n int8')).toEqual(
      [[9n]],
    )
  })

  test('position deletes of an older snapshot are not seen before it', async () => {
    const writer = table(idAndName)
    const before = await writer.append([{ rows: people }])
    await writer.deletePositions(before.files[0] ?? '', [0, 1])
    expect(await ids(writer)).toEqual([3, 4])
    expect(await ids(writer, { snapshotId: before.snapshotId })).toEqual([1, 2, 3, 4])
  })

  test('position deletes stay within their partition', async () => {
    const writer = table([id, { id: 2, name: 'part', type: 'string' }], { partitionBy: 'part' })
    const { files } = await writer.append([
      {
        rows: [
          { id: 1, part: 'a' },
          { id: 2, part: 'a' },
        ],
        partition: 'a',
      },
      { rows: [{ id: 3, part: 'b' }], partition: 'b' },
    ])
    await writer.deletePositions(files[0] ?? '', [0], 'a')
    await writer.deletePositions(files[1] ?? '', [0], 'a')
    expect(await ids(writer)).toEqual([2, 3])
  })

  test('equality deletes take equal rows of older files only, NULL being equal to NULL', async () => {
    const writer = table(idAndName)
    await writer.append([{ rows: people }])
    await writer.delete({ kind: 'equality', fields: [name], rows: [{ name: 'bob' }, { name: null }] })
    expect(await ids(writer)).toEqual([1, 4])
    await writer.append([
      {
        rows: [
          { id: 6, name: 'bob' },
          { id: 7, name: null },
        ],
      },
    ])
    expect(await ids(writer)).toEqual([1, 4, 6, 7])
  })

  test('equality deletes spare files of their own commit', async () => {
    const writer = table(idAndName)
    await writer.append([{ rows: people }])
    await writer.commit(
      'overwrite',
      [{ rows: [{ id: 2, name: 'bobby' }] }],
      [{ kind: 'equality', fields: [id], rows: [{ id: 2 }] }],
    )
    expect(await read(writer, 'SELECT id, name FROM {} AS b WHERE id = 2', 'i int8, n text')).toEqual([
      [2n, 'bobby'],
    ])
  })

  test('equality deletes compare all their fields, and may compare dropped ones', async () => {
    const writer = table(idAndName)
    await writer.append([{ rows: people }])
    await writer.delete({
      kind: 'equality',
      fields: [id, name],
      rows: [
        { id: 1, name: 'bob' },
        { id: 4, name: 'dan' },
      ],
    })
    await writer.evolve([id])
    expect(await ids(writer)).toEqual([1, 2, 3])
  })

  test('equality deletes under a spec with fields stay within their partition', async () => {
    const writer = table([id, { id: 2, name: 'part', type: 'string' }], { partitionBy: 'part' })
    await writer.append([
      { rows: [{ id: 1, part: 'a' }], partition: 'a' },
      { rows: [{ id: 1, part: 'b' }], partition: 'b' },
    ])
    await writer.delete({ kind: 'equality', fields: [id], rows: [{ id: 1 }], partition: 'b' })
    expect(await read(writer, 'SELECT part FROM {} AS b', 'p text')).toEqual([['a']])
  })

  test('a deletion vector takes its rows, and the next one takes its place', async () => {
    const writer = table(idAndName, { formatVersion: 3 })
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ id: index, name: 'x' }))
    const { files } = await writer.append([{ rows }, { rows: [{ id: 20_000, name: 'y' }] }])
    const dataFile = files[0] ?? ''
    await writer.delete({ kind: 'vector', dataFile, positions: [0, 9_999] })
    expect(
      await read(writer, 'SELECT count(*), min(id), max(id) FROM {} AS b', 'n int8, a int8, z int8'),
    ).toEqual([[9_999n, 1n, 20_000n]])
    await writer.delete({ kind: 'vector', dataFile, positions: rows.map((row) => row.id).slice(0, 9_000) })
    expect(await read(writer, 'SELECT count(*), min(id) FROM {} AS b', 'n int8, a int8')).toEqual([
      [1_001n, 9_000n],
    ])
  })

  test('deletes of three kinds on one table add up', async () => {
    const writer = table(idAndName, { formatVersion: 3 })
    const { files } = await writer.append([
      { rows: people },
      { rows: people.map((row) => ({ ...row, id: row.id + 10 })) },
    ])
    await writer.deletePositions(files[0] ?? '', [0])
    await writer.delete({ kind: 'vector', dataFile: files[1] ?? '', positions: [1] })
    await writer.delete({ kind: 'equality', fields: [name], rows: [{ name: 'dan' }] })
    await writer.append([{ rows: [{ id: 21, name: 'dan' }] }])
    expect(await ids(writer)).toEqual([2, 3, 11, 13, 21])
  })
})

describe('tables', () => {
  test('a table without a snapshot is empty and has its types', async () => {
    const writer = table([id, { id: 2, name: 'moment', type: 'timestamp' }])
    await writer.setProperties({})
    expect(await read(writer, 'SELECT id, moment FROM {} AS b', 'i int8, a timestamp')).toEqual([])
    expect(await read(writer, 'SELECT count(*), sum(id)::BIGINT FROM {} AS b', 'n int8, s int8')).toEqual([
      [0n, null],
    ])
  })

  test('version 1 tables are read', async () => {
    const writer = table(idAndName, { formatVersion: 1 })
    await writer.append([{ rows: people }])
    expect(await ids(writer)).toEqual([1, 2, 3, 4])
  })

  test('a table may be joined with itself and with another one', async () => {
    const writer = table(idAndName)
    const other = table(idAndName)
    await writer.append([{ rows: people }])
    await other.append([{ rows: people.slice(1, 3) }])
    const [left, right] = [snapshotOf(writer), snapshotOf(other)]

    const session = await engine.engine.open([left, right], runBy())
    const sql = `SELECT a.id FROM ${session.relation(left.table)} AS a JOIN ${session.relation(left.table)} AS b ON a.id = b.id JOIN ${session.relation(right.table)} AS c ON c.id = a.id ORDER BY 1`
    const rows: unknown[][] = []
    for await (const batch of session.run({ sql, columns: columns('id int8') })) rows.push(...rowsIn(batch))
    await session.close()
    expect(rows).toEqual([[2n], [3n]])
  })

  test('nanoseconds are cut to micros, as the statement takes them', async () => {
    const moments = [
      { id: 2, name: 'local', type: 'timestamp_ns' },
      { id: 3, name: 'instant', type: 'timestamptz_ns' },
    ] as const
    const writer = table([id, ...moments], { formatVersion: 3 })
    const nanos = [1_577_836_800_000_001_999n, -1_999n]
    const bytes = parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'id', type: 'INT64', repetition_type: 'REQUIRED', field_id: 1 },
        ...moments.map(({ id: field, name }) => ({
          name,
          type: 'INT64' as const,
          repetition_type: 'REQUIRED' as const,
          field_id: field,
          logical_type: {
            type: 'TIMESTAMP' as const,
            isAdjustedToUTC: name === 'instant',
            unit: 'NANOS' as const,
          },
        })),
      ],
      columnData: [
        { name: 'id', data: [1n, 2n] },
        { name: 'local', data: nanos },
        { name: 'instant', data: nanos },
      ],
    })
    await writer.append([{ rows: [], recordCount: 2, bytes: new Uint8Array(bytes) }])
    const sql = 'SELECT CAST(local AS TIMESTAMP), CAST(instant AS TIMESTAMPTZ) FROM {} AS b ORDER BY id'
    expect(await read(writer, sql, 'l timestamp, i timestamptz')).toEqual([
      [1_577_836_800_000_001n, 1_577_836_800_000_001n],
      [-1n, -1n],
    ])
  })
})
