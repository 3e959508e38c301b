import { describe, expect, test } from 'bun:test'
import { applyMask, chooseMask, isMaskAction, maskActions, maskFits } from '../../src/core/mask.ts'

const salt = new Uint8Array(16).fill(7)

describe('a mask', () => {
  test.each([
    ['mask-alphanum', 'string', 'Ab1 (2),é.-@\n😀', 'xxnx(n),x.-@xx'],
    ['mask-alphanum', 'string', '', ''],
    ['show-first-4', 'string', 'a1b2c3', 'a1b2xn'],
    ['show-first-4', 'string', 'äöü', 'äöü'],
    ['show-last-4', 'string', '+49-1234567', 'xnn-nnn4567'],
    ['show-last-4', 'string', '😀12345', 'xn2345'],
    ['show-last-4', 'string', '1234', '1234'],
    ['replace-with-null', 'struct', 'x', null],
    ['mask-to-fixed-value', 'string', 'x', 'XXXXXXXX'],
    ['mask-to-fixed-value', 'int', 5, 0],
    ['mask-to-fixed-value', 'long', 5n, 0n],
    ['mask-to-fixed-value', 'decimal(9,2)', '1.23', '0.00'],
    ['mask-to-fixed-value', 'decimal(9,0)', '1', '0'],
    ['mask-to-fixed-value', 'boolean', true, false],
    ['mask-to-fixed-value', 'uuid', 'x', '00000000-0000-0000-0000-000000000000'],
    ['mask-to-fixed-value', 'date', 20_000, 0],
    ['mask-to-fixed-value', 'time', 5n, 0n],
    ['mask-to-fixed-value', 'timestamptz', 5n, 0n],
    ['mask-to-fixed-value', 'timestamp_ns', 5n, 0n],
    ['mask-to-fixed-value', 'fixed[3]', new Uint8Array([1]), new Uint8Array(3)],
    ['mask-to-fixed-value', 'binary', new Uint8Array([1]), new Uint8Array()],
    ['truncate-to-year', 'date', Date.UTC(2024, 1, 29) / 86_400_000, Date.UTC(2024, 0, 1) / 86_400_000],
    ['truncate-to-month', 'date', Date.UTC(1969, 11, 31) / 86_400_000, Date.UTC(1969, 11, 1) / 86_400_000],
    [
      'truncate-to-month',
      'timestamp',
      BigInt(Date.UTC(2024, 1, 29, 23)) * 1000n + 1n,
      BigInt(Date.UTC(2024, 1, 1)) * 1000n,
    ],
    ['truncate-to-year', 'timestamptz', -1n, BigInt(Date.UTC(1969, 0, 1)) * 1000n],
    ['truncate-to-year', 'timestamp_ns', 1n, 0n],
    ['sha-256-global', 'string', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ] as const)('%s of a %s', (action, type, value, expected) => {
    expect(applyMask(action, type === 'struct' ? { type } : type, value, salt)).toEqual(expected)
  })

  test('hashes integers as little-endian bytes, to their own type', () => {
    const bytes = new Bun.CryptoHasher('sha256').update(new Uint8Array([254, 255, 255, 255])).digest()
    expect(applyMask('sha-256-global', 'int', -2)).toBe(Buffer.from(bytes).readInt32LE())
    const wide = new Bun.CryptoHasher('sha256').update(new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0])).digest()
    expect(applyMask('sha-256-global', 'long', 1n)).toBe(Buffer.from(wide).readBigInt64LE())
  })

  test('that is local to a query hashes the salt first, and refuses without one', () => {
    const expected = new Bun.CryptoHasher('sha256').update(salt).update('abc').digest('hex')
    expect(applyMask('sha-256-query-local', 'string', 'abc', salt)).toBe(expected)
    expect(() => applyMask('sha-256-query-local', 'string', 'abc')).toThrow(RangeError)
    expect(() => applyMask('sha-256-query-local', 'string', 'abc', new Uint8Array(15))).toThrow(RangeError)
  })

  test('keeps NULL, except as a fixed value', () => {
    for (const action of maskActions)
      for (const type of ['string', 'int', 'date', 'boolean'])
        if (action !== 'apply-expression' && action !== 'mask-to-fixed-value' && maskFits(action, type))
          expect(applyMask(action, type, null, salt)).toBeNull()
  })

  test('that replaces by a fixed value hides whether there is one', () => {
    expect(applyMask('mask-to-fixed-value', 'string', null)).toBe('XXXXXXXX')
    expect(applyMask('mask-to-fixed-value', 'timestamp', null)).toBe(0n)
  })

  test('refuses a type that it is not defined for', () => {
    expect(() => applyMask('mask-alphanum', 'int', 1)).toThrow(RangeError)
    expect(() => applyMask('sha-256-global', 'double', 1)).toThrow(RangeError)
    expect(() => applyMask('truncate-to-year', 'time', 1n)).toThrow(RangeError)
    expect(() => applyMask('apply-expression', 'string', 'x')).toThrow(RangeError)
  })
})

describe('of several masks', () => {
  const choose = (actions: readonly string[], type = 'string', required = false) =>
    chooseMask(
      actions.map((each) => {
        const [action = '', expression] = each.split(':')
        return { action, ...(expression && { expression }) }
      }),
      type,
      required,
    )

  test.each([
    [['mask-alphanum', 'show-last-4'], 'mask-alphanum'],
    [['show-last-4', 'sha-256-global'], 'sha-256-global'],
    [['sha-256-global', 'replace-with-null', 'mask-alphanum'], 'replace-with-null'],
    [['apply-expression:name', 'replace-with-null'], 'replace-with-null'],
    [['apply-expression:name', 'apply-expression:name'], 'apply-expression'],
    [['sha-256-global', 'sha-256-query-local'], 'sha-256-query-local'],
  ] as const)('%p the strictest wins', (actions, expected) => {
    expect(choose(actions).mask?.action).toBe(expected)
  })

  test.each([
    [['show-first-4', 'show-last-4']],
    [['apply-expression:a', 'apply-expression:b']],
    [['apply-expression:a', 'mask-alphanum']],
    [['hide']],
    [['apply-expression']],
    [['mask-alphanum:a']],
    [['constructor']],
  ] as const)('%p are a problem', (actions) => {
    expect(choose(actions).problem).toBeString()
  })

  test('an action that does not fit the column is a problem', () => {
    expect(choose(['mask-alphanum'], 'int').problem).toContain('int')
    expect(choose(['replace-with-null'], 'int', true).problem).toContain('required')
  })

  test('none is no mask', () => {
    expect(choose([])).toEqual({ mask: undefined })
    expect(isMaskAction('toString')).toBeFalse()
  })
})
