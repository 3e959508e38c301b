/**
 * Errors reveal nothing of hidden rows. Every served function, operator and cast runs over two tables that differ in
 * hidden rows only. A statement that fails on one and succeeds on the other would tell them apart.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from '../../../../../src/base/sql-text.ts'
import { flat } from '../../../../../src/query/compile/base/flat.ts'
import type { Expr, Query, Select } from '../../../../../src/query/compile/base/ir.ts'
import { SqlError } from '../../../../../src/query/compile/base/sql-error.ts'
import { emitStatement } from '../../../../../src/query/compile/emit/query.ts'
import { dialects, renderSql, splitSlots } from '../../../../../src/query/compile/emit/render.ts'
import * as special from '../../../../../src/query/compile/functions/special.ts'
import { barrierOf } from '../../../../../src/query/compile/protect/barrier.ts'
import { protectTables } from '../../../../../src/query/compile/protect/protect.ts'
import { literalOf } from '../../../../../src/query/compile/resolve/coerce.ts'
import { isLongForm } from '../../../../support/long-form.ts'
import { type Hiding, hiddenTable, hidings, type Layout, layouts, writeHidden } from './hidden-rows.ts'
import { callsOf, castCalls, type RegistryCall, registry } from './registry-calls.ts'

setDefaultTimeout(900_000)

let folder = ''
let instance: DuckDBInstance
let connection: DuckDBConnection
const files = new Map<string, string>()
const fileOf = (layout: Layout, hidden: 'hostile' | 'harmless') => files.get(`${layout} ${hidden}`) ?? ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'barrier-'))
  instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  for (const layout of layouts)
    for (const hidden of ['hostile', 'harmless'] as const)
      files.set(`${layout} ${hidden}`, await writeHidden(connection, folder, layout, hidden))
})

afterAll(() => {
  connection.closeSync()
  instance.closeSync()
  rmSync(folder, { recursive: true, force: true })
})

type Position = 'target' | 'where' | 'where, above OFFSET 0' | 'filter of an aggregate'
/** Where in a statement the call stands, of every call alone: `test:soak` has all, `test:walks` the usual. */
const positions: readonly Position[] =
  process.env.SVC_TEST_SOAK_SECONDS === undefined
    ? ['target', 'where']
    : ['target', 'where', 'where, above OFFSET 0', 'filter of an aggregate']
const isShort = process.env.SVC_TEST_SOAK_SECONDS === undefined && !isLongForm
/** In the short form so many calls are targets of one statement, and one of so many stands in a condition. */
const callsTogether = 40

const count: Expr = {
  kind: 'aggregate',
  def: {
    ...special.coalesce,
    name: 'count',
    duckdb: 'count[*]',
    ordered: false,
    keepsOrder: false,
    skipsNulls: false,
  },
  args: [],
  type: 'int8',
  distinct: false,
  orderBy: [],
}
const isNotNull = (arg: Expr): Expr => ({ kind: 'is', test: 'NOT NULL', arg, type: 'bool' })

function queryOf(from: Select['from'], targets: readonly Expr[], where?: Expr, offset?: Expr): Query {
  return {
    ctes: [],
    orderBy: [],
    columns: targets.map(({ type }, index) => ({ name: `c${index + 1}`, type })),
    body: { kind: 'select', distinct: false, groupBy: [], groupDistinct: false, targets, from, where },
    offset,
  }
}

interface Statement {
  readonly table: ReturnType<typeof hiddenTable>
  readonly call: RegistryCall
  readonly position: Position
}

function statementOf({ table, call: { column, of }, position }: Statement): Query {
  const index = column.kind === 'column' ? column.index : 0
  const item = { kind: 'table', id: 't1', table, used: new Set([index, 1]) } as const
  const call = isNotNull(of(column))
  if (position === 'target') return queryOf([item], [of(column)])
  if (position === 'where') return queryOf([item], [count], call)
  if (position === 'filter of an aggregate') return queryOf([item], [{ ...count, filter: call } as Expr])
  const inner = queryOf([item], [column], undefined, literalOf('0', 'int8'))
  const outer: Expr = { ...column, relation: 's1', index: 0 } as Expr
  const subquery = { kind: 'subquery', id: 's1', lateral: false, query: inner } as const
  return queryOf([subquery], [count], isNotNull(of(outer)))
}

/** SQL over a file; undefined where the engine has no such form. */
function sqlOf(query: Query, table: Statement['table']): ((path: string) => string) | undefined {
  const used = new Set(table.columns.keys())
  try {
    const protections = protectTables([{ id: 't1', table, used }], { sub: 'me', roles: [] })
    const read = new Set([...usedIn(query)])
    const protection = protections.get('t1')
    if (protection === undefined) throw new Error('the table is not protected')
    const columns = protection.columns.filter(({ index }) => read.has(index))
    const narrowed = new Map([['t1', { ...protection, columns }]])
    const barrier = barrierOf('duckdb', query, narrowed, () => false)
    const parts = splitSlots(
      emitStatement(dialects.duckdb, query, narrowed, barrier),
      new Map([['t1', table]]),
      new Map(),
    )
    return (path) => renderSql(parts, 'duckdb', { relation: () => quoteText(path) })
  } catch (thrown) {
    if (thrown instanceof SqlError && thrown.sqlState !== 'XX000') return undefined
    throw thrown
  }
}

function usedIn(query: Query): readonly number[] {
  if (query.body.kind !== 'select') return []
  return query.body.from.flatMap((item) =>
    item.kind === 'table' ? [...item.used] : item.kind === 'subquery' ? usedIn(item.query) : [],
  )
}

const failure = 'an error:'

async function outcomeOf(sql: string): Promise<string> {
  try {
    const reader = await connection.runAndReadAll(sql)
    return reader.currentRowCount === 1
      ? JSON.stringify(reader.getRowsJson())
      : String(reader.currentRowCount)
  } catch (thrown) {
    return `${failure} ${String(thrown).slice(0, 60)}`
  }
}

/** What the statement tells of hidden rows by failing; undefined where it tells nothing. */
async function told(sql: (path: string) => string, layout: Layout): Promise<string | undefined> {
  const hostile = await outcomeOf(sql(fileOf(layout, 'hostile')))
  if (!hostile.startsWith(failure)) return undefined
  const harmless = await outcomeOf(sql(fileOf(layout, 'harmless')))
  return hostile === harmless ? undefined : `${hostile} where hidden values are hostile, else ${harmless}`
}

/** Asks all calls as targets of one statement. @returns those that fail on hidden values and not on others */
async function leaksTogether(
  calls: readonly RegistryCall[],
  table: Statement['table'],
  layout: Layout,
): Promise<readonly string[]> {
  const indexes = calls.map(({ column }) => (column.kind === 'column' ? column.index : 0))
  const item = { kind: 'table', id: 't1', table, used: new Set([...indexes, 1]) } as const
  const targets = calls.map(({ column, of }) => of(column))
  const sql = sqlOf(queryOf([item], targets), table)
  const [only, ...others] = calls
  if (sql !== undefined && only !== undefined && others.length === 0) {
    const leak = await told(sql, layout)
    return leak === undefined ? [] : [`${only.name}, target, ${layout}: ${leak}`]
  }
  if (sql === undefined) throw new Error('calls that are served alone are not served together')
  // Where one fails, another may hide behind it.
  if (!(await outcomeOf(sql(fileOf(layout, 'hostile')))).startsWith(failure)) return []
  const half = Math.ceil(calls.length / 2)
  return [
    ...(await leaksTogether(calls.slice(0, half), table, layout)),
    ...(await leaksTogether(calls.slice(half), table, layout)),
  ]
}

async function leaksInShort(calls: readonly RegistryCall[], hiding: Hiding): Promise<readonly string[]> {
  const table = hiddenTable(hiding)
  const served = calls.filter((call) => sqlOf(statementOf({ table, call, position: 'target' }), table))
  const leaks: string[] = []
  for (let from = 0; from < served.length; from += callsTogether)
    for (const layout of layouts)
      leaks.push(...(await leaksTogether(served.slice(from, from + callsTogether), table, layout)))
  const conditions = served.filter((_, index) => index % callsTogether === 0)
  return [...leaks, ...(await leaksAlone(conditions, hiding, ['where']))]
}

function leaksOf(calls: readonly RegistryCall[], hiding: Hiding): Promise<readonly string[]> {
  return isShort ? leaksInShort(calls, hiding) : leaksAlone(calls, hiding, positions)
}

async function leaksAlone(
  calls: readonly RegistryCall[],
  hiding: Hiding,
  among: readonly Position[],
): Promise<readonly string[]> {
  const table = hiddenTable(hiding)
  const leaks: string[] = []
  for (const call of calls)
    for (const position of among) {
      const sql = sqlOf(statementOf({ table, call, position }), table)
      if (sql === undefined) continue
      for (const layout of layouts) {
        const leak = await told(sql, layout)
        if (leak !== undefined) leaks.push(`${call.name}, ${position}, ${layout}: ${leak}`)
      }
    }
  return leaks
}

describe.each(Object.keys(hidings) as Hiding[])('behind %s no error tells of a hidden value', (hiding) => {
  test('by a function or an operator', async () => {
    expect(await leaksOf(registry.flatMap(callsOf), hiding)).toEqual([])
  })

  test('by a cast', async () => {
    expect(await leaksOf(castCalls(), hiding)).toEqual([])
  })
})

describe('the engine, without a barrier,', () => {
  const filter = `owner = 'me'`
  const shown = (column: string, form: (sql: string) => string) => (path: string) =>
    `(SELECT ${form(`CASE WHEN ${filter} THEN "${column}" END`)} AS v FROM ${quoteText(path)} WHERE ${filter}) AS t`
  const same = (sql: string) => sql

  /** What DuckDB computes over whole dictionaries, and what it does not know to throw. */
  const unflagged = [
    ['t', `'x' LIKE replace(v, 'SECRET', '\\') ESCAPE '\\'`],
    ['t', `'x' ILIKE v ESCAPE '\\'`],
    ['dt', 'epoch_us(v)'],
    ['d', 'to_timestamp(v)'],
    ['tz', `v - TIMESTAMPTZ '2020-01-01 00:00:00+00'`],
  ] as const

  test.each(unflagged)('tells of hidden values of %s by %s', async (column, call) => {
    const from = shown(column, same)
    expect(await told((path) => `SELECT ${call} FROM ${from(path)}`, 'sorted')).toBeString()
  })

  test.each(unflagged)('tells nothing of %s by %s behind the barrier', async (column, call) => {
    const from = shown(column, flat)
    for (const layout of layouts)
      expect(await told((path) => `SELECT ${call} FROM ${from(path)}`, layout)).toBeUndefined()
  })

  test('casts all elements of hidden lists of a mixed vector', async () => {
    const from = (form: (sql: string) => string) => (path: string) =>
      `SELECT CAST(${form(`CASE WHEN ${filter} THEN t_list END`)} AS INT[]) FROM ${quoteText(path)}`
    expect(await told(from(same), 'mixed')).toBeString()
    expect(await told(from(flat), 'mixed')).toBeUndefined()
  })

  test('takes a condition that it holds for harmless before the filters below it', async () => {
    const from = (pattern: string) => (path: string) =>
      `SELECT count(*) FROM (SELECT t AS v, owner FROM ${quoteText(path)} WHERE owner LIKE '%me') AS t WHERE owner = 'bob' AND 'x' LIKE ${pattern} ESCAPE '\\'`
    const pattern = `CASE WHEN v = 'SECRET' THEN '\\' ELSE 'q' END`
    expect(await told(from(pattern), 'mixed')).toBeString()
    expect(await told(from(flat(pattern)), 'mixed')).toBeUndefined()
  })
})

test('every overload that DuckDB has is called', () => {
  expect(registry.filter((def) => callsOf(def).length === 0).map(({ id }) => id)).toEqual([])
})
