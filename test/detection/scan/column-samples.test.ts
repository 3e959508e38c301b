import { describe, expect, test } from 'bun:test'
import { classifySamples } from '../../../src/detection/scan/classify-samples.ts'
import { ColumnSamples } from '../../../src/detection/scan/column-samples.ts'

function findings(name: string, values: readonly string[]) {
  const samples = new ColumnSamples(1_000)
  samples.add(name, 7n, values)
  return classifySamples(samples)
}
const told = (name: string, values: readonly string[]) =>
  findings(name, values).map(({ finding }) => [finding.column, finding.class, finding.confidence])

const emails = ['ann@example.com', 'bob@example.org', 'eve@example.net', 'dan@example.io']

describe('strings inside JSON', () => {
  test('are a column of their own, by their path, under the field of the column that holds them', () => {
    const cells = emails.map((email, index) =>
      JSON.stringify({ id: index, buyer: { email, tags: ['a'] }, n: 1.5 }),
    )
    expect(findings('payload', cells)).toEqual([
      {
        fieldId: 7n,
        columnName: 'payload',
        finding: {
          column: 'payload.buyer.email',
          class: 'email',
          shape: 'name_and_value',
          confidence: 0.92,
          matched: 4,
          sampled: 4,
          maskedSample: '***@*******.***',
        },
      },
    ])
  })

  test('are found in lists, in numbers and in JSON inside a string', () => {
    expect(told('raw', [JSON.stringify([{ phone: 4155552671 }])])).toEqual([['raw.phone', 'phone', 0.92]])
    const nested = JSON.stringify({ body: JSON.stringify({ iban: 'DE89370400440532013000' }) })
    expect(told('raw', [nested])).toEqual([['raw.body.iban', 'iban', 0.92]])
    expect(told('emails', [JSON.stringify(emails)])).toEqual([['emails', 'email', 0.92]])
  })

  test('without a name that says so are found at 0.55, and one alone not at all', () => {
    const cells = emails.map((email) => JSON.stringify({ a: email }))
    expect(told('raw', cells)).toEqual([['raw.a', 'email', 0.55]])
    expect(told('raw', [...cells.slice(0, 1), '{"a": 1}', '{"b": []}'])).toEqual([])
  })

  test('are one sample whatever keys they have that may be data: no such key is in a name', () => {
    const byPerson = (value: string) =>
      JSON.stringify(Object.fromEntries(emails.map((email) => [email, value])))
    expect(told('visits', [byPerson('monday')])).toEqual([['visits.*', 'email', 0.55]])
    expect(told('codes', [JSON.stringify({ '123-45-6789': { 'a.b': { ssn: '123-45-6789' } } })])).toEqual([
      ['codes.*.*.ssn', 'us_ssn', 0.92],
    ])
  })

  test('have names in any language', () => {
    expect(told('raw', [JSON.stringify({ numéro_de_téléphone: '+33 1 42 68 53 00' })])).toEqual([
      ['raw.numéro_de_téléphone', 'phone', 0.92],
    ])
  })

  test('do not hide what the column holds beside JSON', () => {
    expect(told('remark', [...emails, '{"a": 1}'])).toEqual([['remark', 'email', 0.55]])
  })
})

describe('hostile cells', () => {
  test.each([
    ['nested lists', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['JSON that never ends', '['.repeat(60_000)],
    ['a long key', JSON.stringify({ ['k.'.repeat(30_000)]: 'a@b.co' })],
    ['a prototype', '{"__proto__": {"email": "a@b.co"}, "constructor": "x"}'],
  ])('%s are sampled within bounds', (_, cell) => {
    for (const { finding } of findings(
      'x',
      Array.from({ length: 100 }, () => cell),
    ))
      expect(finding.column.length).toBeLessThan(200)
  })

  test('of many keys fill up to 500 paths of a column', () => {
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`k${index}`, 'x'])),
    )
    const samples = new ColumnSamples(1_000)
    samples.add('x', undefined, [wide])
    expect(samples.all().length).toBeLessThanOrEqual(501)
  })
})

describe('what a scan keeps', () => {
  const kept = (samples: ColumnSamples) =>
    samples.all().reduce((sum, { name, values }) => sum + name.length + values.join('').length, 0)

  test('has a bound for all columns and paths together, above that for each', () => {
    const values = new ColumnSamples(1_000, 10_000)
    for (let column = 0; column < 10; column++)
      values.add(`c${column}`, undefined, new Array(100).fill('x'.repeat(100)))
    expect(kept(values)).toBeWithin(1_000, 12_000)
    const paths = new ColumnSamples(1_000, 10_000)
    for (let column = 0; column < 10; column++)
      paths.add(
        `c${column}`,
        undefined,
        Array.from({ length: 100 }, (_, key) => `{"${'k'.repeat(50)}${key}":1}`),
      )
    expect(paths.all().length).toBeWithin(10, 40)
  })

  test('is the beginning of a long value', () => {
    const samples = new ColumnSamples(10)
    samples.add('note', undefined, ['ab'.repeat(30_000)])
    expect(kept(samples)).toBe(1_024 + 'note'.length)
  })
})
