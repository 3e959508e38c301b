/**
 * Encryption of a column (docs/reference/transform.md 6): AES-SIV and AES-256-GCM in the text and byte forms that lie in
 * a table. A form names its key, so that it can be opened after a rotation.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type BytesColumn, bytesAt, columnOfBytes, isValid, makeRoom } from './bytes-column.ts'
import { bindingOf, hkdf } from './derive-keys.ts'
import { TransformRefused } from './refusal.ts'
import { openSiv, sealSiv } from './siv.ts'

export type SealMethod = 'siv' | 'gcm'
export type SealedType = 'string' | 'binary'

export interface SealContext {
  readonly method: SealMethod
  readonly type: SealedType
  readonly tenant: string
  readonly scope: string
  readonly kid: string
  readonly key: Uint8Array
  /** The id of the subject's key: base64url of 16 bytes. Absent where the key is the scope's. */
  readonly sid?: string
}

/** Before the plaintext, so that a sealed text never opens as bytes, and no plaintext is empty. */
const typeByte = { string: 1, binary: 2 } as const
const frameByte = { siv: 1, gcm: 2 } as const
const textPrefix = { siv: 'cse1', gcm: 'cge1' } as const
/** Of values under a subject's key, whose id follows the scope's. */
const subjectFrameByte = { siv: 3, gcm: 4 } as const
const subjectTextPrefix = { siv: 'css1', gcm: 'cgs1' } as const
const dataKeyBytes = 16
const nonceBytes = 12
const tagBytes = 16

/** What comes before the sealed bytes. */
function prefixOf({ method, type, kid, sid }: SealContext): Uint8Array {
  if (sid !== undefined) {
    if (type === 'string') return Buffer.from(`${subjectTextPrefix[method]}.${kid}.${sid}.`)
    const id = Buffer.from(sid, 'base64url')
    return Buffer.concat([Buffer.from([subjectFrameByte[method], kid.length]), Buffer.from(kid), id])
  }
  if (type === 'string') return Buffer.from(`${textPrefix[method]}.${kid}.`)
  return Buffer.concat([Buffer.from([frameByte[method], kid.length]), Buffer.from(kid)])
}

function associatedOf({ tenant, scope, kid, sid }: SealContext): Uint8Array[] {
  const parts = ['covenant/1', tenant, scope, kid, ...(sid === undefined ? [] : [sid])]
  return parts.map((text) => Buffer.from(text))
}

/** Seals every value that is not NULL. `random` is for vectors only. */
export function sealColumn(
  context: SealContext,
  column: BytesColumn,
  random: (bytes: number) => Uint8Array = randomBytes,
): BytesColumn {
  const raw = context.method === 'siv' ? sealBySiv(context, column) : sealByGcm(context, column, random)
  const prefix = prefixOf(context)
  const text = context.type === 'string'
  const bytes = (index: number) => (raw.offsets[index + 1] as number) - (raw.offsets[index] as number)
  const out = makeRoom(
    column,
    (index) => prefix.length + (text ? Math.ceil((bytes(index) * 4) / 3) : bytes(index)),
  )
  const target = Buffer.from(out.data.buffer)
  const source = Buffer.from(raw.data.buffer, raw.data.byteOffset, raw.data.length)
  for (let index = 0; index < column.length; index += 1) {
    if (!isValid(column, index)) continue
    const at = out.offsets[index] as number
    const from = raw.offsets[index] as number
    const to = raw.offsets[index + 1] as number
    target.set(prefix, at)
    if (text) target.write(source.toString('base64url', from, to), at + prefix.length, 'latin1')
    else source.copy(target, at + prefix.length, from, to)
  }
  return out
}

/** Each value with its type byte before it; NULLs are empty. */
function withTypeByte(type: SealedType, column: BytesColumn): BytesColumn {
  const out = makeRoom(
    column,
    (index) => 1 + (column.offsets[index + 1] as number) - (column.offsets[index] as number),
  )
  for (let index = 0; index < column.length; index += 1) {
    if (!isValid(column, index)) continue
    const at = out.offsets[index] as number
    out.data[at] = typeByte[type]
    out.data.set(bytesAt(column, index), at + 1)
  }
  return out
}

function sealBySiv(context: SealContext, column: BytesColumn): BytesColumn {
  const plain = withTypeByte(context.type, column)
  const messages = { count: plain.length, data: plain.data, offsets: plain.offsets }
  const { ivs, sealed } = sealSiv(context.key, associatedOf(context), messages)
  const size = (index: number) => (plain.offsets[index + 1] as number) - (plain.offsets[index] as number)
  const out = makeRoom(column, (index) => tagBytes + size(index))
  for (let index = 0; index < column.length; index += 1) {
    if (!isValid(column, index)) continue
    const at = out.offsets[index] as number
    out.data.set(ivs.subarray(index * tagBytes, (index + 1) * tagBytes), at)
    out.data.set(sealed.subarray(plain.offsets[index], plain.offsets[index + 1]), at + tagBytes)
  }
  return out
}

function dataKey(key: Uint8Array, id: Uint8Array): Uint8Array {
  return hkdf(key, id, 'covenant/1|gcm-data', 32)
}

function sealByGcm(
  context: SealContext,
  column: BytesColumn,
  random: (bytes: number) => Uint8Array,
): BytesColumn {
  const id = random(dataKeyBytes)
  const key = dataKey(context.key, id)
  const associated = Buffer.from(bindingOf(context))
  const plain = withTypeByte(context.type, column)
  const head = dataKeyBytes + nonceBytes
  const size = (index: number) => (plain.offsets[index + 1] as number) - (plain.offsets[index] as number)
  const out = makeRoom(column, (index) => head + size(index) + tagBytes)
  const nonces = random(nonceBytes * column.length)
  for (let index = 0; index < column.length; index += 1) {
    if (!isValid(column, index)) continue
    const nonce = nonces.subarray(index * nonceBytes, (index + 1) * nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(associated)
    const sealed = cipher.update(bytesAt(plain, index))
    cipher.final()
    const at = out.offsets[index] as number
    out.data.set(id, at)
    out.data.set(nonce, at + dataKeyBytes)
    out.data.set(sealed, at + head)
    out.data.set(cipher.getAuthTag(), at + head + sealed.length)
  }
  return out
}

/** The key id that a sealed value names; undefined where it is not sealed by `method`. */
export function kidOfSealed(method: SealMethod, type: SealedType, value: Uint8Array): string | undefined {
  if (type === 'string')
    return new RegExp(`^${textPrefix[method]}\\.([a-z0-9]{1,16})\\.`).exec(
      Buffer.from(value.subarray(0, 24)).toString('latin1'),
    )?.[1]
  if (value[0] !== frameByte[method]) return undefined
  const length = value[1] ?? 0
  const kid = Buffer.from(value.subarray(2, 2 + length)).toString('latin1')
  return /^[a-z0-9]{1,16}$/.test(kid) && kid.length === length ? kid : undefined
}

/** The ids of scope key and subject's key that a value names; undefined where it is not sealed by `method` under one. */
export function subjectOfSealed(
  method: SealMethod,
  type: SealedType,
  value: Uint8Array,
): { readonly kid: string; readonly sid: string } | undefined {
  if (type === 'string') {
    const pattern = new RegExp(`^${subjectTextPrefix[method]}\\.([a-z0-9]{1,16})\\.([A-Za-z0-9_-]{22})\\.`)
    const [, kid, sid] = pattern.exec(Buffer.from(value.subarray(0, 46)).toString('latin1')) ?? []
    return kid === undefined || sid === undefined ? undefined : { kid, sid }
  }
  const length = value[1] ?? 0
  const kid = Buffer.from(value.subarray(2, 2 + length)).toString('latin1')
  const id = value.subarray(2 + length, 18 + length)
  if (value[0] !== subjectFrameByte[method] || !/^[a-z0-9]{1,16}$/.test(kid) || id.length < 16)
    return undefined
  return { kid, sid: Buffer.from(id).toString('base64url') }
}

/**
 * Opens a column that one key sealed.
 *
 * @throws TransformRefused `not_authentic` where a value was not sealed by this key for this scope
 */
export function openColumn(context: SealContext, column: BytesColumn): BytesColumn {
  const opened = Array.from({ length: column.length }, (_, index): Uint8Array | null => {
    if (!isValid(column, index)) return null
    const plain = openValue(context, bytesAt(column, index))
    if (plain === undefined)
      throw new TransformRefused('not_authentic', 'a value was not sealed by this key for this scope')
    return plain
  })
  return columnOfBytes(opened)
}

/** Opens one value; undefined where this key did not seal it for this scope. */
export function openValue(context: SealContext, value: Uint8Array): Uint8Array | undefined {
  const prefix = prefixOf(context)
  if (Buffer.compare(value.subarray(0, prefix.length), prefix) !== 0) return undefined
  const rest = value.subarray(prefix.length)
  const raw =
    context.type === 'string' ? Buffer.from(Buffer.from(rest).toString('latin1'), 'base64url') : rest
  const plain = context.method === 'siv' ? openBySiv(context, raw) : openByGcm(context, raw)
  return plain === undefined || plain[0] !== typeByte[context.type] ? undefined : plain.subarray(1)
}

function openBySiv(context: SealContext, raw: Uint8Array): Uint8Array | undefined {
  if (raw.length <= tagBytes) return undefined
  const data = raw.subarray(tagBytes)
  const messages = { count: 1, data, offsets: Float64Array.of(0, data.length) }
  return openSiv(context.key, associatedOf(context), raw.subarray(0, tagBytes), messages)
}

function openByGcm(context: SealContext, raw: Uint8Array): Uint8Array | undefined {
  const head = dataKeyBytes + nonceBytes
  if (raw.length <= head + tagBytes) return undefined
  try {
    const key = dataKey(context.key, raw.subarray(0, dataKeyBytes))
    const cipher = createDecipheriv('aes-256-gcm', key, raw.subarray(dataKeyBytes, head))
    cipher.setAAD(Buffer.from(bindingOf(context)))
    cipher.setAuthTag(raw.subarray(-tagBytes))
    return Buffer.concat([cipher.update(raw.subarray(head, -tagBytes)), cipher.final()])
  } catch {
    return undefined
  }
}
