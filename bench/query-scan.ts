/**
 * Measures rows of an Iceberg table through the read path (compile, protect, open the snapshot, run, decode). It
 * compares them, in turns, with DuckDB alone on the same files with the same filter.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { duckdbParquet } from '../demo/lake/duckdb-parquet.ts'
import { tableInFolder } from '../demo/lake/iceberg-writer.ts'
import type { Field } from '../demo/lake/table-fields.ts'
import type { GovernedTable } from '../src/core/governed-table.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { startDuckdb } from '../src/engine/duckdb/duckdb-host.ts'
import type { ComputeEngine } from '../src/engine/engine.ts'
import { compileQuery } from '../src/query/compile/compile.ts'
import { renderSql } from '../src/query/compile/emit/render.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { bootstrapRatio, percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

export const queryScan: BenchEntry = {
  name: 'query-scan',
  about: 'aggregates and rows through the read path, against DuckDB alone on the same files',
  options: {},
  run,
}

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'region', type: 'string' },
  { id: 3, name: 'status', type: 'string' },
  { id: 4, name: 'amount', type: 'decimal(12,2)' },
  { id: 5, name: 'quantity', type: 'int' },
  { id: 6, name: 'ordered_on', type: 'date' },
]
const rowFilter = "region <> 'north'"

const and = (filter: string): string => (filter === '' ? ' WHERE' : `${filter} AND`)

/** Both get the same statement. The baseline names the files where the read path names the table. */
const statements = {
  'aggregate by group': (from: string, filter: string) =>
    `SELECT status, count(*) AS n, sum(quantity) AS q, max(amount) AS a FROM ${from}${filter} GROUP BY status ORDER BY status`,
  'aggregate by month': (from: string, filter: string) =>
    `SELECT date_trunc('month', ordered_on) AS m, count(*) AS n, sum(quantity) AS q FROM ${from}${filter} GROUP BY 1 ORDER BY 1`,
  'count of a day': (from: string, filter: string) =>
    `SELECT count(*) AS n FROM ${from}${and(filter)} ordered_on = date '2024-03-01'`,
  rows: (from: string, filter: string) => `SELECT id, status, amount FROM ${from}${filter}`,
  'rows with the largest amounts': (from: string, filter: string) =>
    `SELECT id, status, amount FROM ${from}${filter} ORDER BY amount DESC, id LIMIT 100`,
  'first row of each status by a row number': (from: string, filter: string) =>
    `SELECT * FROM (SELECT status, id, amount, row_number() OVER (PARTITION BY status ORDER BY amount DESC, id) AS n FROM ${from}${filter}) x WHERE n = 1`,
  'first row of each status by DISTINCT ON': (from: string, filter: string) =>
    `SELECT DISTINCT ON (status) status, id, amount FROM ${from}${filter} ORDER BY status, amount DESC, id`,
  // The barrier applies, because the columns are read by expressions that can fail (src/query/compile/protect/barrier.ts).
  'pattern from a text of few values': (from: string, filter: string) =>
    `SELECT count(*) AS n FROM ${from}${and(filter)} 'sent' LIKE replace(status, 'x', 'y')`,
  'range of ids': (from: string, filter: string) =>
    `SELECT sum(quantity) AS n FROM ${from}${and(filter)} id BETWEEN 1000 AND 9000`,
  'sum over a range of ids': (from: string, filter: string) =>
    `SELECT sum(id * 2) AS n FROM ${from}${and(filter)} id BETWEEN 1000 AND 9000`,
  'range of a sum': (from: string, filter: string) =>
    `SELECT sum(quantity) AS n FROM ${from}${and(filter)} id + 1 BETWEEN 1001 AND 9001`,
}

type Sql = (from: string, filter: string) => string

/** The statement for the read path, which adds the table's filter itself. */
const sqlOf = (sql: Sql) => sql('sales.orders', '')

/** `again`: the same text every time, whose preparation the read path caches. `new`: a different text every time. */
const texts = ['again', 'new'] as const

/** Adds a condition that every row meets, a different one for each number. */
function varied(sql: Sql, number: number): Sql {
  return (from, filter) => sql(from, `${and(filter)} quantity > ${-number}`)
}

const tenant = '00000000-0000-4000-8000-000000000001' as TenantId
const threads = navigator.hardwareConcurrency
const memoryBytes = 1024 ** 3

async function* run({ smoke, seed }: BenchRun): AsyncGenerator<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  const host = await startDuckdb({
    folder: join(folder, 'engine'),
    threads,
    memoryBytesMax: memoryBytes,
    spillBytesMax: memoryBytes,
    cacheBytesMax: 4 * memoryBytes,
    placesMax: 1,
    queueMax: 1,
    runMs: 600_000,
    poolThreads: 16,
  })
  const alone = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: `${memoryBytes}B`,
  })
  const connection = await alone.connect()
  try {
    const fileCount = smoke ? 2 : 8
    const rowsPerFile = smoke ? 1_000 : 500_000
    const { files, snapshot } = await writeTable(folder, fileCount, rowsPerFile)
    const engine = host.engine({ tenant, key: 'bench', access: { roots: [folder], s3: undefined } })
    const warmUp = sqlOf(statements['count of a day'])
    // Warms up as in a service that has run for a while. The other statements share its code.
    for (let round = smoke ? 1 : 300; round > 0; round--) await throughReadPath(engine, snapshot, warmUp)
    const from = `read_parquet([${files.map((file) => `'${new URL(file).pathname}'`).join(', ')}])`
    const cases = Object.entries(statements).flatMap(([statement, sql]) =>
      texts.map((text) => ({ statement, sql, text })),
    )
    for (const { statement, sql, text } of cases) {
      const numbers = { base: 0, target: 0 }
      const asked = (side: keyof typeof numbers) => (text === 'again' ? sql : varied(sql, ++numbers[side]))
      const counts = { base: 0, target: 0 }
      const [base = [], target = []] = await interleavedTimes(
        [
          async () => {
            counts.base = 0
            const result = await connection.stream(asked('base')(from, ` WHERE ${rowFilter}`))
            for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; ) {
              counts.base += chunk.rowCount
              chunk = await result.fetchChunk()
            }
          },
          async () => {
            counts.target = await throughReadPath(engine, snapshot, sqlOf(asked('target')))
          },
        ],
        smoke ? 1 : statement === 'rows' ? 15 : 40,
        seededRandom(seed),
      )
      if (counts.base !== counts.target) throw new Error(`${statement}: the results differ`)
      const rounds = base.map((ms, index) => ({ base: [target[index] ?? ms], target: [ms] }))
      const ratio = bootstrapRatio(rounds, { quantile: 0.5, seed })
      const rows = fileCount * rowsPerFile
      yield {
        bench: 'query-scan',
        case: { statement, text, rows, files: fileCount, threads },
        figures: {
          rows_per_s: Math.round(rows / (percentile(target, 0.5) / 1000)),
          p50_ms: rounded(percentile(target, 0.5)),
          p50_duckdb_ms: rounded(percentile(base, 0.5)),
          ratio_vs_duckdb: rounded(ratio.value),
          ratio_low: rounded(ratio.low),
          ratio_high: rounded(ratio.high),
        },
      }
    }
  } finally {
    connection.closeSync()
    alone.closeSync()
    await host.close()
    await rm(folder, { recursive: true, force: true })
  }
}

type Snapshot = Parameters<ComputeEngine['open']>[0][number]

async function throughReadPath(engine: ComputeEngine, snapshot: Snapshot, text: string): Promise<number> {
  const principal = { sub: 'bench', roles: ['analyst'] }
  const compiled = compileQuery({ text, principal, tables: [snapshot.table], searchPath: ['sales'] })
  const session = await engine.open([snapshot], {
    queryId: crypto.randomUUID(),
    tenant,
    principal: 'bench',
    signal: new AbortController().signal,
  })
  try {
    const sql = renderSql(compiled.emit('duckdb'), 'duckdb', { relation: session.relation })
    let rows = 0
    for await (const batch of session.run({ sql, columns: compiled.columns })) rows += batch.rowCount
    return rows
  } finally {
    await session.close()
  }
}

async function writeTable(folder: string, fileCount: number, rowsPerFile: number) {
  const writer = tableInFolder(folder, 'orders', { fields })
  const files = []
  for (let file = 0; file < fileCount; file++) {
    const bytes = await duckdbParquet(
      `SELECT i::BIGINT AS id, ['north', 'south', 'east', 'west'][1 + (hash(i) % 4)::INTEGER] AS region, ['open', 'paid', 'sent', 'back', 'lost'][1 + (hash(i + 1) % 5)::INTEGER] AS status, ((hash(i + 2) % 10000000)::BIGINT / 100)::DECIMAL(12,2) AS amount, (hash(i + 3) % 100)::INTEGER AS quantity, DATE '2024-01-01' + (hash(i + 4) % 366)::INTEGER AS ordered_on FROM range(${file * rowsPerFile}, ${(file + 1) * rowsPerFile}) AS r(i)`,
      '{id: 1, region: 2, status: 3, amount: 4, quantity: 5, ordered_on: 6}',
    )
    files.push({ rows: [], recordCount: rowsPerFile, bytes })
  }
  const appended = await writer.append(files)
  const table: GovernedTable = {
    ref: { namespace: ['sales'], name: 'orders' },
    schemaName: 'sales',
    tableName: 'orders',
    relation: {},
    columns: fields.map(({ id, name, type }) => ({
      name,
      fieldId: id,
      type: String(type),
      required: false,
      masks: [],
    })),
    rowFilters: [{ policyId: 'f', origin: { kind: 'table' }, expression: rowFilter }],
    contract: { id: 'c', version: 1 },
  }
  const { metadataLocation, snapshotId } = appended
  return { files: appended.files, snapshot: { table, metadataLocation, snapshotId } }
}
