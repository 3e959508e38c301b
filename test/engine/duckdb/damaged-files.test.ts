/**
 * Damaged data files: whatever DuckDB or a library below it throws, the statement fails by 58030 and stewards are told
 * which file it was. Parquet pages have no checksums here, so a changed value may also be read as another.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import { EngineError } from '../../../src/engine/engine-error.ts'
import { runError } from '../../../src/query/run/attempt/run-error.ts'
import {
  columns,
  failure,
  rowsOf,
  snapshotOf,
  startTestEngine,
  type TestEngine,
} from '../../support/engine.ts'
import { isLongForm } from '../../support/long-form.ts'

setDefaultTimeout(600_000)

const seed = 20_261
const runs = isLongForm ? 2_000 : 300
const rowCount = 300
const codecs = ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli']
const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'name', type: 'string' },
  { id: 3, name: 'day', type: 'date' },
  { id: 4, name: 'amount', type: 'decimal(20, 3)' },
  { id: 5, name: 'moment', type: 'timestamp' },
]
const select = `SELECT i::BIGINT AS id, 'name' || (i % 50) AS name, DATE '2020-01-01' + (i % 500)::INT AS day,
  (i / 7)::DECIMAL(20, 3) AS amount, TIMESTAMP '2020-01-01' + INTERVAL (i) MINUTE AS moment FROM range(${rowCount}) t(i)`
const ids = '{id: 1, name: 2, day: 3, amount: 4, moment: 5}'

let engine: TestEngine
const whole = new Map<string, Uint8Array>()
beforeAll(async () => {
  engine = await startTestEngine()
  for (const codec of codecs)
    whole.set(codec, await duckdbParquet(select, `${ids}, COMPRESSION ${codec}, ROW_GROUP_SIZE 2048`))
})
afterAll(() => engine.close())

const mutation = fc.record({
  codec: fc.constantFrom(...codecs),
  place: fc.constantFrom('anywhere', 'footer', 'run'),
  bytes: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 12 }),
})
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never

function mutated({ codec, place, bytes }: Mutation): Uint8Array {
  const changed = Buffer.from(whole.get(codec) ?? [])
  const footer = changed.readUInt32LE(changed.length - 8)
  const [from, length] = place === 'footer' ? [changed.length - 8 - footer, footer] : [0, changed.length]
  const first = bytes[0]?.[0] ?? 0
  for (const [index, [at, value]] of bytes.entries())
    changed[from + ((place === 'run' ? first + index : at) % length)] = value
  return changed
}

let tables = 0
/** A table with a whole file beside the one that is given. */
async function tableOf(bytes: Uint8Array) {
  const writer = engine.table(`damaged${++tables}`, { fields })
  await writer.append([{ bytes: whole.get('snappy') ?? bytes, recordCount: rowCount, rows: [] }])
  const { files } = await writer.append([
    { bytes: whole.get('snappy') ?? bytes, recordCount: rowCount, rows: [] },
  ])
  const damaged = files[0] ?? ''
  // The manifest keeps the length of the whole file, so the bytes are put into its place.
  writeFileSync(fileURLToPath(damaged), bytes.subarray(0, readFileSync(fileURLToPath(damaged)).length))
  return { writer, damaged }
}

const shown = columns('id int8, name text, day date, amount numeric, moment timestamp')
const sql = 'SELECT id, name, day, amount, moment FROM {} AS b'

test(`${runs} damaged data files are each read, or refused by 58030 with the file's name`, async () => {
  let named = 0
  await fc.assert(
    fc.asyncProperty(mutation, async (given) => {
      const bytes = mutated(given)
      const writer = engine.table(`mutated${++tables}`, { fields })
      const { files } = await writer.append([{ bytes, recordCount: rowCount, rows: [] }])
      try {
        await rowsOf(engine.engine, snapshotOf(writer), sql, shown)
      } catch (thrown) {
        if (!(thrown instanceof EngineError)) throw thrown
        // A damaged type is a type of its own, which is refused as such.
        expect(thrown.code).toMatch(/^(58030|0A000)$/)
        expect(thrown.message).not.toContain(engine.tables)
        if (thrown.file === undefined) return
        named++
        expect(thrown.file).toBe(files[0] ?? '')
      }
    }),
    { seed, numRuns: runs },
  )
  expect(named).toBeGreaterThan(runs / 5)
})

test('of several files the damaged one is named, to stewards alone', async () => {
  const bytes = Buffer.from(whole.get('snappy') ?? [])
  bytes.fill(0xff, 200, 400)
  const { writer, damaged } = await tableOf(bytes)
  const thrown = await rowsOf(engine.engine, snapshotOf(writer), sql, shown).catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: '58030', file: damaged })
  const name = damaged.slice(damaged.lastIndexOf('/') + 1)
  expect(runError(thrown, { roles: ['steward'] }).hint).toBe(`The file is ${name}.`)
  expect(runError(thrown, { roles: ['analyst'] }).hint).toBeUndefined()
  expect(runError(thrown).hint).toBeUndefined()
})

test('a file that ends DuckDB ends it for nobody else: it is refused, then unread, and others go on', async () => {
  const fatal = mutated({
    codec: 'snappy',
    place: 'anywhere',
    bytes: [
      [1204978833, 152],
      [463185907, 15],
      [855217844, 37],
    ],
  })
  // DuckDB itself: the file breaks an assertion, and every later statement fails.
  const folder = mkdtempSync(join(tmpdir(), 'fatal-'))
  const path = join(folder, 'file.parquet')
  writeFileSync(path, fatal)
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`SELECT name FROM parquet_schema('${path}')`).catch(() => {})
  const later = await failure(connection.run('SELECT 1'))
  expect(later.message).toStartWith('FATAL Error')
  connection.closeSync()
  instance.closeSync()
  rmSync(folder, { recursive: true })

  const other = engine.table(`other${++tables}`, { fields })
  await other.append([{ bytes: whole.get('zstd') ?? fatal, recordCount: rowCount, rows: [] }])
  const writer = engine.table(`fatal${++tables}`, { fields })
  const { files } = await writer.append([{ bytes: fatal, recordCount: rowCount, rows: [] }])
  for (let round = 0; round < 2; round++) {
    const thrown = await failure(rowsOf(engine.engine, snapshotOf(writer), sql, shown))
    expect(thrown).toMatchObject({ code: '58030', file: files[0] ?? '' })
    expect(await rowsOf(engine.engine, snapshotOf(other), sql, shown)).toHaveLength(rowCount)
  }
})

test('a manifest that is damaged is named', async () => {
  const writer = engine.table(`damaged${++tables}`, { fields })
  await writer.append([{ bytes: whole.get('zstd') ?? new Uint8Array(), recordCount: rowCount, rows: [] }])
  const { 'manifest-list': list } = (writer.metadata().snapshots as { 'manifest-list': string }[])[0] ?? {}
  writeFileSync(fileURLToPath(list ?? ''), 'no Avro')
  const thrown = await rowsOf(engine.engine, snapshotOf(writer), sql, shown).catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: '58030', file: list })
})

for (const text of ['Parquet', 'Snappy', 'TProtocolException', 'More than one row returned by a subquery'])
  test(`a value that reads "${text}" is a value that cannot be cast, not a damaged file`, async () => {
    const writer = engine.table(`damaged${++tables}`, { fields })
    await writer.append([{ bytes: whole.get('zstd') ?? new Uint8Array(), recordCount: rowCount, rows: [] }])
    const statement = `SELECT CAST(name || '${text}' AS BIGINT) AS id FROM {} AS b`
    const thrown = await rowsOf(engine.engine, snapshotOf(writer), statement, columns('id int8')).catch(
      (error: unknown) => error,
    )
    expect(thrown).toMatchObject({ code: '22P02' })
  })
