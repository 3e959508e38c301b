/** Makes the members of documents that the service writes itself: objects without absent members, and our extension. */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { StoredMask } from '../../core/governance.ts'

/** An object of the members that are there. */
export function map(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return new Map(
    Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  )
}

/** A list where it holds something. */
export const some = (items: readonly JsonValue[]) => (items.length > 0 ? items : undefined)

/** The custom property `covenant` with this value. */
export function ours(value: JsonObject): JsonObject {
  return map({ property: 'covenant', vendor: 'covenant', value })
}

/** A mask as our extension has it. */
export function maskMember({ policyId, action, expression, exemptRoles }: StoredMask): JsonObject {
  return map({ id: policyId, action, expression, exemptRoles: some(exemptRoles) })
}
