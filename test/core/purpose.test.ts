/** Purposes: which text is one, and which purpose meets what a contract demands. */

import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import {
  demandText,
  meetsDemands,
  type PurposeDemand,
  purposeLoosenings,
  purposeOfHeader,
  readPurpose,
} from '../../src/core/purpose.ts'

const orders = { namespace: ['sales'], name: 'orders' }

describe('a text is a purpose', () => {
  test.each([
    ['Refund of order 4711', 'Refund of order 4711'],
    ['  audit ', 'audit'],
    ['', ''],
    ['   ', ''],
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), undefined],
    ['two\nlines', undefined],
    ['a\tb', undefined],
    ['bell\u0007', undefined],
    ['turned\u202e', undefined],
    ['\ud800', undefined],
  ])('%j gives %j', (text, purpose) => {
    expect(readPurpose(text)).toBe(purpose)
  })
})

describe('a header', () => {
  test.each([
    [null, undefined],
    ['', undefined],
    ['audit', 'audit'],
    [Buffer.from('Prüfung').toString('latin1'), 'Prüfung'],
    ['Pr\u00fcfung', 'Prüfung'],
  ])('%j gives %j', (value, purpose) => {
    expect(purposeOfHeader(value)).toBe(purpose)
  })

  test('that is too long is refused, and not repeated', () => {
    expect(() => purposeOfHeader('secret'.repeat(40))).toThrow(
      new Fault(
        'bad_request',
        'The header x-svc-purpose must be one line of at most 200 characters that can be seen.',
      ),
    )
  })
})

describe('what a contract demands', () => {
  test.each<[readonly PurposeDemand[] | undefined, string | undefined, boolean]>([
    [undefined, undefined, true],
    [['any'], undefined, false],
    [['any'], '', false],
    [['any'], 'whatever', true],
    [[['audit', 'refunds']], 'AUDIT', true],
    [[['audit']], 'audits', false],
    [[['audit']], undefined, false],
    [[[]], 'audit', false],
    [[['audit'], ['audit', 'refunds']], 'refunds', false],
    [[['audit'], ['audit', 'refunds']], 'audit', true],
    [[['PRÜFUNG']], 'pru\u0308fung', true],
  ])('%j is met by %j: %p', (demands, purpose, isMet) => {
    expect(meetsDemands(demands, purpose)).toBe(isMet)
  })

  test.each<[readonly PurposeDemand[], string]>([
    [['any'], 'sales.orders is read for a purpose only, and none is named'],
    [[['audit', 'refunds']], 'sales.orders is read for one of these purposes only: audit, refunds'],
    [['any', ['audit']], 'sales.orders is read for one of these purposes only: audit'],
    [[['audit', 'x'], ['audit']], 'sales.orders is read for one of these purposes only: audit'],
    [[['audit'], ['refunds']], 'sales.orders may be read for no purpose'],
  ])('%j is told as %j', (demands, told) => {
    expect(demandText(orders, demands)).toBe(told)
  })

  test.each<[readonly PurposeDemand[], readonly PurposeDemand[], readonly string[]]>([
    [[], [['audit']], []],
    [[['audit']], [], ['No purpose is demanded any more']],
    [['any'], [], ['No purpose is demanded any more']],
    [['any'], [['audit']], []],
    [[['audit']], ['any'], ['Any purpose is enough']],
    [[['audit']], [['audit', 'refunds']], ['It may be read for refunds too']],
    [[['audit', 'refunds']], [['audit']], []],
    [[['audit']], [['Audit']], []],
  ])('%j and then %j is looser in %j', (before, after, told) => {
    expect(purposeLoosenings(before, after)).toEqual(told)
  })
})
