/**
 * Maintenance of tables by Spark and Trino with credentials that the service issues and that may delete, before versitygw,
 * which judges each file that a request deletes. What is gone, and what is still there, is read from its folder.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { type Lake, type LakeClient, startLake } from './lake.ts'
import { startTrino, type TrinoServer, trinoSql } from './trino-server.ts'
import { startVersitygwWithRoles } from './versitygw.ts'

let lake: Lake
let spark: LakeClient
let trino: TrinoServer
/** Of the storage on this machine. */
let folder: string
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  const storage = await startVersitygwWithRoles('lake')
  folder = storage.folder
  lake = stack.use(await startLake('vend', { storage, deletes: true }))
  const login = await lake.logIn('maintainer', ['commit'])
  spark = await lake.spark('vending-maintenance', { covenant: login }, 900)
  const minima = {
    'iceberg.expire-snapshots.min-retention': '0s',
    'iceberg.remove-orphan-files.min-retention': '0s',
  }
  trino = stack.use(await startTrino({ catalogs: { covenant: { ...lake.trinoCatalog(login), ...minima } } }))
}, 2_700_000)
afterAll(() => stack.disposeAsync())

const folderOf = (name: string) => join(folder, lake.place(name).replace('s3://', ''))
/** The files of a table in the storage, by their names below its folder. */
const filesOf = (name: string) =>
  [...new Glob('**/*').scanSync({ cwd: folderOf(name), onlyFiles: true })].sort()

/** A file that no table names, three days old. */
function orphan(name: string): string {
  const file = `data/orphan-${crypto.randomUUID()}.parquet`
  const path = join(folderOf(name), file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'left behind')
  const then = Date.now() / 1000 - 3 * 86_400
  utimesSync(path, then, then)
  return file
}

const engines: Readonly<
  Record<
    'spark' | 'trino',
    {
      readonly run: (statement: string) => Promise<unknown>
      readonly create: (name: string) => string
      readonly expire: (name: string) => string
      readonly clean: (name: string) => string
      readonly compute: (name: string) => string
      readonly purge: (name: string) => string
    }
  >
> = {
  spark: {
    run: (statement) => spark.run(statement),
    create: (name) =>
      `CREATE TABLE covenant.sales.${name} (id BIGINT, note STRING) USING iceberg LOCATION '${lake.place(name)}'`,
    expire: (name) =>
      `CALL covenant.system.expire_snapshots(table => 'sales.${name}', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)`,
    clean: (name) =>
      `CALL covenant.system.remove_orphan_files(table => 'sales.${name}', prefix_listing => true)`,
    compute: (name) => `CALL covenant.system.compute_table_stats(table => 'sales.${name}')`,
    purge: (name) => `DROP TABLE covenant.sales.${name} PURGE`,
  },
  trino: {
    run: (statement) => trinoSql(trino.url, statement),
    create: (name) =>
      `CREATE TABLE covenant.sales.${name} (id BIGINT, note VARCHAR) WITH (location = '${lake.place(name)}')`,
    expire: (name) =>
      `ALTER TABLE covenant.sales.${name} EXECUTE expire_snapshots(retention_threshold => '0s')`,
    clean: (name) =>
      `ALTER TABLE covenant.sales.${name} EXECUTE remove_orphan_files(retention_threshold => '1d')`,
    compute: (name) => `ANALYZE covenant.sales.${name}`,
    purge: (name) => `DROP TABLE covenant.sales.${name}`,
  },
}

describe.each(Object.entries(engines))('vending-maintenance: %s', (name, engine) => {
  const table = `${name}_s3`
  const beside = `${name}_beside_s3`
  const rows = async (of: string) => await engine.run(`SELECT count(*) FROM covenant.sales.${of}`)

  beforeAll(async () => {
    for (const each of [table, beside]) {
      await engine.run(engine.create(each))
      for (const id of [1, 2, 3])
        await engine.run(`INSERT INTO covenant.sales.${each} VALUES (${id}, 'row ${id}')`)
    }
  }, 300_000)

  test('expires snapshots, and their files are gone', async () => {
    await engine.run(`DELETE FROM covenant.sales.${table} WHERE id = 1`)
    const before = filesOf(table)
    await engine.run(engine.expire(table))
    const after = filesOf(table)
    const lists = (files: readonly string[]) => files.filter((file) => /snap-.*\.avro$/.test(file)).length
    expect(lists(before)).toBeGreaterThan(1)
    expect(lists(after)).toBe(1)
    expect(await rows(table)).toEqual([[2]])
  }, 300_000)

  test('removes orphan files of its table, and none of another', async () => {
    const [mine, other] = [orphan(table), orphan(beside)]
    await engine.run(engine.clean(table))
    expect(filesOf(table)).not.toContain(mine)
    expect(filesOf(beside)).toContain(other)
    expect(await rows(table)).toEqual([[2]])
  }, 300_000)

  test('computes statistics', async () => {
    await engine.run(engine.compute(table))
    expect(filesOf(table).some((file) => file.endsWith('.stats'))).toBe(true)
  }, 300_000)

  test('purges a table, whose files are gone where the engine deletes them, and leaves the one beside it', async () => {
    const before = filesOf(beside)
    await engine.run(engine.purge(table))
    // Trino asks the catalog to, and this one deletes no files.
    const left = existsSync(folderOf(table)) ? filesOf(table).filter((file) => file.startsWith('data/')) : []
    expect(left.length > 0).toBe(name === 'trino')
    expect(filesOf(beside)).toEqual(before)
    expect(await rows(beside)).toEqual([[3]])
    await expect(rows(table)).rejects.toThrow()
  }, 300_000)
})
