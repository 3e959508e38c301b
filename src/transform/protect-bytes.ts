/** Keyed actions on a column of texts or byte strings: what is protected already is refused, equal values are done once. */

import { type BytesColumn, isValid, makeRoom } from './bytes-column.ts'
import { bindingOf } from './derive-keys.ts'
import { ff1Column } from './ff1.ts'
import type { KeyedRule } from './plan.ts'
import { TransformRefused } from './refusal.ts'
import { sealColumn } from './seal.ts'
import { tokenizeText } from './tokens.ts'

const ownPrefixes = ['cse1.', 'cge1.', 'css1.', 'cgs1.', 'tok_'].map((prefix) => Buffer.from(prefix))

/**
 * Protects a column.
 *
 * @throws TransformRefused `already_protected`, `outside_domain`
 */
export function protectBytes(
  rule: KeyedRule,
  tenant: string,
  key: Uint8Array,
  column: BytesColumn,
): BytesColumn {
  if (rule.type === 'string') refuseProtected(column)
  if (rule.method === 'gcm') return protectEach(rule, tenant, key, column)
  const distinct = distinctOf(column)
  if (distinct === undefined) return protectEach(rule, tenant, key, column)
  return spread(protectEach(rule, tenant, key, distinct.values), distinct.places, column)
}

function protectEach(rule: KeyedRule, tenant: string, key: Uint8Array, column: BytesColumn): BytesColumn {
  const { scope, kid, method } = rule
  if (method === 'hmac') return tokenizeText(key, column)
  if (method === 'ff1')
    return ff1Column('encrypt', key, rule.alphabet, Buffer.from(bindingOf({ tenant, scope, kid })), column)
  return sealColumn({ method, type: rule.type as 'string' | 'binary', tenant, scope, kid, key }, column)
}

/** Twice protected is lost: no reader would open it twice, and a token of a token joins with nothing. */
export function refuseProtected({ data, offsets, length }: BytesColumn): void {
  for (let index = 0; index < length; index += 1) {
    const at = offsets[index] as number
    const first = data[at]
    if (first !== 0x63 && first !== 0x74) continue
    const end = offsets[index + 1] as number
    for (const prefix of ownPrefixes)
      if (end - at >= prefix.length && prefix.every((byte, place) => data[at + place] === byte))
        throw new TransformRefused('already_protected', 'a value is a token or ciphertext already')
  }
}

/** Values from which on repetition is looked for, and how many of the first tell whether it pays. */
const sampleValues = 1024

/** The distinct values, and for each value its place among them; undefined where values hardly repeat. */
function distinctOf(
  column: BytesColumn,
): { readonly values: BytesColumn; readonly places: Int32Array } | undefined {
  const { data, offsets, length } = column
  if (length < 2) return undefined
  const text = Buffer.from(data.buffer, data.byteOffset, data.length)
  const seen = new Map<string, number>()
  const firsts: number[] = []
  const places = new Int32Array(length).fill(-1)
  for (let index = 0; index < length; index += 1) {
    if (index === sampleValues && seen.size > sampleValues / 2) return undefined
    if (!isValid(column, index)) continue
    const value = text.toString('latin1', offsets[index], offsets[index + 1])
    let place = seen.get(value)
    if (place === undefined) {
      place = firsts.push(index) - 1
      seen.set(value, place)
    }
    places[index] = place
  }
  if (firsts.length > length / 2) return undefined
  const shape: BytesColumn = { length: firsts.length, data, offsets: new Float64Array(firsts.length + 1) }
  const values = makeRoom(shape, (place) => sizeAt(column, firsts[place] as number))
  for (const [place, index] of firsts.entries())
    values.data.set(data.subarray(offsets[index], offsets[index + 1]), values.offsets[place])
  return { values, places }
}

function sizeAt({ offsets }: BytesColumn, index: number): number {
  return (offsets[index + 1] as number) - (offsets[index] as number)
}

/** The column in which value i is the protected value at places[i]. */
function spread(values: BytesColumn, places: Int32Array, like: BytesColumn): BytesColumn {
  const out = makeRoom(like, (index) => sizeAt(values, places[index] as number))
  for (let index = 0; index < like.length; index += 1) {
    const place = places[index] as number
    if (place >= 0)
      out.data.set(values.data.subarray(values.offsets[place], values.offsets[place + 1]), out.offsets[index])
  }
  return out
}
