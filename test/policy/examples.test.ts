import { expect, test } from 'bun:test'
import { checkPolicy } from '../../src/policy/check.ts'
import { compilePolicy } from '../../src/policy/compile.ts'
import { evaluatePolicy, type PolicyBindings } from '../../src/policy/evaluate.ts'
import { policyExamples } from '../../src/policy/examples.ts'
import { dayMs, receivedAt, sampleBindings, sampleTable } from './bindings.ts'

const budget = { timeoutMs: 1_000, ticksMax: 200_000 }
const removal = (...ids: number[]) => [{ action: 'remove-snapshots', 'snapshot-ids': ids }]
const withFields = (...names: string[]) => ({
  ...sampleTable,
  schema: { fields: names.map((name) => ({ name })) },
})

/** For every shipped example: commits that it allows and commits that it denies. */
const cases: Readonly<
  Record<string, { readonly allows: PolicyBindings[]; readonly denies: PolicyBindings[] }>
> = {
  'keep-id-column': {
    allows: [sampleBindings()],
    denies: [sampleBindings({ result: withFields('email') }), sampleBindings({ result: withFields() })],
  },
  'no-ssn-column': {
    allows: [sampleBindings()],
    denies: [sampleBindings({ result: withFields('id', 'ssn') })],
  },
  'keep-day-partition': {
    allows: [sampleBindings()],
    denies: [sampleBindings({ result: { ...sampleTable, partition_spec: { fields: [] } } })],
  },
  'writers-only': {
    allows: [sampleBindings({ roles: ['orders-writer'] })],
    denies: [sampleBindings(), sampleBindings({ roles: ['Orders-Writer', 'orders-writer-2'] })],
  },
  'stewards-change-schema': {
    allows: [
      sampleBindings({ updates: [{ action: 'add-snapshot' }] }),
      sampleBindings({ updates: [{ action: 'add-schema' }], roles: ['data-steward'] }),
    ],
    denies: [sampleBindings({ updates: [{ action: 'add-snapshot' }, { action: 'set-current-schema' }] })],
  },
  'keep-seven-days': {
    allows: [
      sampleBindings(),
      sampleBindings({ updates: removal(1) }),
      sampleBindings({
        table: { ...sampleTable, snapshots: [{ 'snapshot-id': 9, 'timestamp-ms': receivedAt - 7 * dayMs }] },
        updates: removal(9),
      }),
    ],
    denies: [
      sampleBindings({ updates: removal(3) }),
      sampleBindings({ updates: removal(1, 3) }),
      sampleBindings({ updates: [...removal(1), ...removal(3)] }),
      sampleBindings({
        table: {
          ...sampleTable,
          snapshots: [{ 'snapshot-id': 9, 'timestamp-ms': receivedAt - 7 * dayMs + 1 }],
        },
        updates: removal(9),
      }),
    ],
  },
}

test('every shipped example has cases', () => {
  expect(policyExamples.map(({ name }) => name).sort()).toEqual(Object.keys(cases).sort())
})

test('the examples cover all kinds of SPEC 2.4', () => {
  expect(new Set(policyExamples.map(({ kind }) => kind))).toEqual(
    new Set(['schema', 'write_acl', 'retention']),
  )
})

for (const { name, definitionCel } of policyExamples) {
  test(`the example ${name} passes the check, allows and denies as it says`, () => {
    expect(checkPolicy(definitionCel)).toEqual([])
    const compiled = compilePolicy(definitionCel)
    for (const bindings of cases[name]?.allows ?? [])
      expect(evaluatePolicy(compiled, bindings, budget)).toBe(true)
    for (const bindings of cases[name]?.denies ?? [])
      expect(evaluatePolicy(compiled, bindings, budget)).toBe(false)
  })
}

test('retention also works on CEL timestamps and durations', () => {
  const compiled = compilePolicy(`commit.updates.filter(u, u.action == "remove-snapshots").all(u,
    table.snapshots.all(s, !(s["snapshot-id"] in u["snapshot-ids"]) ||
      timestamp(commit.received_at / 1000) - timestamp(s["timestamp-ms"] / 1000) >= duration("168h")))`)
  expect(evaluatePolicy(compiled, sampleBindings({ updates: removal(1) }), budget)).toBe(true)
  expect(evaluatePolicy(compiled, sampleBindings({ updates: removal(3) }), budget)).toBe(false)
})
