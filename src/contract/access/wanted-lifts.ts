/**
 * What a grant would lift of a table: the filters and masks that apply to whom it is for, and policies about commits, as
 * they stand. Reads nothing, and decides nothing about who may have it.
 */

import { Fault } from '../../base/fault.ts'
import type { Grantee, GrantLifts } from '../../core/access-grant.ts'
import type { Governance, StoredColumn } from '../../core/governance.ts'
import { type Policy, policyEffect } from '../../core/policy.ts'
import { effectOf } from '../../core/protection-effect.ts'
import { currentSchema, protectionsFor, seenTable } from '../../core/seen-table.ts'

/** What is asked for. All absent: all that hides something. */
export interface Wanted {
  /** Names of columns, fields nested by dots. */
  readonly columns?: readonly string[] | undefined
  /** Ids of row filters. */
  readonly filters?: readonly string[] | undefined
  /** Ids or names of policies about commits. */
  readonly policies?: readonly string[] | undefined
}

/** What governs a table that is read, and that is written. */
export interface Governing {
  readonly read: Governance
  /** With the modes that they have now. */
  readonly policies: readonly Policy[]
}

/** A column or filter that a grant would lift, for who decides. */
interface Revealed {
  readonly columns: readonly {
    readonly name: string
    readonly tags: readonly string[]
    readonly masks: readonly string[]
    /** Those that see the column's values anyway, because every mask of it exempts them. */
    readonly roles: readonly string[]
  }[]
  readonly filters: readonly {
    readonly id: string
    readonly expression: string
    /** Those to which it does not apply. */
    readonly roles: readonly string[]
  }[]
  readonly policies: readonly { readonly id: string; readonly name: string; readonly expression: string }[]
}

/**
 * What a grant would lift.
 * @param roles of whom it is for, as far as they are not granted by it
 * @throws Fault `unprocessable` where a name hides nothing from it, or nothing is hidden at all
 */
export function liftsOf(
  { read: governance, policies: governing }: Governing,
  { grantee, roles }: { readonly grantee: Grantee; readonly roles: readonly string[] },
  wanted: Wanted,
): { readonly lifts: GrantLifts; readonly revealed: Revealed } {
  if (governance.isClone === true)
    throw new Fault(
      'unprocessable',
      'The table shares the files of another one, whose filters and masks are not lifted for it. Ask for that table.',
    )
  const viewer = { roles: 'sub' in grantee ? roles : [grantee.role] }
  const { filters, masks } = protectionsFor(governance, viewer)
  const { policies: named = [] } = wanted
  const isAll = wanted.columns === undefined && wanted.filters === undefined && named.length === 0
  const chosen = isAll
    ? governance.columns
    : (wanted.columns ?? []).flatMap((name) => namedColumns(governance, viewer.roles, name))
  const masked = chosen
    .map((column) => ({ column, masks: masks.filter(({ fieldId }) => fieldId === column.fieldId) }))
    .filter((one) => one.masks.length > 0)
  for (const name of wanted.columns ?? [])
    if (!masked.some(({ column }) => isAtOrIn(column.name, name)))
      throw new Fault('unprocessable', `Nothing masks the column ${name} for this reader.`)
  const lifted = isAll ? filters : filters.filter(({ policyId }) => wanted.filters?.includes(policyId))
  for (const id of wanted.filters ?? [])
    if (!lifted.some(({ policyId }) => policyId === id))
      throw new Fault('unprocessable', `No row filter ${id} of this table applies to this reader.`)
  const exempt = named.map((name) => exemptable(governing, name))
  if (masked.length + lifted.length + exempt.length === 0)
    throw new Fault('unprocessable', 'No row filter and no mask of this table applies to this reader.')
  return {
    lifts: {
      columns: masked
        .map(({ column, masks: found }) => ({
          fieldId: column.fieldId,
          tags: [...column.tags],
          masks: [...new Set(found.map(effectOf))].sort(),
        }))
        .toSorted((a, b) => a.fieldId - b.fieldId),
      filters: [...new Set(lifted.map(effectOf))].sort(),
      ...(exempt.length > 0 && {
        policies: [...new Map(exempt.map((one) => [one.id, policyEffect(one)]))]
          .map(([id, effect]) => ({ id, effect }))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      }),
    },
    revealed: {
      columns: masked.map(({ column, masks: found }) => ({
        name: column.name,
        tags: column.tags,
        masks: [...new Set(found.map(({ action }) => action))],
        roles: rolesThatSee(column),
      })),
      filters: lifted.map(({ policyId: id, expression, exemptRoles: roles }) => ({ id, expression, roles })),
      policies: exempt.map(({ id, name, definitionCel: expression }) => ({ id, name, expression })),
    },
  }
}

/**
 * A policy of which access may exempt: one that a person wrote and that is enforced.
 * @throws Fault `unprocessable`
 */
function exemptable(policies: readonly Policy[], name: string): Policy {
  const enforced = policies.filter(({ mode }) => mode === 'enforce')
  const byName = enforced.filter((policy) => policy.name === name)
  const found = enforced.find(({ id }) => id === name) ?? (byName.length === 1 ? byName[0] : undefined)
  if (found === undefined)
    throw new Fault(
      'unprocessable',
      byName.length > 1
        ? `Several policies are named ${name}: give the id of one.`
        : `No policy ${name} refuses commits to the table.`,
    )
  if (found.derived !== undefined)
    throw new Fault(
      'unprocessable',
      `${found.name} follows from a contract: propose a version of the contract instead.`,
    )
  return found
}

/** The roles that every mask of a column exempts. */
function rolesThatSee({ masks: [first, ...others] }: StoredColumn): readonly string[] {
  return (first?.exemptRoles ?? []).filter((role) =>
    others.every(({ exemptRoles }) => exemptRoles.includes(role)),
  )
}

/**
 * The column of a name with the fields inside it.
 * @throws Fault `unprocessable` where the reader may know of no such column
 */
function namedColumns(
  governance: Governance,
  roles: readonly string[],
  name: string,
): readonly StoredColumn[] {
  const seen = seenTable(governance, currentSchema(governance), { roles })
  const shown = new Set(seen.columns.flatMap(({ fieldId, nestedIds }) => [fieldId, ...nestedIds]))
  const found = governance.columns.filter(
    (column) => column.current && isAtOrIn(column.name, name) && shown.has(column.fieldId),
  )
  if (!found.some((column) => column.name === name))
    throw new Fault('unprocessable', `The table has no column ${name}.`)
  return found
}

function isAtOrIn(column: string, name: string): boolean {
  return column === name || column.startsWith(`${name}.`)
}
