/** Values of each type on which runtimes differ: emoji, combining characters, dates before 1970, the ends of ranges. */

import type { MaskValue } from '../../src/core/mask.ts'

const long = 9_223_372_036_854_775_807n

export const inputs: Readonly<Record<string, readonly MaskValue[]>> = {
  boolean: [true, false],
  int: [0, 1, -1, 2_147_483_647, -2_147_483_648, 42],
  long: [0n, 1n, -1n, long, -long - 1n, 9_007_199_254_740_993n],
  float: [0, 1.5, -2.25],
  double: [0, 1.5, -1e300],
  string: [
    '',
    'a',
    'ab',
    'abc',
    'abcd',
    'abcde',
    'ada@example.org',
    '(555) 010-9999',
    '4111-1111-1111-1111',
    'Zoë',
    'Zoe\u0308',
    '👩‍👩‍👧 family',
    '😀😃😄😁😆',
    'ﷺ ﬁ ß İ',
    '漢字かな',
    'tab\tnew\nline\u0000zero',
    '٣٤٥',
    `fifteen bytes !`,
    `sixteen bytes !!`,
    `seventeen bytes !`,
    'x'.repeat(100),
    '😀😃😄😁😆',
    'a',
  ],
  date: [0, 1, -1, 19_723, -719_162, -25_567, 11_016, 2_932_896],
  time: [0n, 86_399_999_999n],
  uuid: ['f47ac10b-58cc-4372-a567-0e02b2c3d479'],
  binary: [
    new Uint8Array(),
    Uint8Array.of(0),
    Uint8Array.of(255, 0, 1),
    Uint8Array.from({ length: 33 }, (_, index) => index),
    Uint8Array.of(1, 2, 0x6b, 0x31),
  ],
  'fixed[4]': [Uint8Array.of(1, 2, 3, 4)],
  'decimal(10,2)': ['0.00', '-12345678.90', '0.01'],
  timestamp: [0n, 1n, -1n, 1_700_000_000_000_000n, -62_135_596_800_000_000n, -2_208_988_800_000_001n],
  timestamptz: [0n, -1n, 1_709_164_800_000_000n],
  timestamp_ns: [0n, -1n, 1_700_000_000_000_000_001n, -2_208_988_800_000_000_001n],
  timestamptz_ns: [0n, -1n, 1_709_164_800_000_000_000n],
}
