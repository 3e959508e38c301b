/**
 * Reconciles a table of Parquet files in DuckDB with its copy in a real PostgreSQL: an equal copy, whose rows lie in
 * another order, and copies in which one thing differs. A difference that is not found and named, or one between equal
 * copies, ends the benchmark.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import {
  type ColumnPair,
  icebergColumn,
  pairOf,
  postgresColumn,
} from '../src/contract/reconcile/column-kind.ts'
import { type Cells, locate, type SideReader } from '../src/contract/reconcile/locate.ts'
import { type Oracle, startOracle } from '../test/query/support/postgres.ts'
import { differencesOf, named, readSide, type SideContent } from '../test/support/reconcile.ts'
import { type BenchEntry, type BenchResult, type BenchRun, BenchUsageError } from './entry.ts'
import { rounded } from './table.ts'

export const reconciliation: BenchEntry = {
  name: 'reconciliation',
  about: 'a table in DuckDB against its copy in PostgreSQL: equal, and with one thing that differs',
  options: {
    rows: { type: 'string', value: 'N', about: 'rows of the table (default 10000000)' },
  },
  run,
}

/** Name, Iceberg's type, PostgreSQL's, and a value of row `i` that both write. */
const columns = [
  ['id', 'long', 'bigint', 'i'],
  ['amount', 'decimal(10, 2)', 'numeric(10,2)', '(i * 37 % 10000) * 0.01'],
  ['ratio', 'double', 'double precision', 'CASE WHEN i = 7 THEN 0 ELSE CAST(i AS double precision) / 7 END'],
  ['name', 'string', 'text', "CASE WHEN i % 9 = 0 THEN NULL ELSE 'näme ' || i % 100000 || chr(128512) END"],
  ['flag', 'boolean', 'boolean', 'i % 3 = 0'],
  ['day', 'date', 'date', "CAST(date '1965-01-01' + CAST(i % 20000 AS integer) AS date)"],
  [
    'seen',
    'timestamptz',
    'timestamp with time zone',
    "timestamptz '2024-03-31 00:00:00+00' + i * interval '1 second'",
  ],
] as const
const names = columns.map(([name]) => name)

interface Case {
  /** The value of a column in place of the copy's, by name. */
  readonly changed?: Readonly<Partial<Record<(typeof names)[number], string>>>
  /** Rows that the copy has besides. */
  readonly more?: string
  readonly expected: readonly string[]
  readonly hint?: 'time_zone'
}

const at = (row: number, value: string, column: string) =>
  `CASE WHEN id = ${row} THEN ${value} ELSE ${column} END`
const cases: Readonly<Record<string, Case>> = {
  'equal, in another order': { expected: [] },
  'one value': {
    changed: { amount: at(4321, 'amount + 0.01', 'amount') },
    expected: ['amount sum', 'amount content'],
  },
  'one row twice': {
    more: 'SELECT * FROM base WHERE id = 77',
    expected: ['rows', 'id sum', 'id content'],
  },
  'a rounding': {
    changed: { ratio: at(4321, 'round(CAST(ratio AS numeric), 6)', 'ratio') },
    expected: ['ratio content'],
  },
  'a time zone': {
    changed: { seen: "seen + interval '2 hours'" },
    expected: ['seen sum', 'seen min', 'seen max', 'seen content'],
    hint: 'time_zone',
  },
  NaN: { changed: { ratio: at(4321, "'NaN'", 'ratio') }, expected: ['ratio nan', 'ratio content'] },
  '-0 against 0': {
    changed: { ratio: at(7, "'-0'", 'ratio') },
    expected: ['ratio negative_zero', 'ratio content'],
  },
  'NULL against empty': {
    changed: { name: at(9, "''", 'name') },
    expected: ['name nulls', 'name empty', 'name min', 'name content'],
  },
}

/** The copy of a case as a relation; the table itself where nothing differs. */
function relationOf({ changed = {}, more }: Case): string {
  if (Object.keys(changed).length === 0 && more === undefined) return 'base'
  const list = names.map((name) => `${changed[name] ?? name} AS ${name}`).join(', ')
  return `(SELECT ${list} FROM base${more === undefined ? '' : ` UNION ALL ${more}`}) AS base`
}

const pairs: readonly ColumnPair[] = columns.map(([name, type, sqlType], index) => {
  const pair = pairOf(index + 1, icebergColumn(name, type), postgresColumn(name, sqlType))
  if (pair === undefined) throw new Error(`${name} cannot be compared`)
  return pair
})

async function* run({ smoke, flags, note: tell }: BenchRun): AsyncGenerator<BenchResult> {
  const note = smoke ? () => {} : tell
  const rows = flags.number('rows', 5_000, 100_000_000) ?? (smoke ? 20_000 : 10_000_000)
  const oracle = await startOracle()
  if (oracle === undefined) throw new BenchUsageError('This platform has no packaged PostgreSQL.')
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  const duckdb = await (await DuckDBInstance.create(':memory:', { memory_limit: '2GB' })).connect()
  try {
    const left = await writeParquet(duckdb, folder, rows)
    note(`${rows} rows are written to Parquet`)
    await writePostgres(oracle, rows)
    note(`${rows} rows are written to PostgreSQL`)
    const ofLeft = timer()
    const here = await readSide(left, pairs, 'left', ofLeft.onStep)
    for (const [name, one] of Object.entries(cases)) {
      const right = postgresReader(oracle, relationOf(one))
      const ofRight = timer()
      const there = await readSide(right, pairs, 'right', ofRight.onStep)
      assertFound(name, one, here, there)
      const located = name === 'one value' ? await locateOne({ left, right }) : {}
      yield {
        bench: 'reconciliation',
        case: { copy: name, rows },
        figures: {
          ...prefixed('duckdb', ofLeft.seconds),
          ...prefixed('postgres', ofRight.seconds),
          ...located,
        },
        verdict: one.expected.length === 0 ? 'equal' : 'found and named',
      }
    }
  } finally {
    duckdb.closeSync()
    await oracle.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Seconds of each step. */
function timer() {
  const seconds: Record<string, number> = {}
  let startMs = performance.now()
  return {
    seconds,
    onStep(step: string) {
      const nowMs = performance.now()
      seconds[step] = (nowMs - startMs) / 1000
      startMs = nowMs
    },
  }
}

function prefixed(side: string, seconds: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(seconds).map(([step, s]) => [`${side}_${step}_s`, rounded(s)]))
}

function assertFound(name: string, { expected, hint }: Case, left: SideContent, right: SideContent): void {
  const found = differencesOf(pairs, left, right)
  const missing = expected.filter((one) => !named(found).includes(one))
  const isHinted = hint === undefined || found.some((one) => one.hint === hint)
  if (missing.length > 0 || !isHinted || (expected.length === 0 && found.length > 0))
    throw new Error(`${name}: found ${JSON.stringify(found)} instead of ${expected.join(', ')}`)
}

/** The seconds that it takes to name the row that differs. */
async function locateOne(sides: { readonly left: SideReader; readonly right: SideReader }) {
  const of = (name: string) => pairs.filter((pair) => pair.left.name === name)
  const startMs = performance.now()
  const found = await locate(sides, of('id'), of('amount'), new AbortController().signal)
  if (!found.complete || found.keys.length !== 1 || found.keys[0]?.key[0] !== '4321')
    throw new Error(`the row was not named: ${JSON.stringify(found)}`)
  return { locate_s: rounded((performance.now() - startMs) / 1000) }
}

async function writeParquet(duckdb: DuckDBConnection, folder: string, rows: number): Promise<SideReader> {
  const list = columns
    .map(([name, type, , sql]) => `CAST(${sql} AS ${duckdbType(type)}) AS ${name}`)
    .join(', ')
  const file = join(folder, 'base.parquet')
  await duckdb.run("SET TimeZone = 'UTC'")
  await duckdb.run(`COPY (SELECT ${list} FROM range(1, ${rows + 1}) AS t(i)) TO '${file}' (FORMAT parquet)`)
  return {
    dialect: 'duckdb',
    read: async (write) =>
      (await duckdb.runAndReadAll(write(`read_parquet('${file}')`).sql)).getRowsJS() as Cells[],
  }
}

function duckdbType(type: string): string {
  const types: Readonly<Record<string, string>> = { long: 'BIGINT', string: 'VARCHAR' }
  return types[type] ?? type
}

/** In an order of its own: an odd number times the row's, modulo a power of two. */
async function writePostgres({ admin }: Oracle, rows: number): Promise<void> {
  const list = columns.map(([name, , type, sql]) => `CAST(${sql} AS ${type}) AS ${name}`).join(', ')
  await admin.unsafe(
    `CREATE UNLOGGED TABLE base AS SELECT ${list} FROM generate_series(1::int8, ${rows}) AS t(i) ORDER BY i * 7919 % 65536, i`,
  )
  await admin.unsafe('CREATE INDEX ON base (id); ANALYZE base')
}

function postgresReader({ admin }: Oracle, relation: string): SideReader {
  return {
    dialect: 'postgres',
    read: async (write) => [...(await admin.unsafe(write(relation).sql).values())] as Cells[],
  }
}
