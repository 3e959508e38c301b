import { describe, expect, test } from 'bun:test'
import { celEnv, parse, plan } from '@bufbuild/cel'
import { type JsonObject, type JsonValue, jsonObject, stringifyJson } from '../../../src/base/json.ts'
import { columnsKey } from '../../../src/core/policy.ts'
import { applyUpdates } from '../../../src/wire/iceberg/apply-updates.ts'
import { commitView, tableView } from '../../../src/wire/iceberg/policy-view.ts'
import { expectFault, object, objects, schema0, table, tableV1 } from './sample-metadata.ts'

const ref = { namespace: ['a', 'b'], name: 't' }
const metadata = object(table)
const plain = (value: JsonValue) => JSON.parse(stringifyJson(value))

const view11 = {
  snapshot_id: 11,
  parent_snapshot_id: null,
  sequence_number: 1,
  timestamp_ms: 1_700_000_000_001,
  summary: { operation: 'append' },
  manifest_list: 's3://b/t/snap-11.avro',
  schema_id: 0,
}
const view12 = {
  ...view11,
  snapshot_id: 12,
  parent_snapshot_id: 11,
  sequence_number: 2,
  timestamp_ms: 1_700_000_000_002,
  manifest_list: 's3://b/t/snap-12.avro',
}

describe('tableView', () => {
  test('has the structure under snake_case keys', () => {
    const { [columnsKey]: columns, ...view } = plain(tableView(ref, metadata)) as Record<string, unknown>
    expect(Object.keys(columns as object)).toEqual(['id', 'email'])
    expect(view).toEqual({
      namespace: ['a', 'b'],
      name: 't',
      uuid: table['table-uuid'],
      location: 's3://b/t',
      format_version: 2,
      schema: schema0,
      schemas: [schema0],
      partition_spec: { 'spec-id': 0, fields: [] },
      partition_specs: [{ 'spec-id': 0, fields: [] }],
      sort_order: { 'order-id': 0, fields: [] },
      current_snapshot: view12,
      snapshots: [view11, view12],
      refs: { main: { snapshot_id: 12, type: 'branch' }, old: { snapshot_id: 11, type: 'tag' } },
      properties: { owner: 'a' },
      last_updated_ms: 1_700_000_000_002,
    })
  })

  test('of format version 1 has the same keys', () => {
    const view = tableView(ref, object(tableV1))
    expect([...view.keys()]).toEqual([...tableView(ref, metadata).keys()])
    expect(plain(view)).toMatchObject({
      uuid: null,
      schema: { 'schema-id': 0, fields: schema0.fields },
      partition_spec: { 'spec-id': 0, fields: [{ name: 'id' }, { name: 'e' }] },
      sort_order: { fields: [] },
      current_snapshot: { snapshot_id: 5, parent_snapshot_id: null, sequence_number: 0, summary: {} },
      refs: { main: { snapshot_id: 5, type: 'branch' } },
      properties: {},
    })
  })

  test.each([[-1], [null], [undefined]])('has a null current_snapshot where the id is %p', (id) => {
    const view = tableView(ref, object({ ...table, 'current-snapshot-id': id, refs: {} }))
    expect(view.get('current_snapshot')).toBeNull()
  })

  test('takes default spec, current schema and order by their ids', () => {
    const other = { 'schema-id': 3, type: 'struct', fields: [] }
    const view = tableView(ref, object({ ...table, schemas: [schema0, other], 'current-schema-id': 3 }))
    expect(plain(view.get('schema') ?? null)).toEqual(other)
  })

  test('shares the metadata own objects and the snapshots of an earlier view', () => {
    const before = tableView(ref, metadata)
    const after = applyUpdates(metadata, objects({ action: 'remove-snapshots', 'snapshot-ids': [11] }), {
      nowMs: 1,
    })
    const result = tableView(ref, after)
    expect(before.get('properties')).toBe(metadata.get('properties') ?? null)
    expect((result.get('snapshots') as JsonObject[])[0]).toBe(
      (before.get('snapshots') as JsonObject[])[1] as JsonObject,
    )
  })

  test('calls metadata that cannot be read the failure of the upstream', () => {
    for (const broken of [
      { ...table, 'current-snapshot-id': 99 },
      { ...table, 'default-spec-id': 99 },
      { ...table, 'default-sort-order-id': 99 },
      { ...table, snapshots: [{ 'snapshot-id': 'x' }] },
      { ...table, properties: [] },
      { ...table, 'format-version': 4 },
      {},
    ])
      expectFault(() => tableView(ref, object(broken)), 'upstream_failed')
  })
})

describe('commitView', () => {
  const request = { requirements: objects({ type: 'x' }), updates: objects({ action: 'y', n: 1 }) }

  test('has requirements and updates as sent, the time of receipt, and no origin that is not known', () => {
    const view = commitView(request, undefined, 1_700_000_000_000)
    const members = ['requirements', 'updates', 'received_at', 'session', 'client', 'branch']
    expect([...view.keys()]).toEqual(members)
    expect(plain(view.get('session') ?? null)).toEqual({ id: '', name: '' })
    expect(plain(view.get('client') ?? null)).toEqual({ agent: '', application_id: '' })
    expect(view.get('branch')).toBe('')
    expect(view.get('updates')).toBe(request.updates)
    expect(view.get('received_at')).toBe(1_700_000_000_000n)
  })

  test('has identifier and result where there are any', () => {
    const result = tableView(ref, metadata)
    const view = commitView({ ...request, identifier: ref }, result, 1)
    expect(view.get('result')).toBe(result)
    expect(plain(view.get('identifier') ?? null)).toEqual({ namespace: ['a', 'b'], name: 't' })
  })
})

describe('a CEL policy over the views', () => {
  test.each([
    'table.schema.fields.exists(f, f.name == "email")',
    'commit.result.schema.fields.exists(f, f.name == "id" && f.required)',
    'table.current_snapshot.snapshot_id == 12 && table.refs.main.snapshot_id == 12',
    'table.snapshots.filter(s, commit.received_at - s.timestamp_ms > 5).size() == 2',
    'table.snapshots[0].parent_snapshot_id == null',
    'table.properties.owner == "a" && !("constructor" in table.properties)',
    'commit.updates.all(u, u.action == "remove-snapshots" && u["snapshot-ids"].size() == 1)',
    'commit.result.snapshots.size() == 1 && table.namespace == ["a", "b"]',
  ])('%s', (expression) => {
    const updates = objects({ action: 'remove-snapshots', 'snapshot-ids': [11] })
    const result = tableView(ref, applyUpdates(metadata, updates, { nowMs: 1 }))
    const bindings = jsonObject({
      table: tableView(ref, metadata),
      commit: commitView({ requirements: [], updates }, result, 1_700_000_001_000),
    })
    const evaluate = plan(celEnv(), parse(expression))
    expect(evaluate(Object.fromEntries(bindings) as Parameters<typeof evaluate>[0])).toBe(true)
  })
})
