/** Custom classifiers on columns: thresholds, names, allow-lists, values inside text; the examples; what is refused. */

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { seededRandom } from '../../../bench/statistics.ts'
import {
  type ActiveClassifier,
  type ClassifierDefinition,
  classifierLimits,
} from '../../../src/core/classifier.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import { passesCheck } from '../../../src/detection/classify/check-digits.ts'
import { classifyByCustom, judgeValue } from '../../../src/detection/classify/classify-custom.ts'
import {
  compileClassifier,
  definitionProblem,
  StepBudget,
} from '../../../src/detection/classify/compile-classifier.ts'
import { classifyByCustoms, placeClassifier } from '../../../src/detection/scan/classify-samples.ts'
import { ColumnSamples } from '../../../src/detection/scan/column-samples.ts'

const people: TableRef = { namespace: ['hr'], name: 'people' }
const digitsOnly: ClassifierDefinition = {
  names: ['(^|_)staff_no$'],
  values: [{ pattern: '[0-9]{6}', checks: [{ kind: 'luhn' }] }],
}
/** Five digits and the check digit. */
const numbers = (count: number) =>
  Array.from({ length: count }, (_, serial) => {
    const digits = String(10_000 + serial)
    return digits + [...'0123456789'].find((last) => passesCheck(digits + last, { kind: 'luhn' }))
  })

const found = (
  name: string,
  values: readonly string[],
  given: ClassifierDefinition = digitsOnly,
  table: TableRef | undefined = people,
) => {
  const placed = placeClassifier({ name: 'staff_number', definition: given }, table)
  const budget = new StepBudget(classifierLimits.scanStepsMax)
  return classifyByCustom({ name, values, sampledCount: values.length }, placed, budget)
}

describe('a column', () => {
  test('is found by its values, with the confidence of values', () => {
    expect(found('x', numbers(10))).toEqual({
      ...{ column: 'x', class: 'staff_number' as never, shape: 'value', confidence: 0.55 },
      ...{ matched: 10, sampled: 10, maskedSample: '******' },
    })
  })

  test('is found by its name alone, and by both', () => {
    expect(found('staffNo', [])).toMatchObject({ shape: 'name', confidence: 0.65, matched: 0 })
    expect(found('person.STAFF_NO', ['free', 'text'])).toMatchObject({ shape: 'name' })
    expect(found('staff_no', numbers(2))).toMatchObject({ shape: 'name_and_value', confidence: 0.92 })
    expect(found('staff_notes', ['hello'])).toBeUndefined()
  })

  test('is not found below the thresholds, which the definition may set', () => {
    expect(found('x', numbers(2))).toBeUndefined()
    const few = { ...digitsOnly, thresholds: { matches: 1 } }
    expect(found('x', numbers(1), few)).toMatchObject({ shape: 'value' })
    const thin = [...numbers(4), ...Array.from({ length: 16 }, () => 'other')]
    expect(found('x', thin)).toBeUndefined()
    expect(found('x', thin, { ...digitsOnly, thresholds: { share: 0.2 } })).toMatchObject({ matched: 4 })
  })

  test('whose values have the form and fail the check is not found', () => {
    const wrong = numbers(10).map((value) => value.slice(0, 5) + ((Number(value[5]) + 1) % 10))
    expect(found('x', wrong)).toBeUndefined()
    expect(found('x', [...numbers(7), ...wrong.slice(0, 3)])).toBeUndefined()
    const tolerant = { ...digitsOnly, thresholds: { valid_share: 0.6 } }
    expect(found('x', [...numbers(7), ...wrong.slice(0, 3)], tolerant)).toMatchObject({ matched: 7 })
  })

  test('of random digits is not found, since one in ten passes by chance', () => {
    const random = seededRandom(1520)
    const values = Array.from({ length: 500 }, () => String(Math.floor(random() * 1e6)).padStart(6, '0'))
    expect(found('x', values)).toBeUndefined()
  })

  test('of masked values is not found by them', () => {
    const masked = Array.from({ length: 10 }, () => 'E***123')
    expect(found('x', masked, { values: [{ pattern: 'E.{6}' }] })).toBeUndefined()
  })

  test('is not found in a table of the allow-list, nor are its allowed values', () => {
    const allowed = (one: object) => ({ ...digitsOnly, allow: [{ table: people, ...one }] })
    expect(found('staff_no', numbers(9), allowed({}))).toBeUndefined()
    expect(found('staff_no', numbers(9), allowed({ columns: ['staff_no'] }))).toBeUndefined()
    expect(found('other', numbers(9), allowed({ columns: ['staff_no'] }))).toMatchObject({ matched: 9 })
    const values = numbers(7)
    expect(found('x', numbers(9), allowed({ values }))).toBeUndefined()
    expect(found('x', numbers(10), allowed({ values }))).toMatchObject({ matched: 3 })
    const elsewhere = { namespace: ['hr'], name: 'other' }
    expect(found('staff_no', numbers(9), allowed({}), elsewhere)).toMatchObject({ matched: 9 })
    // Where the table is not known, no list is taken to be its own.
    const placed = placeClassifier({ name: 'staff_number', definition: allowed({}) }, undefined)
    const sample = { name: 'staff_no', values: numbers(9), sampledCount: 9 }
    expect(classifyByCustom(sample, placed, new StepBudget(1e6))).toMatchObject({ matched: 9 })
  })

  test('holds values inside text only where the definition asks for them', () => {
    const lines = numbers(40).map((value, n) => `2026-01-0${(n % 9) + 1} user=${value}; action=login`)
    expect(found('line', lines)).toBeUndefined()
    const inText = { ...digitsOnly, in_text: true }
    expect(found('line', lines, inText)).toMatchObject({ shape: 'value_in_text', confidence: 0.86 })
    const rare = [...lines.slice(0, 4), ...Array.from({ length: 36 }, () => 'nothing in here')]
    expect(found('line', rare, inText)).toMatchObject({ shape: 'value_in_text', confidence: 0.6, matched: 4 })
    expect(found('staff_no', rare, inText)).toMatchObject({ confidence: 0.88 })
  })
})

describe('the examples in deploy/classifiers', () => {
  const samples: Readonly<Record<string, readonly [valid: string, broken: string, column: string]>> = {
    nl_bsn: ['111222333', '111222334', 'klantBSN'],
    pl_pesel: ['44051401359', '44051401358', 'pesel'],
    br_cpf: ['529.982.247-25', '529.982.247-26', 'cpf_cliente'],
    es_nif: ['12345678Z', '12345678A', 'nif'],
    de_steuer_id: ['86095742719', '86095742718', 'steuer_id'],
    it_codice_fiscale: ['RCCMNL83S18D969H', 'RCCMNL83S18D969G', 'codiceFiscale'],
    fr_nir: ['2 95 10 99 126 111 93', '2 95 10 99 126 111 94', 'nir'],
    tr_tckn: ['17291716060', '17291716050', 'tc_kimlik_no'],
    gb_nino: ['AB 12 34 56 C', 'GB 12 34 56 C', 'nino'],
  }
  const files = readdirSync('deploy/classifiers')
  const read = (file: string) =>
    JSON.parse(readFileSync(`deploy/classifiers/${file}`, 'utf8')) as ActiveClassifier

  test('are the national ids of nine countries', () => {
    expect(files.toSorted()).toEqual(
      Object.keys(samples)
        .map((name) => `${name}.json`)
        .toSorted(),
    )
  })

  test.each(Object.entries(samples))(
    '%s tells right from wrong and knows its name',
    (name, [valid, broken, column]) => {
      const one = read(`${name}.json`)
      expect(definitionProblem(one.definition)).toBeUndefined()
      const classifier = compileClassifier(one)
      const budget = new StepBudget(1e6)
      expect(judgeValue(valid, classifier, budget)).toBe('valid')
      expect(judgeValue(broken, classifier, budget)).toBe('broken')
      expect(judgeValue('hello', classifier, budget)).toBe('none')
      const sample = { name: column, values: [valid, valid], sampledCount: 2 }
      const finding = classifyByCustom(sample, { classifier, allow: [] }, budget)
      expect(finding).toMatchObject({ class: name, confidence: 0.92 })
    },
  )
})

describe('a definition is refused', () => {
  test.each([
    ['without patterns', {}],
    ['with a pattern that is no RE2', { names: ['(a'] }],
    ['with a back reference', { values: [{ pattern: '(a)\\1' }] }],
    ['with a look-ahead', { values: [{ pattern: '(?=a)b' }] }],
    ['with nested repetitions', { values: [{ pattern: '(a{1000}){1000}' }] }],
    ['with a large repetition', { values: [{ pattern: '\\pL{501}' }] }],
    ['with many repetitions', { values: [{ pattern: '[a-z]{100}[0-9]{100}'.repeat(3) }] }],
    ['with more instructions than allowed', { values: [{ pattern: `(${'(a|b)?'.repeat(80)}x){3}` }] }],
    ['with a pattern that is too long', { names: ['a'.repeat(501)] }],
    ['with a pattern that matches everything', { names: ['.*'] }],
    ['with weights missing', { values: [{ pattern: 'a', checks: [{ kind: 'mod11' }] }] }],
    [
      'with weights that nothing reads',
      { values: [{ pattern: 'a', checks: [{ kind: 'luhn', weights: [1] }] }] },
    ],
    ['with an alphabet missing', { values: [{ pattern: 'a', checks: [{ kind: 'letter' }] }] }],
    ['with a ten that nothing reads', { values: [{ pattern: 'a', checks: [{ kind: 'luhn', ten: 'x' }] }] }],
  ] as readonly (readonly [string, ClassifierDefinition])[])('%s', (_, given) => {
    expect(definitionProblem(given)).toBeString()
  })
})

describe('what patterns cost', () => {
  test('is bounded by steps: columns beyond the budget are counted, and the built-in classes are judged', () => {
    const samples = new ColumnSamples(1_000)
    for (const name of ['a', 'b', 'c']) samples.add(name, undefined, numbers(10))
    const classifier = { name: 'staff_number', definition: digitsOnly }
    const all = classifyByCustoms(samples, [classifier], people, classifierLimits.scanStepsMax)
    expect(all).toMatchObject({ unjudged: 0 })
    expect(all.findings).toHaveLength(3)
    // Enough for one column and part of another.
    const some = classifyByCustoms(samples, [classifier], people, 1_500)
    expect(some.findings.length + some.unjudged).toBe(3)
    expect(some.unjudged).toBeGreaterThan(0)
    expect(classifyByCustoms(samples, [classifier], people, 0)).toEqual({ findings: [], unjudged: 3 })
  })

  test('grows with the characters only, for patterns that backtracking engines hang on', () => {
    const hostile = { values: [{ pattern: '(a+)+b' }] }
    expect(definitionProblem(hostile)).toBeUndefined()
    const classifier = compileClassifier({ name: 'hostile', definition: hostile })
    const budget = new StepBudget(512 * 20)
    expect(judgeValue('a'.repeat(500), classifier, budget)).toBe('none')
    expect(budget.isSpent).toBe(false)
  })
})
