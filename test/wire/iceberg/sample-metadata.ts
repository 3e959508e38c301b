/** A small version 2 table for the tests of this folder, and its parts as JSON texts. */

import { expect } from 'bun:test'
import { Fault, type FaultKind } from '../../../src/base/fault.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../../src/base/json.ts'

export function object(value: unknown): JsonObject {
  const parsed = parseJson(JSON.stringify(value))
  if (!isJsonObject(parsed)) throw new Error('not an object')
  return parsed
}

export const objects = (...values: unknown[]): readonly JsonObject[] => values.map(object)

export const schema0 = {
  type: 'struct',
  'schema-id': 0,
  fields: [
    { id: 1, name: 'id', type: 'long', required: true },
    { id: 2, name: 'email', type: 'string', required: false },
  ],
}

export const snapshot = (id: number | string, sequenceNumber: number, parent?: number | string) => ({
  'snapshot-id': id,
  ...(parent !== undefined && { 'parent-snapshot-id': parent }),
  'sequence-number': sequenceNumber,
  'timestamp-ms': 1_700_000_000_000 + sequenceNumber,
  summary: { operation: 'append' },
  'manifest-list': `s3://b/t/snap-${id}.avro`,
  'schema-id': 0,
})

export const table = {
  'format-version': 2,
  'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
  location: 's3://b/t',
  'last-sequence-number': 2,
  'last-updated-ms': 1_700_000_000_002,
  'last-column-id': 2,
  'current-schema-id': 0,
  schemas: [schema0],
  'default-spec-id': 0,
  'partition-specs': [{ 'spec-id': 0, fields: [] }],
  'last-partition-id': 999,
  'default-sort-order-id': 0,
  'sort-orders': [{ 'order-id': 0, fields: [] }],
  properties: { owner: 'a' },
  'current-snapshot-id': 12,
  snapshots: [snapshot(11, 1), snapshot(12, 2, 11)],
  'snapshot-log': [
    { 'timestamp-ms': 1_700_000_000_001, 'snapshot-id': 11 },
    { 'timestamp-ms': 1_700_000_000_002, 'snapshot-id': 12 },
  ],
  'metadata-log': [{ 'timestamp-ms': 1_700_000_000_001, 'metadata-file': 's3://b/t/1.json' }],
  refs: { main: { 'snapshot-id': 12, type: 'branch' }, old: { 'snapshot-id': 11, type: 'tag' } },
}

export const tableV1 = {
  'format-version': 1,
  location: 's3://b/t1',
  'last-updated-ms': 1_602_638_573_874,
  'last-column-id': 2,
  schema: { type: 'struct', fields: schema0.fields },
  'partition-spec': [
    { name: 'id', transform: 'identity', 'source-id': 1 },
    { name: 'e', transform: 'bucket[4]', 'source-id': 2 },
  ],
  'current-snapshot-id': 5,
  snapshots: [{ 'snapshot-id': 5, 'timestamp-ms': 1_602_638_573_000, manifests: ['s3://b/t1/m.avro'] }],
}

/** Expects `run` to throw a Fault of that kind. */
export function expectFault(run: () => unknown, kind: FaultKind, message?: string | RegExp): Fault {
  let thrown: unknown
  try {
    run()
  } catch (caught) {
    thrown = caught
  }
  if (!(thrown instanceof Fault)) throw new Error(`no Fault was thrown but ${String(thrown)}`)
  expect(thrown.kind).toBe(kind)
  if (message !== undefined) expect(thrown.publicMessage + (thrown.detail ?? '')).toMatch(message)
  return thrown
}
