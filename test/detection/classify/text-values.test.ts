/** Values inside text: what is found, what only looks so, and with which confidence. */

import { describe, expect, test } from 'bun:test'
import type { SensitiveClass } from '../../../src/core/classification.ts'
import { classifyColumn } from '../../../src/detection/classify/classify.ts'
import { findInText, readableText } from '../../../src/detection/classify/text-values.ts'

const inText = (text: string, each: SensitiveClass) => {
  const match = findInText(readableText(text), each)
  return match.kind === 'value' ? match.value : match.kind
}

describe('a value inside text is found in', () => {
  test.each<[SensitiveClass, string, string]>([
    [
      'email',
      '2025-01-02T03:04:05Z WARN login failed for ann.lee@example.com from 10.0.0.1',
      'ann.lee@example.com',
    ],
    ['email', 'https://shop.example/a?mail=ann%2Bx%40example.com&ref=1', 'ann+x@example.com'],
    ['email', '<user><mail>ann@example.com</mail></user>', 'ann@example.com'],
    ['email', "{'id': 7, 'mail': 'ann@example.com'}", 'ann@example.com'],
    ['us_ssn', 'Called about SSN 536-22-8726, will call back.', '536-22-8726'],
    ['credit_card', '7;visa;4539 7389 6929 3791;12/29', '4539 7389 6929 3791'],
    ['credit_card', '{"a":1}\n{"pan":"4539738969293791"}', '4539738969293791'],
    ['iban', 'refund to DE89 3704 0044 0532 0130 00 BY FRIDAY', 'DE89 3704 0044 0532 0130 00'],
    ['iban', 'https://pay.example/?to=DE89370400440532013000', 'DE89370400440532013000'],
    ['phone', 'Spoke to Lee (+33 1 40 83 88 16) about the order.', '+33 1 40 83 88 16'],
    ['phone', 'tel=%2B1%20415%20213%204567&x=1', '+1 415 213 4567'],
  ])('%s: %s', (each, text, value) => {
    expect(inText(text, each)).toBe(value)
  })
})

describe('what only looks like a value is none in', () => {
  test.each<[SensitiveClass, string]>([
    ['email', 'git@github.com:acme/lake.git'],
    ['email', 'postgres://app:secret@db.prod.example.net:5432/lake'],
    ['email', 'Message-ID: <0a1b2c3d4e5f.1234567890@mx1.example.net>'],
    ['email', 'installed spindle@1.2.3 and @acme/lake'],
    ['email', '/img/logo@2x.png'],
    ['email', 'follow @sofia@mastodon.social'],
    ['email', 'told a*****@*****.org about it'],
    ['us_ssn', 'fits spindle part 123-45-6789'],
    ['us_ssn', 'order 123-45-67890 and 1123-45-6789'],
    ['credit_card', 'paid with ************1111'],
    ['iban', 'SKU AB12 CDEF 3456'],
    ['phone', 'window 1030-1130 ran 2025-01-02 +0200 for 1234567890 ticks'],
  ])('%s: %s', (each, text) => {
    expect(['none', 'shaped']).toContain(inText(text, each))
  })
})

describe('the confidence of values inside text', () => {
  const note = (value: string) => `Spoke to ${value} about the invoice.`
  const nothing = Array.from({ length: 54 }, (_, n) => `Nothing new about invoice ${n}.`)
  const some = Array.from({ length: 6 }, (_, n) => note(`ann${n}@example.com`))
  const found = (name: string, values: readonly string[]) =>
    classifyColumn({ name, values, sampledCount: values.length }).map(({ shape, confidence, matched }) => [
      shape,
      confidence,
      matched,
    ])

  test('is 0.60 where a tenth of the texts hold one', () => {
    expect(found('remarks', [...nothing, ...some])).toEqual([['value_in_text', 0.6, 6]])
  })

  test('is 0.86 where half of the texts do', () => {
    expect(
      found(
        'remarks',
        Array.from({ length: 20 }, (_, n) => (n % 2 ? note(`a${n}@example.com`) : 'nothing')),
      ),
    ).toEqual([['value_in_text', 0.86, 10]])
  })

  test('is 0.88 where the name says so', () => {
    expect(found('email_note', [...nothing, ...some])).toEqual([['name_and_value_in_text', 0.88, 6]])
  })

  test('stays that of whole values where whole cells hold them', () => {
    expect(
      found(
        'x',
        Array.from({ length: 20 }, (_, n) => `a${n}@example.com`),
      ),
    ).toEqual([['value', 0.55, 20]])
  })

  test('is none for one or two', () => {
    expect(found('remarks', [...nothing, ...some.slice(0, 2)])).toEqual([])
  })

  test('shows no value', () => {
    const [finding] = classifyColumn({ name: 'remarks', values: some, sampledCount: 6 })
    expect(finding?.maskedSample).toBe('****@*******.***')
  })
})
