import { describe, expect, test } from 'bun:test'
import { judgeCreditCard } from '../../../src/detection/classify/classes/credit-card.ts'
import { judgeEmail } from '../../../src/detection/classify/classes/email.ts'
import { judgeIban } from '../../../src/detection/classify/classes/iban.ts'
import { matchPhones } from '../../../src/detection/classify/classes/phone.ts'
import { judgeUsSsn } from '../../../src/detection/classify/classes/us-ssn.ts'
import { normaliseCell } from '../../../src/detection/classify/normalise-cell.ts'

describe('a social security number', () => {
  test.each([
    ['123-45-6789', 'strong'],
    ['001-01-0001', 'strong'],
    ['899 99 9999', 'strong'],
    ['123456789', 'weak'],
    ['123.45.6789', 'weak'],
    ['1010001', 'weak'],
    ['000-12-3456', 'shaped'],
    ['666-12-3456', 'shaped'],
    ['900-12-3456', 'shaped'],
    ['123-00-6789', 'shaped'],
    ['123-45-0000', 'shaped'],
    ['000123456', 'none'],
    ['123-45 6789', 'none'],
    ['123-45-67890', 'none'],
    ['see 123-45-6789', 'none'],
    ['***-**-6789', 'none'],
  ] as const)('%s: %s', (cell, match) => expect(judgeUsSsn(cell)).toBe(match))
})

describe('a card number', () => {
  test.each([
    ['4111111111111111', 'strong'],
    ['4111 1111 1111 1111', 'strong'],
    ['5555-5555-5555-4444', 'strong'],
    ['4242.4242.4242.4242', 'strong'],
    ['2223003122003222', 'strong'],
    ['3782 822463 10005', 'strong'],
    ['30569309025904', 'strong'],
    ['6011111111111117', 'strong'],
    ['3530111333300000', 'strong'],
    // One digit off, two transposed, an issuer that is none, a length that the issuer does not have.
    ['4111111111111112', 'shaped'],
    ['4111111111111151', 'shaped'],
    ['9111111111111111', 'shaped'],
    ['41111111111116', 'shaped'],
    ['4111 1111-1111 1111', 'none'],
    ['411111111', 'none'],
    ['card 4111111111111111', 'none'],
  ] as const)('%s: %s', (cell, match) => expect(judgeCreditCard(cell)).toBe(match))
})

describe('an email address', () => {
  test.each([
    'a@b.co',
    "d'angelo+tag@sub.example.co.uk",
    'JANE.DOE@EXAMPLE.COM',
    'rené@münchen.de',
    'x@xn--mnchen-3ya.xn--p1ai',
    'Jane Roe <jane@example.com>',
    'mailto:jane@example.com',
    'a@b.co; c@d.org',
    '<bounce@example.com>',
    '"Roe, Jane" <jane@example.com>, b@c.org',
    'SMTP:jane@example.com',
    'jane@example.com (Jane Roe)',
    'a@b.co c@d.org',
    '{a@b.co,c@d.org}',
  ])('%s', (cell) => expect(judgeEmail(cell)).toBe('strong'))

  test.each([
    'a@b',
    '@handle',
    'a@b@c.com',
    '.a@b.com',
    'a..b@c.com',
    'a@-b.com',
    'pkg@1.2.3',
    'logo@2x.png',
    'root@db1.internal',
    'git@github.com:team/repo.git',
    'write to a@b.com',
    `${'a'.repeat(65)}@b.com`,
    `a@${'b'.repeat(64)}.com`,
    'a@b.com,,x',
    '<>@',
  ])('not %s', (cell) => expect(judgeEmail(cell)).toBe('none'))
})

describe('an IBAN', () => {
  // The registry's examples.
  test.each([
    'DE89370400440532013000',
    'GB29 NWBK 6016 1331 9268 19',
    'fr1420041010050500013M02606',
    'IBAN: NL91 ABNA 0417 1643 00',
    'MT84MALT011000012345MTLCAST001S',
    'NO9386011117947',
  ])('%s', (cell) => expect(judgeIban(cell)).toBe('strong'))

  test.each([
    ['DE88370400440532013000', 'shaped'],
    ['DE8937040044053201300', 'shaped'],
    ['XX89370400440532013000', 'shaped'],
    ['DEUTDEFF', 'none'],
    ['DE89-', 'none'],
    ['pay DE89370400440532013000', 'none'],
  ] as const)('%s: %s', (cell, match) => expect(judgeIban(cell)).toBe(match))
})

describe('a telephone number', () => {
  const matchOf = (...cells: string[]) => {
    const { strong, weak, shaped } = matchPhones(cells, true)
    return { strong, weak, shaped }
  }

  test.each([
    '+14155552671',
    '+44 20 7946 0958',
    '0049 30 2345678',
    'tel:+1-415-555-2671',
    '(415) 555-2671',
    '415-555-2671 x12',
    '030/2345678',
    '06 12 34 56 78',
    '612 345 678',
  ])('%s stands for itself', (cell) => expect(matchOf(cell)).toEqual({ strong: 1, weak: 0, shaped: 0 }))

  test.each(['4155552671', '0612345678'])('%s needs a name', (cell) =>
    expect(matchOf(cell)).toEqual({ strong: 0, weak: 1, shaped: 0 }),
  )

  test.each(['+1-555-0100', '(555) 123-4567', '000/1234'])('%s has the form only', (cell) =>
    expect(matchOf(cell)).toEqual({ strong: 0, weak: 0, shaped: 1 }),
  )

  test.each([
    '2024-01-15',
    '15.01.2024',
    '2024-01-15 10',
    '192.168.100.200',
    '12345.67',
    '123-45-6789',
    '12345-6789',
    '12-3456789',
    '978-3-16-148410-0',
    '1234567',
    '+',
    '12345678901234567890',
    'call +14155552671',
  ])('%s is none', (cell) => expect(matchOf(cell)).toEqual({ strong: 0, weak: 0, shaped: 0 }))

  test('the column decides the country of national numbers', () => {
    expect(matchOf('612 345 678', '913 456 789', '0171 2345678').strong).toBe(2)
  })

  test('digits alone are not looked at where they would not count', () => {
    expect(matchPhones(['4155552671', '(415) 555-2671'], false)).toMatchObject({ strong: 1, weak: 0 })
  })
})

describe('a cell', () => {
  test.each([
    ['  a@b.co\t', 'a@b.co'],
    ['\uff14\uff11\uff11\uff11', '4111'],
    ['123\u201145\u20116789', '123-45-6789'],
    ['\u200b+49\u00a030 1234567\ufeff', '+49 30 1234567'],
    ['N/A', ''],
    ['NULL', ''],
    ['   ', ''],
    ['٠٢٠ ٧٩٤٦ ٠٩٥٨', '020 7946 0958'],
    ['۱۲۳-۴۵-۶۷۸۹', '123-45-6789'],
    ['९८७६५४३२१०', '9876543210'],
  ])('%j is read as %j', (cell, text) => expect(normaliseCell(cell)).toBe(text))

  test('that is too long for any class is not read', () => {
    expect(normaliseCell('a'.repeat(513))).toBeUndefined()
    // One character that compatibility decomposition makes eighteen.
    expect(normaliseCell('\ufdfa'.repeat(512))).toBeUndefined()
  })
})
