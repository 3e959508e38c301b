/**
 * Measures a move of the embedded store to a server: the audit, usage and graph of one tenant, copied and compared. The
 * figures hold the comparison; to fill the embedded store is not measured.
 */

import type postgres from 'postgres'
import { graphName } from '../src/store/database/names.ts'
import { moveStore } from '../src/store/move/move-store.ts'
import { emptyDatabase, fillEmbedded, onEmbedded } from '../test/support/move.ts'
import { testSecretsKey } from '../test/support/store.ts'
import { type BenchEntry, type BenchResult, type BenchRun, BenchUsageError } from './entry.ts'

export const move: BenchEntry = {
  name: 'move',
  about: 'the embedded store moved to a server, with its comparison',
  options: {
    audits: { type: 'string', value: 'N', about: 'rows of the audit (default 100000)' },
    usages: { type: 'string', value: 'N', about: 'usage records (default 1000000)' },
    'database-url': {
      type: 'string',
      value: 'URL',
      about: 'PostgreSQL 18 with AGE (default: SVC_TEST_DATABASE_URL)',
    },
  },
  run,
}

const rowsMax = 100_000_000
/** Rows that one statement writes to the embedded store. */
const rowsPerStatement = 100_000

async function* run({ smoke, flags, note }: BenchRun): AsyncGenerator<BenchResult> {
  const named = flags.text('database-url') ?? process.env.SVC_TEST_DATABASE_URL
  if (named === undefined) {
    // A smoke of all benchmarks has no server.
    if (smoke) return
    throw new BenchUsageError('move needs --database-url or SVC_TEST_DATABASE_URL.')
  }
  process.env.SVC_TEST_DATABASE_URL = named
  const audits = flags.number('audits', 1, rowsMax) ?? (smoke ? 100 : 100_000)
  const usages = flags.number('usages', 1, rowsMax) ?? (smoke ? 100 : 1_000_000)
  using embedded = await fillEmbedded(1)
  note(`filling the embedded store with ${audits} audits and ${usages} usage records`)
  await onEmbedded(embedded.dataDirectory, async (sql) => {
    await fill(
      sql,
      'svc.audit_log',
      { commit_id: 'gen_random_uuid()', audit_seq: `nextval('svc.audit_log_number')` },
      audits,
    )
    await fill(
      sql,
      'svc.query_usage',
      { query_id: 'gen_random_uuid()', usage_seq: `nextval('svc.query_usage_number')` },
      usages,
    )
    const graph = graphName(embedded.tenants[0])
    await sql.unsafe(`insert into ${graph}."Snapshot" (id, properties)
      select ag_catalog._graphid(ag_catalog._label_id('${graph}', 'Snapshot'), nextval('${graph}."Snapshot_id_seq"')),
        ('{"id": "s3://lake/' || i || '.json"}')::ag_catalog.agtype from generate_series(1, ${audits}) i`)
  })
  await using database = await emptyDatabase()
  const steps = new Map<string, number>()
  const startedMs = performance.now()
  const moved = await moveStore({
    dataDirectory: embedded.dataDirectory,
    databaseUrl: database.databaseUrl,
    secretsKey: testSecretsKey,
    progress: note,
    onStep: (step) => void steps.set(step, performance.now() - startedMs),
  })
  const ms = performance.now() - startedMs
  const comparedMs = (steps.get('compared') ?? ms) - (steps.get('foreign keys') ?? 0)
  const rows = moved.tables.reduce((sum, table) => sum + table.rows, 0)
  yield {
    bench: 'move',
    case: { audits, usages, nodes: audits, tables: moved.tables.length },
    figures: {
      seconds: Math.round(ms / 100) / 10,
      compare_seconds: Math.round(comparedMs / 100) / 10,
      rows_per_s: Math.round(rows / (ms / 1000)),
      rss_mib: Math.round(process.memoryUsage().rss / 2 ** 20),
    },
  }
}

/** Writes copies of one row of a table, but for some columns. */
async function fill(
  sql: postgres.Sql,
  table: string,
  changed: Readonly<Record<string, string>>,
  count: number,
): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`
  const values = columns.map(({ name }) => changed[name] ?? `t."${name}"`)
  for (let at = 0; at < count; at += rowsPerStatement)
    await sql.unsafe(`insert into ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')})
      select ${values.join(', ')} from (select * from ${table} limit 1) t,
        generate_series(1, ${Math.min(rowsPerStatement, count - at)})`)
}
