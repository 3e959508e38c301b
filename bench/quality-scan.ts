/**
 * Measures the library metrics of a contract on a table with the columns and value ranges of TPC-H `lineitem`, written
 * by DuckDB or Spark: planned, compiled, run and judged as a check run does. It compares them, in turns, with the same SQL by
 * DuckDB alone on the same files.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { systemClock } from '../src/base/clock.ts'
import { planChecks } from '../src/contract/quality/plan-checks.ts'
import { stepsOf } from '../src/contract/quality/quality-kind.ts'
import type { SystemTable } from '../src/core/system-read.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { startDuckdb } from '../src/engine/duckdb/duckdb-host.ts'
import type { ComputeEngine, TableSnapshot } from '../src/engine/engine.ts'
import { compileQuery } from '../src/query/compile/compile.ts'
import { renderSql } from '../src/query/compile/emit/render.ts'
import type { ContractModel, ModelQuality } from '../src/wire/odcs/model.ts'
import { defaultTextOptions, textOf } from '../src/wire/postgres/text-values.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { lineitemColumns, lineitemWriters, writeLineitem } from './lineitem.ts'
import { bootstrapRatio, percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

export const qualityScan: BenchEntry = {
  name: 'quality-scan',
  about: 'library metrics of 10 million rows by a check run, against the same SQL by DuckDB alone',
  options: {
    'written-by': {
      type: 'string',
      value: lineitemWriters.join('|'),
      about: 'who writes the table (default duckdb)',
    },
  },
  run,
}

interface Check {
  readonly column: string
  readonly metric: string
  readonly given?: object
  /** What a person writes for DuckDB. */
  readonly alone: string
}

const counts: readonly Check[] = [
  { column: '', metric: 'rowCount', alone: 'count(*)' },
  { column: 'l_comment', metric: 'nullValues', alone: 'count(*) FILTER (WHERE l_comment IS NULL)' },
  { column: 'l_orderkey', metric: 'nullValues', alone: 'count(*) FILTER (WHERE l_orderkey IS NULL)' },
  {
    ...{ column: 'l_shipmode', metric: 'missingValues', given: { missingValues: ['', 'N/A', null] } },
    alone: "count(*) FILTER (WHERE l_shipmode IS NULL OR l_shipmode IN ('', 'N/A'))",
  },
  {
    ...{ column: 'l_returnflag', metric: 'invalidValues', given: { validValues: ['A', 'N'] } },
    alone: "count(*) FILTER (WHERE l_returnflag NOT IN ('A', 'N'))",
  },
  {
    ...{ column: 'l_linenumber', metric: 'invalidValues', given: { validValues: [1, 2, 3, 4, 5, 6] } },
    alone: 'count(*) FILTER (WHERE l_linenumber NOT IN (1, 2, 3, 4, 5, 6))',
  },
  {
    ...{ column: 'l_comment', metric: 'invalidValues', given: { pattern: '^[a-z]+ [0-9]+ deposits$' } },
    alone: "count(*) FILTER (WHERE NOT regexp_matches(l_comment, '^[a-z]+ [0-9]+ deposits$'))",
  },
]
const duplicatesAlone = (column: string) => (from: string) =>
  `SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${column} IS NOT NULL GROUP BY ${column} HAVING count(*) > 1)`

/** The checks of each case, and the statements of DuckDB alone. */
const cases: Readonly<
  Record<string, { readonly checks: readonly Check[]; readonly alone: readonly ((from: string) => string)[] }>
> = {
  'seven counts, one pattern': {
    checks: counts,
    alone: [(from) => `SELECT ${counts.map(({ alone }) => alone).join(', ')} FROM ${from}`],
  },
  'duplicates of 100,000 values': {
    checks: [{ column: 'l_suppkey', metric: 'duplicateValues', alone: '' }],
    alone: [duplicatesAlone('l_suppkey'), (from) => `SELECT count(*) FROM ${from}`],
  },
  'duplicates of 2,000,000 values': {
    checks: [{ column: 'l_partkey', metric: 'duplicateValues', alone: '' }],
    alone: [duplicatesAlone('l_partkey'), (from) => `SELECT count(*) FROM ${from}`],
  },
}

const tenant = '00000000-0000-4000-8000-000000000001' as TenantId
const threads = navigator.hardwareConcurrency
const memoryBytes = 1024 ** 3

async function* run({ smoke, seed, flags }: BenchRun): AsyncGenerator<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  const host = await startDuckdb({
    folder: join(folder, 'engine'),
    ...{ threads, memoryBytesMax: memoryBytes, spillBytesMax: memoryBytes, cacheBytesMax: 4 * memoryBytes },
    ...{ placesMax: 1, queueMax: 1, runMs: 600_000, poolThreads: 16 },
  })
  const alone = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: `${memoryBytes}B`,
  })
  const connection = await alone.connect()
  try {
    const [fileCount, rowsPerFile] = smoke ? [2, 1_000] : [20, 500_000]
    const [writer = 'duckdb'] = flags.choices('written-by', lineitemWriters) ?? []
    const { files, snapshot } = await writeLineitem(writer, folder, fileCount, rowsPerFile)
    const table = systemTable(
      host.engine({ tenant, key: 'bench', access: { roots: [folder], s3: undefined } }),
      snapshot,
    )
    const from = `read_parquet([${files.map((file) => `'${file}'`).join(', ')}])`
    for (const [name, { checks, alone: statements }] of Object.entries(cases)) {
      const found: { base: string[]; target: string[] } = { base: [], target: [] }
      const [base = [], target = []] = await interleavedTimes(
        [
          async () => {
            found.base = []
            for (const statement of statements) {
              const rows = await (await connection.run(statement(from))).getRows()
              found.base.push(...(rows[0] ?? []).map(String))
            }
          },
          async () => {
            found.target = await throughChecks(table, checks)
          },
        ],
        smoke ? 1 : 15,
        seededRandom(seed),
      )
      // The last statement of the duplicates counts rows, which a check run shows too.
      if (found.target.some((value, index) => value !== found.base[index]))
        throw new Error(`${name}: the results differ: ${found.target} and ${found.base}`)
      const rounds = base.map((ms, index) => ({ base: [target[index] ?? ms], target: [ms] }))
      const ratio = bootstrapRatio(rounds, { quantile: 0.5, seed })
      yield {
        bench: 'quality-scan',
        case: { checks: name, writer, rows: fileCount * rowsPerFile, files: fileCount, threads },
        figures: {
          p50_ms: rounded(percentile(target, 0.5)),
          p50_duckdb_ms: rounded(percentile(base, 0.5)),
          ratio_vs_duckdb: rounded(1 / ratio.value),
          ratio_low: rounded(1 / ratio.high),
          ratio_high: rounded(1 / ratio.low),
        },
        ...(!smoke && { verdict: 1 / ratio.value <= 1.3 ? 'within 1.3' : 'above 1.3' }),
      }
    }
  } finally {
    connection.closeSync()
    alone.closeSync()
    await host.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Plans and runs the checks, as a run does. @returns the values, in the order of the checks */
async function throughChecks(table: SystemTable, checks: readonly Check[]): Promise<string[]> {
  const quality = (column: string): readonly ModelQuality[] =>
    checks.flatMap(({ column: at, metric, given = null }, index) =>
      at === column
        ? [{ key: `k${index}`, type: 'library', metric, measures: JSON.stringify([null, given, null, null]) }]
        : [],
    )
  const schema = {
    ...{ name: 'lineitem', table: { namespace: ['tpch'], name: 'lineitem' }, quality: quality('') },
    ...{ relationships: [], rowFilters: [] },
    properties: lineitemColumns.map(([name]) => ({
      ...{ name, required: false, unique: false, primaryKey: false, options: {}, relationships: [] },
      ...{ quality: quality(name), masks: [], rowFilters: [] },
    })),
  }
  const model: ContractModel = {
    ...{
      apiVersion: 'v3.2.0',
      id: 'c',
      version: '1.0.0',
      compatibility: 'none',
      secondApproval: false,
      sla: [],
    },
    schemas: [schema],
  }
  const values = new Map<string, string>()
  for (const step of stepsOf(planChecks(model, schema, table, undefined), table, systemClock)) {
    const { findings } = await step.run(new AbortController().signal)
    for (const { key, value, outcome } of findings) values.set(key.split('.').at(-1) ?? '', value ?? outcome)
  }
  return checks.map((_, index) => values.get(`k${index}`) ?? 'missing')
}

/** The table as a check run has it, without store and catalog. */
function systemTable(engine: ComputeEngine, snapshot: TableSnapshot): SystemTable {
  const { table } = snapshot
  const principal = { sub: 'bench', roles: [] }
  const compile = (text: string) => compileQuery({ text, principal, tables: [table], searchPath: ['tpch'] })
  return {
    ...{ snapshotId: snapshot.snapshotId, currentSnapshotId: snapshot.snapshotId, committedAtMs: undefined },
    columns: table.columns,
    relation: '"tpch"."lineitem"',
    check(text) {
      compile(text)
      return { fieldIds: [], types: [] }
    },
    beside: () => Promise.reject(new Error('checks of quality run no SQL of the engine')),
    runNative: () => Promise.reject(new Error('checks of quality run no SQL of the engine')),
    async run(text, _rowsMax, signal) {
      const compiled = compile(text)
      const handle = await engine.open([snapshot], {
        queryId: crypto.randomUUID(),
        tenant,
        principal: 'bench',
        signal,
      })
      try {
        const sql = renderSql(compiled.emit('duckdb'), 'duckdb', { relation: handle.relation })
        const rows: string[][] = []
        for await (const { rowCount, columns: vectors } of handle.run({ sql, columns: compiled.columns }))
          for (let row = 0; row < rowCount; row++)
            rows.push(vectors.map((vector) => textOf(vector, row, defaultTextOptions)))
        return { rows, engine: 'duckdb', bytes: 0 }
      } finally {
        await handle.close()
      }
    },
  }
}
