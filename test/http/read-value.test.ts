/** Input is checked against a schema, and a refusal names the member and what was expected. */

import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import { parseJson } from '../../src/base/json.ts'
import { type ReadableSchema, readValue } from '../../src/http/read-value.ts'
import {
  anyObject,
  flag,
  int64,
  list,
  maybe,
  nonEmpty,
  nullable,
  object,
  oneOf,
  ordinal,
  tableIdentifier,
  text,
  time,
} from '../../src/http/schemas.ts'

const schema = object({
  name: nonEmpty,
  version: maybe(ordinal),
  at: maybe(time),
  id: maybe(int64),
  color: maybe(oneOf(['red', 'blue'])),
  on: maybe(flag),
  parts: maybe(list(object({ key: nonEmpty, labels: maybe(list(text, { maxItems: 2 })) }))),
  table: maybe(tableIdentifier),
  note: maybe(nullable(text)),
  rest: maybe(anyObject),
}) as ReadableSchema

const read = (body: string) => readValue(schema, parseJson(body), '')

function refusal(body: string): string {
  try {
    read(body)
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'bad_request') return thrown.publicMessage
    throw thrown
  }
  return 'was read'
}

test('integers beyond 2^53 are exact, as numbers and as digits', () => {
  for (const id of ['9223372036854775807', '"9223372036854775807"', '"-9223372036854775808"'])
    expect(read(`{"name":"x","id":${id}}`)).toEqual({ name: 'x', id: BigInt(id.replaceAll('"', '')) })
})

test('times become Dates, and objects of unknown members plain ones', () => {
  const body = '{"name":"x","at":"2026-01-02T03:04:05Z","rest":{"__proto__":{"a":[1]}}}'
  const value = read(body) as { readonly at: Date; readonly rest: object }
  expect(value.at).toEqual(new Date('2026-01-02T03:04:05Z'))
  expect(Object.keys(value.rest)).toEqual(['__proto__'])
  expect(({} as { readonly a?: unknown }).a).toBeUndefined()
})

test('null for a member that may be absent is as absent, unless it is an object or null is one of its values', () => {
  expect(read('{"name":"x","version":null,"note":null}')).toEqual({ name: 'x', note: null })
})

describe('a refusal names the member and what was expected', () => {
  const cases: Readonly<Record<string, string>> = {
    '[]': 'The body must be an object.',
    '{}': '`name` is required.',
    '{"name":null}': '`name` is required.',
    '{"name":""}': '`name` must be a string of at least 1 character.',
    '{"name":1}': '`name` must be a string of at least 1 character.',
    '{"name":"x","nmae":"y"}':
      'The body has an unknown member; supported are name, version, at, id, color, on, parts, table, note, rest.',
    '{"name":"x","version":0}': '`version` must be a whole number from 1.',
    '{"name":"x","version":1.5}': '`version` must be a whole number from 1.',
    '{"name":"x","version":9007199254740993}': '`version` must be a whole number from 1.',
    '{"name":"x","at":"tomorrow"}': '`at` must be a time as in RFC 3339.',
    '{"name":"x","at":"2026-02-30T00:00:00Z"}': '`at` must be a time as in RFC 3339.',
    '{"name":"x","id":"9223372036854775808"}':
      '`id` must be a whole number of 64 bits, or its digits as a string.',
    '{"name":"x","id":1.0}': '`id` must be a whole number of 64 bits, or its digits as a string.',
    '{"name":"x","color":"green"}': '`color` must be one of red, blue.',
    '{"name":"x","on":"true"}': '`on` must be true or false.',
    '{"name":"x","parts":{}}': '`parts` must be an array of objects.',
    '{"name":"x","parts":[null]}': '`parts[0]` must be an object.',
    '{"name":"x","parts":[{"key":"a"},{}]}': '`parts[1].key` is required.',
    '{"name":"x","parts":[{"key":"a","x":1}]}':
      '`parts[0]` has an unknown member; supported are key, labels.',
    '{"name":"x","parts":[{"key":"a","labels":["a","b","c"]}]}':
      '`parts[0].labels` must be an array of strings, at most 2 items.',
    '{"name":"x","table":{"namespace":[],"name":"t"}}':
      '`table.namespace` must be an array of strings, at least 1 item.',
    '{"name":"x","note":1}': '`note` must be a string or null.',
    '{"name":"x","rest":[]}': '`rest` must be an object.',
    '{"name":"x","rest":null}': '`rest` must be an object.',
  }
  test.each(Object.entries(cases))('%s', (body, message) => {
    expect(refusal(body)).toBe(message)
  })
})
