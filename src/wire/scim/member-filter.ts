/**
 * Finds the members that a filter on groups names by their ids, so that groups are judged without reading all of their
 * members. Evaluates nothing.
 */

import type { Filter } from './filter.ts'

/** The ids that `value eq "…"`, joined by `and` and `or`, names; undefined for any other filter. */
function valuesIn(filter: Filter): readonly string[] | undefined {
  if (filter.op === 'and' || filter.op === 'or') return both(valuesIn(filter.left), valuesIn(filter.right))
  const isValue = filter.op === 'eq' && filter.place.attribute.name === 'value'
  return isValue && typeof filter.value === 'string' ? [filter.value] : undefined
}

function both(left: readonly string[] | undefined, right: readonly string[] | undefined) {
  return left && right && [...left, ...right]
}

/**
 * The ids of the members that decide a filter, so that the others need not be read.
 * @returns none where it says nothing of members; undefined where it can only be decided with all of them
 */
export function membersNamed(filter: Filter): readonly string[] | undefined {
  switch (filter.op) {
    case 'and':
    case 'or':
      return both(membersNamed(filter.left), membersNamed(filter.right))
    case 'not':
      return membersNamed(filter.of)
    default:
      return filter.place.attribute.name === 'members' ? idsIn(filter) : []
  }
}

function idsIn(filter: Exclude<Filter, { readonly op: 'and' | 'or' | 'not' }>) {
  if (filter.op === 'some') return valuesIn(filter.of)
  const isOfIds = filter.place.sub === undefined || filter.place.sub.name === 'value'
  return filter.op === 'eq' && isOfIds && typeof filter.value === 'string' ? [filter.value] : undefined
}

/** The id of a member that each group has which fulfils the filter; undefined where none is demanded. */
export function memberDemanded(filter: Filter): string | undefined {
  if (filter.op === 'and') return memberDemanded(filter.left) ?? memberDemanded(filter.right)
  if (filter.op !== 'eq' && filter.op !== 'some') return undefined
  const [one, ...others] = membersNamed(filter) ?? []
  return others.length === 0 ? one : undefined
}
