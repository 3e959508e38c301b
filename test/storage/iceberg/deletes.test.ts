/** Which deletes apply to a data file, by their sequence numbers (Iceberg specification, Scan Planning). */

import { expect, test } from 'bun:test'
import type { SnapshotPlan } from '../../../src/engine/iceberg/snapshot-plan.ts'
import { applicableDeletes } from '../../../src/storage/iceberg/deletes.ts'
import type { DeleteEntry, FileEntry } from '../../../src/storage/iceberg/files.ts'

const data = { location: 'a', sequenceNumber: 5, specId: 0, partitionKey: 'p' } as FileEntry
const { signal } = new AbortController()

async function applied(given: Partial<DeleteEntry>, transform = 'identity') {
  const entry = { ...data, location: 'd', dataFile: undefined, equalityIds: [], ...given } as DeleteEntry
  const specs = new Map([[0, [{ transform }]]])
  const plan = { specs, deletes: [entry] } as unknown as SnapshotPlan
  const { files, positions, equalities } = await applicableDeletes(plan, [data], signal)
  const [file] = files
  return {
    ...{ positions: file?.hasPositions, equality: file?.hasEquality, vector: file?.vector !== undefined },
    opened: positions.length + equalities.length,
  }
}
const none = { positions: false, equality: false, vector: false, opened: 0 }

test.each([
  ['a commit before', 4, none],
  // Flink writes rows and their deletes in one commit.
  ['the same commit', 5, { ...none, positions: true, opened: 1 }],
  ['a later commit', 6, { ...none, positions: true, opened: 1 }],
])('position deletes of %s as the file', async (_, sequenceNumber, expected) => {
  const ofPartition = { kind: 'position', sequenceNumber } as const
  expect(await applied(ofPartition)).toEqual(expected)
  expect(await applied({ ...ofPartition, dataFile: 'a', partitionKey: 'other' })).toEqual(expected)
  expect(await applied({ ...ofPartition, dataFile: 'b' })).toEqual(none)
  expect(await applied({ ...ofPartition, partitionKey: 'other' })).toEqual(none)
})

test.each([
  ['a commit before', 4, none],
  ['the same commit', 5, none],
  ['a later commit', 6, { ...none, equality: true, opened: 1 }],
])('equality deletes of %s as the file', async (_, sequenceNumber, expected) => {
  const ofPartition = { kind: 'equality', sequenceNumber } as const
  expect(await applied(ofPartition)).toEqual(expected)
  expect(await applied({ ...ofPartition, partitionKey: 'other' })).toEqual(none)
  expect(await applied({ ...ofPartition, partitionKey: 'other' }, 'void')).toEqual(expected)
})

test('a deletion vector of the same commit or a later one applies, and an earlier one fails the read', async () => {
  const vector = { kind: 'vector', dataFile: 'a' } as const
  for (const sequenceNumber of [5, 6])
    expect(await applied({ ...vector, sequenceNumber })).toEqual({ ...none, vector: true })
  expect(applied({ ...vector, sequenceNumber: 4 })).rejects.toThrow('older than its data file')
})

/** What applies to a data file of these deletes. */
async function appliedOf(...given: readonly Partial<DeleteEntry>[]) {
  const deletes = given.map((one) => ({
    ...data,
    location: 'd',
    dataFile: undefined,
    equalityIds: [],
    ...one,
  }))
  const specs = new Map([[0, [{ transform: 'identity' }]]])
  const planned = await applicableDeletes({ specs, deletes } as unknown as SnapshotPlan, [data], signal)
  return { ...planned.files[0], opened: planned.positions.length }
}

test('a deletion vector replaces the position deletes of its file', async () => {
  const vector = { kind: 'vector', dataFile: 'a', sequenceNumber: 7 } as const
  const ofPartition = { kind: 'position', sequenceNumber: 6 } as const
  const ofFile = { ...ofPartition, dataFile: 'a' }
  for (const deletes of [
    [vector, ofPartition, ofFile],
    [ofFile, ofPartition, vector],
  ])
    expect(await appliedOf(...deletes)).toMatchObject({ hasPositions: false, opened: 0 })
  expect(await appliedOf({ ...vector, dataFile: 'b' }, ofPartition)).toMatchObject({ hasPositions: true })
})

test('the newest delete of a file decides, in whichever order they are listed', async () => {
  for (const kind of ['position', 'equality'] as const)
    for (const numbers of [
      [4, 6],
      [6, 4],
    ])
      expect(await appliedOf(...numbers.map((sequenceNumber) => ({ kind, sequenceNumber })))).toMatchObject({
        ...{ hasPositions: kind === 'position', hasEquality: kind === 'equality' },
      })
})

test('two deletion vectors of one file fail the read, and so does an equality delete of an unknown partitioning', async () => {
  const vector = { kind: 'vector', dataFile: 'a', sequenceNumber: 7 } as const
  const failure = (...deletes: readonly Partial<DeleteEntry>[]) =>
    appliedOf(...deletes).then(() => 'none', String)
  expect(await failure(vector, vector)).toContain('two deletion vectors name one data file')
  expect(await failure({ kind: 'equality', sequenceNumber: 6, specId: 9 })).toContain(
    'a partition spec is not',
  )
})

test('the deletes of one file are opened, although no other file has any', async () => {
  const other = { ...data, location: 'b', partitionKey: 'other' }
  const deletes = (['position', 'equality'] as const).map((kind) => ({
    ...data,
    ...{ kind, location: kind, dataFile: undefined, equalityIds: [], sequenceNumber: 6 },
  }))
  const plan = { specs: new Map([[0, [{ transform: 'identity' }]]]), deletes } as unknown as SnapshotPlan
  for (const files of [
    [data, other],
    [other, data],
  ]) {
    const planned = await applicableDeletes(plan, files, signal)
    expect(planned.files.map(({ hasPositions, hasEquality }) => hasPositions && hasEquality)).toEqual(
      files.map((file) => file === data),
    )
    expect(planned.positions.map(({ location }) => location)).toEqual(['position'])
    expect(planned.equalities.map(({ location }) => location)).toEqual(['equality'])
  }
})
