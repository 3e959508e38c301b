/**
 * FF1 of NIST SP 800-38G, a column at a time: values of one length go through each round together, as one AES-ECB
 * update. Below the domain of the draft of Revision 1 (February 2025) it refuses. It has no integrity: a wrong key gives
 * a plausible value.
 */

import { createCipheriv } from 'node:crypto'
import { type BytesColumn, isValid } from './bytes-column.ts'
import { type AlphabetName, alphabets } from './plan.ts'
import { TransformRefused } from './refusal.ts'

/** Most symbols of a value: their halves fit one block of the round function. */
export const symbolsMax = 40
const domainMin = 1_000_000
const rounds = 10

/** Fewest symbols of a radix whose number of values reaches the domain. */
export function symbolsMin(radix: number): number {
  return Math.ceil(Math.log(domainMin) / Math.log(radix) - 1e-9)
}

type Direction = 'encrypt' | 'decrypt'

/** Enciphers numerals of one length in place. `numerals` holds them one value after another. */
export function ff1Numerals(
  direction: Direction,
  key: Uint8Array,
  radix: number,
  tweak: Uint8Array,
  numerals: Uint8Array,
  length: number,
): void {
  const left = length >> 1
  const right = length - left
  const halfBytes = Math.ceil(Math.ceil(right * Math.log2(radix) - 1e-9) / 8)
  const outBytes = 4 * Math.ceil(halfBytes / 4) + 4
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb` as 'aes-256-ecb', key, null)
  cipher.setAutoPadding(false)
  const chained = chainConstant(cipher, radix, tweak, length, left, halfBytes)
  const count = numerals.length / length
  const run = radix ** right < 2 ** 37 ? runNumbers : runBigints
  run({ direction, cipher, radix, numerals, count, length, left, halfBytes, outBytes, chained })
}

interface Run {
  readonly direction: Direction
  readonly cipher: ReturnType<typeof createCipheriv>
  readonly radix: number
  readonly numerals: Uint8Array
  readonly count: number
  readonly length: number
  readonly left: number
  readonly halfBytes: number
  readonly outBytes: number
  /** CBC-MAC over all blocks but the last, which are the same for every value and round. */
  readonly chained: Uint8Array
}

function chainConstant(
  cipher: Run['cipher'],
  radix: number,
  tweak: Uint8Array,
  length: number,
  left: number,
  halfBytes: number,
): Uint8Array {
  const first = Buffer.from([1, 2, 1, 0, 0, 0, 10, left & 255, 0, 0, 0, 0, 0, 0, 0, 0])
  first.writeUIntBE(radix, 3, 3)
  first.writeUInt32BE(length, 8)
  first.writeUInt32BE(tweak.length, 12)
  const padding = (16 - ((tweak.length + halfBytes + 1) % 16)) % 16
  const all = Buffer.concat([first, tweak, Buffer.alloc(padding)])
  // The last block holds the round and a half; what is left of it before them stays in the chained value.
  const whole = all.length - (all.length % 16)
  let state: Uint8Array = new Uint8Array(16)
  for (let at = 0; at < whole; at += 16) state = cipher.update(xored(state, all.subarray(at, at + 16)))
  return xored(state, Buffer.concat([all.subarray(whole), Buffer.alloc(16 - (all.length % 16))]))
}

function xored(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, index) => byte ^ (b[index] ?? 0))
}

/** The first `outBytes` of the round function for each block of `blocks`; 16 or 32 bytes apart. */
function roundOutput({ cipher, outBytes }: Run, blocks: Uint8Array): { out: Buffer; stride: number } {
  const first = cipher.update(blocks)
  if (outBytes <= 16) return { out: first, stride: 16 }
  const more = Buffer.from(first)
  for (let at = 15; at < more.length; at += 16) more[at] = (more[at] ?? 0) ^ 1
  const second = cipher.update(more)
  const out = Buffer.alloc(first.length * 2)
  for (let at = 0; at < first.length; at += 16) {
    first.copy(out, at * 2, at, at + 16)
    second.copy(out, at * 2 + 16, at, at + 16)
  }
  return { out, stride: 32 }
}

function roundOrder(direction: Direction): readonly number[] {
  const order = Array.from({ length: rounds }, (_, round) => round)
  return direction === 'encrypt' ? order : order.reverse()
}

/** Halves below 2³⁷: every product with 2¹⁶ is an exact double. */
function runNumbers(run: Run): void {
  const { direction, radix, numerals, count, length, left, halfBytes, outBytes, chained } = run
  let a = new Float64Array(count)
  let b = new Float64Array(count)
  for (let value = 0, at = 0; value < count; value += 1) {
    let number = 0
    for (let symbol = 0; symbol < left; symbol += 1) number = number * radix + (numerals[at++] as number)
    a[value] = number
    number = 0
    for (let symbol = left; symbol < length; symbol += 1) number = number * radix + (numerals[at++] as number)
    b[value] = number
  }
  const blocks = new Uint8Array(count * 16)
  const roundAt = 15 - halfBytes
  for (const round of roundOrder(direction)) {
    const modulus = radix ** (round % 2 === 0 ? left : length - left)
    const known = direction === 'encrypt' ? b : a
    const changed = direction === 'encrypt' ? a : b
    for (let value = 0, at = 0; value < count; value += 1, at += 16) {
      for (let byte = 0; byte < 16; byte += 1) blocks[at + byte] = chained[byte] as number
      blocks[at + roundAt] = (blocks[at + roundAt] as number) ^ round
      let rest = known[value] as number
      for (let byte = 15; byte > roundAt; byte -= 1) {
        const high = Math.floor(rest / 256)
        blocks[at + byte] = (blocks[at + byte] as number) ^ (rest - high * 256)
        rest = high
      }
    }
    const { out, stride } = roundOutput(run, blocks)
    for (let value = 0; value < count; value += 1) {
      let y = 0
      const start = value * stride
      for (let byte = start; byte < start + outBytes; byte += 2)
        y = (y * 65_536 + ((out[byte] as number) << 8) + (out[byte + 1] as number)) % modulus
      const sum = direction === 'encrypt' ? (changed[value] as number) + y : (changed[value] as number) - y
      changed[value] = sum >= modulus ? sum - modulus : sum < 0 ? sum + modulus : sum
    }
    ;[a, b] = [b, a]
  }
  // A swap after each round, and their number is even: a is the left half again, in both directions.
  for (let value = 0; value < count; value += 1) {
    let number = a[value] as number
    for (let at = value * length + left - 1; at >= value * length; at -= 1) {
      const high = Math.floor(number / radix)
      numerals[at] = number - high * radix
      number = high
    }
    number = b[value] as number
    for (let at = value * length + length - 1; at >= value * length + left; at -= 1) {
      const high = Math.floor(number / radix)
      numerals[at] = number - high * radix
      number = high
    }
  }
}

/** The same for longer values. */
function runBigints(run: Run): void {
  const { direction, numerals, count, length, left, halfBytes, outBytes, chained } = run
  const radix = BigInt(run.radix)
  const toNumber = (from: number, to: number) => {
    let number = 0n
    for (let at = from; at < to; at += 1) number = number * radix + BigInt(numerals[at] as number)
    return number
  }
  let a = Array.from({ length: count }, (_, value) => toNumber(value * length, value * length + left))
  let b = Array.from({ length: count }, (_, value) => toNumber(value * length + left, (value + 1) * length))
  const blocks = Buffer.alloc(count * 16)
  const roundAt = 15 - halfBytes
  for (const round of roundOrder(direction)) {
    const modulus = radix ** BigInt(round % 2 === 0 ? left : length - left)
    const known = direction === 'encrypt' ? b : a
    const changed = direction === 'encrypt' ? a : b
    for (let value = 0; value < count; value += 1) {
      blocks.set(chained, value * 16)
      blocks[value * 16 + roundAt] = (blocks[value * 16 + roundAt] as number) ^ round
      let rest = known[value] as bigint
      for (let at = value * 16 + 15; at > value * 16 + roundAt; at -= 1) {
        blocks[at] = (blocks[at] as number) ^ Number(rest & 255n)
        rest >>= 8n
      }
    }
    const { out, stride } = roundOutput(run, blocks)
    for (let value = 0; value < count; value += 1) {
      const y = BigInt(`0x${out.toString('hex', value * stride, value * stride + outBytes)}`)
      const sum = (changed[value] as bigint) + (direction === 'encrypt' ? y : -y)
      changed[value] = ((sum % modulus) + modulus) % modulus
    }
    ;[a, b] = [b, a]
  }
  const write = (number: bigint, from: number, to: number) => {
    for (let at = to - 1, rest = number; at >= from; at -= 1, rest /= radix)
      numerals[at] = Number(rest % radix)
  }
  for (let value = 0; value < count; value += 1) {
    write(a[value] as bigint, value * length, value * length + left)
    write(b[value] as bigint, value * length + left, (value + 1) * length)
  }
}

/**
 * Tokens of a text column: symbols of the alphabet are enciphered, ASCII characters that are neither letter nor digit
 * stay where they are, and anything else refuses the column.
 *
 * @throws TransformRefused `outside_domain`
 */
export function ff1Column(
  direction: Direction,
  key: Uint8Array,
  alphabet: AlphabetName,
  tweak: Uint8Array,
  column: BytesColumn,
): BytesColumn {
  const symbols = Buffer.from(alphabets[alphabet])
  const radix = symbols.length
  const least = symbolsMin(radix)
  // The numeral of each byte; 254 stays where it is, 255 refuses.
  const numeralOf = new Uint8Array(256).fill(255)
  for (let byte = 0x20; byte < 0x7f; byte += 1)
    if (!/[0-9A-Za-z]/.test(String.fromCharCode(byte))) numeralOf[byte] = 254
  for (const [numeral, byte] of symbols.entries()) numeralOf[byte] = numeral
  const data = Uint8Array.from(column.data)
  const lengths = new Uint8Array(column.length)
  const counts = new Map<number, number>()
  for (let index = 0; index < column.length; index += 1) {
    if (!isValid(column, index)) continue
    let length = 0
    for (let at = column.offsets[index] as number; at < (column.offsets[index + 1] as number); at += 1) {
      const numeral = numeralOf[data[at] as number] as number
      if (numeral === 255)
        throw new TransformRefused('outside_domain', `a value has a character outside ${alphabet}`)
      if (numeral < 254) length += 1
      if (length > symbolsMax)
        throw new TransformRefused(
          'outside_domain',
          `a value has more than ${symbolsMax} characters of ${alphabet}`,
        )
    }
    if (length < least)
      throw new TransformRefused(
        'outside_domain',
        `a value has fewer than ${least} characters of ${alphabet}`,
      )
    lengths[index] = length
    counts.set(length, (counts.get(length) ?? 0) + 1)
  }
  for (const [length, count] of counts) {
    const numerals = new Uint8Array(length * count)
    const each = (visit: (at: number, place: number) => void) => {
      let place = 0
      for (let index = 0; index < column.length; index += 1) {
        if (lengths[index] !== length) continue
        for (let at = column.offsets[index] as number; at < (column.offsets[index + 1] as number); at += 1)
          if ((numeralOf[data[at] as number] as number) < 254) visit(at, place++)
      }
    }
    each((at, place) => {
      numerals[place] = numeralOf[data[at] as number] as number
    })
    ff1Numerals(direction, key, radix, tweak, numerals, length)
    each((at, place) => {
      data[at] = symbols[numerals[place] as number] as number
    })
  }
  return { ...column, data }
}
