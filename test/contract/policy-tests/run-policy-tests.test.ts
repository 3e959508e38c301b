/** Policy tests of contract documents: what a commit in short form is judged by, and what a failed test says. */

import { describe, expect, test } from 'bun:test'
import { performContractTask } from '../../../src/contract/policy-tests/perform-task.ts'
import { runPolicyTests } from '../../../src/contract/policy-tests/run-policy-tests.ts'

const properties = [
  { name: 'id', logicalType: 'integer', required: true },
  { name: 'email', logicalType: 'string' },
  { name: 'amount', physicalType: 'decimal(10,2)' },
  { name: 'address', logicalType: 'object', properties: [{ name: 'city', logicalType: 'string' }] },
  { name: 'tags', logicalType: 'array' },
]
const owner = {
  id: 'owned',
  message: 'say who owns the table',
  definitionCel: 'has(commit.result.properties.owner)',
}
const etl = { id: 'etl-only', definitionCel: "principal.role(principal, 'etl')" }

function read(tests: readonly object[], more: object = {}) {
  const value = { table: { namespace: ['sales'], name: 'orders' }, tests, ...more }
  const text = JSON.stringify({
    ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: 'orders', version: '1.0.0' },
    schema: [
      { name: 'orders', properties, customProperties: [{ property: 'covenant', vendor: 'covenant', value }] },
    ],
  })
  return performContractTask({ kind: 'read', bytes: new TextEncoder().encode(text), format: 'json' })
}

/** Why the one test fails; undefined where it passes. */
function problem(given: object, expected: object, more: object = {}): string | undefined {
  const outcome = read([{ name: 't', given, expect: expected }], more)
  if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome))
  return runPolicyTests(outcome.read.model)[0]?.problem
}
const allowed = (given: object, more?: object) => problem(given, { decision: 'allow' }, more)
const denied = (given: object, expected: object = {}, more?: object) =>
  problem(given, { decision: 'deny', ...expected }, more)

describe('a commit is judged by what the object says of its columns', () => {
  test('one that keeps them is allowed', () => {
    expect(allowed({ commit: [] })).toBeUndefined()
    expect(allowed({ commit: [{ snapshot: {} }, { setProperties: { owner: 'ann' } }] })).toBeUndefined()
    expect(allowed({ commit: [{ addColumn: { name: 'note', type: 'string' } }] })).toBeUndefined()
    expect(allowed({ commit: [{ changeType: { name: 'amount', type: 'decimal(12, 2)' } }] })).toBeUndefined()
  })

  test('one that drops, renames or retypes a column is denied, with policy and reason', () => {
    const columns = { policy: 'columns', reason: 'a column of the contract is missing, or has another type' }
    for (const action of [
      { dropColumn: 'email' },
      { renameColumn: { from: 'email', to: 'e_mail' } },
      { changeType: { name: 'id', type: 'string' } },
      { changeType: { name: 'address', type: 'string' } },
    ])
      expect([action, denied({ commit: [action] }, columns)]).toEqual([action, undefined])
    expect(
      denied(
        { commit: [{ dropColumn: 'id' }, { addColumn: { name: 'id', type: 'long' } }] },
        { policy: 'columns' },
      ),
    ).toBeUndefined()
  })

  test('a column that the object does not name is denied where it says so', () => {
    const given = { commit: [{ addColumn: { name: 'note', type: 'string' } }] }
    expect(denied(given, { policy: 'additional-columns' }, { additionalColumns: 'deny' })).toBeUndefined()
    expect(allowed(given, { additionalColumns: 'warn' })).toBeUndefined()
  })
})

describe('a commit is judged by the policies of the document', () => {
  const policies = [owner, etl]

  test('with the principal and the properties that the test gives', () => {
    const principal = { roles: ['etl'] }
    const commit = [{ setProperties: { owner: 'ann' } }]
    expect(allowed({ principal, commit }, { policies })).toBeUndefined()
    expect(
      denied({ principal, commit: [] }, { policy: 'owned', reason: 'who owns' }, { policies }),
    ).toBeUndefined()
    expect(denied({ commit }, { policy: 'etl-only' }, { policies })).toBeUndefined()
    const owned = { columns: { id: 'long', email: 'string' }, properties: { owner: 'ann' } }
    const removed = { principal, table: owned, commit: [{ removeProperties: ['owner'] }] }
    expect(denied(removed, {}, { policies })).toBeUndefined()
  })

  test('a policy that only warns denies nothing', () => {
    expect(allowed({ commit: [] }, { policies: [{ ...owner, mode: 'warn' }] })).toBeUndefined()
  })
})

describe('a test fails', () => {
  test.each<[string, () => string | undefined, RegExp]>([
    [
      'where a commit is denied',
      () => allowed({ commit: [{ dropColumn: 'email' }] }),
      /^it must be allowed, and columns denied it: a column of the contract is missing/,
    ],
    [
      'where a commit is allowed',
      () => denied({ commit: [] }),
      /^it must be denied, and no policy denied it$/,
    ],
    [
      'where another policy denies',
      () => denied({ commit: [{ dropColumn: 'email' }] }, { policy: 'keys' }),
      /^keys must deny it, and columns did$/,
    ],
    [
      'where the reason is another',
      () => denied({ commit: [{ dropColumn: 'email' }] }, { reason: 'because' }),
      /^the reason must say “because”, and says “a column/,
    ],
    [
      'where the table has no such column',
      () => denied({ commit: [{ dropColumn: 'none' }] }),
      /^the commit cannot be made: the table of the test has no column none/,
    ],
    [
      'where a policy gives no verdict',
      () =>
        denied(
          { commit: [] },
          {},
          { policies: [{ id: 'x', definitionCel: 'table.properties.none == "x"' }] },
        ),
      /^it could not be judged: x gives no verdict/,
    ],
  ])('%s', (_, run, expected) => {
    expect(run()).toMatch(expected)
  })

  test('and the model says so, for the guard of a proposal', () => {
    const outcome = read([{ name: 'never', given: { commit: [] }, expect: { decision: 'deny' } }])
    expect(outcome).toMatchObject({
      read: { model: { failedTests: ['orders, never: it must be denied, and no policy denied it'] } },
    })
  })
})

test.each([
  ['an unknown action', { commit: [{ drop: 'email' }] }, 'drop'],
  ['two actions in one', { commit: [{ dropColumn: 'a', setProperties: {} }] }, 'must NOT have more than 1'],
  ['no commit', {}, 'commit is missing'],
])('a malformed test is refused: %s', (_, given, message) => {
  const outcome = read([{ name: 't', given, expect: { decision: 'allow' } }])
  expect([outcome.kind, JSON.stringify(outcome)]).toEqual(['refused', expect.stringContaining(message)])
})
