import { describe, expect, test } from 'bun:test'
import {
  committedTable,
  parseLoadTableResult,
  schemaColumns,
} from '../../../src/wire/iceberg/table-metadata.ts'
import { expectFault, object, table, tableV1 } from './sample-metadata.ts'

const load = (value: unknown) => parseLoadTableResult(new TextEncoder().encode(JSON.stringify(value)))
const result = (metadata: unknown) => ({ 'metadata-location': 's3://b/t/2.json', metadata })

describe('parseLoadTableResult', () => {
  test('gives location, metadata as sent, and config where there is one', () => {
    expect(load(result(table))).toEqual({ metadataLocation: 's3://b/t/2.json', metadata: object(table) })
    expect(load({ ...result(table), config: { a: 'b' } }).config).toEqual(new Map([['a', 'b']]))
  })

  test('calls an answer that cannot be read the failure of the upstream', () => {
    for (const value of [
      [],
      {},
      { metadata: table },
      { 'metadata-location': 1, metadata: table },
      { 'metadata-location': 'x' },
      result([]),
      result({}),
      result({ ...table, 'format-version': 4 }),
      result({ ...table, 'format-version': 0 }),
      result({ ...table, 'format-version': '2' }),
      { ...result(table), config: [] },
    ])
      expectFault(() => load(value), 'upstream_failed')
    expectFault(() => parseLoadTableResult(new TextEncoder().encode('<html>')), 'upstream_failed', /byte 0/)
  })
})

describe('committedTable', () => {
  test('gives the current snapshot and schema', () => {
    expect(committedTable(load(result(table)))).toEqual({
      metadataLocation: 's3://b/t/2.json',
      previousLocation: 's3://b/t/1.json',
      tableUuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1',
      snapshot: {
        snapshotId: 12n,
        parentSnapshotId: 11n,
        sequenceNumber: 2n,
        timestampMs: 1_700_000_000_002n,
        operation: 'append',
        manifestList: 's3://b/t/snap-12.avro',
      },
      schemaId: 0n,
      columns: [
        { fieldId: 1n, name: 'id', type: 'long', required: true, isIdentifier: false },
        { fieldId: 2n, name: 'email', type: 'string', required: false, isIdentifier: false },
      ],
    })
  })

  test('tells the identifier fields of the schema', () => {
    const schemas = table.schemas.map((schema) => ({ ...schema, 'identifier-field-ids': [1] }))
    const { columns } = committedTable(load(result({ ...table, schemas })))
    expect(columns.map(({ name, isIdentifier }) => [name, isIdentifier])).toEqual([
      ['id', true],
      ['email', false],
    ])
  })

  test('reads format version 1 with its single schema', () => {
    const committed = committedTable(load(result(tableV1)))
    expect(committed.tableUuid).toBeUndefined()
    expect(committed.schemaId).toBe(0n)
    expect(committed.snapshot).toEqual({
      snapshotId: 5n,
      parentSnapshotId: undefined,
      sequenceNumber: undefined,
      timestampMs: 1_602_638_573_000n,
      operation: undefined,
      manifestList: undefined,
    })
    expect(committed.columns.map((column) => column.name)).toEqual(['id', 'email'])
  })

  test.each([[-1], [null], [undefined]])('takes current-snapshot-id %p for no snapshot', (id) => {
    const { snapshot } = committedTable(load(result({ ...table, 'current-snapshot-id': id })))
    expect(snapshot).toBeUndefined()
  })

  test('refuses metadata whose current snapshot or schema is not there', () => {
    expectFault(() => committedTable(load(result({ ...table, 'current-snapshot-id': 9 }))), 'upstream_failed')
    expectFault(() => committedTable(load(result({ ...table, 'current-schema-id': 9 }))), 'upstream_failed')
    expectFault(() => committedTable(load(result({ ...table, schemas: undefined }))), 'upstream_failed')
  })
})

describe('schemaColumns', () => {
  test('joins nested names by dots, parents first', () => {
    const list = { type: 'list', 'element-id': 5, element: 'string', 'element-required': true }
    const map = {
      type: 'map',
      'key-id': 7,
      key: 'string',
      'value-id': 8,
      value: { type: 'struct', fields: [{ id: 9, name: 'x', type: 'int', required: true }] },
      'value-required': false,
    }
    const columns = schemaColumns(
      object({
        type: 'struct',
        fields: [
          { id: 1, name: 'at', type: { type: 'struct', fields: [{ id: 2, name: 'lat', type: 'double' }] } },
          { id: 4, name: 'tags', type: list, required: true },
          { id: 6, name: 'm', type: map },
        ],
      }),
    )
    expect(
      columns.map(({ fieldId, name, type, required }) => [Number(fieldId), name, type, required]),
    ).toEqual([
      [1, 'at', 'struct', false],
      [2, 'at.lat', 'double', false],
      [4, 'tags', 'list', true],
      [5, 'tags.element', 'string', true],
      [6, 'm', 'map', false],
      [7, 'm.key', 'string', true],
      [8, 'm.value', 'struct', false],
      [9, 'm.value.x', 'int', true],
    ])
  })

  test.each([
    [{}],
    [{ fields: [1] }],
    [{ fields: [{ id: 1, name: 'a' }] }],
    [{ fields: [{ id: 1, name: 'a', type: 7 }] }],
    [{ fields: [{ id: 1, name: 'a', type: { type: 'tuple' } }] }],
    [{ fields: [{ id: 1, name: 'a', type: { type: 'list', element: 'int' } }] }],
    [{ fields: [{ id: '1', name: 'a', type: 'int' }] }],
  ])('refuses the schema %j', (schema) => {
    expectFault(() => schemaColumns(object(schema)), 'upstream_failed')
  })
})
