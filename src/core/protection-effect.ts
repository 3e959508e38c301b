/** What a filter or mask does, as a text by which two are compared. Reads nothing. */

import type { StoredMask, StoredRowFilter } from './governance.ts'

/** The effect of a filter or mask, without its id, its origin and the roles that it spares. */
export function effectOf(
  one: Omit<StoredMask, 'exemptRoles'> | Omit<StoredRowFilter, 'exemptRoles'>,
): string {
  const { expression, names } = one
  const of = 'action' in one ? { action: one.action } : { fieldId: one.fieldId }
  const bound = names && Object.entries(names).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify({ ...of, expression, names: bound })
}
