/** AES-SIV and FF1 against the vectors of Wycheproof (test/transform/fixtures). */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { ff1Numerals } from '../../src/transform/ff1.ts'
import { openSiv, sealSiv } from '../../src/transform/siv.ts'

const lines = readFileSync(new URL('fixtures/wycheproof.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const bytes = (hex: string | undefined) => new Uint8Array(Buffer.from(hex === '-' ? '' : (hex ?? ''), 'hex'))
const of = (kind: string) =>
  lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.split(' ').slice(1))

test('AES-SIV gives every valid ciphertext, and opens no invalid one', () => {
  const tests = of('siv')
  expect(tests).toHaveLength(442)
  for (const [result, key, aad, msg, ct] of tests) {
    const [plain, sealed] = [bytes(msg), bytes(ct)]
    const messages = { count: 1, data: plain, offsets: Float64Array.of(0, plain.length) }
    const made = sealSiv(bytes(key), [bytes(aad)], messages)
    const equal = Buffer.concat([made.ivs, made.sealed]).equals(sealed)
    const data = sealed.subarray(16)
    const opened = openSiv(bytes(key), [bytes(aad)], sealed.subarray(0, 16), {
      count: 1,
      data,
      offsets: Float64Array.of(0, data.length),
    })
    expect([ct, equal, opened !== undefined]).toEqual([ct, result === 'valid', result === 'valid'])
    if (opened !== undefined) expect(Buffer.from(opened).equals(plain)).toBe(true)
  }
})

test('FF1 gives every ciphertext, and the plaintext of each', () => {
  const tests = of('ff1')
  expect(tests.length).toBeGreaterThan(1_000)
  for (const [radix, key, tweak, msg, ct] of tests) {
    const numerals = bytes(msg)
    const run = (direction: 'encrypt' | 'decrypt') => {
      ff1Numerals(direction, bytes(key), Number(radix), bytes(tweak), numerals, numerals.length)
      return Buffer.from(numerals).toString('hex')
    }
    expect(run('encrypt')).toBe(ct as string)
    expect(run('decrypt')).toBe(msg as string)
  }
})
