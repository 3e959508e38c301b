/** A client's predicate leaves out only files in which no row can match. What is not understood keeps all. */

import { expect, test } from 'bun:test'
import { type JsonValue, jsonObject } from '../../../src/base/json.ts'
import { filesMatching } from '../../../src/engine/iceberg/prune-predicate.ts'
import type { SnapshotPlan } from '../../../src/engine/iceberg/snapshot-plan.ts'
import type { TableField } from '../../../src/engine/iceberg/table-schema.ts'
import type { FileEntry } from '../../../src/storage/iceberg/files.ts'
import { parsePredicate } from '../../../src/wire/iceberg/predicate.ts'
import { generator } from '../../support/generator.ts'

const long = (value: number) => new Uint8Array(new BigInt64Array([BigInt(value)]).buffer)
const text = (value: string) => new TextEncoder().encode(value)
const field = (id: number, name: string, type: string): [number, TableField] => [
  id,
  { id, name, type, required: false, elementId: undefined, initialDefault: null },
]
const fields = new Map([
  field(1, 'n', 'long'),
  field(2, 's', 'string'),
  field(3, 'day', 'date'),
  field(4, 'at', 'timestamptz'),
  field(5, 'amount', 'decimal(9,2)'),
])

type Row = readonly [n: number | null, s: string | null]

/** A file with the statistics of its rows. */
function file(location: string, rows: readonly Row[], known = true): FileEntry {
  const numbers = rows.flatMap(([n]) => (n === null ? [] : [n]))
  const texts = rows.flatMap(([, s]) => (s === null ? [] : [s])).sort()
  const bounds = (n: number | undefined, s: string | undefined) =>
    new Map([
      ...(n === undefined || numbers.length === 0 ? [] : [[1, long(n)] as const]),
      ...(s === undefined ? [] : [[2, text(s)] as const]),
    ])
  const stats = {
    valueCounts: new Map([1, 2].map((id) => [id, BigInt(rows.length)])),
    nullCounts: new Map([
      [1, BigInt(rows.length - numbers.length)],
      [2, BigInt(rows.length - texts.length)],
    ]),
    lower: bounds(Math.min(...numbers), texts[0]),
    upper: bounds(Math.max(...numbers), texts.at(-1)),
  }
  const none = { valueCounts: new Map(), nullCounts: new Map(), lower: new Map(), upper: new Map() }
  return {
    ...{ location, format: 'PARQUET', sizeBytes: 1, recordCount: rows.length, sequenceNumber: 1, specId: 0 },
    ...{ partition: new Map(), partitionKey: '0:[]', stats: known ? stats : none },
  }
}

function planOf(dataFiles: readonly FileEntry[]): SnapshotPlan {
  return {
    ...{ schemas: [fields, fields], fields, nameMapping: undefined, specs: new Map([[0, []]]) },
    ...{ dataFiles, deletes: [], opened: [] },
  }
}

function left(dataFiles: readonly FileEntry[], predicate: JsonValue, caseSensitive = true): string[] {
  const parsed = parsePredicate(
    predicate,
    { nodesMax: 100, valuesMax: 100 },
    (what) => new Error(what) as never,
  )
  const names = { schema: fields, caseSensitive }
  return filesMatching(planOf(dataFiles), parsed, names).map(({ location }) => location)
}
const is = (type: string, term: string, value?: JsonValue) => jsonObject({ type, term, value })

const files = [
  file('low', [
    [0, 'a'],
    [9, 'f'],
  ]),
  file('high', [
    [10, 'g'],
    [19, 'p'],
  ]),
  file('null', [[null, null]]),
  file('unknown', [[5, 'a']], false),
]

test.each([
  [is('eq', 'n', 5n), ['low', 'unknown']],
  [is('gt', 'n', 15n), ['high', 'unknown']],
  [is('gt-eq', 'n', 20n), ['unknown']],
  // NULL is less than any value, to some readers.
  [is('lt', 'n', 5n), ['low', 'null', 'unknown']],
  [is('lt-eq', 'n', -1n), ['null', 'unknown']],
  [is('starts-with', 's', 'go'), ['high', 'unknown']],
  [is('not-null', 'n'), ['low', 'high', 'unknown']],
  [jsonObject({ type: 'in', term: 'n', values: [3n, 30n] }), ['low', 'unknown']],
  [jsonObject({ type: 'and', left: is('gt', 'n', 5n), right: is('eq', 's', 'z') }), ['unknown']],
  [
    jsonObject({ type: 'or', left: is('eq', 'n', 1n), right: is('eq', 's', 'h') }),
    ['low', 'high', 'unknown'],
  ],
  [false, []],
])('by bounds and NULLs: %#', (predicate, expected) => {
  expect(left(files, predicate)).toEqual([...expected])
})

const all = files.map(({ location }) => location)
test.each([
  [true],
  [is('not-eq', 'n', 5n)],
  [is('is-null', 'n')],
  [is('is-nan', 'n')],
  [is('not-starts-with', 's', 'a')],
  [is('eq', 'n', 'five')],
  [is('eq', 'amount', '1.00')],
  [is('eq', 'nobody', 5n)],
  [is('eq', 'N', 5n)],
  [is('eq', 'day', 'yesterday')],
  [is('eq', 'at', '2026-01-01T00:00:00')],
  [jsonObject({ type: 'not', child: is('eq', 'n', 5n) })],
  [jsonObject({ type: 'or', left: is('eq', 'n', 50n), right: is('is-null', 'n') })],
  [jsonObject({ type: 'eq', term: jsonObject({ type: 'transform', term: 'n' }), value: 50n })],
  [jsonObject({ type: 'in', term: 'n', values: [50n, 'x'] })],
  [
    jsonObject({
      type: 'eq',
      left: jsonObject({ type: 'reference', id: 1n }),
      right: jsonObject({ type: 'reference', id: 2n }),
    }),
  ],
])('keeps every file where it cannot tell: %#', (predicate) => {
  expect(left(files, predicate)).toEqual(all)
})

test('names fold their case where the client says so', () => {
  expect(left(files, is('eq', 'N', 15n), false)).toEqual(['high', 'unknown'])
})

test('dates and times are compared as the bounds store them', () => {
  const days = new Uint8Array(new Int32Array([20_000]).buffer)
  const micros = long(1_700_000_000_000_000)
  const dated: FileEntry = {
    ...file('dated', [[1, 'a']]),
    stats: {
      ...{ valueCounts: new Map(), nullCounts: new Map([[3, 0n]]) },
      lower: new Map([
        [3, days],
        [4, micros],
      ]),
      upper: new Map([
        [3, days],
        [4, micros],
      ]),
    },
  }
  expect(left([dated], is('eq', 'day', '2024-10-04'))).toEqual(['dated'])
  expect(left([dated], is('eq', 'day', '2024-10-05'))).toEqual([])
  expect(left([dated], is('lt', 'day', '2024-10-03'))).toEqual([])
  expect(left([dated], is('eq', 'at', '2023-11-14T22:13:20.000000+00:00'))).toEqual(['dated'])
  expect(left([dated], is('gt', 'at', '2023-11-14T22:13:20.000001+00:00'))).toEqual([])
})

test('no file with a matching row is ever left out', () => {
  const seed = 20_261_123
  console.log(`seed ${seed}`)
  const drawn = generator(seed)
  const next = (below: number) => Math.floor(drawn() * below)
  const letters = ['', 'a', 'ab', 'b', 'ba', 'é', 'z']
  const value = (column: string): JsonValue =>
    column === 'n' ? BigInt(next(9) - 2) : (letters[next(7)] ?? '')
  const predicate = (depth: number): JsonValue => {
    const kind = next(depth > 0 ? 8 : 5)
    const term = next(2) === 0 ? 'n' : 's'
    if (kind >= 5)
      return kind === 7
        ? jsonObject({ type: 'not', child: predicate(depth - 1) })
        : jsonObject({
            type: kind === 5 ? 'and' : 'or',
            left: predicate(depth - 1),
            right: predicate(depth - 1),
          })
    if (kind === 0) return is(next(2) === 0 ? 'is-null' : 'not-null', term)
    if (kind === 1)
      return jsonObject({ type: next(2) === 0 ? 'in' : 'not-in', term, values: [value(term), value(term)] })
    const types = ['eq', 'not-eq', 'lt', 'lt-eq', 'gt', 'gt-eq'] as const
    if (kind === 2) return is(next(2) === 0 ? 'starts-with' : 'not-starts-with', 's', value('s'))
    return is(types[next(6)] ?? 'eq', term, value(term))
  }
  let pruned = 0
  for (let round = 0; round < 3_000; round++) {
    const rows = Array.from({ length: 6 }, () =>
      Array.from({ length: 1 + next(3) }, (): Row => {
        const n = next(5) === 0 ? null : next(7) - 1
        return [n, next(5) === 0 ? null : (letters[next(7)] ?? '')]
      }),
    )
    const made = rows.map((each, index) => file(String(index), each, next(6) > 0))
    const json = predicate(3)
    const kept = left(made, json)
    for (const [index, each] of rows.entries())
      if (each.some((row) => matches(json, row))) expect(kept).toContain(String(index))
    pruned += made.length - kept.length
  }
  // A test that pruned nothing would hold whatever the code did.
  expect(pruned).toBeGreaterThan(1_000)
})

/** Two-valued logic in which NULL is less than any value, as Iceberg's readers have it. */
function matches(json: JsonValue, row: Row): boolean {
  if (!(json instanceof Map)) return json === true
  const part = (name: string): JsonValue => json.get(name) ?? null
  const type = part('type')
  if (type === 'and') return matches(part('left'), row) && matches(part('right'), row)
  if (type === 'or') return matches(part('left'), row) || matches(part('right'), row)
  if (type === 'not') return !matches(part('child'), row)
  const given = part('term') === 'n' ? row[0] : row[1]
  const compare = (other: JsonValue): number => {
    if (given === null) return -1
    if (typeof given === 'number') return given - Number(other)
    return Buffer.compare(Buffer.from(given), Buffer.from(String(other)))
  }
  const listed = json.get('values')
  const among = Array.isArray(listed) && listed.some((other: JsonValue) => compare(other) === 0)
  switch (type) {
    case 'is-null':
      return given === null
    case 'not-null':
      return given !== null
    case 'in':
      return among
    case 'not-in':
      return !among
    case 'starts-with':
      return typeof given === 'string' && given.startsWith(String(part('value')))
    case 'not-starts-with':
      return !(typeof given === 'string' && given.startsWith(String(part('value'))))
    case 'eq':
      return compare(part('value')) === 0
    case 'not-eq':
      return compare(part('value')) !== 0
    case 'lt':
      return compare(part('value')) < 0
    case 'lt-eq':
      return compare(part('value')) <= 0
    case 'gt':
      return compare(part('value')) > 0
    default:
      return compare(part('value')) >= 0
  }
}
