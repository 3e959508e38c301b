/** Check digits of custom classifiers, on numbers that their issuers publish as examples. */

import { describe, expect, test } from 'bun:test'
import type { ClassifierCheck } from '../../../src/core/classifier.ts'
import { passesCheck } from '../../../src/detection/classify/check-digits.ts'

const cases: readonly (readonly [string, ClassifierCheck, readonly string[], readonly string[]])[] = [
  ['luhn', { kind: 'luhn' }, ['4111 1111 1111 1111', '79927398713'], ['79927398710', 'x', '4111-1111']],
  ['mod97', { kind: 'mod97' }, ['GB82 WEST 1234 5698 7654 32'], ['GB82WEST12345698765433', '1']],
  ['mod97_10', { kind: 'mod97_10' }, ['5493001KJTIIGC8Y1R12'], ['5493001KJTIIGC8Y1R13']],
  [
    'mod10 (Polish PESEL)',
    { kind: 'mod10', weights: [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1] },
    ['44051401359'],
    ['44051401358', '4405140135', '4405140135a'],
  ],
  [
    'mod11 (Dutch BSN)',
    { kind: 'mod11', weights: [9, 8, 7, 6, 5, 4, 3, 2, -1] },
    ['111222333', '1234.56.782'],
    ['111222334', '12345678'],
  ],
  [
    'mod11_digit with zero for ten (first digit of a Brazilian CPF)',
    { kind: 'mod11_digit', weights: [10, 9, 8, 7, 6, 5, 4, 3, 2], ten: 'zero' },
    ['111.444.777-35', '529.982.247-25'],
    ['111.444.777-45', '111.444.777'],
  ],
  [
    'mod11_digit with X for ten (ISBN-10)',
    { kind: 'mod11_digit', weights: [10, 9, 8, 7, 6, 5, 4, 3, 2], ten: 'x' },
    ['0-8044-2957-x', '0-306-40615-2'],
    ['0-8044-2957-0'],
  ],
  [
    'mod11_digit without ten',
    { kind: 'mod11_digit', weights: [10, 9, 8, 7, 6, 5, 4, 3, 2] },
    ['0306406152'],
    ['080442957X', '080442957'],
  ],
  ['mod11_10 (German tax number)', { kind: 'mod11_10' }, ['86 095 742 719', '47036892816'], ['86095742718']],
  ['verhoeff', { kind: 'verhoeff' }, ['2363', '123451'], ['2364', '123415', '236x']],
  [
    'letter (Spanish NIF)',
    { kind: 'letter', alphabet: 'TRWAGMYFPDXBNJZSQVHLCKE' },
    ['12345678Z', '12345678-z'],
    ['12345678A', 'Z'],
  ],
  [
    'codice_fiscale',
    { kind: 'codice_fiscale' },
    // The second has a letter for a digit, as where two persons would have one code.
    ['RCCMNL83S18D969H', 'rccmnl83s18d969h', 'CNTCHR83T41D969D', 'RCCMNL83S18D96VW'],
    [
      'RCCMNL83S18D969G',
      'RCCMNL83S18D969',
      'RCCMNL83F18D969H',
      'RCCMNL83S39D969H',
      'RSSMRA80A81H501C',
      '00743110157',
    ],
  ],
  [
    'nir',
    { kind: 'nir' },
    ['2 95 10 99 126 111 93', '253072B07300470', '253072A07300443'],
    ['295109912611199', '253072C07300443', '253072A07300470', '2951099126111'],
  ],
  ['tckn', { kind: 'tckn' }, ['17291716060'], ['17291716050', '1729171606', '07291716092']],
  [
    'nino',
    { kind: 'nino' },
    ['AB 12 34 56 C', 'JG103759A'],
    ['QQ123456C', 'AO123456C', 'GB123456A', 'AB123456E', 'AB12345C'],
  ],
  ['not_repeated', { kind: 'not_repeated' }, ['111.111.112-00'], ['000.000.000-00']],
]

describe('a value', () => {
  test.each(cases)('passes %s exactly if its check digits are right', (_, check, valid, broken) => {
    for (const value of valid) expect([value, passesCheck(value, check)]).toEqual([value, true])
    for (const value of broken) expect([value, passesCheck(value, check)]).toEqual([value, false])
  })

  test('of nothing but separators passes no check', () => {
    for (const [, check] of cases) expect(passesCheck(' -./ ', check)).toBe(false)
  })
})
