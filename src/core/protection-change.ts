/**
 * Compares what protects a table: row filters, masks, tags and reveal rules before and after a change. What cannot be
 * shown to be stricter counts as looser. Pure: the caller reads both states.
 */

import type { PolicyOrigin } from './governed-table.ts'
import { maskActions } from './mask.ts'
import { type PurposeDemand, purposeLoosenings } from './purpose.ts'

/** A row filter or a mask. */
export interface Protecting {
  readonly id: string
  /** Of a mask. */
  readonly action?: string | undefined
  readonly expression?: string | undefined
  readonly exemptRoles: readonly string[]
}

interface ProtectionChange {
  readonly access: 'tightened' | 'loosened'
  readonly message: string
}

/** In which ways a row filter or mask became stricter or looser. Both may be, where nobody can tell. */
export function protectionChanges(
  noun: string,
  old: Protecting,
  now: Protecting,
): readonly ProtectionChange[] {
  const changes: ProtectionChange[] = []
  const add = (access: ProtectionChange['access'], message: string) => changes.push({ access, message })
  if (old.action !== now.action)
    add(
      strictness(now) < strictness(old) ? 'tightened' : 'loosened',
      `The ${noun} ${now.id} is ${now.action} instead of ${old.action}`,
    )
  if (old.expression !== now.expression) {
    add('loosened', `The expression of the ${noun} ${now.id} is another one`)
    // It may as well hide more.
    add('tightened', `The expression of the ${noun} ${now.id} is another one`)
  }
  const added = now.exemptRoles.filter((role) => !old.exemptRoles.includes(role))
  const gone = old.exemptRoles.filter((role) => !now.exemptRoles.includes(role))
  if (added.length > 0) add('loosened', `The ${noun} ${now.id} no longer applies to ${added.join(', ')}`)
  if (gone.length > 0) add('tightened', `The ${noun} ${now.id} applies to ${gone.join(', ')} too`)
  return changes
}

/** The place of a mask's action in the order of strictness; a smaller one is stricter. */
function strictness({ action }: Protecting): number {
  const place = (maskActions as readonly (string | undefined)[]).indexOf(action)
  return place < 0 ? maskActions.length : place
}

/** A row filter or mask as the store holds it. */
interface Attached {
  readonly policyId: string
  readonly origin: PolicyOrigin
  readonly action?: string
  readonly expression?: string
  readonly exemptRoles: readonly string[]
  readonly fieldId?: number
}

/** What protects a table, as far as it is compared. */
interface ProtectedState {
  readonly rowFilters: readonly Attached[]
  readonly tags: readonly string[]
  readonly columns: readonly {
    readonly fieldId: number
    readonly name: string
    readonly tags: readonly string[]
    readonly masks: readonly Attached[]
  }[]
  readonly reveals?: readonly { readonly fieldId: number; readonly roles: readonly string[] }[]
  readonly purposeDemands?: readonly PurposeDemand[]
}

/** How a table became less protected, in words; none where it did not. */
export function looseningsOf(before: ProtectedState, after: ProtectedState): readonly string[] {
  const columns = new Map(after.columns.map((column) => [column.fieldId, column]))
  const names = new Map(
    [...before.columns, ...after.columns].map(({ fieldId, name }) => [fieldId, name] as const),
  )
  return [
    ...purposeLoosenings(before.purposeDemands, after.purposeDemands),
    ...attachedLoosenings('row filter', before.rowFilters, after.rowFilters),
    ...lostTags('the table', before.tags, after.tags),
    ...before.columns.flatMap(({ fieldId, name, tags, masks }) => {
      const now = columns.get(fieldId)
      return [
        ...attachedLoosenings(`mask on ${name}`, masks, now?.masks ?? []),
        // A column inherits the tags of its table, which are told once.
        ...lostTags(
          name,
          tags.filter((tag) => !before.tags.includes(tag)),
          now?.tags ?? [],
        ),
      ]
    }),
    ...(after.reveals ?? []).flatMap(({ fieldId, roles }) => {
      const had = before.reveals?.find((one) => one.fieldId === fieldId)?.roles ?? []
      const added = roles.filter((role) => !had.includes(role))
      if (added.length === 0) return []
      return [`The values of ${names.get(fieldId) ?? fieldId} are revealed to ${added.join(', ')}`]
    }),
  ]
}

function lostTags(place: string, before: readonly string[], after: readonly string[]): readonly string[] {
  return before.filter((tag) => !after.includes(tag)).map((tag) => `The tag ${tag} is removed from ${place}`)
}

function attachedLoosenings(
  noun: string,
  before: readonly Attached[],
  after: readonly Attached[],
): readonly string[] {
  const place = ({ policyId, origin, fieldId }: Attached) => JSON.stringify([policyId, origin, fieldId])
  const named = ({ policyId: id, action, expression, exemptRoles }: Attached): Protecting => {
    return { id, action, expression, exemptRoles }
  }
  return before.flatMap((old) => {
    const now = after.find((one) => place(one) === place(old))
    if (now === undefined) return [`The ${noun} ${old.policyId} is removed`]
    return protectionChanges(noun, named(old), named(now)).flatMap(({ access, message }) =>
      access === 'loosened' ? [message] : [],
    )
  })
}
