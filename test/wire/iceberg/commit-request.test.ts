import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../../src/base/fault.ts'
import { isJsonObject } from '../../../src/base/json.ts'
import {
  assertIdentifierMatches,
  parseCommitRequest,
  readTransactionRequest,
  snapshotIdsAdded,
} from '../../../src/wire/iceberg/commit-request.ts'
import { roundsOf } from '../../support/long-form.ts'
import { expectFault } from './sample-metadata.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const commit = (value: unknown) => parseCommitRequest(bytes(JSON.stringify(value)))
const transaction = (changes: unknown) =>
  readTransactionRequest(bytes(JSON.stringify({ 'table-changes': changes })))
const expectRefused = async (reading: Promise<unknown>, message?: RegExp) => {
  const thrown = await reading.catch((error: unknown) => error)
  expectFault(
    () => {
      throw thrown
    },
    'bad_request',
    message,
  )
}
const change = (namespace: unknown, name: unknown) => ({
  identifier: { namespace, name },
  requirements: [],
  updates: [],
})

describe('parseCommitRequest', () => {
  test('keeps requirements and updates as sent, unknown kinds and exact ids included', () => {
    const request = parseCommitRequest(
      bytes('{"requirements":[{"type":"x"}],"updates":[{"action":"y","n":9223372036854775807}],"more":1}'),
    )
    expect(request.identifier).toBeUndefined()
    expect(request.requirements).toEqual([new Map([['type', 'x']])])
    expect(request.updates[0]?.get('n')).toBe(9223372036854775807n)
  })

  test('reads an identifier and takes null for none', () => {
    const body = { requirements: [], updates: [] }
    expect(commit({ ...body, identifier: { namespace: ['a', 'b'], name: 't' } }).identifier).toEqual({
      namespace: ['a', 'b'],
      name: 't',
    })
    expect(commit({ ...body, identifier: null })).toEqual({ requirements: [], updates: [] })
  })

  test.each([
    [[]],
    ['x'],
    [null],
    [{}],
    [{ requirements: [] }],
    [{ updates: [] }],
    [{ requirements: {}, updates: [] }],
    [{ requirements: null, updates: [] }],
    [{ requirements: [1], updates: [] }],
    [{ requirements: [[]], updates: [] }],
    [{ requirements: [{}], updates: [] }],
    [{ requirements: [{ type: 1 }], updates: [] }],
    [{ requirements: [], updates: [{}] }],
    [{ requirements: [], updates: [{ action: null }] }],
    [{ requirements: [], updates: [], identifier: 'a.t' }],
    [{ requirements: [], updates: [], identifier: { namespace: 'a', name: 't' } }],
    [{ requirements: [], updates: [], identifier: { namespace: [], name: 't' } }],
    [{ requirements: [], updates: [], identifier: { namespace: ['a'] } }],
  ])('refuses %j', (body) => {
    expectFault(() => commit(body), 'bad_request')
  })

  test('refuses a body that is not JSON, nests too deep or repeats a key', () => {
    for (const text of ['', '{', '{"updates":[],"updates":[],"requirements":[]}', '['.repeat(100_000)])
      expectFault(() => parseCommitRequest(bytes(text)), 'bad_request', /Invalid JSON/)
  })

  test('gives a value or a bad_request for any mutation of a body', () => {
    const body = bytes(
      JSON.stringify({
        identifier: { namespace: ['a'], name: 't' },
        requirements: [{ type: 'assert-table-uuid', uuid: 'u' }],
        updates: [{ action: 'add-snapshot', snapshot: { 'snapshot-id': 1 } }],
      }),
    )
    let values = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(body.length - 1), fc.nat(255)), { maxLength: 3 }), (mutations) => {
        const mutated = body.slice()
        for (const [at, byte] of mutations) mutated[at] = byte
        try {
          const request = parseCommitRequest(mutated)
          snapshotIdsAdded(request)
          values++
          expect(request.updates.every(isJsonObject)).toBe(true)
        } catch (thrown) {
          if (!(thrown instanceof Fault)) throw thrown
          expect(thrown.kind).toBe('bad_request')
        }
      }),
      { seed: 7, numRuns: roundsOf(3_000) },
    )
    expect(values).toBeGreaterThan(100)
  })
})

describe('readTransactionRequest', () => {
  test('gives the changes in order', async () => {
    const changes = await transaction([change(['a'], 't'), change(['a', 'b'], 't-2_X')])
    expect(changes.map((one) => one.identifier)).toEqual([
      { namespace: ['a'], name: 't' },
      { namespace: ['a', 'b'], name: 't-2_X' },
    ])
  })

  test('refuses empty table-changes and a change without identifier', async () => {
    await expectRefused(transaction([]), /empty/)
    await expectRefused(transaction(undefined), /missing/)
    await expectRefused(transaction([{ requirements: [], updates: [] }]), /identifier/)
  })

  test.each([
    [['a.b'], 't'],
    [['a', ''], 't'],
    [['a'], 't@main'],
    [['a'], '../t'],
    [['a'], 't\n'],
    [['a\u001fb'], 't'],
    [['é'], 't'],
    [['a'], ''],
    [['a'], 'x'.repeat(256)],
    [[], 't'],
  ])('refuses the identifier %j %j', async (namespace, name) => {
    await expectRefused(transaction([change(namespace, name)]))
  })

  test('refuses a table named twice, since its second change would be judged without the first', async () => {
    await expectRefused(transaction([change(['a'], 't'), change(['a'], 't')]), /a\.t twice/)
  })
})

describe('assertIdentifierMatches', () => {
  const request = commit({ identifier: { namespace: ['a'], name: 't' }, requirements: [], updates: [] })

  test('accepts the same table and a body that names none', () => {
    assertIdentifierMatches(request, { namespace: ['a'], name: 't' })
    assertIdentifierMatches({ requirements: [], updates: [] }, { namespace: ['a'], name: 't' })
  })

  test('refuses another name, namespace or split of the same text', () => {
    for (const table of [
      { namespace: ['a'], name: 'T' },
      { namespace: ['b'], name: 't' },
      { namespace: ['a', 't'], name: 't' },
    ])
      expectFault(() => assertIdentifierMatches(request, table), 'bad_request', /another table/)
  })
})

describe('snapshotIdsAdded', () => {
  test('are those of add-snapshot, exact and in order', () => {
    const request = parseCommitRequest(
      bytes(`{"requirements":[],"updates":[
        {"action":"add-snapshot","snapshot":{"snapshot-id":3051729675574597004}},
        {"action":"remove-snapshots","snapshot-ids":[1]},
        {"action":"add-snapshot","snapshot":{"snapshot-id":2}}]}`),
    )
    expect(snapshotIdsAdded(request)).toEqual([3051729675574597004n, 2n])
  })

  test('are refused where an update names none', () => {
    for (const update of [
      { action: 'add-snapshot' },
      { action: 'add-snapshot', snapshot: {} },
      { action: 'add-snapshot', snapshot: { 'snapshot-id': 1.5 } },
    ])
      expectFault(() => snapshotIdsAdded(commit({ requirements: [], updates: [update] })), 'bad_request')
  })
})
