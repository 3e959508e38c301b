/**
 * Runs one statement on a governed table and on its twin, which holds only what the reader may see, and reports where
 * the outcomes differ. The compiler and the engine are the service's own; there is no store and no network.
 */

import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import type { SqlType } from '../../../src/core/sql-type.ts'
import type { TableSnapshot } from '../../../src/engine/engine.ts'
import { compileQuery } from '../../../src/query/compile.ts'
import { renderSql } from '../../../src/query/emit/render.ts'
import { runError } from '../../../src/query/run-error.ts'
import {
  governed,
  rowsIn,
  runBy,
  snapshotOf,
  startTestEngine,
  type TestEngine,
} from '../../support/engine.ts'
import type { GovernanceCase } from './cases.ts'
import { fieldsOf } from './columns.ts'
import { type FileKind, type FileName, writerOf } from './file-names.ts'
import { bytesOf, type FixtureReader, openFixtures } from './files.ts'

/** Rows as text, each equal where its values are; or the error as a client is told of it. */
export type Outcome = { readonly rows: readonly string[] } | { readonly error: string }

export interface Statement {
  readonly text: string
  /** Whether the order of rows is part of the result. */
  readonly ordered: boolean
}

export interface Pair {
  /** `case / file`, for messages. */
  readonly name: string
  /** @returns a sentence where the outcomes differ in what hidden values alone explain */
  compare(statement: Statement): Promise<Comparison>
  outcome(statement: Statement, of: 'hostile' | 'harmless' | 'twin'): Promise<Outcome>
}

/**
 * `equal`; `leak`: hidden values explain it; `unlike`: the rows differ from the twin's whatever the hidden values;
 * `order`: a visible value fails in one of them, as SQL leaves open what is computed first.
 */
export interface Comparison {
  readonly kind: 'equal' | 'leak' | 'unlike' | 'order'
  readonly failed: boolean
  readonly difference?: string
}

export interface Pairs {
  readonly pair: (governance: GovernanceCase, file: FileName) => Promise<Pair>
  readonly close: () => Promise<void>
}

const principal = { sub: 'bob', roles: [] }

/** Opens an engine with small bounds; tables are written when they are first asked for. */
export async function openPairs(): Promise<Pairs> {
  const engine = await startTestEngine({ threads: 1, runMs: 20_000 })
  const fixtures = await openFixtures()
  const made = new Map<string, Promise<Pair>>()
  return {
    pair(governance, file) {
      const name = `${governance.name} / ${file}`
      const pair = made.get(name) ?? makePair(engine, fixtures, governance, file, name)
      made.set(name, pair)
      return pair
    },
    async close() {
      fixtures.close()
      await engine.close()
    },
  }
}

async function makePair(
  engine: TestEngine,
  fixtures: FixtureReader,
  governance: GovernanceCase,
  file: FileName,
  name: string,
): Promise<Pair> {
  const folder = name.replace(/\W+/g, '-')
  const written = async (kind: FileKind) => {
    const writer = engine.table(`${folder}-${kind}`, { fields: fieldsOf(writerOf(file)), formatVersion: 3 })
    await writeFile(writer, fixtures, governance, file, kind)
    return snapshotOf(writer, { table: governedBy(governance, file) })
  }
  const twin = async () => {
    const writer = engine.table(`${folder}-twin`, { fields: fieldsOf('twin'), formatVersion: 3 })
    await writer.append([{ rows: [], ...(await fixtures.twin(governance, file, 'hostile')) }])
    return snapshotOf(writer, { table: readable(governed(fieldsOf('twin'))) })
  }
  const tables = {
    hostile: await written('hostile'),
    twin: await twin(),
    harmless: undefined as TableSnapshot | undefined,
  }
  const outcome: Pair['outcome'] = async (statement, of) => {
    if (of === 'harmless') tables.harmless ??= await written('harmless')
    return run(engine, tables[of] as TableSnapshot, statement)
  }
  return { name, outcome, compare: compareBy(outcome) }
}

/** Compares outcomes; what harmless hidden rows give is asked for only where it matters. */
export function compareBy(outcome: Pair['outcome']): Pair['compare'] {
  return async (statement) => {
    const [seen, expected] = await Promise.all([outcome(statement, 'hostile'), outcome(statement, 'twin')])
    const failed = 'error' in expected
    if (same(seen, expected)) return { kind: 'equal', failed }
    const harmless = await outcome(statement, 'harmless')
    const difference = `governed ${brief(seen)}\ntwin     ${brief(expected)}\nharmless ${brief(harmless)}`
    if (!same(seen, harmless)) return { kind: 'leak', failed, difference }
    const kind = 'error' in seen || 'error' in expected ? 'order' : 'unlike'
    return { kind, failed, difference }
  }
}

/** Puts a fixture's file into a table, and deletes what the case deletes. */
export async function writeFile(
  writer: IcebergWriter,
  fixtures: FixtureReader,
  governance: Pick<GovernanceCase, 'deletes'>,
  file: FileName,
  kind: FileKind,
): Promise<void> {
  const { rows, hidden } = await fixtures.counts(file, kind)
  const { files } = await writer.append([{ rows: [], bytes: bytesOf(file, kind), recordCount: rows }])
  const [dataFile = ''] = files
  if (governance.deletes !== undefined)
    await writer.delete({ kind: governance.deletes, dataFile, positions: hidden })
}

function readable(table: GovernedTable): GovernedTable {
  return { ...table, readableWithoutContract: true }
}

function governedBy({ filter, masks = {} }: GovernanceCase, file: FileName): GovernedTable {
  const table = readable(governed(fieldsOf(writerOf(file))))
  const origin = { kind: 'table' } as const
  return {
    ...table,
    columns: table.columns.map((column) => {
      const mask = masks[column.name]
      return mask === undefined ? column : { ...column, masks: [{ policyId: column.name, origin, ...mask }] }
    }),
    rowFilters: filter === undefined ? [] : [{ policyId: 'rows', origin, expression: filter }],
  }
}

async function run(
  { engine }: TestEngine,
  snapshot: TableSnapshot,
  { text, ordered }: Statement,
): Promise<Outcome> {
  const { table } = snapshot
  try {
    const compiled = compileQuery({ text, principal, tables: [table], searchPath: ['s'] })
    compiled.emit('duckdb')
    const session = await engine.open(
      compiled.reads.map(() => ({ ...snapshot, ranges: compiled.ranges.get(table) })),
      runBy(),
    )
    try {
      const deletes = new Set(session.hasDeletes(table) ? [table] : [])
      const relation = (of: GovernedTable) => session.relation(of)
      const sql = renderSql(compiled.emit('duckdb', deletes), 'duckdb', {
        relation,
        salt: new Uint8Array(32),
        parameters: [],
      })
      const result = session.run({
        sql,
        columns: compiled.columns.map(({ type, size }, index) => ({ name: `c${index + 1}`, type, size })),
      })
      const rows: string[] = []
      const types = compiled.columns.map(({ type }) => type)
      for await (const batch of result) for (const row of rowsIn(batch)) rows.push(lineOf(row, types))
      return { rows: ordered ? rows : rows.sort() }
    } finally {
      await session.close()
    }
  } catch (thrown) {
    const { sqlState, publicMessage } = runError(thrown)
    return { error: `${sqlState} ${publicMessage}` }
  }
}

/** A row as text. Sums of floats are as near as their order of adding lets them be. */
function lineOf(row: readonly unknown[], types: readonly SqlType[]): string {
  return JSON.stringify(row.map((value, index) => cellOf(value, types[index] ?? 'text')))
}

function cellOf(value: unknown, type: SqlType): unknown {
  if (Array.isArray(value)) return value.map((item) => cellOf(item, type))
  if (typeof value === 'bigint') return `${value}`
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (type.startsWith('numeric') && typeof value === 'string') return withoutZeros(value)
  if (typeof value !== 'number') return value
  return String(Number(value.toPrecision(type.startsWith('float4') ? 5 : 9)))
}

/** A decimal of `rowsIn`: its scale is that of its batch, and rows come in other batches where some are hidden. */
function withoutZeros(decimal: string): string {
  const [digits = '', scale = '0'] = decimal.split('e-')
  const zeros = Math.min(Number(scale), /0*$/.exec(digits)?.[0].length ?? 0)
  return `${digits.slice(0, digits.length - zeros) || '0'}e-${digits === '0' ? 0 : Number(scale) - zeros}`
}

function same(a: Outcome, b: Outcome): boolean {
  return Bun.deepEquals(a, b)
}

function brief(outcome: Outcome): string {
  if ('error' in outcome) return outcome.error
  const text = outcome.rows.join(' ')
  return `${outcome.rows.length} rows ${text.length > 300 ? `${text.slice(0, 300)}…` : text}`
}
