/** The value of one policy, and every reason for which it has none. */

import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/compile.ts'
import { evaluatePolicy, type PolicyBindings } from '../../src/policy/evaluate.ts'
import { PolicyError } from '../../src/policy/policy-error.ts'
import { json, sampleBindings, sampleTable, wideTable } from './bindings.ts'

const budget = { timeoutMs: 5_000, ticksMax: 200_000 }

function evaluate(text: string, bindings: PolicyBindings = sampleBindings(), limits = budget): boolean {
  return evaluatePolicy(compilePolicy(text), bindings, limits)
}

function failure(run: () => unknown): string {
  try {
    return `no error: ${String(run())}`
  } catch (thrown) {
    return thrown instanceof PolicyError ? thrown.code : `not a PolicyError: ${String(thrown)}`
  }
}

const verdicts: readonly (readonly [text: string, value: boolean])[] = [
  ['manifest.has_column(table, "id")', true],
  ['manifest.has_column(table, "ID")', false],
  ['manifest.has_column(commit.result, "email")', true],
  ['manifest.has_partition(table, "event_day")', true],
  ['manifest.has_partition(commit.result, "id")', false],
  ['principal.role(principal, "writer")', false],
  ['principal.sub == "spark@example.com"', true],
  ['has(table.properties.owner)', true],
  ['has(table.properties.nothing)', false],
  ['table.properties["constructor"] == "x"', true],
  ['table.properties.constructor == "x"', true],
  ['commit.received_at + 1 == 1750000000001', true],
  ['timestamp(commit.received_at / 1000) == timestamp("2025-06-15T15:06:40Z")', true],
  ['table.snapshots[1].snapshot_id == 3', true],
  ['table.properties.owner.matches("^ord")', true],
  ['matches(table.properties.owner, "^x")', false],
  ['int("12") == 12 && uint("12") == 12u && double("1.5") == 1.5', true],
  ['[1, 2] + [3] == [1, 2, 3] && [1, 2].map(x, x * 2) == [2, 4]', true],
  ['[1, 2, 3].filter(x, x > 1).map(x, [x].map(y, y + 1)) == [[3], [4]]', true],
  ['{"a": 1}.map(k, k) == ["a"] && [1, 2, 2].exists_one(x, x == 1)', true],
  ['// first\n// second\ntrue // last', true],
]

test.each(verdicts)('%s is %p', (text, value) => {
  expect(evaluate(text)).toBe(value)
})

test('a key that holds null is present, and its value is null', () => {
  expect(evaluate('has(table.properties.comment)')).toBe(true)
  expect(evaluate('"comment" in table.properties')).toBe(true)
  expect(evaluate('table.properties.comment == null')).toBe(true)
  expect(evaluate('has(table.properties.absent) || "absent" in table.properties')).toBe(false)
})

test('integers beyond 2^53 compare exactly', () => {
  const table = new Map([...(json(sampleTable) as Map<string, never>), ['id', 9007199254740993n as never]])
  const bindings = { ...sampleBindings(), table }
  expect(evaluate('table.id == 9007199254740993', bindings)).toBe(true)
  expect(evaluate('table.id == 9007199254740992', bindings)).toBe(false)
})

test('a principal without roles has none', () => {
  const principal = json({ sub: 'x' })
  expect(evaluate('principal.role(principal, "writer")', { ...sampleBindings(), principal })).toBe(false)
})

test('map and filter stay linear over ten thousand snapshots', () => {
  const bindings = sampleBindings({ table: wideTable(10_000) })
  const text = 'table.snapshots.map(s, s.snapshot_id).filter(i, i >= 0).exists(i, i == 9999)'
  expect(evaluate(text, bindings)).toBe(true)
})

const evaluationErrors = [
  'table.nothing == 1',
  'table.snapshots[9] == 1',
  '1 / 0 == 1',
  'table.properties.owner + 1 == 1',
  '9223372036854775807 + 1 > 0',
  'int("") == 0',
  'int("0x10") == 16',
  'double("") == 0.0',
  'timestamp(commit.received_at) > timestamp("2025-01-01T00:00:00Z")',
  'principal.email == "x"',
  'has(table.properties.owner.x)',
]

test.each(evaluationErrors)('%s gives no verdict: evaluation error', (text) => {
  expect(failure(() => evaluate(text))).toBe('ErrPolicyEval')
})

test.each([null, undefined])('an unknown commit.result (%p) gives no verdict', (result) => {
  const commit = new Map(json({ updates: [], requirements: [] }) as Map<string, never>)
  if (result !== undefined) commit.set('result', result as never)
  for (const text of [
    'manifest.has_column(commit.result, "id")',
    '!manifest.has_column(commit.result, "id")',
    '!manifest.has_partition(commit.result, "id")',
  ])
    expect(failure(() => evaluate(text, { ...sampleBindings(), commit }))).toBe('ErrPolicyEval')
})

test.each([
  {},
  { schema: null },
  { schema: {} },
  { schema: { fields: 'id' } },
  { schema: { fields: ['id'] } },
  'text',
])('a table document that has no readable schema (%j) gives no verdict', (table) => {
  expect(failure(() => evaluate('!manifest.has_column(table, "ssn")', sampleBindings({ table })))).toBe(
    'ErrPolicyEval',
  )
})

test('roles that are no list give no verdict', () => {
  const principal = json({ sub: 'x', roles: 'writer' })
  const text = '!principal.role(principal, "writer")'
  expect(failure(() => evaluate(text, { ...sampleBindings(), principal }))).toBe('ErrPolicyEval')
})

test('a value that is no bool gives no verdict', () => {
  expect(failure(() => evaluate('table.properties.owner'))).toBe('ErrPolicyNonBool')
  expect(failure(() => evaluate('table.properties.comment'))).toBe('ErrPolicyNonBool')
})

test('a text that does not compile gives no verdict', () => {
  expect(failure(() => compilePolicy('tabel == 1'))).toBe('ErrPolicyCompile')
})

const expensive = [
  'table.snapshots.all(a, table.snapshots.exists(b, b.snapshot_id == a.snapshot_id))',
  'table.snapshots.exists(a, table.snapshots.exists(b, false)) || true',
  'table.snapshots.all(a, table.snapshots.exists(b, true))',
  'table.snapshots.all(a, a in table.snapshots)',
  'table.snapshots.all(a, table.snapshots == table.snapshots)',
  'table.snapshots.all(a, (table.snapshots + table.snapshots).size() > 0)',
  'table.snapshots.map(a, table.snapshots).size() > 0 && table.snapshots.map(a, table.snapshots.map(b, b)).size() > 0',
  `table.snapshots.all(a, ("${'x'.repeat(3_000)}" + "y").size() > 0)`,
  `table.snapshots.all(a, "${'x'.repeat(3_000)}".matches("(x+x+)+y") == false)`,
  `["x"]${'.map(s, s + s)'.repeat(40)}.all(s, s.size() > 0)`,
]

test.each(expensive)('%s exhausts its budget, even where || absorbs the error', (text) => {
  const bindings = sampleBindings({ table: wideTable(10_000) })
  expect(failure(() => evaluate(text, bindings))).toBe('ErrPolicyBudget')
})

test('a policy that runs too long is cut off, and the next one works', () => {
  const bindings = sampleBindings({ table: wideTable(5_000) })
  const text = 'table.snapshots.all(a, table.snapshots.all(b, b.snapshot_id >= 0))'
  const run = () => evaluate(text, bindings, { timeoutMs: 20, ticksMax: Number.MAX_SAFE_INTEGER })
  expect(failure(run)).toBe('ErrPolicyTimeout')
  expect(evaluate('table.properties.owner.matches("^o")')).toBe(true)
})

test('an exception of the evaluator is a panic', () => {
  const hostile = new Map<string, never>()
  hostile.get = () => {
    throw new TypeError('defect')
  }
  expect(failure(() => evaluate('table.x', { ...sampleBindings(), table: hostile }))).toBe('ErrEvalPanic')
  const program = () => {
    throw new Error('defect outside the library')
  }
  const broken = { ...compilePolicy('true'), program }
  expect(failure(() => evaluatePolicy(broken, sampleBindings(), budget))).toBe('ErrEvalPanic')
})
