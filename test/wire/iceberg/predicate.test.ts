/** Predicates of Iceberg clients, in both forms of the REST specification. */

import { describe, expect, test } from 'bun:test'
import { Fault } from '../../../src/base/fault.ts'
import { parseJson, stringifyJson } from '../../../src/base/json.ts'
import { parsePredicate, predicateJson } from '../../../src/wire/iceberg/predicate.ts'

const bounds = { nodesMax: 10, valuesMax: 3 }
const fault = (what: string) => new Fault('bad_request', what)
const parse = (value: unknown) => parsePredicate(parseJson(Buffer.from(JSON.stringify(value))), bounds, fault)

const field = { kind: 'field', id: 3 } as const
const name = { kind: 'name', name: 'region' } as const

describe('a predicate', () => {
  test.each([
    [true, { kind: 'constant', value: true }],
    [{ type: 'false' }, { kind: 'constant', value: false }],
    [{ type: true }, { kind: 'constant', value: true }],
    [
      { type: 'eq', term: 'region', value: 'eu' },
      { kind: 'comparison', type: 'eq', operand: name, value: 'eu' },
    ],
    [
      { type: 'lt', left: { type: 'reference', id: 3 }, right: { type: 'literal', value: 5 } },
      { kind: 'comparison', type: 'lt', operand: field, value: 5n },
    ],
    [
      { type: 'lt', left: { type: 'literal', value: 5 }, right: { type: 'reference', id: 3 } },
      { kind: 'comparison', type: 'gt', operand: field, value: 5n },
    ],
    [
      { type: 'eq', left: { type: 'reference', id: 3 }, right: { type: 'reference', id: 4 } },
      { kind: 'comparison', type: 'eq', operand: field, value: undefined },
    ],
    [
      { type: 'is-null', term: { type: 'reference', term: 'region' } },
      { kind: 'unary', type: 'is-null', operand: name },
    ],
    [
      { type: 'in', term: { type: 'transform', transform: 'bucket[4]', term: 'id' }, values: [1] },
      { kind: 'set', type: 'in', operand: { kind: 'other' }, values: [1n] },
    ],
    [
      {
        type: 'not',
        child: {
          type: 'and',
          left: true,
          right: {
            type: 'not-in',
            child: { type: 'reference', name: 'region' },
            values: { type: 'literals', values: ['a'], 'data-type': 'string' },
          },
        },
      },
      {
        kind: 'not',
        child: {
          kind: 'and',
          left: { kind: 'constant', value: true },
          right: { kind: 'set', type: 'not-in', operand: name, values: ['a'] },
        },
      },
    ],
  ] as const)('%j', (json, expected) => {
    expect(parse(json)).toEqual(expected as ReturnType<typeof parse>)
  })

  test.each([
    [null],
    ['true'],
    [{}],
    [{ type: 'like', term: 'a', value: 'b' }],
    [{ type: 'eq', term: 'a' }],
    [{ type: 'and', left: true }],
    [{ type: 'not' }],
    [{ type: 'is-null' }],
    [{ type: 'is-null', term: { type: 'reference' } }],
    [{ type: 'in', term: 'a' }],
    [{ type: 'in', term: 'a', values: [1, 2, 3, 4] }],
    [Array.from({ length: 10 }).reduce<unknown>((child) => ({ type: 'not', child }), true)],
  ])('%j is refused', (json) => {
    expect(() => parse(json)).toThrow(Fault)
  })

  test('is written in the present form, with fields by id', () => {
    const json = {
      type: 'or',
      left: { type: 'eq', left: { type: 'reference', id: 3 }, right: { type: 'literal', value: 'eu' } },
      right: { type: 'in', child: { type: 'reference', id: 4 }, values: [1, 2] },
    }
    expect(JSON.parse(stringifyJson(predicateJson(parse(json))))).toEqual(json)
    expect(() => predicateJson(parse({ type: 'is-null', term: 'region' }))).toThrow(RangeError)
  })
})
