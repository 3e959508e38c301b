/**
 * Members at the same place of another period. In a calendar it is told by dates, because periods without rows are no
 * members; elsewhere by counting members.
 */

import { dayLater } from '../cube/periods.ts'
import type { Context } from './context.ts'
import { descendantsAt, isSame, laterBy, levelMembers } from './members.ts'
import type { Member } from './space.ts'

/** The member at the same place, so many periods of the level of `above` earlier. @throws Missing */
export function spotEarlier(
  context: Context,
  member: Member,
  { above, count }: { readonly above: Member; readonly count: number },
): Member | undefined {
  const grain = above.kind === 'key' ? above.level.key?.grain : undefined
  if (grain !== undefined && isDated(member))
    return memberOfDay(context, member, dayLater(grain, member.key, -count))
  const other = laterBy(context, above, -count)
  return other && samePlace(context, member, { above, other })
}

/** The member below `other` at the place that another has below `above`; both are of one level. @throws Missing */
export function spotBelow(
  context: Context,
  member: Member,
  { above, other }: { readonly above: Member; readonly other: Member },
): Member | undefined {
  if (isSame(member, above)) return other
  if (isDated(member) && isDated(above) && isDated(other))
    return memberOfDay(
      context,
      member,
      dayLater('month', member.key, monthOf(other.key) - monthOf(above.key)),
    )
  return samePlace(context, member, { above, other })
}

function isDated(member: Member): member is Member & { readonly kind: 'key'; readonly key: string } {
  return member.kind === 'key' && member.key !== null && member.level.key?.grain !== undefined
}

/** Months since the year 0. */
function monthOf(day: string): number {
  const [year = 0, month = 0] = day.split('-').map(Number)
  return year * 12 + month
}

function memberOfDay(context: Context, { at, level }: Member, day: string | undefined): Member | undefined {
  return levelMembers(context, at, level).find((each) => each.kind === 'key' && each.key === day)
}

function samePlace(
  context: Context,
  member: Member,
  { above, other }: { readonly above: Member; readonly other: Member },
): Member | undefined {
  const place = descendantsAt(context, above, member.level.number).findIndex((each) => isSame(each, member))
  return place < 0 ? undefined : descendantsAt(context, other, member.level.number)[place]
}
