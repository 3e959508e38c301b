/** The same snapshot again: its relation is made once, and only for as long as it is made of the same. */

import { expect, test } from 'bun:test'
import type { Field } from '../../../demo/lake/table-fields.ts'
import type { ColumnRange, TableSnapshot } from '../../../src/engine/engine.ts'
import { columns, rowsOf, snapshotOf, startTestEngine, type TestEngine } from '../../support/engine.ts'

const fields: readonly Field[] = [{ id: 1, name: 'id', type: 'long' }]

const long = (value: number) => new Uint8Array(new BigInt64Array([BigInt(value)]).buffer)

const idsOf = async ({ engine }: TestEngine, snapshot: TableSnapshot) =>
  (await rowsOf(engine, snapshot, 'SELECT id FROM {} AS t ORDER BY id', columns('id int8'))).flat()

/** One table object for all of its reads, as the read path has it. */
async function snapshotWith(engine: TestEngine, name: string, ...files: readonly number[][]) {
  const writer = engine.table(name, { fields })
  await writer.append(
    files.map((ids) => ({
      rows: ids.map((id) => ({ id })),
      stats: { lower: { 1: long(Math.min(...ids)) }, upper: { 1: long(Math.max(...ids)) } },
    })),
  )
  return snapshotOf(writer)
}

test('a snapshot is read from the copies that its files have now, where those before were given up', async () => {
  const sizing = await startTestEngine()
  await idsOf(sizing, await snapshotWith(sizing, 'one', [1, 2]))
  const bytes = sizing.host.load().cachedBytes
  await sizing.close()

  const engine = await startTestEngine({ cacheBytesMax: Math.floor(bytes * 1.5) })
  const one = await snapshotWith(engine, 'one', [1, 2])
  const other = await snapshotWith(engine, 'other', [3, 4])
  for (let turn = 0; turn < 3; turn++) {
    expect(await idsOf(engine, one)).toEqual([1n, 2n])
    expect(await idsOf(engine, other)).toEqual([3n, 4n])
  }
  await engine.close()
})

test('a snapshot is read by the files that the ranges of this very run leave', async () => {
  const engine = await startTestEngine()
  const snapshot = await snapshotWith(engine, 'ranges', [1, 2], [8, 9])
  const from = (lower: bigint): readonly ColumnRange[] => [{ fieldId: 1, lower, upper: undefined }]
  const [all, high] = [from(1n), from(5n)]
  for (let turn = 0; turn < 2; turn++) {
    expect(await idsOf(engine, { ...snapshot, ranges: high })).toEqual([8n, 9n])
    expect(await idsOf(engine, { ...snapshot, ranges: high })).toEqual([8n, 9n])
    expect(await idsOf(engine, { ...snapshot, ranges: all })).toEqual([1n, 2n, 8n, 9n])
    expect(await idsOf(engine, snapshot)).toEqual([1n, 2n, 8n, 9n])
  }
  await engine.close()
})

test('a snapshot is read by the columns of this very table', async () => {
  const engine = await startTestEngine()
  const snapshot = await snapshotWith(engine, 'names', [1])
  const renamed = { ...snapshot.table, columns: snapshot.table.columns.map((c) => ({ ...c, name: 'key' })) }
  const keys = () =>
    rowsOf(engine.engine, { ...snapshot, table: renamed }, 'SELECT key FROM {} AS t', columns('key int8'))
  for (let turn = 0; turn < 2; turn++) {
    expect(await idsOf(engine, snapshot)).toEqual([1n])
    expect(await keys()).toEqual([[1n]])
  }
  await engine.close()
})
