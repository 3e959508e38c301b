/**
 * Splits a JSON object into members as slices of its bytes. Some can be removed or replaced while megabytes of table
 * metadata pass unparsed and unchanged. Does not validate the values of members.
 */

import { Fault } from '../../base/fault.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a

/**
 * @param body a JSON object in UTF-8
 * @returns each member's value by its key, in order, without surrounding white space
 * @throws Fault upstream_failed where the body is not an object, a key repeats or a bracket is not closed
 */
export function topLevelMembers(body: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const members = new Map<string, Uint8Array>()
  let at = skipSpace(body, 0)
  if (body[at] !== 0x7b) throw unreadable()
  at = skipSpace(body, at + 1)
  while (body[at] !== 0x7d) {
    if (body[at] !== quote) throw unreadable()
    const keyEnd = stringEnd(body, at)
    const key = keyOf(body.subarray(at, keyEnd))
    at = skipSpace(body, keyEnd)
    if (body[at] !== colon || members.has(key)) throw unreadable()
    const start = skipSpace(body, at + 1)
    at = valueEnd(body, start)
    members.set(key, trimEnd(body.subarray(start, at)))
    if (body[at] === comma) {
      at = skipSpace(body, at + 1)
      if (body[at] !== quote) throw unreadable()
    }
  }
  if (skipSpace(body, at + 1) !== body.length) throw unreadable()
  return members
}

/**
 * The object with one member's value replaced by a string; all other values stay byte for byte.
 * @throws as {@link topLevelMembers}
 */
export function withStringMember(body: Uint8Array, key: string, text: string): Uint8Array {
  return joinMembers(new Map([...topLevelMembers(body), [key, Buffer.from(JSON.stringify(text))]]))
}

/** The object of these members, in order. */
export function joinMembers(members: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  if (members.size === 0) return Buffer.from('{}')
  const parts = [...members].flatMap(([name, value], index) => [
    Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
    value,
  ])
  return Buffer.concat([...parts, Buffer.from('}')])
}

/** The index of the comma or bracket behind the value that begins at `from`. */
function valueEnd(body: Uint8Array, from: number): number {
  let depth = 0
  for (let at = from; at < body.length; at++) {
    const byte = body[at]
    if (byte === quote) at = stringEnd(body, at) - 1
    else if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return nonEmpty(from, at)
      depth--
    } else if (byte === comma && depth === 0) return nonEmpty(from, at)
  }
  throw unreadable()
}

function nonEmpty(from: number, end: number): number {
  if (end === from) throw unreadable()
  return end
}

/** The index behind the closing quote of the string that begins at `at`. */
function stringEnd(body: Uint8Array, at: number): number {
  let end = body.indexOf(quote, at + 1)
  while (end >= 0) {
    let slashes = 0
    while (body[end - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return end + 1
    end = body.indexOf(quote, end + 1)
  }
  throw unreadable()
}

function keyOf(bytes: Uint8Array): string {
  try {
    return String(JSON.parse(Buffer.from(bytes).toString('utf8')))
  } catch {
    throw unreadable()
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function skipSpace(body: Uint8Array, from: number): number {
  let at = from
  while (isSpace(body[at])) at++
  return at
}

function trimEnd(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (isSpace(bytes[end - 1])) end--
  return bytes.subarray(0, end)
}

function unreadable(): Fault {
  return new Fault('upstream_failed', 'The upstream catalog sent an invalid reply.')
}
