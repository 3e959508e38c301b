/** Counts a run against the bounds of the attestations by which it reads without masks, before it gives any row. */

import type { TenantId } from '../../../core/tenant.ts'
import { countLiftedQuery } from '../../../store/semantics/lifted-queries.ts'
import type { Store } from '../../../store/store.ts'
import { SqlError } from '../../compile/base/sql-error.ts'
import type { CompiledQuery } from '../../compile/compile.ts'
import type { QueryContext } from '../../query-service.ts'

/** The name of the case in answers. */
const exhaustedReason = 'lifted_queries_exhausted'

/** @throws SqlError 42501 where the principal has run as many queries today; Fault of the store */
export async function spendLiftedQuery(
  store: Store,
  {
    tenant,
    principal,
    recordedAs,
  }: { readonly tenant: TenantId } & Pick<QueryContext, 'principal' | 'recordedAs'>,
  { budgets }: Pick<CompiledQuery, 'budgets'>,
): Promise<void> {
  const until = await countLiftedQuery(store, tenant, (recordedAs ?? principal).sub, budgets)
  if (until === undefined) return
  throw new SqlError(
    '42501',
    `permission denied: as many queries by an attested metric as one may run on a day have been run. Ask again from ${until.toISOString()} on.`,
    undefined,
    { kind: 'forbidden', reason: exhaustedReason },
  )
}
