/**
 * Iceberg's `read-restrictions`: what an upstream says that its caller may not see of a table. They are not understood
 * here, so whatever they may hold counts as a restriction of every column and row.
 */

import { isJsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import { limits } from '../../limits.ts'

export const restrictionsMember = 'read-restrictions'

/** @param value of the member; undefined where the answer has none */
export function restrictsReading(value: JsonValue | undefined): boolean {
  if (value === undefined) return false
  if (!isJsonObject(value)) return true
  return [...value].some(
    ([key, part]) => !(key === 'required-column-projections' && Array.isArray(part) && part.length === 0),
  )
}

/** As {@link restrictsReading}, of an answer's members as bytes. */
export function isRestricted(members: ReadonlyMap<string, Uint8Array>): boolean {
  const raw = members.get(restrictionsMember)
  if (raw === undefined) return false
  try {
    return restrictsReading(parseJson(raw, { depthMax: limits.jsonDepthMax }))
  } catch {
    return true
  }
}
