/**
 * Says in words why a viewer sees what it sees of a table: which filters and masks apply, and from which its roles exempt it.
 * What is seen is decided by `core/seen-table.ts`; nothing is read here.
 */

import type { Governance, StoredProtection } from '../../core/governance.ts'
import { isMasked } from '../../core/governed-table.ts'
import { readsRecordsOnly } from '../../core/principal.ts'
import { appliesTo, type SeenTable, seenTable, type Viewer } from '../../core/seen-table.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'

/** How much of its values a viewer sees of a column. */
export const columnSights = ['clear', 'masked', 'hidden'] as const
type ColumnSight = (typeof columnSights)[number]

/** How many of its rows a viewer sees. */
export const rowSights = ['all', 'filtered', 'none'] as const

/** What a viewer sees of a table, and why. */
export interface ReasonedSight {
  readonly rows: (typeof rowSights)[number]
  readonly clear: readonly string[]
  readonly masked: readonly string[]
  readonly hidden: readonly string[]
  readonly reasons: readonly string[]
}

/** Reasons of one line, and names in one of them. */
const reasonsMax = 50
const namesMax = 20

/** @param names of columns at the top level that it is about */
export function reasonedSight(
  governance: Governance,
  schema: readonly SchemaColumn[],
  viewer: Viewer,
  names: readonly string[],
): ReasonedSight {
  if (viewer !== 'anyone' && readsRecordsOnly(viewer))
    return {
      ...{ rows: 'none', clear: [], masked: [], hidden: names },
      reasons: ['reads records and no data by the role auditor alone'],
    }
  const seen = seenTable(governance, schema, viewer)
  const sights = sightsOf(seen)
  const columns = (sight: ColumnSight) => names.filter((each) => (sights.get(each) ?? 'hidden') === sight)
  const found = [
    ...filterReasons(governance, viewer),
    ...maskReasons(governance, viewer, names),
    ...hiddenReasons(columns('hidden')),
    ...revealReasons(seen, names),
  ]
  const reasons = found.length === 0 ? ['no mask or filter applies'] : found
  return {
    rows: seen.rowFilters.length === 0 ? 'all' : 'filtered',
    ...{ clear: columns('clear'), masked: columns('masked'), hidden: columns('hidden') },
    reasons:
      reasons.length <= reasonsMax
        ? reasons
        : [...reasons.slice(0, reasonsMax - 1), `and ${reasons.length - reasonsMax + 1} reasons more`],
  }
}

/** By the names of the columns. */
export function sightsOf({ columns, hidden }: SeenTable): ReadonlyMap<string, ColumnSight> {
  return new Map([
    ...columns.map((column) => [column.name, isMasked(column) ? 'masked' : 'clear'] as const),
    ...hidden.map(({ name }) => [name, 'hidden'] as const),
  ])
}

function filterReasons({ rowFilters }: Governance, viewer: Viewer): readonly string[] {
  const applies = appliesTo(viewer)
  return rowFilters.map((filter) =>
    applies(filter)
      ? `rows filtered by ${filter.policyId}`
      : `exempt from row filter ${filter.policyId} ${byRoles(filter, viewer)}`,
  )
}

/** One for each mask, with all columns and fields that have it. */
function maskReasons({ columns }: Governance, viewer: Viewer, names: readonly string[]): readonly string[] {
  const applies = appliesTo(viewer)
  const concerned = columns.filter(
    ({ current, name }) => current && names.some((each) => each === name || name.startsWith(`${each}.`)),
  )
  const masks = concerned.flatMap(({ name, masks }) => masks.map((mask) => ({ name, mask })))
  return [...Map.groupBy(masks, ({ mask }) => JSON.stringify([mask.policyId, applies(mask)])).values()].map(
    (group) => {
      const mask = group[0]?.mask
      const on = listed([...new Set(group.map(({ name }) => name))])
      if (mask === undefined) return ''
      return applies(mask)
        ? `sees ${on} masked by ${mask.policyId}`
        : `exempt from mask ${mask.policyId} on ${on} ${byRoles(mask, viewer)}`
    },
  )
}

function hiddenReasons(hidden: readonly string[]): readonly string[] {
  return hidden.length === 0
    ? []
    : [`does not see ${listed(hidden)}: a field inside cannot be masked by itself, or no commit has named it`]
}

function revealReasons({ columns }: SeenTable, names: readonly string[]): readonly string[] {
  const revealed = columns.filter(({ name, reveal }) => reveal !== undefined && names.includes(name))
  return revealed.length === 0
    ? []
    : [
        `a reveal rule lets it read ${listed(revealed.map(({ name }) => name))}, protected in storage, in clear`,
      ]
}

function byRoles({ exemptRoles }: StoredProtection, viewer: Viewer): string {
  const held = viewer === 'anyone' ? [] : exemptRoles.filter((role) => viewer.roles.includes(role))
  return `by ${held.length === 1 ? 'role' : 'roles'} ${listed(held)}`
}

/** Names joined by commas; those beyond a number are counted. */
export function listed(names: readonly string[]): string {
  const more = names.length - namesMax
  return more <= 0 ? names.join(', ') : `${names.slice(0, namesMax).join(', ')} and ${more} more`
}
