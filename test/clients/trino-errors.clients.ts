/**
 * What errors tell on a real Trino: pairs of tables that PyIceberg wrote, which differ only in rows that their reader
 * may not see. A leak is a statement that answers on the harmless one and fails on the other.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { GovernedColumn, GovernedTable } from '../../src/core/governed-table.ts'
import type { IcebergType } from '../../src/core/iceberg-type.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { packageFolder } from './packages.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import { runSession } from './sessions.ts'
import { icebergCatalog, startTrino, type TrinoServer } from './trino-server.ts'
import { currentSnapshot, governedReader, trinoEngine } from './trino-tables.ts'

const types: Readonly<Record<string, IcebergType>> = {
  id: 'long',
  owner: 'string',
  name: 'string',
  n: 'long',
  f: 'double',
  day: 'date',
  at: 'timestamp',
  seen: 'timestamptz',
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
  'a date’s range': `day + 1 > date '1970-01-01'`,
  'a timestamp’s range': `at + interval '1 day' > timestamp '1970-01-01'`,
  'text[] to int[]': 'CAST(words AS int[]) IS NOT NULL',
  'bigint[] to int[]': 'cardinality(CAST(longs AS int[])) > 0',
  'float8[] to int[]': 'CAST(floats AS int[])  IS NOT NULL',
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
let engine: Engine

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

function governed(tableName: string, { filters, mask }: Policy): GovernedTable {
  const column = ([name, type]: readonly [string, IcebergType], index: number): GovernedColumn => ({
    name,
    fieldId: index + 1,
    type,
    required: false,
    masks:
      mask === undefined || name === 'id' || name === 'owner'
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

/** The SQLSTATE by which a statement ends over these tables; undefined where it answers. */
async function ending(
  policy: Policy,
  place: string,
  attack: string,
  tables: readonly string[],
): Promise<string | undefined> {
  const key = JSON.stringify(policy)
  const reader = readers.get(key) ?? readerOf(policy)
  readers.set(key, reader)
  const condition = attacks[attack] ?? ''
  const text = tables.map(
    (table) => `(${(places[place] ?? '').replaceAll('{t}', table).replaceAll('{e}', () => condition)})`,
  )
  try {
    await (await reader).run(text.join(' UNION ALL '))
    return undefined
  } catch (error) {
    return String(Reflect.get(error as object, 'code') ?? Reflect.get(error as object, 'sqlState') ?? error)
  }
}

describe.each(Object.keys(attacks))('%s', (attack) => {
  test('trino-errors: fails on the hidden values themselves, and on nothing else', async () => {
    const open: Policy = { filters: [] }
    expect(await ending(open, 'WHERE', attack, harmless)).toBeUndefined()
    expect(await ending(open, 'WHERE', attack, ['plain_hostile'])).toMatch(/^22/)
  })

  test.each(
    Object.entries(policies).flatMap(([name, policy]) =>
      Object.keys(places).map((place) => [place, name, policy] as const),
    ),
  )('trino-errors: tells nothing by %s under %s', async (place, _, policy) => {
    // Trino may ask a condition of partition values before it reads a row.
    const tables = place === 'WHERE' ? hostile : ['plain_hostile']
    expect(await ending(policy, place, attack, tables)).toBeUndefined()
  })
})
