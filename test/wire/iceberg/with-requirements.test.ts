import { expect, test } from 'bun:test'
import { jsonObject, parseJson } from '../../../src/base/json.ts'
import { withRequirements } from '../../../src/wire/iceberg/with-requirements.ts'

const pin = jsonObject({ type: 'assert-ref-snapshot-id', ref: 'a"b', 'snapshot-id': 9_007_199_254_740_993n })
const text = '{"type":"assert-ref-snapshot-id","ref":"a\\"b","snapshot-id":9007199254740993}'
const spliced = (body: string) =>
  Buffer.from(withRequirements(new TextEncoder().encode(body), [pin])).toString()

test('leaves a body to which nothing is added unchanged', () => {
  const body = new TextEncoder().encode(' {"updates" : [], "requirements":[] }')
  expect(withRequirements(body, [])).toBe(body)
})

test.each([
  ['{"requirements":[],"updates":[]}', `{"requirements":[${text}],"updates":[]}`],
  [
    '{ "updates":[1.0e2] ,"requirements" : [ \\n ] }',
    `{ "updates":[1.0e2] ,"requirements" : [${text} \\n ] }`,
  ],
  [`{"requirements":[${' '.repeat(200)}]}`, `{"requirements":[${text}${' '.repeat(200)}]}`],
  [
    '{"requirements": [{"type":"x","b":[{}]}],"updates":["\\u0022"]}',
    `{"requirements": [${text},{"type":"x","b":[{}]}],"updates":["\\u0022"]}`,
  ],
  [
    '{"updates":[{"requirements":[1]}],"\\u0072equirements":[{}]}',
    `{"updates":[{"requirements":[1]}],"\\u0072equirements":[${text},{}]}`,
  ],
])('adds to the list of %s, and changes no other byte', (body, expected) => {
  const given = body.replaceAll('\\n', '\n')
  const got = spliced(given)
  expect(got).toBe(expected.replaceAll('\\n', '\n'))
  parseJson(new TextEncoder().encode(got))
})

test('works on a body that is a part of a larger buffer', () => {
  const whole = new TextEncoder().encode('xx{"requirements":[],"updates":[]}yy')
  const got = withRequirements(whole.subarray(2, whole.length - 2), [pin])
  expect(Buffer.from(got).toString()).toBe(`{"requirements":[${text}],"updates":[]}`)
})

test('refuses a body without a list of requirements', () => {
  expect(() => spliced('{"updates":[]}')).toThrow('no list')
  expect(() => spliced('{"requirements":{},"updates":[]}')).toThrow('no list')
})
