/** Counts the queries that principals run by attestations, where those bound them by the day (UTC). */

import type { QueryBudget } from '../../core/metric.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'

/**
 * Counts one query by each of several attestations, or by none of them where one is exhausted.
 * @param principal subject of who asks
 * @returns when the day of the store ends, where one is exhausted
 */
export async function countLiftedQuery(
  store: Store,
  tenant: TenantId,
  principal: string,
  budgets: readonly QueryBudget[],
): Promise<Date | undefined> {
  // In one order, so that two queries never wait for each other.
  const ordered = budgets.toSorted((a, b) => (a.attestation < b.attestation ? -1 : 1))
  const exhausted = new Error('an attestation is exhausted')
  let until: Date | undefined
  await store
    .tenantTransaction(tenant, async (tx) => {
      for (const { attestation, perDay } of ordered) {
        const [counted] = await tx.query<{ readonly day: string }>(
          `with today as (select (now() at time zone 'UTC')::date as day),
             past as (delete from svc.lifted_queries o using today where o.tenant_id = svc.current_tenant()
               and o.attestation_id = $1::uuid and o.principal = $2 and o.day < today.day)
           insert into svc.lifted_queries as c (tenant_id, attestation_id, principal, day, queries)
           select svc.current_tenant(), $1::uuid, $2, today.day, 1 from today
           on conflict (tenant_id, attestation_id, principal, day) do update set queries = c.queries + 1
             where c.queries < $3::int
           returning day::text as day`,
          [attestation, principal, perDay],
        )
        if (counted !== undefined) continue
        const [end] = await tx.query<{ readonly until: Date }>(
          `select ((now() at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC' as until`,
        )
        until = end?.until
        throw exhausted
      }
    })
    .catch((thrown: unknown) => {
      if (thrown !== exhausted) throw thrown
    })
  return until
}
