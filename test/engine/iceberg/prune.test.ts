/** Files are skipped only if none of their rows can match. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import type { FileOptions, IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { ColumnRange } from '../../../src/core/column-range.ts'
import { prunedFiles } from '../../../src/engine/iceberg/prune.ts'
import { planSnapshot } from '../../../src/engine/iceberg/snapshot-plan.ts'
import { openStorage } from '../../../src/storage/storage.ts'
import { territoryGuard } from '../../../src/storage/territory-guard.ts'
import { columns, rowsOf, snapshotOf, startTestEngine, type TestEngine } from '../../support/engine.ts'

let engine: TestEngine
beforeAll(async () => {
  engine = await startTestEngine()
})
afterAll(() => engine.close())

const long = (value: number) => new Uint8Array(new BigInt64Array([BigInt(value)]).buffer)
const int = (value: number) => new Uint8Array(new Int32Array([value]).buffer)
const text = (value: string) => new TextEncoder().encode(value)

async function filesLeft(writer: IcebergWriter, ...ranges: ColumnRange[]): Promise<number[]> {
  const storage = openStorage({ roots: [engine.tables], s3: undefined })
  const { metadataLocation, snapshotId } = snapshotOf(writer)
  const plan = await planSnapshot(storage, metadataLocation, snapshotId, {
    signal: new AbortController().signal,
    guard: territoryGuard(undefined),
    hold: () => {},
  })
  await storage.close()
  const left = await prunedFiles(plan, ranges, new AbortController().signal)
  return plan.dataFiles.flatMap((file, index) => (left.includes(file) ? [index] : []))
}
const range = (fieldId: number, lower?: ColumnRange['lower'], upper?: ColumnRange['upper']) => ({
  fieldId,
  lower,
  upper,
})

test('by bounds of integers, also those of a column that was an int before', async () => {
  const writer = engine.table('longs', { fields: [{ id: 1, name: 'n', type: 'long' }] })
  const file = (lower: Uint8Array, upper: Uint8Array): FileOptions => ({
    rows: [{ n: 1 }],
    stats: { lower: { 1: lower }, upper: { 1: upper } },
  })
  await writer.append([
    file(long(0), long(9)),
    file(int(10), int(19)),
    file(long(20), long(29)),
    { rows: [{ n: 1 }] },
  ])
  // What has no bounds stays.
  expect(await filesLeft(writer, range(1, 10n, 10n))).toEqual([1, 3])
  expect(await filesLeft(writer, range(1, 9n, 10n))).toEqual([0, 1, 3])
  expect(await filesLeft(writer, range(1, 30n))).toEqual([3])
  expect(await filesLeft(writer, range(1, undefined, -1n))).toEqual([3])
  expect(await filesLeft(writer, range(1, 20n), range(1, undefined, 9n))).toEqual([3])
  // A bound of another kind says nothing.
  expect(await filesLeft(writer, range(1, 'x', 'y'))).toEqual([0, 1, 2, 3])
  expect(await filesLeft(writer)).toEqual([0, 1, 2, 3])
})

test('by bounds of texts in the order of their bytes', async () => {
  const writer = engine.table('texts', { fields: [{ id: 1, name: 's', type: 'string' }] })
  const file = (lower: Uint8Array, upper: Uint8Array): FileOptions => ({
    rows: [{ s: 'x' }],
    stats: { lower: { 1: lower }, upper: { 1: upper } },
  })
  await writer.append([
    file(text('a'), text('m')),
    file(text('n'), text('z')),
    file(text('\uffee'), text('\u{1f600}')),
    file(new Uint8Array([0xff]), text('a')),
  ])
  expect(await filesLeft(writer, range(1, 'b', 'b'))).toEqual([0])
  expect(await filesLeft(writer, range(1, '\u{1f600}', '\u{1f600}'))).toEqual([2])
})

test('by what is NULL throughout', async () => {
  const writer = engine.table('nulls', { fields: [{ id: 1, name: 'n', type: 'long' }] })
  const file = (nulls: number): FileOptions => ({
    rows: [{ n: null }],
    stats: { valueCounts: { 1: 5 }, nullCounts: { 1: nulls } },
  })
  await writer.append([file(5), file(4)])
  expect(await filesLeft(writer, range(1, 1n))).toEqual([1])
})

test('by values of identity partitions', async () => {
  const fields = [
    { id: 1, name: 'n', type: 'long' },
    { id: 2, name: 'land', type: 'string' },
  ] as const
  const writer = engine.table('lands', { fields, partitionBy: 'land' })
  await writer.append(['de', 'fr', null].map((land) => ({ rows: [{ n: 1, land }], partition: land })))
  expect(await filesLeft(writer, range(2, 'de', 'de'))).toEqual([0])
  expect(await filesLeft(writer, range(2, 'e'))).toEqual([1])
})

test('files that are left out are neither fetched nor counted', async () => {
  const writer = engine.table('fetched', { fields: [{ id: 1, name: 'n', type: 'long' }] })
  const { files } = await writer.append([
    { rows: [{ n: 1 }], stats: { lower: { 1: long(1) }, upper: { 1: long(1) } } },
    { rows: [{ n: 2 }], stats: { lower: { 1: long(2) }, upper: { 1: long(2) } } },
  ])
  // It cannot be read: a plan that wants it fails.
  copyFileSync(import.meta.path, new URL(files[1] ?? ''))
  const snapshot = snapshotOf(writer, { ranges: [range(1, 1n, 1n)] })
  expect(
    await rowsOf(engine.engine, snapshot, 'SELECT n FROM {} AS b WHERE n = 1', columns('n int8')),
  ).toEqual([[1n]])
})
