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
