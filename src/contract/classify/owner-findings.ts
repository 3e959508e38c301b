/** Compares whom the documents of two versions name as owners: one more decides about access, so that is looser. */

import type { Contacts } from '../../core/whom-to-ask.ts'
import { isOwnerRole } from '../access/owners.ts'
import { type Finding, harmless } from './finding.ts'

/** The findings about who decides about requests for access as an owner. */
export function ownerFindings(before: Contacts | undefined, after: Contacts | undefined): readonly Finding[] {
  const [was, is] = [ownersOf(before), ownersOf(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
    const [old, now] = [was.get(name) ?? never, is.get(name) ?? never]
    if (old === now) return []
    const access = now > old ? 'loosened' : 'tightened'
    const message =
      old === never
        ? `“${name}” becomes an owner, who decides about access`
        : now === never
          ? `“${name}” is no longer an owner, who decides about access`
          : `“${name}” is an owner, who decides about access, for a ${now > old ? 'longer' : 'shorter'} time`
    return [{ at: '', change: `owner-${access}`, ...harmless, access, message }]
  })
}

/** The end of a right that somebody does not have, in milliseconds since the Unix epoch. */
const never = Number.NEGATIVE_INFINITY

/**
 * Until when each name is an owner, by the rule of `isOwner`: one entry with another role takes the right, and the
 * earliest end holds. An end that is over counts as one that comes, because a version is judged at no certain time.
 */
function ownersOf(contacts: Contacts | undefined): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  for (const { username, role, until } of contacts?.people ?? []) {
    if (username === undefined) continue
    const end = isOwnerRole(role)
      ? until === undefined
        ? Number.POSITIVE_INFINITY
        : Date.parse(until)
      : never
    ends.set(username, Math.min(end, ends.get(username) ?? Number.POSITIVE_INFINITY))
  }
  return ends
}
