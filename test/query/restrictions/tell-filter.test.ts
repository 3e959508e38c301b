/**
 * Row filters as predicates of Iceberg keep exactly the rows that SQL keeps, however a reader compares NULL. What has no
 * such predicate is not said.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { JsonValue } from '../../../src/base/json.ts'
import { stringifyJson } from '../../../src/base/json.ts'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import { compileQuery } from '../../../src/query/compile/compile.ts'
import { renderSql } from '../../../src/query/compile/emit/render.ts'
import { resolveFilters } from '../../../src/query/compile/protect/protect.ts'
import { tellFilter } from '../../../src/query/restrictions/tell-filter.ts'
import { type Predicate, predicateJson } from '../../../src/wire/iceberg/predicate.ts'

const ann = { sub: 'ann', roles: ['analyst'] }
const columns = [
  ['id', 1, 'int', true],
  ['n', 2, 'long', false],
  ['region', 3, 'string', false],
  ['flag', 4, 'boolean', false],
  ['day', 5, 'date', false],
  ['placed', 6, 'timestamptz', false],
  ['amount', 7, 'decimal(9,2)', false],
  ['ratio', 8, 'double', false],
] as const

function table(...filters: readonly string[]): GovernedTable {
  return {
    ...{ ref: { namespace: ['s'], name: 't' }, schemaName: 's', tableName: 't', relation: { duckdb: ['t'] } },
    columns: columns.map(([name, fieldId, type, required]) => ({ name, fieldId, type, required, masks: [] })),
    rowFilters: filters.map((expression, index) => ({
      ...{ policyId: `f${index}`, origin: { kind: 'table' }, expression },
    })),
    readableWithoutContract: true,
  }
}

function tell(filter: string): Predicate | undefined {
  const given = table(filter)
  const [resolved] = resolveFilters(given, ann)
  if (resolved === undefined) throw new Error('no filter')
  return tellFilter(given, resolved)
}

/** Values by field id; a decimal as its text. */
type Row = Readonly<Record<number, JsonValue>>
const choices: Readonly<Record<number, readonly JsonValue[]>> = {
  2: [null, -1n, 5n, 6n],
  3: [null, 'eu', 'us', 'eu-1', '%'],
  4: [null, true, false],
  5: [null, '2024-01-01', '2024-06-01'],
  6: [null, '2024-01-01T00:00:00.000000+00:00', '2024-01-01T00:00:00.000001+00:00'],
  7: [null, '1.50', '-2.00'],
}
/** Each choice of a column beside the first of the others, and all NULL. */
const rows: readonly Row[] = [
  ...Object.entries(choices).flatMap(([id, values]) =>
    values.flatMap((value) =>
      [0, 1, 2].map((at): Row => {
        const others = Object.entries(choices).map(([other, list]) => [other, list[at] ?? null])
        return { ...Object.fromEntries(others), [id]: value }
      }),
    ),
  ),
].map((row, index) => ({ ...row, 1: BigInt(index) }))

let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
  await connection.run("set timezone = 'UTC'")
  await connection.run(
    'create table t (id int, n bigint, region text, flag boolean, day date, placed timestamptz, amount decimal(9,2), ratio double)',
  )
  for (const row of rows) {
    const value = (id: number) => (row[id] === null || row[id] === undefined ? 'NULL' : `'${row[id]}'`)
    await connection.run(`insert into t values (${[1, 2, 3, 4, 5, 6, 7].map(value).join(', ')}, NULL)`)
  }
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

async function keptBySql(filter: string): Promise<readonly bigint[]> {
  const compiled = compileQuery({
    ...{ text: 'SELECT id FROM t ORDER BY id', principal: ann, tables: [table(filter)], searchPath: ['s'] },
  })
  const sql = renderSql(compiled.emit('duckdb'), 'duckdb', { salt: new Uint8Array(16) })
  return (await connection.runAndReadAll(sql)).getRows().map(([id]) => BigInt(String(id)))
}

/** @param ofNull what a comparison with NULL is, apart from equality */
function holds(predicate: Predicate, row: Row, ofNull: boolean): boolean {
  switch (predicate.kind) {
    case 'constant':
      return predicate.value
    case 'and':
      return holds(predicate.left, row, ofNull) && holds(predicate.right, row, ofNull)
    case 'or':
      return holds(predicate.left, row, ofNull) || holds(predicate.right, row, ofNull)
    case 'not':
      return !holds(predicate.child, row, ofNull)
  }
  if (predicate.operand.kind !== 'field') throw new Error('a field without an id')
  const value = row[predicate.operand.id] ?? null
  if (predicate.kind === 'unary') return (value === null) === (predicate.type === 'is-null')
  if (predicate.kind === 'set') {
    const isAmong = value !== null && predicate.values.includes(value)
    return predicate.type === 'in' ? isAmong : value === null ? ofNull : !isAmong
  }
  if (predicate.type === 'eq') return value !== null && value === predicate.value
  if (value === null) return ofNull
  const starts = String(value).startsWith(String(predicate.value))
  if (predicate.type === 'starts-with') return starts
  if (predicate.type === 'not-starts-with') return !starts
  const [left, right] =
    predicate.operand.id === 7 ? [Number(value), Number(predicate.value)] : [value, predicate.value ?? null]
  const order = left === right ? 0 : (left as bigint) < (right as bigint) ? -1 : 1
  switch (predicate.type) {
    case 'not-eq':
      return order !== 0
    case 'lt':
      return order < 0
    case 'lt-eq':
      return order <= 0
    case 'gt':
      return order > 0
    default:
      return order >= 0
  }
}

const told = [
  "region = 'eu'",
  "region <> 'us'",
  "'us' <> region",
  "NOT region = 'eu'",
  "NOT (region <> 'eu')",
  "region IN ('eu', 'us')",
  "region NOT IN ('eu', 'us')",
  "region LIKE 'eu%'",
  "region NOT LIKE 'eu%'",
  "region LIKE 'eu'",
  "region LIKE '\\%%'",
  'region IS NULL',
  'region IS NOT NULL',
  "region IS DISTINCT FROM 'us'",
  "NOT (region IS DISTINCT FROM 'us')",
  "region IS NOT DISTINCT FROM 'eu'",
  'id > 7',
  'n < 6',
  'NOT (n < 6)',
  'n <= -1',
  '5 <= n',
  'n BETWEEN 0 AND 5',
  'n NOT BETWEEN 0 AND 5',
  'flag',
  'NOT flag',
  'flag = false',
  "day >= '2024-06-01'",
  "day < DATE '2024-06-01'",
  "placed > '2024-01-01 00:00:00+00'",
  'amount = 1.5',
  'amount <> 1.50',
  'amount > -2',
  'region = current_principal() OR n = 5',
  "current_principal() = 'ann'",
  "current_principal() <> 'ann' OR n = 5",
  "NOT (current_principal() IN ('bob', 'eve')) AND n = 5",
  "current_principal() NOT IN ('ann', 'eve')",
  "current_principal() IS DISTINCT FROM 'ann'",
  "has_role('analyst')",
  "has_role('officer')",
  "has_role('officer') OR region = 'eu'",
  'NULL',
  "n > 0 AND (region = 'eu' OR region IS NULL) AND NOT (flag AND day > '2024-01-01')",
]

describe('a row filter', () => {
  test.each(told)('keeps what SQL keeps: %s', async (filter) => {
    const predicate = tell(filter)
    if (predicate === undefined) throw new Error('it is not told')
    const kept = await keptBySql(filter)
    for (const ofNull of [true, false])
      expect(rows.filter((row) => holds(predicate, row, ofNull)).map((row) => row[1])).toEqual([...kept])
    // It can be written: every field has its id.
    expect(stringifyJson(predicateJson(predicate))).not.toContain('"name"')
  })

  test('that SQL would drop NULL by says so', () => {
    expect(
      JSON.parse(stringifyJson(predicateJson(tell("region <> 'us'") ?? { kind: 'constant', value: true }))),
    ).toEqual({
      type: 'and',
      left: { type: 'not-null', child: { type: 'reference', id: 3 } },
      right: {
        type: 'not-eq',
        left: { type: 'reference', id: 3 },
        right: { type: 'literal', value: 'us' },
      },
    })
  })

  test.each([
    'n = id',
    'n + 1 > 5',
    "lower(region) = 'eu'",
    "region > 'eu'",
    "region LIKE '%eu'",
    "region LIKE 'e_u%'",
    "region ILIKE 'eu%'",
    "region ~ '^eu'",
    'amount = 1.555',
    'id = 3000000000',
    'ratio = 1.5',
    'ratio IS NOT NULL AND ratio < 2',
    'flag IS TRUE',
    "CASE WHEN flag THEN n > 0 ELSE region = 'eu' END",
    "coalesce(region, 'eu') = 'eu'",
    'n IN (1, NULL)',
    "current_principal() < 'bob'",
    "current_principal() IN ('ann', NULL)",
    'n = NULL',
    'placed > now()',
    "region = 'eu' OR lower(region) = 'us'",
  ])('is not told where Iceberg has no such predicate: %s', (filter) => {
    expect(tell(filter)).toBeUndefined()
  })
})
