/** The embedded engine reads tables that Spark wrote, and counts what Spark counts. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { columns, rowsOf, startTestEngine, type TestEngine, tenant } from '../support/engine.ts'
import { metadataIn, snapshotAt } from './engine-tables.ts'
import type { Step } from './sessions.ts'
import { runSpark } from './spark-session.ts'

const stack = new AsyncDisposableStack()
let warehouse: string
let engine: TestEngine
let steps: readonly Step[]

const versions = [2, 3] as const
const counts = (name: string, length: string) =>
  `SELECT count(*), sum(id), sum(value), count(note), count(land), max(${length}(tags)) FROM ${name}`
const sparkCounts = (version: number) => counts(`lake.n.v${version}`, 'size')
const files = (version: number) =>
  `SELECT DISTINCT concat(file_format, ' ', content) FROM lake.n.v${version}.files ORDER BY 1`

/** Renames, promotions, a new partition field, and deletes that stay beside the data. */
const history = (version: number) => {
  const name = `lake.n.v${version}`
  return [
    `CREATE TABLE ${name} (id BIGINT, land STRING, amount DECIMAL(10,2), at TIMESTAMP, tags ARRAY<STRING>)
      USING iceberg PARTITIONED BY (land) TBLPROPERTIES ('format-version' = '${version}',
      'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')`,
    `INSERT INTO ${name} SELECT id, CASE id % 3 WHEN 0 THEN 'de' WHEN 1 THEN 'fr' END, CAST(id AS DECIMAL(10,2)) / 4,
      TIMESTAMP '2024-01-01 00:00:00', array('a', CAST(id AS STRING)) FROM range(1000)`,
    `DELETE FROM ${name} WHERE id % 10 = 3`,
    `UPDATE ${name} SET amount = amount + 1 WHERE id BETWEEN 100 AND 109`,
    `ALTER TABLE ${name} RENAME COLUMN amount TO value`,
    `ALTER TABLE ${name} ALTER COLUMN value TYPE DECIMAL(14,2)`,
    `ALTER TABLE ${name} ADD COLUMN note STRING`,
    `ALTER TABLE ${name} ADD PARTITION FIELD bucket(4, id)`,
    `MERGE INTO ${name} t USING (SELECT 500 AS k UNION ALL SELECT 5000) u ON t.id = u.k
      WHEN MATCHED THEN UPDATE SET note = 'merged' WHEN NOT MATCHED THEN INSERT (id, land, value, at, tags, note)
      VALUES (u.k, 'xx', 1.5, TIMESTAMP '2024-02-02 00:00:00', array(), 'new')`,
    `DELETE FROM ${name} WHERE id = 998`,
    sparkCounts(version),
    files(version),
  ]
}

beforeAll(async () => {
  warehouse = await mkdtemp(join(tmpdir(), 'covenant-engine-'))
  stack.defer(() => rm(warehouse, { recursive: true, force: true }))
  engine = await startTestEngine()
  stack.defer(() => engine.close())
  const settings = {
    'spark.sql.extensions': 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
    'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.lake.type': 'hadoop',
    'spark.sql.catalog.lake.warehouse': warehouse,
  }
  const lines = Object.entries(settings).map(([key, value]) => `${key} ${value}\n`)
  steps = await runSpark(
    { settings: lines.join(''), log: 'engine', seconds: 400, folder: warehouse },
    versions.flatMap(history),
  )
}, 450_000)
afterAll(() => stack.disposeAsync())

const answerTo = (statement: string) => steps.find(({ step }) => step === statement)?.value

test('engine: position deletes of Spark', () => compare(2, 'PARQUET 1'), 60_000)
test('engine: deletion vectors of Spark', () => compare(3, 'PUFFIN 1'), 60_000)

/** @param deletes format and content of the delete files that Spark must have written */
async function compare(version: 2 | 3, deletes: string): Promise<void> {
  expect(steps.filter(({ message }) => message !== undefined)).toEqual([])
  expect(answerTo(files(version))).toEqual([['PARQUET 0'], [deletes]])
  const snapshot = await snapshotAt(warehouse, await metadataIn(`${warehouse}/n/v${version}/metadata`))
  const reader = engine.host.engine({ tenant, key: 'spark', access: { roots: [warehouse], s3: undefined } })
  const types = columns('n int8, ids int8, value numeric, notes int8, lands int8, tags int8')
  const sql = counts('{} AS b', 'len').replace('sum(id)', 'sum(id)::BIGINT')
  const [row = []] = await rowsOf(reader, snapshot, sql, types)
  // Decimals travel as digits and a scale; Python writes them with a point.
  const read = row.map((value) => String(value).replace(/(\d\d)e-2$/, '.$1'))
  expect([read]).toEqual((answerTo(sparkCounts(version)) as unknown[][]).map((each) => each.map(String)))
}
