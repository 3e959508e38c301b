/** Snapshots that cannot be read correctly are refused, with the right SQLSTATE and no path in the message. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { FileOptions, IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import {
  columns,
  failure,
  governed,
  otherTenant,
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
const fields: readonly Field[] = [id, { id: 2, name: 'name', type: 'string' }]
const rows = [
  { id: 1, name: 'ann' },
  { id: 2, name: 'bob' },
]
let tables = 0
const table = (of: readonly Field[] = fields, more = {}) =>
  engine.table(`r${++tables}`, { fields: of, ...more })

/** How reading one column of a table fails. */
async function refusal(writer: IcebergWriter, at = {}, sql = 'SELECT count(*) FROM {} AS b') {
  const error = await failure(rowsOf(engine.engine, snapshotOf(writer, at), sql, columns('n int8')))
  expect(error.message).not.toContain(engine.tables)
  expect(error.message).not.toContain(engine.folder)
  return error
}
const bytesOf = (select: string, ids?: string): Promise<Omit<FileOptions, 'rows'>> =>
  duckdbParquet(select, ids).then((bytes) => ({ bytes, recordCount: 1 }))

describe('files', () => {
  test('a data file that is missing: 58030', async () => {
    const writer = table()
    const { files } = await writer.append([{ rows }])
    rmSync(fileURLToPath(files[0] ?? ''))
    expect(await refusal(writer)).toMatchObject({
      code: '58030',
      message: 'The table cannot be read: a file is not there.',
    })
  })

  test('a data file that was cut off: 58030', async () => {
    const writer = table()
    const { files } = await writer.append([{ rows }])
    truncateSync(fileURLToPath(files[0] ?? ''), 100)
    expect((await refusal(writer)).message).toContain('not as long as its manifest says')
  })

  test('a data file of the right length that is none: 58030', async () => {
    const writer = table()
    const { files } = await writer.append([{ rows }])
    const path = fileURLToPath(files[0] ?? '')
    writeFileSync(path, Buffer.alloc(readFileSync(path).length, 7))
    expect((await refusal(writer)).code).toBe('58030')
  })

  test('a delete file of the right length that is none, or with damaged pages: 58030', async () => {
    for (const damage of [0, 60]) {
      const writer = table()
      const { files } = await writer.append([{ rows }])
      const many = Array.from({ length: 2_000 }, (_, index) => index)
      const deletes = await writer.deletePositions(files[0] ?? '', many)
      const path = fileURLToPath(deletes.files[0] ?? '')
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.fill(0xff, damage, damage === 0 ? bytes.length : 1_000))
      expect((await refusal(writer)).code).toBe('58030')
    }
  })

  test('a data file with damaged pages: 58030, or rows that are an error', async () => {
    const writer = table()
    const many = Array.from({ length: 5_000 }, (_, index) => ({ id: index, name: `name ${index}` }))
    const { files } = await writer.append([{ rows: many }])
    const path = fileURLToPath(files[0] ?? '')
    const bytes = readFileSync(path)
    bytes.fill(0xff, 40, 4_000)
    writeFileSync(path, bytes)
    expect((await refusal(writer, {}, 'SELECT sum(id)::BIGINT FROM {} AS b')).code).toBe('58030')
  })

  test('a manifest that was cut off, between its blocks too: 58030', async () => {
    const writer = table()
    const { manifest } = await writer.append([{ rows }])
    const path = fileURLToPath(manifest)
    writeFileSync(path, readFileSync(path).subarray(0, -20))
    expect((await refusal(writer)).code).toBe('58030')
    const empty = table()
    const list = (await empty.append([{ rows }])).manifestList
    rmSync(fileURLToPath(list))
    expect((await refusal(empty)).code).toBe('58030')
  })

  test('a snapshot that the metadata does not hold: 58030', async () => {
    const writer = table()
    await writer.append([{ rows }])
    expect((await refusal(writer, { snapshotId: 77n })).message).toContain(
      'the snapshot is not in the metadata file',
    )
  })
})

describe('storage', () => {
  test('metadata or data outside the credential’s storage roots: 58030', async () => {
    const writer = table()
    await writer.append([{ rows }])
    const elsewhere = engine.host.engine({
      tenant: otherTenant,
      key: 'elsewhere',
      access: { roots: [`${engine.tables}/nothing`], s3: undefined },
    })
    const error = await failure(elsewhere.open([snapshotOf(writer)], runBy(otherTenant)))
    expect(error.message).toContain('outside the storage_roots')
    const metadataOnly = engine.host.engine({
      tenant: otherTenant,
      key: 'metadata',
      access: { roots: [`${writer.options.location}/metadata`], s3: undefined },
    })
    expect((await failure(metadataOnly.open([snapshotOf(writer)], runBy(otherTenant)))).message).toContain(
      'outside',
    )
  })

  test('a file that is cached for one tenant is fetched again for another, by its own right', async () => {
    const writer = table()
    const { files } = await writer.append([{ rows }])
    const count = columns('n int8')
    const sql = 'SELECT count(*) FROM {} AS b'
    expect(await rowsOf(engine.engine, snapshotOf(writer), sql, count)).toEqual([[2n]])
    rmSync(fileURLToPath(files[0] ?? ''))
    // Its own tenant still reads the copy.
    expect(await rowsOf(engine.engine, snapshotOf(writer), sql, count)).toEqual([[2n]])
    for (const [tenant, key] of [
      [otherTenant, 'other'],
      [otherTenant, 'own again'],
    ] as const) {
      const foreign = engine.host.engine({ tenant, key, access: { roots: [engine.tables], s3: undefined } })
      const error = await failure(rowsOf(foreign, snapshotOf(writer), sql, count, runBy(tenant)))
      expect(error).toMatchObject({
        code: '58030',
        message: 'The table cannot be read: a file is not there.',
      })
    }
  })
})

describe('what would be read wrongly is refused with 0A000', () => {
  test('files without field ids, in a table without a name mapping', async () => {
    const writer = table()
    await writer.append([{ rows, withoutFieldIds: true }])
    expect(await refusal(writer)).toMatchObject({
      code: '0A000',
      message: expect.stringContaining('name mapping'),
    })
  })

  test('deletes of files without field ids that hide the places of their rows', async () => {
    const writer = table([{ id: 1, name: 'File_Row_Number', type: 'long' }])
    const { files } = await writer.append([
      { rows: [5, 6].map((at) => ({ File_Row_Number: at })), withoutFieldIds: true },
    ])
    const mapping = JSON.stringify([{ 'field-id': 1, names: ['File_Row_Number'] }])
    await writer.deletePositions(files[0] ?? '', [0])
    const metadataLocation = await writer.setProperties({ 'schema.name-mapping.default': mapping })
    const snapshot = snapshotOf(writer, { metadataLocation })
    const reading = rowsOf(engine.engine, snapshot, 'SELECT count(*) FROM {} AS b', columns('n int8'))
    expect(await failure(reading)).toMatchObject({ code: '0A000' })
  })

  const types: [what: string, type: Field['type'], select: string][] = [
    ['a double where the table has an int', 'int', '1.5::DOUBLE'],
    ['a long where the table has an int', 'int', '1::BIGINT'],
    ['bytes where the table has a string', 'string', "'\\xFF'::BLOB"],
    ['another scale', 'decimal(9,2)', '1.234::DECIMAL(9,3)'],
    ['more digits', 'decimal(5,2)', '1.23::DECIMAL(9,2)'],
    ['a list where the table has none', 'long', '[1]::BIGINT[]'],
    ['a text where the table has a uuid', 'uuid', "'f79c3e09-677c-4bbd-a479-3f349cb785e7'"],
    ['an unsigned integer', 'long', '1::UBIGINT'],
    ['a struct where the table has a string', 'string', "{'a': 1}"],
  ]
  test.each(types)('%s', async (_, type, select) => {
    const writer = table([{ id: 1, name: 'c', type }])
    const ids = select.startsWith('[')
      ? '{c: {__duckdb_field_id: 1, element: 2}}'
      : select.startsWith('{')
        ? '{c: {__duckdb_field_id: 1, a: 2}}'
        : '{c: 1}'
    await writer.append([{ rows: [], ...(await bytesOf(`SELECT ${select} AS c`, ids)) }])
    expect(await refusal(writer)).toMatchObject({ code: '0A000' })
  })

  test('data files that are not Parquet', async () => {
    const writer = table()
    await writer.append([{ rows, format: 'ORC' }])
    expect(await refusal(writer)).toMatchObject({
      code: '0A000',
      message: expect.stringContaining('Parquet'),
    })
  })

  test('a partition column that its files leave out', async () => {
    const writer = table([id, { id: 2, name: 'part', type: 'string' }], { partitionBy: 'part' })
    await writer.append([{ rows: [{ id: 1 }], fields: [id], partition: 'a' }])
    expect((await refusal(writer)).code).toBe('0A000')
  })

  test('a required column that a file lacks: 58030', async () => {
    const writer = table([id])
    await writer.append([{ rows }])
    await writer.evolve([id, { id: 5, name: 'must', type: 'long', required: true }])
    expect((await refusal(writer)).code).toBe('58030')
  })

  test('a table that changed since the statement was compiled', async () => {
    const writer = table()
    await writer.append([{ rows }])
    for (const compiled of [
      [{ ...id, type: 'int' as const }],
      [id, { id: 44, name: 'gone', type: 'string' as const }],
    ])
      expect((await refusal(writer, { table: governed(compiled) })).code).toBe('0A000')
  })

  test('columns whose names differ in case alone', async () => {
    const writer = table([id, { id: 2, name: 'ID', type: 'long' }])
    await writer.append([{ rows: [] }])
    expect((await refusal(writer)).code).toBe('0A000')
  })

  test('equality deletes on floating-point columns', async () => {
    const ratio = { id: 2, name: 'ratio', type: 'double' } as const
    const writer = table([id, ratio])
    await writer.append([{ rows: [{ id: 1, ratio: 0.5 }] }])
    await writer.delete({ kind: 'equality', fields: [ratio], rows: [{ ratio: 0.5 }] })
    expect((await refusal(writer)).code).toBe('0A000')
  })

  test('an initial default that is not of its column’s type', async () => {
    for (const [type, value] of [
      ['long', '1'],
      ['date', '2020-01-01T00:00:00'],
      ['timestamp', "2020-01-01' OR 1=1"],
      ['string', 5],
      ['binary', 'xyz'],
    ] as const) {
      const writer = table([id], { formatVersion: 3 })
      await writer.append([{ rows: [{ id: 1 }] }])
      await writer.evolve([id, { id: 3, name: 'added', type, initialDefault: value }])
      expect((await refusal(writer)).code).toBe('0A000')
    }
  })

  test('two deletion vectors for one file: 58030', async () => {
    const writer = table(fields, { formatVersion: 3 })
    const { files } = await writer.append([{ rows }])
    const vector = { kind: 'vector', dataFile: files[0] ?? '', positions: [0] } as const
    await writer.delete(vector, vector)
    expect((await refusal(writer)).code).toBe('58030')
  })
})

test('names of tables and columns, paths and values of metadata are quoted wherever they go', async () => {
  const odd = `a"b'c; DROP --{}$1\\`
  const writer = engine.table(`it's "odd" ; ${++tables}`, { fields: [{ id: 1, name: odd, type: 'string' }] })
  await writer.append([{ rows: [{ [odd]: "x'y" }] }])
  const sql = `SELECT "${odd.replaceAll('"', '""')}" FROM`
  const snapshot = snapshotOf(writer)
  const session = await engine.engine.open([snapshot], runBy())
  const run = session.run({
    sql: `${sql} ${session.relation(snapshot.table)} AS b`,
    columns: columns('c text'),
  })
  for await (const batch of run) expect(rowsIn(batch)).toEqual([["x'y"]])
  await session.close()
})

test('what is encrypted is named as that, and never as corrupt', async () => {
  const bytes = Buffer.concat([
    Buffer.from('PARE'),
    Buffer.alloc(64, 9),
    Buffer.from([32, 0, 0, 0]),
    Buffer.from('PARE'),
  ])
  const file = table()
  await file.append([{ rows: [], bytes, recordCount: 1 }])
  expect(await refusal(file)).toMatchObject({
    code: '0A000',
    message: 'An encrypted table cannot be read by this engine.',
  })
  const manifest = table()
  const appended = await manifest.append([{ rows }])
  const path = fileURLToPath(appended.manifest)
  const size = readFileSync(path).length
  writeFileSync(path, Buffer.concat([Buffer.from('AGS1'), Buffer.alloc(size - 4, 9)]))
  expect(await refusal(manifest)).toMatchObject({
    code: '58030',
    message: 'The table cannot be read: a manifest is encrypted, and its key is not known.',
  })
})
