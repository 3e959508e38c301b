/** The page's examples against the bindings that the gateway makes from Iceberg metadata. */

import { expect, test } from 'bun:test'
import { type JsonObject, stringifyJson } from '../../src/base/json.ts'
import type { ChangeOrigin } from '../../src/core/commit.ts'
import { columnsKey, policyKinds } from '../../src/core/policy.ts'
import { checkPolicy, checkPolicyToSave } from '../../src/policy/check.ts'
import { compilePolicy } from '../../src/policy/compile.ts'
import { evaluatePolicy, type PolicyBindings } from '../../src/policy/evaluate.ts'
import { type ManifestFacts, noManifestFacts, withManifestFacts } from '../../src/policy/manifest-facts.ts'
import { commitView, tableView } from '../../src/wire/iceberg/policy-view.ts'
import { dayMs, json, pageExamples, receivedAt } from './bindings.ts'

const budget = { timeoutMs: 1_000, ticksMax: 200_000 }
const ref = { namespace: ['sales'], name: 'orders' }
const examples = await pageExamples()

interface Situation {
  readonly columns?: readonly string[]
  /** Fields of the schema after `id`, with ids from 2. */
  readonly fields?: readonly object[]
  readonly fieldsBefore?: readonly object[]
  readonly origin?: ChangeOrigin
  readonly properties?: Readonly<Record<string, string>>
  readonly location?: string
  readonly format?: number
  readonly partitions?: readonly string[]
  readonly updates?: unknown
  readonly roles?: readonly string[]
  /** Age of snapshot 3; snapshot 1 is 30 days old. */
  readonly ageMs?: number
  /** Those of a commit that changes no file, but for these. */
  readonly facts?: ManifestFacts['values']
  /** By field id. */
  readonly nulls?: ReadonlyMap<number, bigint>
}

function metadata(situation: Situation): JsonObject {
  const { columns = ['id'], fields = [], partitions = ['event_day'], ageMs = dayMs } = situation
  const { properties = { owner: 'ops' }, location = 's3://b/orders', format = 2 } = situation
  const snapshot = (id: number, age: number) => ({
    'snapshot-id': id,
    'sequence-number': id,
    'timestamp-ms': receivedAt - age,
    'manifest-list': `s3://b/${id}.avro`,
    summary: { operation: 'append' },
  })
  return json({
    'format-version': format,
    properties,
    'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
    location,
    'last-sequence-number': 3,
    'last-updated-ms': receivedAt - ageMs,
    'last-column-id': 9,
    schemas: [
      {
        type: 'struct',
        'schema-id': 0,
        fields: [
          ...columns.map((name, index) => ({ id: index + 1, name, type: 'long', required: false })),
          ...fields,
        ],
      },
    ],
    'current-schema-id': 0,
    'partition-specs': [
      {
        'spec-id': 0,
        fields: partitions.map((name) => ({ 'source-id': 1, 'field-id': 1000, name, transform: 'day' })),
      },
    ],
    'default-spec-id': 0,
    'last-partition-id': 1000,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
    snapshots: [snapshot(1, 30 * dayMs), snapshot(3, ageMs)],
    'current-snapshot-id': 3,
  }) as JsonObject
}

/** A commit on the default table that turns it into `situation`, as the gateway presents it. */
function bindings(situation: Situation = {}): PolicyBindings {
  const updates = json(situation.updates ?? []) as readonly JsonObject[]
  const result = tableView(ref, metadata(situation))
  return {
    table: tableView(
      ref,
      metadata({
        ...(situation.ageMs !== undefined && { ageMs: situation.ageMs }),
        ...(situation.fieldsBefore && { fields: situation.fieldsBefore }),
      }),
    ),
    commit: withManifestFacts(
      commitView({ requirements: [], updates }, result, receivedAt, situation.origin),
      {
        values: { ...noManifestFacts.values, ...situation.facts },
        ...(situation.nulls && { nullCounts: situation.nulls }),
      },
    ),
    principal: json({ sub: 'spark', roles: situation.roles ?? [] }),
  }
}

const removal = (...ids: number[]) => [{ action: 'remove-snapshots', 'snapshot-ids': ids }]

const field = (id: number, name: string, type: unknown, more: object = {}) => ({
  ...{ id, name, type, required: false },
  ...more,
})
const struct = (...fields: object[]) => ({ type: 'struct', fields })
const list = (element: unknown) => ({ type: 'list', 'element-id': 90, element, 'element-required': false })
const map = (value: unknown) => ({
  ...{ type: 'map', 'key-id': 91, key: 'string' },
  ...{ 'value-id': 92, value, 'value-required': false },
})
const nested = (leaf: object) => [
  field(2, 'address', struct(leaf)),
  field(4, 'items', list(struct(field(5, 'price', 'decimal(10, 2)', { doc: 'net' })))),
]

const appends = [{ action: 'add-snapshot' }, { action: 'set-snapshot-ref' }]

/** For every example: commits that it allows and commits that it denies. */
const cases: Readonly<Record<string, { readonly allows: Situation[]; readonly denies: Situation[] }>> = {
  'keep-id-column': { allows: [{}], denies: [{ columns: ['email'] }, { columns: [] }] },
  'no-ssn-column': { allows: [{}], denies: [{ columns: ['id', 'ssn'] }] },
  'no-ssn-anywhere': {
    allows: [{}, { fields: nested(field(3, 'city', 'string')) }],
    denies: [
      { fields: [field(2, 'SSN', 'string')] },
      { fields: nested(field(3, 'ssn', 'string')) },
      { fields: [field(2, 'a', list(struct(field(3, 'ssn', 'string'))))] },
      { fields: [field(2, 'a', map(struct(field(3, 'social_security_no', 'string'))))] },
    ],
  },
  'new-columns-documented': {
    allows: [
      {},
      { fields: [field(2, 'a', 'int', { doc: 'why' })] },
      { fieldsBefore: [field(2, 'a', 'int')], fields: [field(2, 'a', 'int')] },
    ],
    denies: [
      { fields: [field(2, 'a', 'int')] },
      { fields: [field(2, 'a', struct(field(3, 'b', 'int')), { doc: 'why' })] },
    ],
  },
  'additive-only': {
    allows: [
      {},
      {
        fieldsBefore: [field(2, 'address', struct(field(3, 'city', 'string')))],
        fields: nested(field(3, 'city', 'string')),
      },
    ],
    denies: [
      { columns: [] },
      { fieldsBefore: nested(field(3, 'city', 'string')), fields: nested(field(3, 'town', 'string')) },
      { fieldsBefore: nested(field(3, 'no', 'int')), fields: nested(field(3, 'no', 'long')) },
      { fieldsBefore: [field(2, 'l', list('int'))], fields: [field(2, 'l', list('long'))] },
      { fieldsBefore: nested(field(3, 'city', 'string')), fields: nested(field(7, 'city', 'string')) },
    ],
  },
  'new-columns-optional': {
    allows: [
      { fields: [field(2, 'a', 'int')] },
      {
        fieldsBefore: [field(2, 'a', 'int', { required: true })],
        fields: [field(2, 'a', 'int', { required: true })],
      },
    ],
    denies: [
      { fields: [field(2, 'a', 'int', { required: true })] },
      { fields: nested(field(3, 'city', 'string', { required: true })) },
    ],
  },
  'no-floats-for-money': {
    allows: [{ fields: nested(field(3, 'amount', 'decimal(10, 2)')) }, { fields: [field(2, 'x', 'float')] }],
    denies: [{ fields: [field(2, 'Amount', 'double')] }, { fields: nested(field(3, 'price', 'float')) }],
  },
  'main-by-release-only': {
    allows: [{}, { origin: { branch: 'audit' } }, { origin: { branch: 'main' }, roles: ['orders-writer'] }],
    denies: [{ origin: { branch: 'main' } }],
  },
  'one-service-only': {
    allows: [{}, { origin: { branch: 'main', session: { id: 's', name: 'service:etl' } } }],
    denies: [
      { origin: { branch: 'main' } },
      { origin: { branch: 'main', session: { id: 's', name: 'service:other' } } },
    ],
  },
  'no-scripts': {
    allows: [{}, { origin: { client: 'PyIceberg/0.12.0' } }],
    denies: [{ origin: { client: 'curl/8.5.0' } }, { origin: { client: 'Python-Requests/2.32' } }],
  },
  'no-huge-appends': {
    allows: [{}, { facts: { added_bytes: 107374182400n, added_files: 10_000n } }],
    denies: [{ facts: { added_bytes: 107374182401n } }, { facts: { added_files: 10_001n } }],
  },
  'no-tiny-files': {
    allows: [{}, { facts: { added_files: 20n } }, { facts: { added_files: 21n, added_bytes: 22020096n } }],
    denies: [{ facts: { added_files: 21n, added_bytes: 22020095n } }],
  },
  'few-partitions-at-once': {
    allows: [
      {},
      { facts: { touched_partitions: 400n } },
      { facts: { touched_partitions: 401n }, roles: ['data-steward'] },
    ],
    denies: [{ facts: { touched_partitions: 401n } }],
  },
  'no-null-customers': {
    allows: [
      { columns: ['customer_id'] },
      { columns: ['customer_id'], facts: { added_files: 1n }, nulls: new Map([[1, 0n]]) },
    ],
    denies: [{ columns: ['customer_id'], facts: { added_files: 1n }, nulls: new Map([[1, 1n]]) }],
  },
  'owner-is-named': { allows: [{}], denies: [{ properties: {} }, { properties: { owner: '' } }] },
  'format-version-two': { allows: [{}, { format: 3 }], denies: [{ format: 1 }] },
  'location-stays': { allows: [{}], denies: [{ location: 's3://b/elsewhere' }] },
  'stewards-set-properties': {
    allows: [{ updates: appends }, { updates: [{ action: 'set-properties' }], roles: ['data-steward'] }],
    denies: [{ updates: [...appends, { action: 'remove-properties' }] }],
  },
  'stewards-set-tags': {
    allows: [
      { updates: appends },
      { updates: [{ action: 'set-snapshot-ref', type: 'branch' }] },
      { updates: [{ action: 'set-snapshot-ref', type: 'tag' }], roles: ['data-steward'] },
    ],
    denies: [{ updates: [{ action: 'set-snapshot-ref', type: 'tag' }] }],
  },
  'branches-have-names-of-teams': {
    allows: [{}, { origin: { branch: 'main' } }, { origin: { branch: 'sales/fix-1' } }],
    denies: [{ origin: { branch: 'fix' } }, { origin: { branch: 'main2' } }],
  },
  'at-most-500-columns': {
    allows: [{ columns: Array.from({ length: 500 }, (_, index) => `c${index}`) }],
    denies: [{ columns: Array.from({ length: 501 }, (_, index) => `c${index}`) }],
  },
  'snake-case-columns': {
    allows: [{ fields: nested(field(3, 'zip_code', 'string')) }],
    denies: [{ columns: ['Id'] }, { fields: nested(field(3, 'zipCode', 'string')) }],
  },
  'no-deletes-of-rows': { allows: [{}], denies: [{ facts: { added_delete_files: 1n } }] },
  'no-files-from-elsewhere': { allows: [{}], denies: [{ facts: { outside_files: 1n } }] },
  'keep-day-partition': { allows: [{}], denies: [{ partitions: [] }] },
  'writers-only': {
    allows: [{ roles: ['orders-writer'] }],
    denies: [{}, { roles: ['Orders-Writer', 'orders-writer-2'] }],
  },
  'stewards-change-schema': {
    allows: [
      { updates: [{ action: 'add-snapshot' }] },
      { updates: [{ action: 'add-schema' }], roles: ['data-steward'] },
    ],
    denies: [{ updates: [{ action: 'add-snapshot' }, { action: 'set-current-schema' }] }],
  },
  'append-only': {
    allows: [
      { updates: appends, facts: { added_files: 2n, added_rows: 9n } },
      { updates: removal(1), roles: ['orders-writer'], facts: { is_rollback: true, deleted_files: 1n } },
    ],
    denies: [
      { updates: appends, facts: { is_rollback: true } },
      { updates: appends, facts: { deleted_files: 1n } },
      { updates: appends, facts: { added_delete_files: 1n } },
      { updates: [{ action: 'drop-table' }] },
      { updates: [...appends, { action: 'set-properties' }] },
    ],
  },
  'keep-seven-days': {
    allows: [{}, { updates: removal(1) }, { updates: removal(1, 3), ageMs: 7 * dayMs }],
    denies: [
      { updates: removal(3) },
      { updates: removal(1, 3) },
      { updates: [...removal(1), ...removal(3)] },
      { updates: removal(3), ageMs: 7 * dayMs - 1 },
    ],
  },
}

test('every example has cases, and they cover all kinds', () => {
  expect(examples.map(({ name }) => name).sort()).toEqual(Object.keys(cases).sort())
  expect(new Set(examples.map(({ kind }) => kind))).toEqual(new Set(policyKinds))
})

test.each(examples.map(({ name, text }) => [name, text]))(
  '%s passes the check, allows and denies',
  (name, text) => {
    expect(checkPolicy(text)).toEqual([])
    const compiled = compilePolicy(text)
    for (const allowed of cases[name]?.allows ?? [])
      expect(evaluatePolicy(compiled, bindings(allowed), budget)).toBe(true)
    for (const denied of cases[name]?.denies ?? [])
      expect(evaluatePolicy(compiled, bindings(denied), budget)).toBe(false)
  },
)

test('retention also works on CEL timestamps and durations', () => {
  const compiled = compilePolicy(`commit.updates.filter(u, u.action == "remove-snapshots").all(u,
    table.snapshots.all(s, !(s.snapshot_id in u["snapshot-ids"]) ||
      timestamp(commit.received_at / 1000) - timestamp(s.timestamp_ms / 1000) >= duration("168h")))`)
  expect(evaluatePolicy(compiled, bindings({ updates: removal(1) }), budget)).toBe(true)
  expect(evaluatePolicy(compiled, bindings({ updates: removal(3) }), budget)).toBe(false)
})

test('the check and the page know every key of the bindings', async () => {
  const page = await Bun.file(new URL('../../docs/policies.md', import.meta.url)).text()
  const table = tableView(ref, metadata({}))
  const commit = commitView({ identifier: ref, requirements: [], updates: [] }, table, receivedAt)
  expect(stringifyJson([...commit.keys()])).toContain('identifier')
  for (const key of commit.keys()) {
    expect(checkPolicy(`commit.${key} != null`)).toEqual([])
    expect(page).toContain(`\`commit.${key}\``)
  }
  const [snapshot] = table.get('snapshots') as readonly JsonObject[]
  // No policy can name the index of columns.
  const keys = [...table.keys()].filter((key) => key !== columnsKey)
  for (const key of keys) expect(checkPolicyToSave(`table.${key} != null`)).toEqual([])
  for (const key of snapshot?.keys() ?? [])
    expect(checkPolicyToSave(`table.current_snapshot.${key} != null`)).toEqual([])
  for (const key of [...keys, ...(snapshot?.keys() ?? [])])
    expect(page).toMatch(new RegExp(`\`${key}(\\[\\])?\``))
})
