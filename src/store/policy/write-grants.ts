/** Adds grants for commits to the policies that they name. Who is exempt, and when, is decided in `core/policy.ts`. */

import type { Grantee, GrantLifts } from '../../core/access-grant.ts'
import { type Policy, policyEffect } from '../../core/policy.ts'

/** A grant that nobody ended, as svc.write_governance returns it. */
export interface WriteGrant {
  readonly id: string
  readonly grantee: Grantee
  /** In lower case; null where it is not known. */
  readonly table_uuid: string | null
  readonly policies: NonNullable<GrantLifts['policies']>
  readonly from_ms: number
  readonly until_ms: number
}

/** Adds to a policy the grants that were given for it as it is now. */
export function withExemptions(grants: readonly WriteGrant[]): (policy: Policy) => Policy {
  return (policy) => {
    const exemptions = grants
      .filter(({ policies }) =>
        policies.some(({ id, effect }) => id === policy.id && effect === policyEffect(policy)),
      )
      .map(({ id: grant, grantee, from_ms: fromMs, until_ms: untilMs, table_uuid: tableUuid }) => ({
        ...{ grant, grantee, fromMs, untilMs },
        ...(tableUuid !== null && { tableUuid }),
      }))
    return exemptions.length === 0 ? policy : { ...policy, exemptions }
  }
}
