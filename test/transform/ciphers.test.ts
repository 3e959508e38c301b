/** FF1 and AES-SIV against published samples and against another implementation. */

import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { aessiv } from '@noble/ciphers/aes.js'
import { FF1 } from '@noble/ciphers/ff1.js'
import { ff1Numerals, symbolsMin } from '../../src/transform/ff1.ts'
import { openSiv, sealSiv } from '../../src/transform/siv.ts'
import { isLongForm } from '../support/long-form.ts'
import { ff1Samples, sivSamples } from './published.ts'

const seed = 20261123
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')

/** Bytes that look random and are the same in each run. */
function drawn(label: string, count: number): Uint8Array {
  const parts: Buffer[] = []
  for (let block = 0; block * 32 < count; block += 1)
    parts.push(createHash('sha256').update(`${seed}|${label}|${block}`).digest())
  return new Uint8Array(Buffer.concat(parts).subarray(0, count))
}

const symbols = '0123456789abcdefghijklmnopqrstuvwxyz'

describe('FF1', () => {
  test.each(ff1Samples.map((sample) => [sample.name, sample] as const))('gives NIST %s', (_, sample) => {
    const numerals = Uint8Array.from(sample.plain, (symbol) => symbols.indexOf(symbol))
    const run = (direction: 'encrypt' | 'decrypt') => {
      ff1Numerals(direction, bytes(sample.key), sample.radix, bytes(sample.tweak), numerals, numerals.length)
      return Array.from(numerals, (numeral) => symbols[numeral]).join('')
    }
    expect(run('encrypt')).toBe(sample.token)
    expect(run('decrypt')).toBe(sample.plain)
  })

  const shapes = [
    [10, 6],
    [10, 16],
    [10, 19],
    [10, 22],
    [10, 23],
    [10, 40],
    [36, 4],
    [36, 14],
    [36, 15],
    [36, 40],
    [62, 4],
    [62, 13],
    [62, 40],
  ] as const
  // The other implementation needs a quarter of a millisecond for a value: 10,000 in the long form.
  const each = isLongForm ? 770 : 12
  test.each(shapes)(`radix %d, %d symbols: equals another implementation (seed ${seed})`, (radix, length) => {
    const key = drawn(`key ${radix} ${length}`, 32)
    const tweak = drawn(`tweak ${radix} ${length}`, length === 16 ? 57 : length)
    const numerals = drawn(`values ${radix} ${length}`, each * length).map((byte) => byte % radix)
    const before = numerals.slice()
    ff1Numerals('encrypt', key, radix, tweak, numerals, length)
    const other = FF1(radix, key, tweak)
    for (let at = 0; at < numerals.length; at += length)
      expect([...numerals.subarray(at, at + length)]).toEqual(
        other.encrypt([...before.subarray(at, at + length)]),
      )
    ff1Numerals('decrypt', key, radix, tweak, numerals, length)
    expect(numerals).toEqual(before)
  })

  test('needs so many symbols that there are a million values', () => {
    expect([10, 36, 62].map(symbolsMin)).toEqual([6, 4, 4])
  })
})

describe('AES-SIV', () => {
  const seal = (key: Uint8Array, associated: readonly Uint8Array[], data: Uint8Array) => {
    const { ivs, sealed } = sealSiv(key, associated, {
      count: 1,
      data,
      offsets: Float64Array.of(0, data.length),
    })
    return hex(ivs) + hex(sealed)
  }

  test.each(sivSamples.map((sample) => [sample.name, sample] as const))('gives %s', (_, sample) => {
    expect(seal(bytes(sample.key), sample.associated.map(bytes), bytes(sample.plain))).toBe(sample.sealed)
  })

  test(`a column equals another implementation, value by value (seed ${seed})`, () => {
    const count = isLongForm ? 10_000 : 300
    const key = drawn('siv key', 64)
    const associated = ['covenant/1', 'tenant', 'sensitive.email', 'k1'].map((text) => Buffer.from(text))
    const values = Array.from({ length: count }, (_, index) => drawn(`siv ${index}`, 1 + (index % 70)))
    const offsets = new Float64Array(count + 1)
    for (const [index, value] of values.entries())
      offsets[index + 1] = (offsets[index] as number) + value.length
    const data = new Uint8Array(Buffer.concat(values))
    const { ivs, sealed } = sealSiv(key, associated, { count, data, offsets })
    for (const [index, value] of values.entries())
      expect(
        hex(ivs.subarray(index * 16, index * 16 + 16)) +
          hex(sealed.subarray(offsets[index], offsets[index + 1])),
      ).toBe(hex(aessiv(key, ...associated).encrypt(value)))
    expect(openSiv(key, associated, ivs, { count, data: sealed, offsets })).toEqual(data)
  })

  test('opens nothing that was changed in one bit, of another scope, or under another key', () => {
    const key = drawn('siv key', 64)
    const data = drawn('one value', 40)
    const messages = { count: 1, data, offsets: Float64Array.of(0, data.length) }
    const { ivs, sealed } = sealSiv(key, [Buffer.from('a')], messages)
    const changed = sealed.map((byte, index) => (index === 7 ? byte ^ 1 : byte))
    expect(openSiv(key, [Buffer.from('a')], ivs, { ...messages, data: changed })).toBeUndefined()
    expect(openSiv(key, [Buffer.from('b')], ivs, { ...messages, data: sealed })).toBeUndefined()
    expect(
      openSiv(drawn('other', 64), [Buffer.from('a')], ivs, { ...messages, data: sealed }),
    ).toBeUndefined()
  })
})
