/** Adds requirements to the body of a commit. Every byte that the client sent stays as it is. */

import { type JsonObject, stringifyJson } from '../../base/json.ts'
import { topLevelMembers } from './members.ts'

const openBracket = 0x5b
const closeBracket = 0x5d
const spaces: ReadonlySet<number | undefined> = new Set([0x20, 0x0a, 0x0d, 0x09])

/**
 * @param body a CommitTableRequest that was parsed before, so `requirements` is an array and no key repeats
 * @param added put before the client's own
 * @returns `body` itself where nothing is added
 */
export function withRequirements(body: Uint8Array, added: readonly JsonObject[]): Uint8Array {
  if (added.length === 0) return body
  const list = topLevelMembers(body).get('requirements')
  if (list?.[0] !== openBracket) throw new Error('the body has no list of requirements')
  const at = list.byteOffset - body.byteOffset + 1
  const isEmpty = list.find((byte, index) => index > 0 && !spaces.has(byte)) === closeBracket
  const text = added.map((one) => stringifyJson(one)).join(',') + (isEmpty ? '' : ',')
  return Buffer.concat([body.subarray(0, at), Buffer.from(text), body.subarray(at)])
}
