import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { splitBatch } from '../../src/lineage/split-batch.ts'

const split = (text: string, itemsMax = 10) =>
  splitBatch(Buffer.from(text), itemsMax).map((item) => Buffer.from(item).toString())

describe('a batch is cut into its events', () => {
  test('as they stand in it, byte for byte', () => {
    expect(split(' [ {"a" : [1,{"b":"]},"}]} ,\n{"c":"\\\\\\"["}\t]\n')).toEqual([
      '{"a" : [1,{"b":"]},"}]}',
      '{"c":"\\\\\\"["}',
    ])
    expect(split('[]')).toEqual([])
    expect(split(' [ ] ')).toEqual([])
  })

  test.each([
    '',
    '{}',
    '{"events":[]}',
    '[',
    ']',
    '[1,]',
    '[,1]',
    '[1,,2]',
    '[}1{]',
    '["]',
    '[1]]',
    '[1]2',
    'x',
  ])('and %j is none', (text) => expect(() => split(text)).toThrow('must be a JSON array'))

  test('and of too many, none is cut', () => {
    expect(split('[1,2]', 2)).toEqual(['1', '2'])
    expect(() => split('[1,2,3]', 2)).toThrow('at most 2 events')
  })

  test('whatever they hold', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), (values) => {
        expect(split(JSON.stringify(values, null, 1)).map((item) => JSON.parse(item))).toEqual(
          JSON.parse(JSON.stringify(values)),
        )
      }),
    )
  })
})
