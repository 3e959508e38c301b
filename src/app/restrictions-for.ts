/** Joins what the service hides of a table with what the upstream hides, for engines that apply both themselves. */

import type { RestrictionsFor } from '../gateway/base/parts.ts'
import { fieldsOf, tellRestrictions } from '../query/restrictions/tell-restrictions.ts'
import { loadGovernance } from '../store/governance/governance.ts'
import type { Store } from '../store/store.ts'
import { topLevelMembers } from '../wire/iceberg/members.ts'
import { joinRestrictions, readRestrictions } from '../wire/iceberg/read-restrictions.ts'
import { readLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import { tableStateOf } from '../wire/iceberg/table-state.ts'

/** Makes the function. It throws a Fault of the store, and `upstream_failed` for malformed metadata. */
export function restrictionsFor(store: Store): RestrictionsFor {
  return async (tenant, table, principal, reply) => {
    const theirs = readRestrictions(topLevelMembers(reply))
    if (theirs === undefined)
      return { untold: 'restrictions of the upstream catalog that are not understood' }
    const state = tableStateOf(await readLoadTableResult(reply))
    const ours = tellRestrictions(await loadGovernance(store, tenant, table), state, principal)
    if ('untold' in ours) return ours
    const joined = joinRestrictions(ours, theirs, fieldsOf(state))
    return joined ?? { untold: 'masks, with those of the upstream catalog, of which none can be chosen' }
  }
}
