/** Unique names and captions of cubes, levels and members, as clients of multidimensional models write and show them. */

import type { Grain } from '../../core/metric.ts'
import type { Hierarchy, KeyLevel } from './model.ts'

/** The caption of the member whose key is NULL. */
const unknownCaption = 'Unknown'

/** `[name]`, with a closing bracket doubled. */
export function bracketed(name: string): string {
  return `[${name.replaceAll(']', ']]')}]`
}

/** `[a].[b]` of a and b. */
export function uniqueNameOf(...names: readonly string[]): string {
  return names.map(bracketed).join('.')
}

/**
 * The unique name of a member: `[D].[H].&[key]`, in a calendar `[D].[H].[Level].&[key]`, because the first day of a year
 * is also that of a month. The member of NULL has the key `&` without brackets, which no value has.
 * @param key the key's text in PostgreSQL's form; null for NULL
 */
export function memberUniqueName(hierarchy: Hierarchy, level: KeyLevel, key: string | null): string {
  const within = hierarchy.kind === 'calendar' ? level.uniqueName : hierarchy.uniqueName
  return `${within}.&${key === null ? '' : bracketed(key)}`
}

/** What people see of a member: a period by its name, another key by its text. */
export function memberCaption({ key: { grain } }: KeyLevel, key: string | null): string {
  if (key === null) return unknownCaption
  return grain === undefined ? key : periodCaption(grain, key)
}

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** @param key the first day of the period as YYYY-MM-DD; of an hour as YYYY-MM-DD HH:MM:SS */
function periodCaption(grain: Grain, key: string): string {
  const [year = '', month = ''] = key.split('-')
  const place = Number(month)
  const isDate = /^\d{4,}-\d\d-\d\d$/.test(key)
  if (!isDate || place < 1 || place > months.length) return key
  switch (grain) {
    case 'year':
      return year
    case 'quarter':
      return `Q${Math.ceil(place / 3)} ${year}`
    case 'month':
      return `${months[place - 1]} ${year}`
    default:
      return key
  }
}
