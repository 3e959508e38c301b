/** Update actions by the Iceberg REST specification and its reference implementation. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../../src/base/fault.ts'
import { type JsonObject, parseJson, stringifyJson } from '../../../src/base/json.ts'
import { applyUpdates } from '../../../src/wire/iceberg/apply-updates.ts'
import { roundsOf } from '../../support/long-form.ts'
import { expectFault, object, objects, schema0, snapshot, table, tableV1 } from './sample-metadata.ts'

const nowMs = 1_700_000_009_000
const base = object(table)
const apply = (...updates: unknown[]) => applyUpdates(base, objects(...updates), { nowMs })
const applyTo = (to: unknown, ...updates: unknown[]) =>
  applyUpdates(object(to), objects(...updates), { nowMs })
const create = (...updates: unknown[]) => applyUpdates(undefined, objects(...updates), { nowMs })
const refuses = (message: RegExp, ...updates: unknown[]) =>
  expectFault(() => apply(...updates), 'bad_request', message)
const plain = (metadata: JsonObject, key: string): unknown => {
  const value = metadata.get(key)
  return value === undefined ? undefined : JSON.parse(stringifyJson(value))
}

const schema1 = { ...schema0, 'schema-id': 1, fields: [...schema0.fields, { id: 3, name: 'x', type: 'int' }] }
const schema2 = { ...schema0, 'schema-id': 2, fields: [{ id: 1, name: 'id', type: 'long', required: true }] }
const addSchema = (schema: unknown) => ({ action: 'add-schema', schema })
const setSchema = (id: number) => ({ action: 'set-current-schema', 'schema-id': id })
const addSpec = (spec: unknown) => ({ action: 'add-spec', spec })
const setSpec = (id: number) => ({ action: 'set-default-spec', 'spec-id': id })
const addOrder = (order: unknown) => ({ action: 'add-sort-order', 'sort-order': order })
const setOrder = (id: number) => ({ action: 'set-default-sort-order', 'sort-order-id': id })
const addSnapshot = (value: unknown) => ({ action: 'add-snapshot', snapshot: value })
const setRef = (name: string, id: number, type = 'branch') => ({
  action: 'set-snapshot-ref',
  'ref-name': name,
  'snapshot-id': id,
  type,
})
const removeSnapshots = (...ids: number[]) => ({ action: 'remove-snapshots', 'snapshot-ids': ids })
const field = (sourceId: number, name: string, fieldId?: number) => ({
  'source-id': sourceId,
  name,
  transform: 'identity',
  ...(fieldId && { 'field-id': fieldId }),
})
const orderField = { 'source-id': 1, transform: 'identity', direction: 'asc', 'null-order': 'nulls-first' }

describe('applyUpdates', () => {
  test('returns the base itself where nothing changes', () => {
    for (const updates of [
      [],
      [{ action: 'assign-uuid', uuid: table['table-uuid'] }],
      [{ action: 'upgrade-format-version', 'format-version': 2 }],
      [setSchema(0), setSpec(0), setOrder(0)],
      [addSchema({ ...schema0, 'schema-id': 0 })],
      [setRef('main', 12)],
      [removeSnapshots(99), { action: 'remove-snapshot-ref', 'ref-name': 'none' }],
      [{ action: 'set-location', location: 's3://b/t' }],
      [
        { action: 'set-properties', updates: {} },
        { action: 'remove-properties', removals: ['none'] },
      ],
      [{ action: 'remove-statistics', 'snapshot-id': 11 }],
      [
        { action: 'remove-schemas', 'schema-ids': [7] },
        { action: 'remove-partition-specs', 'spec-ids': [7] },
      ],
    ])
      expect(apply(...updates)).toBe(base)
  })

  test('leaves the base unchanged and shares what did not change', () => {
    const before = stringifyJson(base)
    const result = apply(
      addSchema(schema1),
      setSchema(-1),
      addSnapshot(snapshot(13, 3, 12)),
      setRef('main', 13),
      { action: 'set-properties', updates: { a: 'b' } },
      { action: 'remove-snapshot-ref', 'ref-name': 'old' },
    )
    expect(stringifyJson(base)).toBe(before)
    expect(result.get('partition-specs')).toBe(base.get('partition-specs') ?? null)
    expect(result.get('metadata-log')).toBe(base.get('metadata-log') ?? null)
    expect(result.get('last-updated-ms')).toBe(BigInt(nowMs))
  })

  test('says that the policy engine is unavailable for an action it does not know', () => {
    for (const action of ['drop-everything', 'Add-Snapshot', 'add-view-version', 'constructor', '__proto__'])
      expectFault(() => apply({ action }), 'policy_engine_unavailable', new RegExp(action))
  })

  test('calls a base that cannot be read the failure of the upstream', () => {
    for (const broken of [
      { ...table, 'format-version': 9 },
      { ...table, schemas: 1 },
      { ...table, schemas: [{}] },
      { ...table, 'last-column-id': undefined },
      { ...table, 'current-schema-id': 9 },
      { ...table, 'default-spec-id': undefined },
      { ...table, refs: { main: 1 } },
      { ...table, snapshots: [{}] },
    ])
      expectFault(() => applyTo(broken, setSchema(0)), 'upstream_failed')
  })

  test.each([
    [{ action: 'assign-uuid' }],
    [{ action: 'assign-uuid', uuid: 1 }],
    [{ action: 'upgrade-format-version' }],
    [{ action: 'upgrade-format-version', 'format-version': 1 }],
    [{ action: 'upgrade-format-version', 'format-version': 4 }],
    [{ action: 'upgrade-format-version', 'format-version': 2.5 }],
    [{ action: 'add-schema' }],
    [addSchema({})],
    [addSchema({ fields: [{ id: 1 }] })],
    [{ action: 'set-current-schema' }],
    [setSchema(-1)],
    [setSchema(7)],
    [{ action: 'remove-schemas' }],
    [{ action: 'remove-schemas', 'schema-ids': [0] }],
    [{ action: 'add-spec' }],
    [addSpec({ fields: [{ 'source-id': 1, name: 'x' }] })],
    [addSpec({ fields: [field(9, 'x')] })],
    [addSpec({ fields: [field(1, 'x', 1000), field(2, 'y')] })],
    [setSpec(-1)],
    [setSpec(3)],
    [{ action: 'remove-partition-specs', 'spec-ids': [0] }],
    [addOrder({ fields: [{ 'source-id': 1, transform: 'identity' }] })],
    [addOrder({ fields: [{ ...orderField, 'source-id': 9 }] })],
    [setOrder(-1)],
    [setOrder(1)],
    [{ action: 'add-snapshot' }],
    [addSnapshot({})],
    [addSnapshot(snapshot(12, 3))],
    [addSnapshot({ ...snapshot(13, 3), summary: [] })],
    [setRef('main', 99)],
    [setRef('main', 11, 'tag')],
    [setRef('b', 11, 'BRANCH')],
    [{ action: 'set-snapshot-ref', 'ref-name': 'b', 'snapshot-id': 11 }],
    [{ ...setRef('b', 11), 'max-ref-age-ms': '1' }],
    [{ action: 'remove-snapshot-ref' }],
    [{ action: 'remove-snapshots' }],
    [{ action: 'remove-snapshots', 'snapshot-ids': 11 }],
    [{ action: 'set-location' }],
    [{ action: 'set-properties' }],
    [{ action: 'set-properties', updates: { a: 1 } }],
    [{ action: 'set-properties', updated: { a: 'b' } }],
    [{ action: 'set-properties', updates: {}, updated: { a: 'b' } }],
    [{ action: 'remove-properties', removed: ['owner'] }],
    [{ action: 'remove-properties', removals: [1] }],
    [{ action: 'set-statistics', 'snapshot-id': 11 }],
    [{ action: 'set-statistics', statistics: { 'snapshot-id': 11 } }],
    [{ action: 'remove-statistics' }],
    [{ action: 'set-partition-statistics', 'partition-statistics': [] }],
    [{ action: 'remove-partition-statistics', 'snapshot-id': null }],
    [{ action: 'add-encryption-key', 'encryption-key': {} }],
    [{ action: 'remove-encryption-key' }],
    [{}],
  ])('refuses %j as a bad request', (update) => {
    refuses(/Invalid table update/, update)
  })

  test('gives a value or a Fault for any mutation of a commit', () => {
    const updates = [
      addSchema(schema1),
      setSchema(-1),
      addSpec({ 'spec-id': 1, fields: [field(1, 'p', 1000)] }),
      setSpec(-1),
      addOrder({ 'order-id': 1, fields: [orderField] }),
      addSnapshot(snapshot(13, 3, 12)),
      setRef('main', 13),
      removeSnapshots(11),
      { action: 'set-properties', updates: { a: 'b' } },
    ]
    const texts = [JSON.stringify(table), JSON.stringify(tableV1), JSON.stringify(updates)] as const
    const values = [
      'null',
      '-1',
      '0',
      '12',
      '"x"',
      '[]',
      '{}',
      '1.5',
      '"branch"',
      '[null]',
      '9223372036854775807',
    ]
    let applied = 0
    fc.assert(
      fc.property(
        fc.constantFrom(0, 1),
        fc.array(fc.tuple(fc.constantFrom(0, 2), fc.nat(), fc.constantFrom(...values)), { maxLength: 3 }),
        (which, mutations) => {
          const mutated: [string, string] = [texts[which], texts[2]]
          for (const [target, where, put] of mutations) {
            const side = target === 2 ? 1 : 0
            const scalars = [...mutated[side].matchAll(/(?<=[:[,])("[^"]*"(?!:)|-?\d+|true|false)/g)]
            const scalar = scalars[where % scalars.length]
            if (scalar)
              mutated[side] =
                mutated[side].slice(0, scalar.index) +
                put +
                mutated[side].slice(scalar.index + scalar[0].length)
          }
          try {
            const metadata = parseJson(mutated[0])
            applyUpdates(metadata as JsonObject, parseJson(mutated[1]) as JsonObject[], { nowMs })
            applied++
          } catch (thrown) {
            if (!(thrown instanceof Fault)) throw thrown
          }
        },
      ),
      { seed: 11, numRuns: roundsOf(3_000) },
    )
    expect(applied).toBeGreaterThan(100)
  })

  test('applies 60,000 updates to a table of 20,000 snapshots and refs', () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => i + 1)
    const refs = Object.fromEntries(ids.map((id) => [`r${id}`, { 'snapshot-id': id, type: 'tag' }]))
    const big = { ...table, snapshots: ids.map((id) => snapshot(id, id)), refs, 'snapshot-log': [] }
    const result = applyTo(
      { ...big, 'last-sequence-number': ids.length },
      ...ids.slice(0, -1).map((id) => removeSnapshots(id)),
      ...ids.map((id) => addSpec({ fields: [field(1, `p${id}`)] })),
      ...ids.map((id) => ({ action: 'remove-partition-specs', 'spec-ids': [id] })),
    )
    expect(plain(result, 'refs')).toEqual({ r20000: { 'snapshot-id': 20_000, type: 'tag' } })
    expect(plain(result, 'partition-specs')).toEqual([{ 'spec-id': 0, fields: [] }])
  })
})

test('transforms, directions and null orders are named as catalogs keep them', () => {
  refuses(/`transform` "IDENTITY"/, addSpec({ fields: [{ ...field(1, 'p'), transform: 'IDENTITY' }] }))
  refuses(/`transform`/, addOrder({ fields: [{ ...orderField, transform: 'Bucket[4]' }] }))
  refuses(/`direction`/, addOrder({ fields: [{ ...orderField, direction: 'ASC' }] }))
  refuses(/`null-order`/, addOrder({ fields: [{ ...orderField, 'null-order': 'NULLS-FIRST' }] }))
  expect(plain(apply(addSpec({ fields: [field(1, 'Upper')] })), 'partition-specs')).toHaveLength(2)
})

describe('schemas', () => {
  test('are numbered by the table, whatever number was sent, and -1 is the last added', () => {
    const result = apply(addSchema({ ...schema1, 'schema-id': undefined }), setSchema(-1))
    expect(result.get('current-schema-id')).toBe(1n)
    expect(plain(result, 'schemas')).toEqual([schema0, { ...schema1, 'schema-id': 1 }])
    expect(result.get('last-column-id')).toBe(3n)
  })

  test('keep the last column id when a column is dropped', () => {
    expect(apply(addSchema(schema2), setSchema(-1)).get('last-column-id')).toBe(2n)
  })

  test('cannot be made current by an id that the writer gave to another', () => {
    refuses(/ambiguous/, addSchema({ ...schema2, 'schema-id': 0 }), setSchema(0))
    refuses(/ambiguous/, addSchema({ ...schema2, 'schema-id': 5 }), setSchema(1))
    refuses(/ambiguous/, addSchema({ ...schema2, 'schema-id': 5 }), setSchema(5))
    expect(apply(addSchema({ ...schema2, 'schema-id': 5 }), setSchema(-1)).get('current-schema-id')).toBe(1n)
  })

  test('are not added by the commit that removes the newest one, whose number some catalogs give again', () => {
    const remove = (id: number) => ({ action: 'remove-schemas', 'schema-ids': [id] })
    const remove1Spec = { action: 'remove-partition-specs', 'spec-ids': [1] }
    const of = (name: string) => addSpec({ fields: [field(1, name)] })
    refuses(/after the highest/, addSchema(schema1), remove(1), addSchema(schema2), setSchema(-1))
    refuses(/after the highest/, of('a'), remove1Spec, of('b'), setSpec(-1))
    const kept = apply(addSchema(schema1), addSchema(schema2), remove(1), addSchema(schema1), setSchema(-1))
    expect(kept.get('current-schema-id')).toBe(3n)
    expect(apply(of('a'), remove1Spec, addSchema(schema1)).get('current-schema-id')).toBe(0n)
  })

  test('name their types as catalogs keep them, so that a policy sees no other', () => {
    const typed = (type: unknown) => addSchema({ ...schema0, fields: [{ ...schema0.fields[0], type }] })
    for (const type of [
      'LONG',
      'Decimal(9, 2)',
      'decimal( 9,2)',
      'decimal(9 ,2)',
      'decimal(9,  2)',
      'fixed[16 ]',
    ])
      refuses(/`type` .* must be in lower case/, typed(type))
    const list = { type: 'list', 'element-id': 9, element: 'STRING', 'element-required': false }
    refuses(/`type`/, typed(list))
    for (const type of ['decimal(9, 2)', 'decimal(9,2)', 'fixed[16]', 'geometry(OGC:CRS84)'])
      expect(plain(apply(typed(type)), 'schemas')).toHaveLength(2)
  })

  test('equal to one that is there reuse it, and then -1 means nothing', () => {
    const spaced = { ...schema0, 'schema-id': 0, 'identifier-field-ids': [] }
    expect(apply(addSchema(spaced), setSchema(0))).toBe(base)
    refuses(/none was added/, addSchema(schema1), addSchema(spaced), setSchema(-1))
    const again = apply(addSchema(schema1), addSchema(schema2), addSchema(schema1), setSchema(-1))
    expect(again.get('current-schema-id')).toBe(1n)
  })

  test('that differ only in doc, default, requiredness or identifiers are not equal', () => {
    const [id, email] = schema0.fields
    for (const other of [
      { ...schema0, fields: [id, { ...email, doc: 'd' }] },
      { ...schema0, fields: [id, { ...email, 'write-default': 'd' }] },
      { ...schema0, fields: [id, { ...email, required: true }] },
      { ...schema0, fields: [email, id] },
      { ...schema0, 'identifier-field-ids': [1] },
    ])
      expect(apply(addSchema({ ...other, 'schema-id': 1 }), setSchema(-1)).get('current-schema-id')).toBe(1n)
  })

  test('cannot drop the source of the default partition spec or sort order', () => {
    refuses(/lacks/, addSpec({ fields: [field(2, 'p')] }), setSpec(-1), addSchema(schema2), setSchema(-1))
    const order = { fields: [{ ...orderField, 'source-id': 2 }] }
    refuses(/lacks/, addOrder(order), setOrder(-1), addSchema(schema2), setSchema(-1))
    const voided = { fields: [{ ...field(2, 'p'), transform: 'void' }] }
    expect(
      plain(apply(addSpec(voided), setSpec(-1), addSchema(schema2), setSchema(-1)), 'default-spec-id'),
    ).toBe(1)
  })
})

describe('partition specs and sort orders', () => {
  test('get an id and partition field ids', () => {
    const result = apply(addSpec({ fields: [field(1, 'a'), field(2, 'b')] }), setSpec(-1))
    expect(plain(result, 'partition-specs')).toEqual([
      { 'spec-id': 0, fields: [] },
      { 'spec-id': 1, fields: [field(1, 'a', 1000), field(2, 'b', 1001)] },
    ])
    expect(result.get('last-partition-id')).toBe(1001n)
    expect(result.get('default-spec-id')).toBe(1n)
  })

  test('accept several sources of one field, as format version 3 has them', () => {
    const multi = { 'source-ids': [1, 2], name: 'm', transform: 'bucket[4]' }
    expect(apply(addSpec({ fields: [multi] }), setSpec(-1)).get('default-spec-id')).toBe(1n)
    refuses(/lacks/, addSpec({ fields: [{ ...multi, 'source-ids': [1, 9] }] }))
  })

  test('reuse an equal spec, and the unsorted order is always 0', () => {
    const sameSpec = apply(
      addSpec({ fields: [field(1, 'a')] }),
      addSpec({ fields: [field(1, 'a', 1005)] }),
      setSpec(-1),
    )
    expect(sameSpec.get('default-spec-id')).toBe(1n)
    const sorted = apply(addOrder({ 'order-id': 1, fields: [orderField] }), setOrder(-1))
    expect(sorted.get('default-sort-order-id')).toBe(1n)
    const unsorted = applyUpdates(sorted, objects(addOrder({ fields: [] }), setOrder(0)), { nowMs })
    expect(unsorted.get('default-sort-order-id')).toBe(0n)
  })
})

describe('snapshots', () => {
  test('move main, the current snapshot, the log and the sequence number', () => {
    const result = apply(addSnapshot(snapshot(13, 3, 12)), setRef('main', 13))
    expect(result.get('current-snapshot-id')).toBe(13n)
    expect(result.get('last-sequence-number')).toBe(3n)
    expect(plain(result, 'snapshot-log')).toEqual([
      ...table['snapshot-log'],
      { 'timestamp-ms': 1_700_000_000_003, 'snapshot-id': 13 },
    ])
  })

  test('older than the table are a conflict, so that the writer rebases', () => {
    expectFault(() => apply(addSnapshot(snapshot(13, 2, 11))), 'conflict', /older version/)
    expect(apply(addSnapshot(snapshot(13, 1))).get('last-sequence-number')).toBe(1n)
  })

  test('that were main only inside the commit are not in the log', () => {
    const result = apply(
      addSnapshot(snapshot(13, 3, 12)),
      setRef('main', 13),
      addSnapshot(snapshot(14, 4, 13)),
      setRef('main', 14),
    )
    expect(
      (plain(result, 'snapshot-log') as { 'snapshot-id': number }[]).map((one) => one['snapshot-id']),
    ).toEqual([11, 12, 14])
  })

  test('rolled back to are logged at the time of the commit', () => {
    const log = plain(apply(setRef('main', 11)), 'snapshot-log') as unknown[]
    expect(log.at(-1)).toEqual({ 'timestamp-ms': nowMs, 'snapshot-id': 11 })
  })

  test('removed take their refs, statistics and the log before the gap with them', () => {
    const file = { 'snapshot-id': 11, 'statistics-path': 's3://b/t/s' }
    const result = applyTo(
      { ...table, statistics: [file], 'partition-statistics': [file] },
      removeSnapshots(11),
    )
    expect(plain(result, 'snapshots')).toEqual([snapshot(12, 2, 11)])
    expect(plain(result, 'refs')).toEqual({ main: table.refs.main })
    expect(plain(result, 'statistics')).toEqual([])
    expect(plain(result, 'partition-statistics')).toEqual([])
    expect(plain(result, 'snapshot-log')).toEqual([table['snapshot-log'][1]])
  })

  test('removed under main leave the table without a current one', () => {
    const result = apply(removeSnapshots(12))
    expect(result.has('current-snapshot-id')).toBe(false)
    expect(plain(result, 'refs')).toEqual({ old: table.refs.old })
    expect(plain(result, 'snapshot-log')).toEqual([])
  })

  test('of format version 3 need row ids that continue the table', () => {
    const v3 = { ...table, 'format-version': 3, 'next-row-id': 100 }
    const rows = (first?: number) => ({ ...snapshot(13, 3, 12), 'first-row-id': first, 'added-rows': 7 })
    expect(applyTo(v3, addSnapshot(rows(100))).get('next-row-id')).toBe(107n)
    expectFault(() => applyTo(v3, addSnapshot(rows(99))), 'conflict')
    expectFault(() => applyTo(v3, addSnapshot(rows())), 'bad_request')
  })

  test('keep ids above 2^53 exact', () => {
    const updates = parseJson(
      '[{"action":"add-snapshot","snapshot":{"snapshot-id":3055729675574597005,"sequence-number":3,"timestamp-ms":1}},{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":3055729675574597005}]',
    )
    const result = applyUpdates(base, updates as JsonObject[], { nowMs })
    expect(result.get('current-snapshot-id')).toBe(3055729675574597005n)
  })
})

describe('statistics and encryption keys', () => {
  test('replace, add and remove', () => {
    const file = (id: number, path: string) => ({ 'snapshot-id': id, 'statistics-path': path })
    const result = applyTo(
      { ...table, statistics: [file(11, 'a'), file(12, 'b')] },
      { action: 'set-statistics', statistics: file(11, 'c') },
      { action: 'remove-statistics', 'snapshot-id': 12 },
      { action: 'set-partition-statistics', 'partition-statistics': file(12, 'd') },
      { action: 'add-encryption-key', 'encryption-key': { 'key-id': 'k', 'encrypted-key-metadata': 'x' } },
      { action: 'add-encryption-key', 'encryption-key': { 'key-id': 'k', 'encrypted-key-metadata': 'y' } },
    )
    expect(plain(result, 'statistics')).toEqual([file(11, 'c')])
    expect(plain(result, 'partition-statistics')).toEqual([file(12, 'd')])
    expect(plain(result, 'encryption-keys')).toEqual([{ 'key-id': 'k', 'encrypted-key-metadata': 'x' }])
    const without = applyUpdates(result, objects({ action: 'remove-encryption-key', 'key-id': 'k' }), {
      nowMs,
    })
    expect(plain(without, 'encryption-keys')).toEqual([])
  })
})

describe('format version 1', () => {
  test('with a single schema ignores a number for it, as the reference implementation does', () => {
    const result = applyTo({ ...tableV1, 'current-schema-id': 3 }, addSchema(schema1), setSchema(-1))
    expect(result.get('current-schema-id')).toBe(1n)
  })

  test('with a single schema and spec gains the lists and keeps the old fields in step', () => {
    const result = applyTo(tableV1, addSchema(schema1), setSchema(-1))
    expect(plain(result, 'schemas')).toEqual([{ ...tableV1.schema, 'schema-id': 0 }, schema1])
    expect(plain(result, 'schema')).toEqual(schema1)
    expect(plain(result, 'partition-spec')).toEqual(tableV1['partition-spec'])
    expect(result.has('last-sequence-number')).toBe(false)
  })

  test('loses them when it is upgraded, and its main is found', () => {
    const result = applyTo(
      tableV1,
      { action: 'upgrade-format-version', 'format-version': 2 },
      removeSnapshots(5),
    )
    expect(result.has('schema') || result.has('partition-spec')).toBe(false)
    expect(plain(result, 'partition-specs')).toEqual([
      {
        'spec-id': 0,
        fields: tableV1['partition-spec'].map((one, index) => ({ ...one, 'field-id': 1000 + index })),
      },
    ])
    expect(plain(result, 'sort-orders')).toEqual([{ 'order-id': 0, fields: [] }])
    expect(result.get('last-partition-id')).toBe(1001n)
    expect(result.get('last-sequence-number')).toBe(0n)
    expect(result.has('current-snapshot-id')).toBe(false)
  })
})

describe('a table being created', () => {
  const updates = [
    addSchema(schema0),
    setSchema(-1),
    addSpec({ 'spec-id': 0, fields: [] }),
    setSpec(-1),
    addOrder({ 'order-id': 0, fields: [] }),
    setOrder(-1),
  ]

  test('starts empty, in the version that the updates name', () => {
    const result = create({ action: 'upgrade-format-version', 'format-version': 1 }, ...updates)
    expect(result.get('format-version')).toBe(1n)
    const newer = create({ action: 'upgrade-format-version', 'format-version': 3 }, ...updates)
    expect(newer.get('next-row-id')).toBe(0n)
    expect(JSON.parse(stringifyJson(create(...updates)))).toEqual({
      'format-version': 2,
      'last-sequence-number': 0,
      'last-column-id': 2,
      schemas: [schema0],
      'current-schema-id': 0,
      'last-partition-id': 999,
      'partition-specs': [{ 'spec-id': 0, fields: [] }],
      'default-spec-id': 0,
      'sort-orders': [{ 'order-id': 0, fields: [] }],
      'default-sort-order-id': 0,
      properties: {},
      'last-updated-ms': nowMs,
    })
  })

  test('needs a schema, a spec and an order, and each before a snapshot', () => {
    for (const partial of [[], updates.slice(0, 2), updates.slice(0, 4)]) {
      expectFault(() => create(...partial), 'bad_request', /does not exist/)
      expectFault(() => create(...partial, addSnapshot(snapshot(1, 1))), 'bad_request', /is added before any/)
    }
  })
})
