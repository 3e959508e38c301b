/**
 * AES-SIV (RFC 5297), a column at a time: CMACs and key streams of all values go through AES-ECB together. The same
 * value, key and associated data give the same bytes.
 */

import { createCipheriv } from 'node:crypto'

const blockBytes = 16

type Ecb = (blocks: Uint8Array) => Uint8Array

function ecb(key: Uint8Array): Ecb {
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb` as 'aes-256-ecb', key, null)
  cipher.setAutoPadding(false)
  return (blocks) => cipher.update(blocks)
}

function doubled(block: Uint8Array): Uint8Array {
  const out = new Uint8Array(blockBytes)
  for (let at = 0; at < blockBytes; at += 1)
    out[at] = ((block[at] as number) << 1) | ((block[at + 1] ?? 0) >> 7)
  if ((block[0] as number) & 0x80) out[15] = (out[15] as number) ^ 0x87
  return out
}

function xorInto(target: Uint8Array, at: number, source: Uint8Array, from: number, bytes: number): void {
  for (let byte = 0; byte < bytes; byte += 1)
    target[at + byte] = (target[at + byte] as number) ^ (source[from + byte] as number)
}

/** One message that is needed once a column. */
function cmac(encrypt: Ecb, message: Uint8Array): Uint8Array {
  const subkey = doubled(encrypt(new Uint8Array(blockBytes)))
  const blocks = Math.max(1, Math.ceil(message.length / blockBytes))
  const padded = new Uint8Array(blocks * blockBytes)
  padded.set(message)
  const whole = message.length === padded.length
  if (!whole) padded[message.length] = 0x80
  xorInto(padded, padded.length - blockBytes, whole ? subkey : doubled(subkey), 0, blockBytes)
  let state: Uint8Array = new Uint8Array(blockBytes)
  for (let at = 0; at < padded.length; at += blockBytes) {
    const block = padded.slice(at, at + blockBytes)
    xorInto(block, 0, state, 0, blockBytes)
    state = encrypt(block)
  }
  return Uint8Array.from(state)
}

/** Messages, one after another: message i lies from offsets[i] to offsets[i + 1] of data. */
export interface Messages {
  readonly count: number
  readonly data: Uint8Array
  readonly offsets: Int32Array | Float64Array
}

/** The synthetic initialisation vectors of all messages, 16 bytes each. */
function vectors(key: Uint8Array, associated: readonly Uint8Array[], messages: Messages): Uint8Array {
  const { count, data, offsets } = messages
  const encrypt = ecb(key)
  let header = cmac(encrypt, new Uint8Array(blockBytes))
  for (const each of associated) {
    header = doubled(header)
    xorInto(header, 0, cmac(encrypt, each), 0, blockBytes)
  }
  const doubledHeader = doubled(header)
  const subkey = doubled(encrypt(new Uint8Array(blockBytes)))
  const subkeyOfPartial = doubled(subkey)
  // The message that the last CMAC takes: as long as the value, at least a block.
  const sizes = new Float64Array(count)
  const starts = new Float64Array(count + 1)
  for (let index = 0; index < count; index += 1) {
    const size = Math.max(blockBytes, (offsets[index + 1] as number) - (offsets[index] as number))
    sizes[index] = size
    starts[index + 1] = (starts[index] as number) + Math.ceil(size / blockBytes) * blockBytes
  }
  const padded = new Uint8Array(starts[count] as number)
  let blocksMost = 0
  for (let index = 0; index < count; index += 1) {
    const from = offsets[index] as number
    const length = (offsets[index + 1] as number) - from
    const start = starts[index] as number
    const end = starts[index + 1] as number
    for (let byte = 0; byte < length; byte += 1) padded[start + byte] = data[from + byte] as number
    if (length >= blockBytes) {
      xorInto(padded, start + length - blockBytes, header, 0, blockBytes)
      if (end - start !== length) padded[start + length] = 0x80
      xorInto(padded, end - blockBytes, end - start === length ? subkey : subkeyOfPartial, 0, blockBytes)
    } else {
      padded[start + length] = 0x80
      xorInto(padded, start, doubledHeader, 0, blockBytes)
      xorInto(padded, start, subkey, 0, blockBytes)
    }
    blocksMost = Math.max(blocksMost, (end - start) / blockBytes)
  }
  return chainAll(encrypt, padded, starts, count, blocksMost)
}

/** CBC-MAC of all messages: the n-th blocks of those that have one go through AES together. */
function chainAll(
  encrypt: Ecb,
  padded: Uint8Array,
  starts: Float64Array,
  count: number,
  blocksMost: number,
): Uint8Array {
  const states = new Uint8Array(count * blockBytes)
  let alive = Uint32Array.from({ length: count }, (_, index) => index)
  for (let block = 0; block < blocksMost; block += 1) {
    if (block > 0)
      alive = alive.filter(
        (index) => (starts[index] as number) + block * blockBytes < (starts[index + 1] as number),
      )
    const input = new Uint8Array(alive.length * blockBytes)
    for (let place = 0; place < alive.length; place += 1) {
      const index = alive[place] as number
      const from = (starts[index] as number) + block * blockBytes
      for (let byte = 0; byte < blockBytes; byte += 1)
        input[place * blockBytes + byte] =
          (padded[from + byte] as number) ^ (states[index * blockBytes + byte] as number)
    }
    const output = encrypt(input)
    if (alive.length === count) states.set(output)
    else
      for (let place = 0; place < alive.length; place += 1)
        states.set(
          output.subarray(place * blockBytes, (place + 1) * blockBytes),
          (alive[place] as number) * blockBytes,
        )
  }
  return states
}

/** Exclusive-or of every message with its key stream, in one buffer laid out as `messages.data`. */
function streamed(key: Uint8Array, ivs: Uint8Array, { count, data, offsets }: Messages): Uint8Array {
  let blocks = 0
  for (let index = 0; index < count; index += 1)
    blocks += Math.ceil(((offsets[index + 1] as number) - (offsets[index] as number)) / blockBytes)
  const counters = new Uint8Array(blocks * blockBytes)
  let at = 0
  for (let index = 0; index < count; index += 1) {
    const many = Math.ceil(((offsets[index + 1] as number) - (offsets[index] as number)) / blockBytes)
    for (let block = 0; block < many; block += 1, at += blockBytes) {
      for (let byte = 0; byte < blockBytes; byte += 1)
        counters[at + byte] = ivs[index * blockBytes + byte] as number
      counters[at + 8] = (counters[at + 8] as number) & 0x7f
      counters[at + 12] = (counters[at + 12] as number) & 0x7f
      // Bit 31 is clear, so that adding to the last 32 bits carries no further.
      let carry = block
      for (let byte = 15; carry > 0 && byte >= 0; byte -= 1) {
        const sum = (counters[at + byte] as number) + (carry & 255)
        counters[at + byte] = sum
        carry = Math.floor(carry / 256) + (sum >> 8)
      }
    }
  }
  const stream = ecb(key)(counters)
  const out = new Uint8Array(data.length)
  at = 0
  for (let index = 0; index < count; index += 1) {
    const from = offsets[index] as number
    const to = offsets[index + 1] as number
    for (let byte = from; byte < to; byte += 1)
      out[byte] = (data[byte] as number) ^ (stream[at + byte - from] as number)
    at += Math.ceil((to - from) / blockBytes) * blockBytes
  }
  return out
}

/** Seals all messages: their vectors, 16 bytes each, and their ciphertexts, laid out as the messages. */
export function sealSiv(
  key: Uint8Array,
  associated: readonly Uint8Array[],
  messages: Messages,
): { readonly ivs: Uint8Array; readonly sealed: Uint8Array } {
  const half = key.length / 2
  const ivs = vectors(key.subarray(0, half), associated, messages)
  return { ivs, sealed: streamed(key.subarray(half), ivs, messages) }
}

/** Opens what `sealSiv` sealed; undefined where one of the messages is not authentic. */
export function openSiv(
  key: Uint8Array,
  associated: readonly Uint8Array[],
  ivs: Uint8Array,
  messages: Messages,
): Uint8Array | undefined {
  const half = key.length / 2
  const opened = streamed(key.subarray(half), ivs, messages)
  const expected = vectors(key.subarray(0, half), associated, { ...messages, data: opened })
  return Buffer.compare(expected, ivs) === 0 ? opened : undefined
}
