/**
 * Turns PATCH operations on a group into changes of its members and of its other attributes, so that a group of many
 * members is not read and written whole.
 */

import type { Filter } from './filter.ts'
import { isScimObject, type ScimObject } from './match.ts'
import type { PatchOperation } from './patch.ts'
import { readValue } from './read-resource.ts'
import { groups } from './schemas.ts'
import { badScim } from './scim-fault.ts'

/** One change of the members, by ids of users. */
export type MemberChange = { readonly kind: 'add' | 'remove' | 'replace'; readonly users: readonly string[] }

/** Splits operations: those on members become changes, in their order; the others are left. */
export function splitMembers(operations: readonly PatchOperation[]): {
  readonly changes: readonly MemberChange[]
  readonly others: readonly PatchOperation[]
} {
  const isOfMembers = ({ path }: PatchOperation) => path.place.attribute.name === 'members'
  return {
    changes: operations.filter(isOfMembers).map(memberChange),
    others: operations.filter((one) => !isOfMembers(one)),
  }
}

/** The ids of users that `members` of a whole group names. @throws Fault `bad_request` (invalidValue) */
export function memberIds(members: unknown): readonly string[] {
  return members === undefined ? [] : (members as readonly ScimObject[]).map(memberId)
}

function memberChange({ op, path, value }: PatchOperation): MemberChange {
  if (path.place.sub !== undefined || path.sub !== undefined)
    throw badScim('mutability', 'A member is added or removed, and not changed.')
  if (path.filter !== undefined) {
    if (op !== 'remove')
      throw badScim('mutability', 'A member that a filter names is removed, and not changed.')
    return { kind: 'remove', users: namedBy(path.filter) }
  }
  if (op === 'remove' && (value === undefined || value === null)) return { kind: 'replace', users: [] }
  return { kind: op, users: memberIds(readValue(membersAttribute, value)) }
}

const membersAttribute = (() => {
  const found = groups.attributes.find(({ name }) => name === 'members')
  if (found === undefined) throw new Error('groups have members')
  return found
})()

/** The ids of `value eq "…"`, joined by `or`. */
function namedBy(filter: Filter): readonly string[] {
  if (filter.op === 'or') return [...namedBy(filter.left), ...namedBy(filter.right)]
  if (filter.op === 'eq' && filter.place.attribute.name === 'value' && typeof filter.value === 'string')
    return [filter.value]
  throw badScim('invalidFilter', 'Members are named by `value eq "ID"`, joined by `or`.')
}

function memberId(member: unknown): string {
  const { value, type } = isScimObject(member) ? member : {}
  if (typeof type === 'string' && type.toLowerCase() === 'group')
    throw badScim('invalidValue', 'A group within a group is not supported: provision its members.')
  if (typeof value !== 'string' || value === '')
    throw badScim('invalidValue', 'A member needs `value`, the id of a user.')
  return value
}
