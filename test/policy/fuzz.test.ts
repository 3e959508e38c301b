/** Random texts and mutated policies: no crash, no hang, no verdict from text that the check refuses. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { policyErrorCodes } from '../../src/core/decision.ts'
import { checkPolicy } from '../../src/policy/check.ts'
import { compilePolicy } from '../../src/policy/compile.ts'
import { evaluatePolicy } from '../../src/policy/evaluate.ts'
import { explainPolicy } from '../../src/policy/explain.ts'
import { PolicyError } from '../../src/policy/policy-error.ts'
import { roundsOf } from '../support/long-form.ts'
import { pageExamples, sampleBindings, slowPolicyText, wideTable } from './bindings.ts'

const seed = 20_250_615
const bindings = sampleBindings({
  table: wideTable(200),
  updates: [{ action: 'remove-snapshots', 'snapshot-ids': [1] }],
})
const budget = { timeoutMs: 1_000, ticksMax: 20_000 }

/** What happens to `text`: a verdict, or the code of a PolicyError. Anything else is thrown on. */
function outcome(text: string): boolean | string {
  try {
    return evaluatePolicy(compilePolicy(text), bindings, budget)
  } catch (thrown) {
    if (thrown instanceof PolicyError) return thrown.code
    throw thrown
  }
}

function holds(text: string): void {
  const problems = checkPolicy(text)
  const result = outcome(text)
  if (problems.length > 0) {
    expect(result).toBe('ErrPolicyCompile')
    for (const { offset } of problems) expect(offset).toBeWithin(0, text.length + 1)
    return
  }
  // The watchdog must not be what bounds a policy: ticks must run out first, on any machine.
  if (typeof result === 'string')
    expect(policyErrorCodes.filter((code) => code !== 'ErrPolicyTimeout')).toContain(result as never)
  explainPolicy(compilePolicy(text), bindings, 1_000)
}

const tokens = [
  'table',
  'commit',
  'principal',
  '.',
  'schema',
  'updates',
  'result',
  'snapshots',
  'properties',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '?',
  '&&',
  '||',
  '!',
  '==',
  '!=',
  '<',
  '>=',
  '+',
  '-',
  '*',
  '/',
  '%',
  'in',
  'has',
  'all',
  'exists',
  'map',
  'filter',
  'x',
  'size',
  'matches',
  'int',
  'string',
  'timestamp',
  'duration',
  'true',
  'false',
  'null',
  '0',
  '1',
  '9223372036854775807',
  '1u',
  '1.5e3',
  '"a"',
  "r'\\d+'",
  'b"x"',
  '"""',
  '//',
  '\n',
  '\\',
  'manifest.has_column',
  'principal.role',
  '__proto__',
  'constructor',
  '@tick',
  '\u0000',
  '😀',
  '`a`',
]

const sources = [...(await pageExamples()).map(({ text }) => text), slowPolicyText]

const mutated = fc
  .tuple(
    fc.constantFrom(...sources),
    fc.array(fc.tuple(fc.nat(400), fc.nat(12), fc.constantFrom('', ...tokens)), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([source, edits]) =>
    edits.reduce((text, [at, removed, added]) => {
      const from = at % (text.length + 1)
      return text.slice(0, from) + added + text.slice(from + removed)
    }, source),
  )

const cases = [
  ['any text', fc.string({ unit: 'binary', maxLength: 200 }), 1_000],
  [
    'random tokens',
    fc.array(fc.constantFrom(...tokens), { maxLength: 40 }).map((parts) => parts.join(' ')),
    2_000,
  ],
  ['mutated policies', mutated, 2_000],
] as const

test.each(cases)('%s: never a crash, a hang or a verdict despite the check', (_, texts, numRuns) => {
  fc.assert(fc.property(texts, holds), { seed, numRuns: roundsOf(numRuns) })
})
