import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { topLevelMembers, withStringMember } from '../../../src/wire/iceberg/members.ts'

function members(text: string): Record<string, string> {
  const found = topLevelMembers(new TextEncoder().encode(text))
  return Object.fromEntries([...found].map(([key, raw]) => [key, new TextDecoder().decode(raw)]))
}

describe('the members of an object', () => {
  test('are its values as they were written', () => {
    expect(members(' { "a" : 1.50 , "b":{ "x": [1, {}] },"c":"}\\",\\\\","d":[ ] }\n')).toEqual({
      a: '1.50',
      b: '{ "x": [1, {}] }',
      c: '"}\\",\\\\"',
      d: '[ ]',
    })
    expect(members('{}')).toEqual({})
    expect(members('{ }')).toEqual({})
  })

  test('are known by their decoded keys', () => {
    expect(members('{"conf\\u0069g":1,"é":2}')).toEqual({ config: '1', é: '2' })
  })

  test.each([
    '',
    '[]',
    'null',
    '{',
    '{"a"',
    '{"a":',
    '{"a":}',
    '{"a":1',
    '{"a":1,}',
    '{"a":1,,"b":2}',
    '{"a" 1}',
    '{a:1}',
    '{"a":"x}',
    '{"a":[1}',
    '{"a":1}x',
    '{"a":1}{"b":2}',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"\\q":1}',
    '{"a\\":1}',
  ])('are refused of %p', (text) => {
    expect(() => members(text)).toThrow('sent an invalid reply')
  })

  test('agree with JSON.parse on any object, however it is indented', () => {
    const seed = 20_261_120
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat({ max: 3 }), (object, indent) => {
        const text = JSON.stringify(object, null, indent)
        const parsed = Object.entries(members(text)).map(([key, raw]) => [key, JSON.parse(raw)])
        expect(Object.fromEntries(parsed)).toEqual(JSON.parse(text))
      }),
      { seed, numRuns: 300 },
    )
  })
})

test('one member is exchanged for a string, and the others keep their bytes', () => {
  const exchange = (text: string) =>
    new TextDecoder().decode(withStringMember(new TextEncoder().encode(text), 'a', 'x"y'))
  expect(exchange('{ "b" : 1.50, "a": "z" , "c":{ "d": 9007199254740993 } }')).toBe(
    '{"b":1.50,"a":"x\\"y","c":{ "d": 9007199254740993 }}',
  )
  expect(exchange('{}')).toBe('{"a":"x\\"y"}')
  expect(() => exchange('[]')).toThrow()
})
