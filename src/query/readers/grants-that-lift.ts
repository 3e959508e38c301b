/** The grants of access by which something of a table is seen at a time, and what each lifts, in words. Reads nothing. */

import type { Grantee } from '../../core/access-grant.ts'
import type { Governance } from '../../core/governance.ts'
import { effectOf } from '../../core/protection-effect.ts'
import { protectionsFor, type Viewer } from '../../core/seen-table.ts'

interface LiftingGrant {
  readonly id: string
  readonly grantee: Grantee
  /** Filters, and masks with their columns. */
  readonly lifted: readonly string[]
  readonly purpose: string
  readonly from: Date
  readonly until: Date
}

/**
 * The grants that hold at a time and lift something.
 * @param names of the columns that are asked about; filters are about all
 */
export function grantsThatLift(
  governance: Governance,
  names: readonly string[],
  atMs: number,
): readonly LiftingGrant[] {
  return (governance.grants ?? []).flatMap((grant) => {
    const { id, grantee, purpose, fromMs, untilMs } = grant
    // Each by itself, so that one is not left out because a longer one lifts the same.
    const alone = { ...governance, grants: [grant] }
    const lifted = liftedFor(alone, names, viewerOf(grantee, atMs))
    if (lifted.length === 0) return []
    return [{ id, grantee, lifted, purpose, from: new Date(fromMs), until: new Date(untilMs) }]
  })
}

/** Whom the grant is for, without any other role: what it lifts does not depend on them. */
function viewerOf(grantee: Grantee, atMs: number): Viewer & object {
  return 'sub' in grantee
    ? { sub: grantee.sub, roles: [], atMs }
    : { sub: 'anyone', roles: [grantee.role], atMs }
}

function liftedFor(
  governance: Governance,
  names: readonly string[],
  viewer: Viewer & object,
): readonly string[] {
  const [without, left] = [{ ...governance, grants: [] }, governance].map((one) =>
    protectionsFor(one, viewer),
  )
  const filters = (without?.filters ?? []).filter((one) => !left?.filters.includes(one))
  const isLeft = (fieldId: number, effect: string) =>
    left?.masks.some((one) => one.fieldId === fieldId && effectOf(one) === effect) === true
  const masks = (without?.masks ?? []).flatMap((mask) => {
    const column = governance.columns.find(({ fieldId }) => fieldId === mask.fieldId)
    if (column === undefined || isLeft(mask.fieldId, effectOf(mask))) return []
    const isAsked = names.some((name) => column.name === name || column.name.startsWith(`${name}.`))
    return isAsked && column.current ? [`mask ${mask.policyId} on ${column.name}`] : []
  })
  return [...filters.map(({ policyId }) => `row filter ${policyId}`), ...masks]
}
