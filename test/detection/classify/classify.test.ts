import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Draw } from '../../../bench/detection/random-values.ts'
import { sensitiveMaker } from '../../../bench/detection/sensitive-values.ts'
import { classes } from '../../../src/core/classification.ts'
import { classifyColumn } from '../../../src/detection/classify/classify.ts'

function findings(name: string, values: readonly string[]) {
  return classifyColumn({ name, values, sampledCount: values.length })
}

const confidencesOf = {
  name: [0.65],
  value: [0.55],
  name_and_value: [0.92],
  value_in_text: [0.6, 0.86],
  name_and_value_in_text: [0.88],
}

const emails = ['ann@example.com', 'bob@example.org', 'eve@example.net', 'dan@example.io']

describe('the confidence of a finding', () => {
  test('is 0.65 by name alone', () => {
    expect(findings('email', ['red', 'green', 'blue'])).toEqual([
      {
        column: 'email',
        class: 'email',
        shape: 'name',
        confidence: 0.65,
        matched: 0,
        sampled: 3,
        maskedSample: undefined,
      },
    ])
  })

  test('is 0.65 where a column has no values at all', () => {
    expect(findings('iban', [])).toMatchObject([{ class: 'iban', confidence: 0.65, sampled: 0 }])
  })

  test('is 0.55 by values alone', () => {
    expect(findings('c7', emails)).toEqual([
      {
        column: 'c7',
        class: 'email',
        shape: 'value',
        confidence: 0.55,
        matched: 4,
        sampled: 4,
        maskedSample: '***@*******.***',
      },
    ])
  })

  test('is 0.92 by both', () => {
    expect(findings('customer.email', emails)).toMatchObject([
      { column: 'customer.email', shape: 'name_and_value', confidence: 0.92, matched: 4 },
    ])
  })
})

describe('flags are no finding', () => {
  test.each([
    ['email_opted_in', ['true', 'false', 'true', '']],
    ['ssn_received', ['Y', 'N', 'N']],
    ['iban_erhalten', ['Ja', 'Nein', 'Ja']],
    ['phone_rule', ['0', '1', '1']],
  ])('%s', (name, values) => expect(findings(name, values)).toEqual([]))

  test('but so few of them, or anything beside them, leave the name its finding', () => {
    expect(findings('ssn', ['Y', 'N'])).toMatchObject([{ class: 'us_ssn', confidence: 0.65 }])
    expect(findings('ssn', ['Y', 'N', 'N', 'see file'])).toMatchObject([{ confidence: 0.65 }])
    expect(findings('ssn', ['', '', '', ''])).toMatchObject([{ confidence: 0.65 }])
    expect(findings('ssn', ['1', '2', '3'])).toMatchObject([{ confidence: 0.65 }])
  })
})

describe('a name makes no finding where the values are plainly of another kind', () => {
  test.each([
    ['numero_securite_sociale', ['1 84 12 75 116 004 08', '2 91 03 13 055 110 22', '1 70 05 69 123 456 77']],
    ['pan', ['ABCDE1234F', 'PQRST5678G', 'LMNOP4321K']],
    ['email_frequency', ['weekly', 'daily', 'never']],
  ])('%s', (name, values) => expect(findings(name, values)).toEqual([]))

  test('but masks and tokens leave it its finding', () => {
    expect(findings('pan', ['XXXX1234', 'XXXX2345', 'XXXX3456'])).toMatchObject([{ confidence: 0.65 }])
    expect(findings('ssn', ['tok_8fa2', 'tok_91bc', 'tok_77de'])).toMatchObject([{ confidence: 0.65 }])
  })
})

describe('what looks masked is no value', () => {
  test.each([
    ['email', 'xxx.xxxx@xxxxxxx.xxx', 'xxxx@xxxxxxx.xxx'],
    ['email', 'x***@example.com', 'b***@example.org'],
    ['email', 'xxxxxxxxxxxxx.com', 'xxx@xxxxxxx.com'],
    ['card_number', '************4242', 'nnnnnnnnnnnn4242'],
    ['ssn', 'nnn-nn-6789', '***-**-1234'],
  ])('under %s: %s', (name, one, other) => {
    const found = findings(name, [one, other, one, other])
    expect(found.map(({ shape, matched }) => [shape, matched])).toEqual([['name', 0]])
    expect(findings('c7', [one, other, one, other])).toEqual([])
  })

  test('but an address of few letters is one', () => {
    expect(findings('email', ['xena@nixon.de', 'nan@xn.org', 'ann@nx.com'])).toMatchObject([{ matched: 3 }])
  })
})

describe('a hint needs values that stand for themselves', () => {
  const cards = ['4539738969293791', '5513241241578664', '378255300963489']
  test('which raise it to an alert', () => {
    expect(findings('account_number', cards)).toMatchObject([{ class: 'credit_card', confidence: 0.92 }])
    expect(findings('stored_card_number', cards)).toMatchObject([{ confidence: 0.92 }])
    expect(findings('email_hash', emails)).toMatchObject([{ class: 'email', confidence: 0.92 }])
  })
  test('and makes none without them', () => {
    expect(findings('account_number', ['12345678', '23456789', '34567890'])).toEqual([])
    expect(findings('tax_id', ['123456789', '223456789', '323456789'])).toEqual([])
  })
})

describe('a column is tagged by the share of its cells', () => {
  const others = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`)

  test('not by one stray number', () => {
    expect(findings('notes', [...others(99), '123-45-6789'])).toEqual([])
    expect(findings('x', ['4539738969293791'])).toEqual([])
  })

  test('nor does one stray value raise a name to an alert', () => {
    expect(findings('ssn', [...others(99), '123-45-6789'])).toMatchObject([{ confidence: 0.65, matched: 1 }])
  })

  test('what only has the form does not raise a name to an alert, nor is it shown', () => {
    expect(findings('card_number', ['4111111111111112', '4111111111111113'])).toMatchObject([
      { confidence: 0.65, matched: 0, maskedSample: undefined },
    ])
  })

  test('blank cells and placeholders do not count', () => {
    expect(findings('x', [...emails, ...Array.from({ length: 50 }, () => 'N/A'), ''])).toMatchObject([
      { class: 'email', matched: 4, sampled: 55 },
    ])
  })

  test('a cell that only contains a value is a text with one, and no alert by itself', () => {
    expect(
      findings(
        'x',
        emails.map((email) => `write to ${email}`),
      ),
    ).toMatchObject([{ shape: 'value_in_text', confidence: 0.6, matched: 4 }])
  })

  test('numbers that pass Luhn by chance do not make a card column', () => {
    const draw = new Draw(7)
    const orders = Array.from({ length: 500 }, () => draw.fill('4###############'))
    expect(findings('order_number', orders)).toEqual([])
    expect(findings('c1', orders)).toEqual([])
    expect(findings('card_number', orders)).toMatchObject([{ class: 'credit_card', confidence: 0.65 }])
  })

  test('part numbers shaped like SSNs do not make an SSN column, by name or by the invalid among them', () => {
    const draw = new Draw(7)
    const parts = Array.from({ length: 500 }, () => draw.fill('###-##-####'))
    expect(findings('c1', parts)).toEqual([])
    expect(findings('part_no', ['123-45-6789', '223-45-6789', '323-45-6789'])).toEqual([])
  })

  test('digits alone need a name', () => {
    expect(findings('c1', ['123456789', '223456789', '323456789'])).toEqual([])
    expect(findings('ssn', ['123456789', '223456789'])).toMatchObject([{ confidence: 0.92 }])
    expect(findings('phone', ['4155552671'])).toMatchObject([{ confidence: 0.92 }])
  })

  test('a column of two classes has both', () => {
    const contacts = emails.flatMap((email, index) => [email, `+1415555267${index}`])
    expect(findings('contact', contacts).map((finding) => finding.class)).toEqual(['email', 'phone'])
  })

  test('of many values two thousand are judged, from all over', () => {
    const values = Array.from({ length: 40_000 }, (_, index) =>
      index < 20_000 ? 'x y' : (emails[index % 4] as string),
    )
    expect(findings('email', values)).toMatchObject([{ matched: 1000, sampled: 2000 }])
  })
})

describe('a masked sample', () => {
  test.each([
    ['us_ssn', 'ssn', '123-45-6789', '***-**-**89'],
    ['email', 'email', 'jane.doe@example.com', '****.***@*******.***'],
    ['credit_card', 'card_number', '4539 7389 6929 3791', '**** **** **** 3791'],
    ['phone', 'phone', '+1-555-0100', '+*-***-**00'],
    ['phone', 'phone', '+1 (415) 555-2671', '+* (***) ***-**71'],
    ['iban', 'iban', 'DE89370400440532013000', '******************3000'],
  ])('of %s', (each, name, value, masked) => {
    expect(findings(name, [value])).toMatchObject([{ class: each, maskedSample: masked }])
  })

  test('never holds more than four characters of a value in a row (seed 1)', () => {
    const draw = new Draw(1)
    const names = { us_ssn: 'ssn', email: 'email', credit_card: 'card_number', phone: 'phone', iban: 'iban' }
    for (let round = 0; round < 200; round++)
      for (const each of classes) {
        const value = sensitiveMaker(draw, each)()
        const [finding] = findings(names[each], [value])
        expect(finding?.maskedSample?.replace(/[-*@.+() ]/g, '').length).toBeLessThanOrEqual(4)
      }
  })
})

describe('hostile cells', () => {
  const long = 200_000
  test.each([
    ['digits', '1'.repeat(long)],
    ['at signs', '@'.repeat(512)],
    ['address that never ends', `a@${'a.'.repeat(250)}`],
    ['hyphens in a label', `a@${'a-'.repeat(200)}.com`],
    ['semicolons', ';'.repeat(512)],
    ['separators', `+1${' -()'.repeat(127)}`],
    ['open brackets', '['.repeat(60_000) + ']'.repeat(1)],
    ['nested lists', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    [
      'many keys',
      JSON.stringify(Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`k${index}`, 'a@b.co']))),
    ],
    ['long key', JSON.stringify({ ['k.'.repeat(30_000)]: 'a@b.co' })],
    ['prototype', '{"__proto__": {"email": "a@b.co"}, "constructor": "x"}'],
    ['lone surrogate', '\ud800@\udfff.com'],
    ['decomposition', '\ufdfa'.repeat(512)],
    ['zero bytes', '\0'.repeat(512)],
    ['IBAN groups', `DE89${' 1'.repeat(200)}`],
  ])('%s are judged like any others, a hundred of them', (_, cell) => {
    for (const name of ['phone', 'x'])
      for (const finding of findings(
        name,
        Array.from({ length: 100 }, () => cell),
      ))
        expect(finding.maskedSample?.length ?? 0).toBeLessThanOrEqual(40)
  })

  test('whatever they are, an answer keeps its promises (seed 42)', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 600 }),
      fc.stringMatching(/^[-+()\d ./@x]{0,60}$/),
      fc.json(),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(text, { maxLength: 12 }), (name, values) => {
        const found = findings(name, values)
        expect(new Set(found.map((finding) => finding.class)).size).toBe(found.length)
        for (const { shape, confidence, matched, sampled } of found) {
          expect<readonly number[]>(confidencesOf[shape]).toContain(confidence)
          expect(sampled).toBe(values.length)
          expect(shape === 'name' || matched > 0).toBe(true)
        }
      }),
      { seed: 42, numRuns: 150 },
    )
  })
})

describe('a value that belongs to nobody', () => {
  const nobody = {
    us_ssn: ['078-05-1120', '219-09-9999', '078051120', '219 09 9999'],
    credit_card: ['4111111111111111', '5555 5555 5555 4444', '3782 822463 10005', '6011-1111-1111-1117'],
    email: [
      'loader@lake-1.iam.gserviceaccount.com',
      '123-compute@developer.gserviceaccount.com',
      'Bot <bot@x.gserviceaccount.com>',
    ],
  } as const
  const names = { us_ssn: 'ssn', credit_card: 'card_number', email: 'email' } as const
  const someones = {
    us_ssn: '536-22-8726',
    credit_card: '4539578763621486',
    email: 'ann@gserviceaccount.com.example.com',
  } as const
  const held = ['us_ssn', 'credit_card', 'email'] as const
  const repeated = (values: readonly string[]) =>
    Array.from({ length: 40 }, (_, at) => values[at % values.length] as string)

  test.each(held)('%s: leaves a name alone its finding, and alerts under no name', (each) => {
    const values = repeated(nobody[each])
    expect(findings(names[each], values)).toMatchObject([{ class: each, shape: 'name', confidence: 0.65 }])
    expect(findings('c7', values)).toEqual([])
  })

  test.each(held)('%s: does not alert inside text', (each) => {
    const texts = repeated(nobody[each].slice(0, 2)).map((value) => `ask for ${value} again`)
    expect(findings('notes', texts)).toEqual([])
  })

  test.each(held)('%s: does not hide those of persons beside it', (each) => {
    const values = [...repeated(nobody[each]), ...repeated([someones[each]]).slice(0, 5)]
    expect(findings(names[each], values)).toMatchObject([{ class: each, confidence: 0.92, matched: 5 }])
    expect(findings('c7', values)).toMatchObject([{ class: each, confidence: 0.55, matched: 5 }])
  })
})
