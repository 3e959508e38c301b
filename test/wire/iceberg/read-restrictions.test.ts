/** `read-restrictions`: what is understood of an upstream's, how two are joined, and how they are written. */

import { describe, expect, test } from 'bun:test'
import { stringifyJson } from '../../../src/base/json.ts'
import {
  isRestricted,
  joinRestrictions,
  readRestrictions,
  restrictionsJson,
  unrestricted,
} from '../../../src/wire/iceberg/read-restrictions.ts'

const members = (value: unknown) =>
  new Map([['read-restrictions', Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))]])
const eu = { type: 'eq', left: { type: 'reference', id: 3 }, right: { type: 'literal', value: 'eu' } }
const positive = { type: 'gt', left: { type: 'reference', id: 1 }, right: { type: 'literal', value: 0 } }
const masked = (id: number, action: string) => ({ 'field-id': id, action })
const fields = new Map([
  [1, { type: 'long', required: true }],
  [3, { type: 'string', required: false }],
])

function read(value: unknown) {
  const found = readRestrictions(members(value))
  if (found === undefined) throw new Error('not understood')
  return found
}
function joined(left: unknown, right: unknown): unknown {
  const both = joinRestrictions(read(left), read(right), fields)
  const json = both && restrictionsJson(both)
  return json === undefined ? both && null : JSON.parse(stringifyJson(json))
}

describe('restrictions', () => {
  test.each([
    [{}],
    [{ 'required-column-projections': [] }],
    [{ 'required-row-filter': eu }],
    [{ 'required-row-filter': true }],
    [{ 'required-row-filter': eu, 'required-column-projections': [masked(3, 'mask-alphanum')] }],
  ])('of a reply are read: %j', (value) => {
    expect(readRestrictions(members(value))).toBeDefined()
  })

  test('of a reply without any are none', () => {
    expect(readRestrictions(new Map())).toBe(unrestricted)
    expect(restrictionsJson(unrestricted)).toBeUndefined()
  })

  test.each([
    ['null'],
    ['"all"'],
    ['[]'],
    ['{'],
    ['{"required-row-filter":true,"required-row-filter":false}'],
    [{ 'required-row-filter': null }],
    [{ 'required-row-filter': { type: 'eq', term: 'region', value: 'eu' } }],
    [{ 'required-row-filter': { type: 'like', term: 'region', value: 'eu' } }],
    [{ 'required-row-filter': { ...eu, right: { type: 'reference', id: 4 } } }],
    [{ 'required-column-projections': 'all' }],
    [{ 'required-column-projections': [masked(3, 'apply-expression')] }],
    [{ 'required-column-projections': [masked(3, 'hide')] }],
    [{ 'required-column-projections': [{ 'field-id': 3 }] }],
    [{ 'required-column-projections': [{ 'field-id': '3', action: 'mask-alphanum' }] }],
    [{ 'required-column-projections': [{ ...masked(3, 'mask-alphanum'), salt: 'x' }] }],
    [{ 'required-column-projections': [masked(3, 'mask-alphanum'), masked(3, 'replace-with-null')] }],
    [{ 'required-tags': [] }],
  ])('that are malformed or not known are not understood, and count as restrictions: %j', (value) => {
    expect(readRestrictions(members(value))).toBeUndefined()
    expect(isRestricted(members(value))).toBe(true)
  })
})

describe('two restrictions joined', () => {
  test('hide what either hides', () => {
    expect(
      joined(
        { 'required-row-filter': eu, 'required-column-projections': [masked(3, 'show-last-4')] },
        { 'required-row-filter': positive, 'required-column-projections': [masked(1, 'sha-256-global')] },
      ),
    ).toEqual({
      'required-row-filter': { type: 'and', left: eu, right: positive },
      'required-column-projections': [masked(3, 'show-last-4'), masked(1, 'sha-256-global')],
    })
    expect(joined({}, { 'required-row-filter': eu })).toEqual({ 'required-row-filter': eu })
    expect(joined({}, {})).toBeNull()
  })

  test('have the stricter of two masks on a field', () => {
    const one = (action: string) => ({ 'required-column-projections': [masked(3, action)] })
    expect(joined(one('show-last-4'), one('mask-alphanum'))).toEqual(one('mask-alphanum'))
    expect(joined(one('replace-with-null'), one('sha-256-global'))).toEqual(one('replace-with-null'))
    expect(joined(one('show-first-4'), one('show-last-4'))).toBeUndefined()
  })

  test.each([
    [7, 'replace-with-null'],
    [1, 'mask-alphanum'],
    [1, 'replace-with-null'],
  ])('are refused for field %p with %s, which does not fit', (id, action) => {
    expect(joined({}, { 'required-column-projections': [masked(id, action)] })).toBeUndefined()
  })
})
