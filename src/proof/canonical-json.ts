/**
 * Writes JSON in its canonical form (RFC 8785): members by the UTF-16 units of their names, no space, numbers as
 * ECMAScript writes them. An integer beyond 2^53 becomes a string, because a reader with doubles would change it.
 */

import { isJsonObject, type JsonValue } from '../base/json.ts'

const largest = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * The canonical text of a value.
 * @param value as `parseJson` gives it: its numbers are finite and its strings well-formed
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'bigint') return value > largest || value < -largest ? `"${value}"` : value.toString()
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isJsonObject(value)) {
    const members = [...value.keys()].sort().map((name) => {
      return `${JSON.stringify(name)}:${canonicalJson(value.get(name) ?? null)}`
    })
    return `{${members.join(',')}}`
  }
  // JSON.stringify writes strings, and numbers with -0 as 0, as the RFC does.
  return JSON.stringify(value)
}
