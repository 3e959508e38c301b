/**
 * What errors reveal on a real Trino: pairs of tables that PyIceberg wrote, which differ only in rows that their
 * reader may not see. A statement that succeeds on the harmless one and fails on the other is a leak.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { GovernedColumn, GovernedTable } from '../../src/core/governed-table.ts'
import type { IcebergType } from '../../src/core/iceberg-type.ts'
import type { ComputeEngine } from '../../src/engine/engine.ts'
import { compileQuery } from '../../src/query/compile/compile.ts'
import { packageFolder } from './packages.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import { runSession } from './sessions.ts'
import { icebergCatalog, startTrino, type TrinoServer, trinoSql } from './trino-server.ts'
import { currentSnapshot, governedReader, trinoEngine } from './trino-tables.ts'

const types: Readonly<Record<string, IcebergType>> = {
  id: 'long',
  owner: 'string',
  name: 'string',
  n: 'long',
  f: 'double',
  day: 'date',
  words: { type: 'list', element: 'string' },
  longs: { type: 'list', element: 'long' },
  floats: { type: 'list', element: 'double' },
}

/** Conditions that fail on hidden values alone, by what makes them fail. */
const attacks: Readonly<Record<string, string>> = {
  'a pattern that ends in its escape': `'X' LIKE replace(name, 'SECRET', '\\')`,
  'a pattern by regexp_replace': `'X' LIKE regexp_replace(name, '^S.*$', '\\', 'g')`,
  'text to integer': 'CAST(name AS int) > 0',
  'text to date': `CAST('20' || name || '-01-01' AS date) > date '1970-01-01'`,
  'division by zero': '10 / n >= 0',
  'an integer’s range': 'n + 1 > 0',
  'a smaller integer': 'CAST(n AS int4) > 0',
  'double to integer': 'CAST(f AS int4) > 0',
  to_timestamp: `to_timestamp(f) > '1970-01-01'`,
  'the epoch of a date': `extract(epoch FROM day) > 0`,
  'text[] to int[]': 'CAST(words AS int[]) IS NOT NULL',
  'bigint[] to int[]': 'cardinality(CAST(longs AS int[])) > 0',
  'float8[] to int[]': 'CAST(floats AS int[]) IS NOT NULL',
}

/** Statements by where the condition stands; `{t}` is the table, `{e}` the condition. */
const places: Readonly<Record<string, string>> = {
  WHERE: 'SELECT count(*) FROM {t} WHERE {e}',
  'coalesce and CASE in WHERE': 'SELECT count(*) FROM {t} WHERE coalesce(CASE WHEN {e} THEN true END, false)',
  'the select list': 'SELECT {e} FROM {t}',
  FILTER: 'SELECT count(*) FILTER (WHERE {e}) FROM {t}',
  'GROUP BY': 'SELECT count(*) FROM {t} GROUP BY {e}',
  'ORDER BY': 'SELECT max(id) FROM (SELECT id FROM {t} ORDER BY {e} LIMIT 5) AS s',
  'a subquery’s list': 'SELECT count(*) FROM (SELECT {e} AS e FROM {t}) AS s WHERE e',
  'above OFFSET': 'SELECT count(*) FROM (SELECT * FROM {t} OFFSET 0) AS s WHERE {e}',
  'a join': 'SELECT count(*) FROM {t} JOIN (SELECT id AS other FROM {t}) AS o ON other = id WHERE {e}',
  'a window': 'SELECT max(w) FROM (SELECT count(*) OVER (PARTITION BY {e}) AS w FROM {t}) AS s',
}

const onlyBob = (expression: string): Policy => ({ filters: [expression] })
interface Policy {
  readonly filters: readonly string[]
  readonly mask?: string
  /** Of the column `name` alone. */
  readonly nameMask?: string
}
const policies: Readonly<Record<string, Policy>> = {
  'a row filter by a comparison': onlyBob(`owner = 'bob'`),
  'a row filter that is no comparison': onlyBob(`owner LIKE 'b%' AND (lower(owner) <> 'eve' OR id < 0)`),
  'a conditional mask': { filters: [], mask: `CASE WHEN owner = 'bob' THEN this_column END` },
}

/** Its files hold hidden rows mixed with others, after them and in runs; the others are partitioned. */
const kinds = ['plain', 'by_name', 'by_both']
const harmless = kinds.map((kind) => `${kind}_harmless`)
const hostile = kinds.map((kind) => `${kind}_hostile`)

const stack = new AsyncDisposableStack()
let fixture: FixtureServer
let trino: TrinoServer
let engine: ComputeEngine

beforeAll(async () => {
  fixture = stack.use(await startRestFixture())
  await runSession({
    python: join(packageFolder('python:pyiceberg'), 'bin/python'),
    script: 'pyiceberg_hidden.py',
    log: 'trino-errors',
    args: [fixture.url],
    env: {},
    seconds: 120,
  })
  trino = stack.use(await startTrino({ catalogs: { lake: icebergCatalog(fixture.url) } }))
  engine = trinoEngine(trino.url, fixture.url)
}, 240_000)
afterAll(() => stack.disposeAsync())

function governed(tableName: string, { filters, mask, nameMask }: Policy): GovernedTable {
  const column = ([name, type]: readonly [string, IcebergType], index: number): GovernedColumn => ({
    name,
    fieldId: index + 1,
    type,
    required: false,
    masks:
      nameMask !== undefined && name === 'name'
        ? [{ policyId: 'm', origin: { kind: 'column' }, action: nameMask }]
        : mask === undefined || name === 'id' || name === 'owner'
          ? []
          : [{ policyId: 'm', origin: { kind: 'column' }, action: 'apply-expression', expression: mask }],
  })
  return {
    ref: { namespace: ['hidden'], name: tableName },
    schemaName: 'hidden',
    tableName,
    relation: { trino: ['lake', 'hidden', tableName] },
    columns: Object.entries(types).map(column),
    rowFilters: filters.map((expression) => ({ policyId: 'f', origin: { kind: 'table' }, expression })),
    contract: { id: 'c', version: 1 },
  }
}

const readers = new Map<string, Promise<Awaited<ReturnType<typeof readerOf>>>>()

async function readerOf(policy: Policy) {
  const tables = [...harmless, ...hostile]
  const snapshots = await Promise.all(
    tables.map((name) => currentSnapshot(fixture.url, governed(name, policy))),
  )
  return governedReader(engine, snapshots, ['hidden'])
}

/** A statement of each attack at a place, over each of these tables. */
function statement(place: string, names: readonly string[], tables: readonly string[]): string {
  const one = (attack: string, table: string) =>
    (places[place] ?? '').replaceAll('{t}', table).replaceAll('{e}', () => attacks[attack] ?? '')
  return names.flatMap((attack) => tables.map((table) => `(${one(attack, table)})`)).join(' UNION ALL ')
}

/** The SQLSTATE by which a statement ends; undefined where it answers. */
async function ending(policy: Policy, text: string): Promise<string | undefined> {
  const key = JSON.stringify(policy)
  const reader = readers.get(key) ?? readerOf(policy)
  readers.set(key, reader)
  try {
    await (await reader).run(text)
    return undefined
  } catch (error) {
    return String(Reflect.get(error as object, 'code') ?? Reflect.get(error as object, 'sqlState') ?? error)
  }
}

/** Attacks that run together are written as each would be alone: with the barrier, or without. */
function together(policy: Policy, place: string): readonly (readonly string[])[] {
  const tables = [governed('plain_hostile', policy)]
  const hasBarrier = (attack: string) =>
    JSON.stringify(
      compileQuery({
        text: statement(place, [attack], ['plain_hostile']),
        principal: { sub: 'ann', roles: [] },
        tables,
        searchPath: ['hidden'],
      }).emit('trino'),
    ).includes('CASE WHEN (_b.')
  return Object.values(Object.groupBy(Object.keys(attacks), (attack) => String(hasBarrier(attack)))).map(
    (group) => group ?? [],
  )
}

test.each(Object.keys(attacks))(
  'trino-errors: %s fails on hidden values, and on no others',
  async (attack) => {
    const open: Policy = { filters: [] }
    expect(await ending(open, statement('WHERE', [attack], ['plain_harmless']))).toBeUndefined()
    expect(await ending(open, statement('WHERE', [attack], ['plain_hostile']))).toMatch(/^(22|XX)/)
  },
)

describe.each(Object.entries(policies))('under %s', (_, policy) => {
  test.each(Object.keys(places))('trino-errors: no error tells of hidden values by %s', async (place) => {
    // Trino may ask a condition of partition values before it reads a row.
    const tables = place === 'WHERE' ? hostile : ['plain_hostile']
    const leaks: string[] = []
    for (const group of together(policy, place)) {
      if ((await ending(policy, statement(place, group, tables))) === undefined) continue
      for (const attack of group) {
        const ended = await ending(policy, statement(place, [attack], tables))
        if (ended !== undefined) leaks.push(`${attack}: ${ended}`)
      }
    }
    expect(leaks).toEqual([])
  })
})

test('trino-errors: no error tells of the text behind show-first-4 and show-last-4', async () => {
  const leaks: string[] = []
  for (const nameMask of ['show-first-4', 'show-last-4'])
    for (const place of Object.keys(places)) {
      const text = statement(place, ['a pattern that ends in its escape'], ['plain_hostile'])
      if ((await ending({ filters: [], nameMask }, text)) !== undefined) leaks.push(`${nameMask}: ${place}`)
    }
  expect(leaks).toEqual([])
})

test('trino-errors: Trino itself asks the filter of a subquery first, and conditions beside one another as written', async () => {
  const table = 'lake.hidden.plain_hostile'
  const ends = (sql: string) =>
    trinoSql(trino.url, sql).then(
      () => 'answers',
      () => 'fails',
    )
  const seen: string[][] = []
  for (const condition of ['10 / n >= 0', 'cardinality(CAST(words AS ARRAY(INTEGER))) > 0'])
    for (const filter of [`owner = 'bob'`, `name NOT LIKE 'S%'`])
      seen.push([
        await ends(`SELECT count(*) FROM (SELECT * FROM ${table} WHERE ${filter}) WHERE ${condition}`),
        await ends(`SELECT ${condition} FROM (SELECT * FROM ${table} WHERE ${filter})`),
        await ends(`SELECT count(*) FROM ${table} WHERE ${condition} AND ${filter}`),
      ])
  // A comparison goes to the scan, wherever it stands.
  const [compared, matched] = [
    ['answers', 'answers', 'answers'],
    ['answers', 'answers', 'fails'],
  ]
  expect(seen).toEqual([compared, matched, compared, matched])
})
