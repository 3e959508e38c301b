/** What the static check accepts and refuses, and the place that it reports. */

import { expect, test } from 'bun:test'
import { limits } from '../../src/limits.ts'
import { checkPolicy } from '../../src/policy/check.ts'

const accepted = [
  'true',
  'manifest.has_column(table, "id") && principal.role(principal, "writer")',
  'commit.updates.all(u, u.action != "remove-snapshots")',
  'commit.updates.map(u, u.action == "x", u).size() == 0',
  'has(table.properties.owner) && "owner" in table.properties',
  'type(table.properties.owner) == string',
  'table.flag',
  'principal.email.endsWith("@example.com")',
  '// a comment\n// another\ntrue // and a last one',
  'table.location == "s3://bucket // no comment"',
  "table.x == r'raw \\' || table.y == '\\' // \\''",
  'table.x == """ " // " """',
  'table.properties["constructor"] == "x"',
  '-9223372036854775808 < 0 && 18446744073709551615u > 0u',
]

test.each(accepted)('accepts %s', (text) => {
  expect(checkPolicy(text)).toEqual([])
})

const refused: readonly (readonly [text: string, offset: number, part: string])[] = [
  ['', 0, 'Not a CEL expression'],
  ['1 == 2 ; || true', 7, 'Not a CEL expression'],
  ['tabel.x == 1', 0, "no name 'tabel'"],
  ['true && constructor', 8, "no name 'constructor'"],
  ['true && __proto__', 8, "no name '__proto__'"],
  ['commit.update == []', 6, "commit has no key 'update'"],
  ['principal.constructor == 1', 9, "principal has no key 'constructor'"],
  ['manifest.has_colum(table, "id")', 8, "no function 'manifest.has_colum'"],
  ['manifest.has_column(table)', 8, 'takes 2 argument(s)'],
  ['manifest.has_column("id", table)', 8, 'cannot be applied to string, dyn'],
  ['principal.role("writer")', 9, 'takes 2 argument(s)'],
  ['exec("rm")', 0, "no function 'exec'"],
  ['table.exec()', 5, "no function 'exec'"],
  ['[1].exists(x)', 3, 'takes a variable and a condition'],
  ['commit.updates.all(table, true)', 14, "'table' is reserved: give the loop variable another name"],
  ['[1].all(int, int > 0)', 3, "'int' is reserved: give the loop variable another name"],
  ['[1].all(x, x > 0) && x == 1', 21, "no name 'x'"],
  ['9223372036854775808 > table.x', 0, 'does not fit a 64-bit integer'],
  ['table.x == 18446744073709551616u', 11, 'does not fit an unsigned'],
  ['1 + 1', 0, 'must be a bool, this one is int'],
  ['"true"', 0, 'must be a bool, this one is string'],
  ['commit.received_at', 0, 'must be a bool, this one is int'],
  ['true && 1', 8, 'A bool is needed here, not int'],
  ['1 ? true : false', 0, 'A bool is needed here, not int'],
  ['!"x"', 0, 'cannot be applied to string'],
  ['principal.sub == 1', 14, 'A string never equals a int'],
  ['commit.received_at > timestamp(0)', 19, 'cannot be applied to int, timestamp'],
  ['principal.sub.matches("(")', 22, 'not an RE2 pattern'],
  ['google.protobuf.Int64Value{value: 1} == 1', 0, 'cannot build messages'],
  ['table.x == "open', 11, 'not closed'],
  ['(true', 0, "A ')' is missing"],
  ['true)', 4, 'closes no bracket'],
  ['[true)', 5, 'closes no bracket'],
  ['table.x == "\ud800"', 0, 'unpaired surrogate'],
]

test.each(refused)('refuses %s', (text, offset, part) => {
  const [first] = checkPolicy(text)
  expect(first?.message).toContain(part)
  expect(first?.offset).toBe(offset)
})

test('refuses a text that is longer than the limit, in bytes', () => {
  const padding = limits.policyTextBytesMax - 'true//'.length
  expect(checkPolicy(`true//${'a'.repeat(padding)}`)).toEqual([])
  expect(checkPolicy(`true//${'a'.repeat(padding + 1)}`)[0]?.message).toContain('longer than')
  expect(checkPolicy(`true//${'é'.repeat(padding / 2 + 1)}`)[0]?.message).toContain('longer than')
})

test('refuses brackets beyond the nesting limit and counts none in strings and comments', () => {
  const nested = (depth: number) => `${'('.repeat(depth)}true${')'.repeat(depth)}`
  expect(checkPolicy(nested(limits.policyNestingMax))).toEqual([])
  expect(checkPolicy(nested(limits.policyNestingMax + 1))[0]?.message).toContain('nested deeper')
  expect(checkPolicy(`table.x == "${'('.repeat(500)}" // ${'['.repeat(500)}`)).toEqual([])
})

test('refuses trees that are too deep or have too many nodes', () => {
  expect(checkPolicy(`1${'+1'.repeat(limits.policyDepthMax)} > 0`)[0]?.message).toContain('too complex')
  expect(checkPolicy(`${'['.repeat(1)}${'1,'.repeat(limits.policyNodesMax)}1] == []`)[0]?.message).toContain(
    'too complex',
  )
  expect(checkPolicy(`table${'.a'.repeat(limits.policyDepthMax)} > 0`)[0]?.message).toContain('too complex')
})

test('text that opens more than it closes is refused before the parser can slow down on it', () => {
  for (const open of ['(', '[', '{', 'f(', '{1:', '!(', '-('])
    expect(checkPolicy(open.repeat(2_000)).length).toBe(1)
})

test('reports every problem of a text in order', () => {
  expect(checkPolicy('foo && bar(1) && principal.nope').map(({ offset }) => offset)).toEqual([0, 7, 26])
})
