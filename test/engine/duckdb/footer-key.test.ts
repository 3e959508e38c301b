/** Files share a key where their columns are equal, whatever their rows; DuckDB is asked about one file of a key. */

import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import { ShapeCache } from '../../../src/engine/duckdb/file-shape.ts'
import { footerKey } from '../../../src/engine/duckdb/footer-key.ts'

const ids = (rows: number) => duckdbParquet(`SELECT i::BIGINT AS id FROM range(${rows}) AS r(i)`, '{id: 1}')
const keyOf = async (bytes: Promise<Uint8Array>) => footerKey(await bytes)

describe('the key of a footer', () => {
  test('is one for files with the same columns and different rows', async () => {
    const key = await keyOf(ids(1))
    expect(key).toBeString()
    expect(await keyOf(ids(5_000))).toBe(key)
  })

  test.each([
    ['name', duckdbParquet('SELECT 1::BIGINT AS no', '{no: 1}')],
    ['type', duckdbParquet('SELECT 1::INTEGER AS id', '{id: 1}')],
    ['field id', duckdbParquet('SELECT 1::BIGINT AS id', '{id: 2}')],
    ['absent field id', duckdbParquet('SELECT 1::BIGINT AS id')],
    ['second column', duckdbParquet('SELECT 1::BIGINT AS id, 2::BIGINT AS n', '{id: 1, n: 2}')],
  ])('is another one for files that differ in a %s', async (_, other) => {
    expect(await keyOf(other)).toBeString()
    expect(await keyOf(other)).not.toBe(await keyOf(ids(1)))
  })

  test('is unknown where the footer is cut off or malformed', async () => {
    const bytes = await ids(1)
    expect(footerKey(bytes.subarray(0, -1))).toBeUndefined()
    expect(footerKey(bytes.subarray(-20))).toBeUndefined()
    expect(footerKey(new Uint8Array(4))).toBeUndefined()
    const broken = bytes.slice()
    broken.fill(0xff, -40, -8)
    expect(footerKey(broken)).toBeUndefined()
  })
})

test('DuckDB is asked about one file of each key, and about a forgotten key again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shapes-'))
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const kinds = [await ids(1), await duckdbParquet("SELECT 'a' AS name", '{name: 1}')]
    const files = Array.from({ length: 20 }, (_, at) => {
      const bytes = kinds[at % 2] ?? new Uint8Array()
      const path = join(folder, `${at}.parquet`)
      writeFileSync(path, bytes)
      return { path, footerKey: footerKey(bytes) }
    })
    let asked = 0
    const counted = {
      async runAndReadAll(sql: string) {
        asked += sql.match(/\.parquet'/g)?.length ?? 0
        return await connection.runAndReadAll(sql)
      },
    } as Pick<DuckDBConnection, 'runAndReadAll'> as DuckDBConnection
    const shapes = new ShapeCache()
    await shapes.learn(counted, files)
    expect(asked).toBe(2)
    expect(files.map(({ path }) => shapes.get(path)?.columns[0]?.name)).toEqual(
      files.map((_, at) => (at % 2 === 0 ? 'id' : 'name')),
    )
    for (const { path } of files) shapes.forget(path)
    expect(files.map(({ path }) => shapes.get(path))).toEqual(files.map(() => undefined))
    await shapes.learn(counted, files.slice(0, 1))
    expect(asked).toBe(3)
    // Without a key each is asked about.
    await shapes.learn(
      counted,
      files.slice(1, 5).map(({ path }) => ({ path: `${path}`, footerKey: undefined })),
    )
    expect(asked).toBe(7)
  } finally {
    connection.closeSync()
    instance.closeSync()
    rmSync(folder, { recursive: true, force: true })
  }
})
