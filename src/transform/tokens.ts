/** Tokens by HMAC-SHA-256 (docs/reference/transform.md 5): not reversible, the same within a scope. */

import { createHmac } from 'node:crypto'
import { type BytesColumn, bytesAt, isValid, makeRoom } from './bytes-column.ts'

const tokenPrefix = Buffer.from('tok_')
const base32 = Buffer.from('abcdefghijklmnopqrstuvwxyz234567')
/** 128 bits at five a character. */
const tokenBytes = tokenPrefix.length + 26

/** Bun's own hasher takes half the time; elsewhere it is absent. */
function hmac(key: Uint8Array): (message: Uint8Array) => Uint8Array {
  if (typeof Bun === 'undefined') return (message) => createHmac('sha256', key).update(message).digest()
  const keyed = new Bun.CryptoHasher('sha256', key)
  return (message) => keyed.copy().update(message).digest()
}

/** `tok_` and 26 characters for each text. */
export function tokenizeText(key: Uint8Array, column: BytesColumn): BytesColumn {
  const digestOf = hmac(key)
  const out = makeRoom(column, () => tokenBytes)
  for (let index = 0; index < column.length; index += 1) {
    if (!isValid(column, index)) continue
    const digest = digestOf(bytesAt(column, index))
    let at = out.offsets[index] as number
    for (const byte of tokenPrefix) out.data[at++] = byte
    let bits = 0
    let held = 0
    for (let byte = 0; byte < 16; byte += 1) {
      bits = ((bits << 8) | (digest[byte] as number)) & 0xfff
      held += 8
      while (held >= 5) {
        held -= 5
        out.data[at++] = base32[(bits >> held) & 31] as number
      }
    }
    out.data[at] = base32[(bits << (5 - held)) & 31] as number
  }
  return out
}

/** A number of 63 bits for each number: of the digest's first eight bytes, little-endian, without the highest bit. */
export function tokenizeLongs(key: Uint8Array, values: BigInt64Array): BigInt64Array {
  const digestOf = hmac(key)
  const message = Buffer.alloc(8)
  return values.map((value) => {
    message.writeBigInt64LE(value)
    return Buffer.from(digestOf(message)).readBigUInt64LE() & 0x7fff_ffff_ffff_ffffn
  })
}
