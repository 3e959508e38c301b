/** File scan tasks: which deletes go with which file, and partition values as JSON. */

import { describe, expect, test } from 'bun:test'
import { type JsonValue, stringifyJson } from '../../../src/base/json.ts'
import { partitionValueJson } from '../../../src/engine/iceberg/partition-json.ts'
import { scanTasks } from '../../../src/engine/iceberg/scan-tasks.ts'
import type { SnapshotPlan } from '../../../src/engine/iceberg/snapshot-plan.ts'
import type { DeleteEntry, FileEntry } from '../../../src/storage/iceberg/files.ts'

const stats = { valueCounts: new Map(), nullCounts: new Map(), lower: new Map(), upper: new Map() }
function file(location: string, sequenceNumber: number, land = 'de', specId = 0): FileEntry {
  return {
    ...{ location, format: 'PARQUET', sizeBytes: 10, recordCount: 2, sequenceNumber, specId, stats },
    partition: specId === 0 ? new Map([[1000, land]]) : new Map(),
    partitionKey: `${specId}:${specId === 0 ? land : ''}`,
  }
}
function deletes(
  kind: DeleteEntry['kind'],
  entry: FileEntry,
  more: Partial<Pick<DeleteEntry, 'dataFile' | 'equalityIds' | 'blob'>> = {},
): DeleteEntry {
  const base = { equalityIds: [], dataFile: undefined, blob: undefined, ...more }
  return { ...entry, ...base, kind, ...(kind === 'vector' && { format: 'PUFFIN' }) }
}
const land = {
  id: 2,
  name: 'land',
  type: 'string',
  required: false,
  elementId: undefined,
  initialDefault: null,
}
function planOf(dataFiles: readonly FileEntry[], all: readonly DeleteEntry[]): SnapshotPlan {
  return {
    ...{ schemas: [], fields: new Map([[2, land]]), nameMapping: undefined, opened: [] },
    specs: new Map([
      [0, [{ id: 1000, sourceId: 2, transform: 'identity' }]],
      [1, []],
    ]),
    ...{ dataFiles, deletes: all },
  }
}
/** The locations of the deletes of each file. */
function applied(dataFiles: readonly FileEntry[], all: readonly DeleteEntry[]): string[][] {
  const { tasks, deletes: listed } = scanTasks(planOf(dataFiles, all), dataFiles, (location) => location)
  const paths = listed.map((one) => String(one.get('file-path')))
  return tasks.map((task) => {
    const references = (task.get('delete-file-references') ?? []) as readonly bigint[]
    return references.map((index) => paths[Number(index)] ?? '')
  })
}

describe('a data file goes with', () => {
  test('position deletes of its partition that are not older', () => {
    const all = [
      deletes('position', file('older', 1)),
      deletes('position', file('same', 2)),
      deletes('position', file('newer', 3)),
      deletes('position', file('elsewhere', 3, 'fr')),
      deletes('position', file('named', 2), { dataFile: 'a' }),
      deletes('position', file('another', 3), { dataFile: 'b' }),
    ]
    expect(applied([file('a', 2)], all)).toEqual([['same', 'newer', 'named']])
  })

  test('equality deletes that are newer, of its partition or of none', () => {
    const ids = { equalityIds: [2] }
    const all = [
      deletes('equality', file('same', 2), ids),
      deletes('equality', file('newer', 3), ids),
      deletes('equality', file('elsewhere', 3, 'fr'), ids),
      deletes('equality', file('everywhere', 3, '', 1), ids),
    ]
    expect(applied([file('a', 2)], all)).toEqual([['newer', 'everywhere']])
  })

  test('its deletion vector, which replaces position deletes', () => {
    const blob = { offset: 4, size: 20 }
    const all = [
      deletes('vector', file('vector', 3), { dataFile: 'a', blob }),
      deletes('position', file('position', 3)),
    ]
    expect(applied([file('a', 2), file('b', 2)], all)).toEqual([['vector'], ['position']])
    const { deletes: listed, namesPaths } = scanTasks(planOf([], all), [file('a', 2)], (path) => `to:${path}`)
    expect(namesPaths).toBe(false)
    expect(JSON.parse(stringifyJson([...listed]))).toEqual([
      {
        content: 'position-deletes',
        'file-path': 'to:vector',
        'file-format': 'puffin',
        'spec-id': 0,
        partition: ['de'],
        'file-size-in-bytes': 10,
        'record-count': 2,
        'referenced-data-file': 'to:a',
        'content-offset': 4,
        'content-size-in-bytes': 20,
      },
    ])
  })

  test('no vector that is older, and not with two', () => {
    const vector = (sequence: number) => deletes('vector', file('v', sequence), { dataFile: 'a' })
    expect(() => applied([file('a', 2)], [vector(1)])).toThrow('older')
    expect(() => applied([file('a', 2)], [vector(3), vector(3)])).toThrow('two deletion vectors')
  })
})

test('a delete is listed once, and only where a task needs it', () => {
  const all = [deletes('position', file('p', 3)), deletes('position', file('other', 3, 'fr'))]
  const plan = planOf([], all)
  const { tasks, deletes: listed, namesPaths } = scanTasks(plan, [file('a', 2), file('b', 2)], (path) => path)
  expect([tasks.length, listed.length, namesPaths]).toEqual([2, 1, true])
})

describe('a partition value', () => {
  test.each<readonly [unknown, string, string, JsonValue]>([
    ['de', 'identity', 'string', 'de'],
    [5, 'identity', 'int', 5n],
    [5n, 'identity', 'long', 5n],
    [true, 'identity', 'boolean', true],
    [1.5, 'identity', 'double', 1.5],
    [3, 'bucket[16]', 'string', 3n],
    ['ab', 'truncate[2]', 'string', 'ab'],
    [54, 'year', 'date', 54n],
    [20_000, 'day', 'timestamptz', '2024-10-04'],
    [-1, 'identity', 'date', '1969-12-31'],
    [500_000, 'hour', 'timestamp', 500_000n],
    [1n, 'identity', 'time', '00:00:00.000001'],
    [-1n, 'identity', 'timestamp', '1969-12-31T23:59:59.999999'],
    [1_700_000_000_000_000n, 'identity', 'timestamptz', '2023-11-14T22:13:20.000000+00:00'],
    [1n, 'identity', 'timestamp_ns', '1970-01-01T00:00:00.000000001'],
    [Uint8Array.of(0, 255), 'identity', 'binary', '00ff'],
    [new Uint8Array(16), 'identity', 'uuid', '00000000-0000-0000-0000-000000000000'],
    [Uint8Array.of(0xff, 0x85), 'identity', 'decimal(9,2)', '-1.23'],
    [Uint8Array.of(7), 'identity', 'decimal(9, 2)', '0.07'],
    [Uint8Array.of(0x30, 0x39), 'identity', 'decimal(9,0)', '12345'],
  ])('%p by %s of %s', (value, transform, source, expected) => {
    expect(partitionValueJson(value, transform, source)).toEqual(expected)
  })

  test.each([
    [Number.NaN, 'identity', 'double'],
    ['5', 'identity', 'long'],
    [10_000_000, 'identity', 'date'],
    [{}, 'identity', 'string'],
  ])('%p by %s of %s has no JSON', (value, transform, source) => {
    expect(() => partitionValueJson(value, transform, source)).toThrow('cannot be read')
  })
})
