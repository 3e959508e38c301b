/**
 * Detects Iceberg's `read-restrictions`, by which an upstream limits what its caller may see of a table. Does not
 * interpret them: any content is treated as a restriction of every column and row.
 */

import { isJsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import { limits } from '../../limits.ts'

export const restrictionsMember = 'read-restrictions'

/** @param value the member's value; undefined where the reply has no such member */
export function restrictsReading(value: JsonValue | undefined): boolean {
  if (value === undefined) return false
  if (!isJsonObject(value)) return true
  return [...value].some(
    ([key, part]) => !(key === 'required-column-projections' && Array.isArray(part) && part.length === 0),
  )
}

/** As {@link restrictsReading}, for the members of a reply as bytes. */
export function isRestricted(members: ReadonlyMap<string, Uint8Array>): boolean {
  const raw = members.get(restrictionsMember)
  if (raw === undefined) return false
  try {
    return restrictsReading(parseJson(raw, { depthMax: limits.jsonDepthMax }))
  } catch {
    return true
  }
}
