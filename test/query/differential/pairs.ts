/**
 * Runs one statement on a governed table and on its twin, which holds only what the reader may see, and reports where
 * the outcomes differ. The compiler and the engine are the service's own; there is no store and no network.
 */

import type { GovernedTable } from '../../../src/core/governed-table.ts'
import type { SqlType } from '../../../src/core/sql-type.ts'
import type { TableSnapshot } from '../../../src/engine/engine.ts'
import { compileQuery } from '../../../src/query/compile/compile.ts'
import { renderSql } from '../../../src/query/compile/emit/render.ts'
import { runError } from '../../../src/query/run/attempt/run-error.ts'
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
import { type FileName, type TableKind, writerOfTable } from './file-names.ts'
import { type FixtureReader, openFixtures } from './files.ts'
import { isSeenWhole, writeTable } from './write-table.ts'

/** Rows as text, each equal where its values are; or the error that a client receives. */
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
  outcome(statement: Statement, of: TableKind): Promise<Outcome>
}

/**
 * `leak`: other hidden values give another outcome. `unlike`: the rows differ from the twin's.
 * `order`: a visible value fails in one of them, because SQL leaves open what is computed first. The policies or the
 * layout of the file decide which, and not that there are hidden rows. `presence`: nothing explains it but those.
 */
export interface Comparison {
  readonly kind: 'equal' | 'leak' | 'unlike' | 'order' | 'presence'
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
  const written = async (kind: TableKind): Promise<TableSnapshot> => {
    const fields = fieldsOf(writerOfTable(file, kind))
    const writer = engine.table(`${folder}-${kind}`, { fields, formatVersion: 3 })
    await writeTable(writer, fixtures, governance, file, kind)
    const table = readable(governed(fields))
    return snapshotOf(writer, { table: kind === 'twin' ? table : governedBy(governance, table) })
  }
  const tables = new Map<TableKind, Promise<TableSnapshot>>()
  const outcome: Pair['outcome'] = async (statement, of) => {
    const table = tables.get(of) ?? written(of)
    tables.set(of, table)
    return run(engine, await table, statement)
  }
  return { name, outcome, compare: compareBy(outcome, governance) }
}

/** Compares outcomes. The tables that explain a difference are written only where there is one. */
export function compareBy(outcome: Pair['outcome'], governance: GovernanceCase): Pair['compare'] {
  const guardedHoldsNothingHidden = isSeenWhole(governance)
  return async (statement) => {
    const [seen, expected] = await Promise.all([outcome(statement, 'hostile'), outcome(statement, 'twin')])
    const failed = 'error' in expected
    if (same(seen, expected)) return { kind: 'equal', failed }
    const harmless = await outcome(statement, 'harmless')
    const difference = `governed ${brief(seen)}\ntwin     ${brief(expected)}\nharmless ${brief(harmless)}`
    const asGuarded = async () => same(seen, await outcome(statement, 'guarded'))
    if (!same(seen, harmless)) {
      // What masks show of hostile values differs, too, and may fail where the twin computes it later.
      const isShown = guardedHoldsNothingHidden && failed !== 'error' in seen && (await asGuarded())
      return { kind: isShown ? 'order' : 'leak', failed, difference }
    }
    if (!('error' in seen || 'error' in expected)) return { kind: 'unlike', failed, difference }
    const isExplained =
      (await asGuarded()) || same(await outcome(statement, 'guarded'), await outcome(statement, 'rewritten'))
    return { kind: isExplained ? 'order' : 'presence', failed, difference }
  }
}

function readable(table: GovernedTable): GovernedTable {
  return { ...table, readableWithoutContract: true }
}

function governedBy({ filter, masks = {} }: GovernanceCase, table: GovernedTable): GovernedTable {
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
  if (type.startsWith('numeric') && typeof value === 'string') return decimalOf(value)
  if (typeof value !== 'number') return value
  return String(Number(value.toPrecision(type.startsWith('float4') ? 5 : 9)))
}

/** As many digits as a quotient of numerics has, which DuckDB computes as a float. Sums of such depend on their order. */
const digitsMax = 14

/** A decimal of `rowsIn` by its value: its scale is that of its batch, and rows come in other batches where some are hidden. */
function decimalOf(decimal: string): string {
  const [digits = '', scale = '0'] = decimal.split('e-')
  const surplus = Math.max(0, digits.replace('-', '').length - digitsMax)
  const rounded =
    surplus === 0
      ? digits
      : `${Number(`${digits.slice(0, -surplus)}.${digits.slice(-surplus)}`).toFixed(0)}${'0'.repeat(surplus)}`
  const zeros = Math.min(Number(scale), /0*$/.exec(rounded)?.[0].length ?? 0)
  return `${rounded.slice(0, rounded.length - zeros) || '0'}e-${rounded === '0' ? 0 : Number(scale) - zeros}`
}

function same(a: Outcome, b: Outcome): boolean {
  return Bun.deepEquals(a, b)
}

function brief(outcome: Outcome): string {
  if ('error' in outcome) return outcome.error
  const text = outcome.rows.join(' ')
  return `${outcome.rows.length} rows ${text.length > 300 ? `${text.slice(0, 300)}…` : text}`
}
